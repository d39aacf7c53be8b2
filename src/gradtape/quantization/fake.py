"""Numbers rounded to 2^bits levels of a range; the gradient passes as if they were only cut off."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..autodiff.custom import custom_gradient
from ..core.apply import QUIET, restore, silence, tensor
from ..framework import convert
from ..framework.arguments import as_input, integer, real, truth

_FLOAT = np.dtype(np.float32)


# --- on arrays ------------------------------------------------------------------------------------
def _nudged(low: Any, high: Any, bits: int, narrow: bool) -> tuple[Any, Any, Any]:
    """The range moved so that 0 is one of its levels, and the step between two levels."""
    first, last = np.float32(narrow), np.float32(2**bits - 1)
    token = silence[QUIET]
    try:
        step = (high - low) / (last - first)
        zero = first - low / step
        level = np.where(zero < first, first, np.where(zero > last, last, np.floor(zero + 0.5)))
    finally:
        restore(token)
    level = level.astype(np.float32)
    return (first - level) * step, (last - level) * step, step


def _rounded(bits: int, narrow: bool, x: Any, low: Any, high: Any) -> Any:
    start, end, step = _nudged(low, high, bits, narrow)
    token = silence[QUIET]
    try:
        # Cut off by maximum and minimum: of a range that ends before it begins, the end counts.
        moved = np.maximum(np.minimum(x, end), start) - start
        y = np.floor(moved * (np.float32(1) / step) + np.float32(0.5)) * step + start
    finally:
        restore(token)
    found = np.where((low == 0) & (high == 0), np.float32(0), y).astype(np.float32)
    return found if found.ndim else found[()]


def _side(bits: int, narrow: bool, which: int, x: Any, low: Any, high: Any) -> Any:
    """1 where a number is below (-1), inside (0) or above (1) of the range, 0 elsewhere."""
    start, end, _ = _nudged(low, high, bits, narrow)
    nothing = (low == 0) & (high == 0)
    if which == 0:
        found = ((x >= start) & (x <= end)) | nothing
    else:
        found = (x < start if which < 0 else x > end) & ~nothing
    made = np.broadcast_to(found, np.shape(x)).astype(np.float32)
    return made if made.ndim else made[()]


# --- on tensors -----------------------------------------------------------------------------------
class _Levels(NamedTuple):
    """Into how many levels a range is cut, and whether the lowest is left out."""

    bits: int
    narrow: bool

    @classmethod
    def of(cls, num_bits: Any, narrow_range: Any) -> _Levels:
        bits = 8 if num_bits is None else integer(num_bits, "num_bits")
        return cls(bits, truth(narrow_range, "narrow_range"))

    def checked(self, label: str) -> _Levels:
        """What the kernel refuses, after all inputs are converted."""
        if not 2 <= self.bits <= 16:
            raise errors.invalid(f"num_bits must be between 2 and 16, inclusive [Op:{label}]")
        return self


def _inputs(label: str, *values: Any, ends: tuple[Any, ...] = ()) -> list[Any]:
    """The tensors of inputs. A whole number for an end takes TensorFlow on the longer way, too."""
    if all(map(convert.quickly, values)) and all(isinstance(end, float) for end in ends):
        return [as_input(value, _FLOAT, label) for value in values]
    return [convert.to_tensor(value, _FLOAT) for value in values]


def _range(label: str, low: float, high: float) -> tuple[Any, Any]:
    if low >= high:
        raise errors.invalid(
            f"min has to be smaller than max, was: {low:g} >= {high:g} [Op:{label}]"
        )
    return tensor(np.float32(low)), tensor(np.float32(high))


def _gradients(g: Any, x: Any, low: Any, high: Any, bits: int, narrow: bool) -> list[Any]:
    """Those of the numbers and of both ends of the range."""
    values = x._value, low._value, high._value
    from ..math.reductions import reduce_sum

    inside, below, above = (
        tensor(convert.computed(partial(_side, bits, narrow, which), *values))
        for which in (0, -1, 1)
    )
    axes = list(range(x._value.ndim - low._value.ndim))
    return [g * inside, reduce_sum(g * below, axes), reduce_sum(g * above, axes)]


def _fake_quant(label: str, inputs: Any, low: Any, high: Any, levels: _Levels) -> Any:
    bits, narrow = levels.checked(label)

    @custom_gradient
    def call(x: Any, low: Any, high: Any) -> Any:
        values = x._value, low._value, high._value
        made = tensor(convert.computed(partial(_rounded, bits, narrow), *values))
        return made, lambda g: _gradients(g, x, low, high, bits, narrow)

    return call(inputs, low, high)


def _check_ends(label: str, low: Any, high: Any, shape: tuple[int, ...]) -> None:
    for word, end in (("min", low), ("max", high)):
        if end._value.shape != shape:
            raise errors.invalid(
                f"{word} has the shape {list(end._value.shape)}, and must have {list(shape)} "
                f"[Op:{label}]"
            )


def _check_alike(label: str, g: Any, x: Any) -> None:
    if g._value.shape != x._value.shape:
        raise errors.invalid(
            f"Inputs to operation {label} must have the same size and shape: gradients "
            f"{list(g._value.shape)}, inputs {list(x._value.shape)} [Op:{label}]"
        )


def fake_quant_with_min_max_args(
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Numbers rounded to 2^num_bits levels between two numbers.

    >>> import gradtape as tf
    >>> y = tf.quantization.fake_quant_with_min_max_args([0.1, 0.9, 7.0], 0.0, 3.0, num_bits=2)
    >>> y.numpy().tolist()
    [0.0, 1.0, 3.0]
    """
    label = "FakeQuantWithMinMaxArgs"
    low, high = real(min, "min", -6.0), real(max, "max", 6.0)
    levels = _Levels.of(num_bits, narrow_range)
    (x,) = _inputs(label, inputs, ends=(min, max))
    return _fake_quant(label, x, *_range(label, low, high), levels)


def fake_quant_with_min_max_args_gradient(
    gradients: Any,
    inputs: Any,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradient of `fake_quant_with_min_max_args`."""
    label = "FakeQuantWithMinMaxArgsGradient"
    low, high = real(min, "min", -6.0), real(max, "max", 6.0)
    levels = _Levels.of(num_bits, narrow_range)
    g, x = _inputs(label, gradients, inputs, ends=(min, max))
    ends = _range(label, low, high)
    _check_alike(label, g, x)
    return _gradients(g, x, *ends, *levels.checked(label))[0]


def fake_quant_with_min_max_vars(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Numbers rounded to 2^num_bits levels of a range that can be learned, too."""
    label = "FakeQuantWithMinMaxVars"
    levels = _Levels.of(num_bits, narrow_range)
    x, low, high = _inputs(label, inputs, min, max)
    _check_ends(label, low, high, ())
    return _fake_quant(label, x, low, high, levels)


def fake_quant_with_min_max_vars_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of `fake_quant_with_min_max_vars`: of the numbers, of `min` and of `max`."""
    label = "FakeQuantWithMinMaxVarsGradient"
    levels = _Levels.of(num_bits, narrow_range)
    g, x, low, high = _inputs(label, gradients, inputs, min, max)
    _check_alike(label, g, x)
    _check_ends(label, low, high, ())
    return tuple(_gradients(g, x, low, high, *levels.checked(label)))


def fake_quant_with_min_max_vars_per_channel(
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """Numbers rounded to 2^num_bits levels of a range for each index of the last axis."""
    label = "FakeQuantWithMinMaxVarsPerChannel"
    levels = _Levels.of(num_bits, narrow_range)
    x, low, high = _inputs(label, inputs, min, max)
    _check_ends(label, low, high, x._value.shape[-1:])
    return _fake_quant(label, x, low, high, levels)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any,
    inputs: Any,
    min: Any,
    max: Any,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Any:
    """The gradients of the function of that name: of the numbers, of `min` and of `max`."""
    label = "FakeQuantWithMinMaxVarsPerChannelGradient"
    levels = _Levels.of(num_bits, narrow_range)
    g, x, low, high = _inputs(label, gradients, inputs, min, max)
    _check_alike(label, g, x)
    _check_ends(label, low, high, x._value.shape[-1:])
    return tuple(_gradients(g, x, low, high, *levels.checked(label)))
