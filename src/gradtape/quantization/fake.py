"""Numbers rounded to 2^bits levels of a range; the gradient passes as if they were only cut off."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..autodiff.custom import custom_gradient
from ..core.apply import QUIET, restore, silence, tensor
from ..framework import convert

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
def _checked(label: str, bits: Any) -> int:
    if not 2 <= int(bits) <= 16:
        raise errors.invalid(f"num_bits must be between 2 and 16, inclusive [Op:{label}]")
    return int(bits)


def _range(label: str, low: Any, high: Any) -> tuple[Any, Any]:
    low, high = np.float32(low), np.float32(high)
    if low >= high:
        raise errors.invalid(
            f"min has to be smaller than max, was: {low:g} >= {high:g} [Op:{label}]"
        )
    return tensor(low), tensor(high)


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


def _fake_quant(label: str, inputs: Any, low: Any, high: Any, bits: Any, narrow: Any) -> Any:
    bits, narrow = _checked(label, bits), bool(narrow)

    @custom_gradient
    def call(x: Any, low: Any, high: Any) -> Any:
        values = x._value, low._value, high._value
        made = tensor(convert.computed(partial(_rounded, bits, narrow), *values))
        return made, lambda g: _gradients(g, x, low, high, bits, narrow)

    return call(convert.to_tensor(inputs, _FLOAT), low, high)


def _ends(label: str, low: Any, high: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    found = convert.to_tensor(low, _FLOAT), convert.to_tensor(high, _FLOAT)
    for word, end in zip(("min", "max"), found, strict=True):
        if end._value.shape != shape:
            raise errors.invalid(
                f"{word} has the shape {list(end._value.shape)}, and must have {list(shape)} "
                f"[Op:{label}]"
            )
    return found


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
    bits = _checked(label, num_bits)
    return _fake_quant(label, inputs, *_range(label, min, max), bits, narrow_range)


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
    bits = _checked(label, num_bits)
    g, x = convert.to_tensor(gradients, _FLOAT), convert.to_tensor(inputs, _FLOAT)
    return _gradients(g, x, *_range(label, min, max), bits, bool(narrow_range))[0]


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
    return _fake_quant(label, inputs, *_ends(label, min, max, ()), num_bits, narrow_range)


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
    bits, ends = _checked(label, num_bits), _ends(label, min, max, ())
    g, x = convert.to_tensor(gradients, _FLOAT), convert.to_tensor(inputs, _FLOAT)
    return tuple(_gradients(g, x, *ends, bits, bool(narrow_range)))


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
    x = convert.to_tensor(inputs, _FLOAT)
    return _fake_quant(
        label, x, *_ends(label, min, max, x._value.shape[-1:]), num_bits, narrow_range
    )


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
    g, x = convert.to_tensor(gradients, _FLOAT), convert.to_tensor(inputs, _FLOAT)
    bits, ends = _checked(label, num_bits), _ends(label, min, max, x._value.shape[-1:])
    return tuple(_gradients(g, x, *ends, bits, bool(narrow_range)))
