"""What all kinds of random functions share: shapes, and numbers of a stream made into tensors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..autodiff.custom import custom_gradient
from ..core import apply
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import as_input, number
from ..framework.shapes import TensorShape
from ..ops import chance, elementwise
from ..ops import reduce as reduce_ops
from ..ops.kernels.philox import Stream
from ..ops.shape import stop_gradient

FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("int32", "int64")


def shape_of(shape: Any, label: str) -> tuple[int, ...]:
    """A `shape` argument as a tuple; `label` is the op that complains."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, (list, tuple)) and not shape:
        return ()
    sizes = convert.to_tensor(shape)._value
    if sizes.dtype.name not in WHOLE:
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(sizes.dtype)} is not in the list of allowed "
            f"values: int32, int64; the shape {shape!r} must hold whole numbers [Op:{label}]"
        )
    if sizes.ndim != 1:
        raise errors.invalid(
            f"shape must be a vector of {{int32,int64}}, got shape {list(sizes.shape)}; a single "
            f"axis is written as [n] [Op:{label}]"
        )
    for size in (found := tuple(sizes.tolist())):
        if size < 0:
            raise errors.invalid(f"Dimension {size} must be >= 0 [Op:{label}]")
    return found


def plain_shape(shape: Any, label: str) -> tuple[int, ...]:
    """A `shape` argument that TensorFlow makes int32 before its op sees it."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    return shape_of(convert.to_tensor(shape, np.dtype(np.int32)), label)


def kernel_dtype(dtype: Any, label: str, allowed: tuple[str, ...] = FLOATS) -> np.dtype:
    """NumPy's dtype for a kernel that makes only some."""
    found = dtypes.as_dtype(dtype)
    if found.name not in allowed:
        raise errors.wrong_dtype(
            f"Value for attr 'dtype' of {found.name} is not in the list of allowed values: "
            f"{', '.join(allowed)} [Op:{label}]"
        )
    return np.dtype(found.as_numpy_dtype)


def numpy_dtype(dtype: Any) -> np.dtype:
    return np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)


def drawn(op: Op, stream: Stream, *operands: Any, **params: Any) -> Any:
    """A draw from a place in a stream."""
    if stream.counter.__class__ is not int:  # a function that is recorded finds it at every call
        return apply.record(op, operands, {"key": stream.key, "counter": stream.counter, **params})
    return op.apply(*operands, key=stream.key, counter=stream.counter, **params)


def scaled(draws: Any, mean: Any, stddev: Any) -> Any:
    """mean + stddev * draws, of which mean and stddev have gradients."""
    if stddev is not None:
        draws = elementwise.mul.apply(draws, stddev)
    return draws if mean is None else elementwise.add.apply(draws, mean)


def moment(value: Any, dtype: np.dtype, neutral: float) -> Any:
    """A mean or deviation as a tensor; None for the number that changes nothing."""
    if value.__class__ is float and value == neutral and dtype.kind in "fV":
        return None
    return convert.to_tensor(value, dtype)


def between(stream: Stream, shape: tuple[int, ...], low: Any, high: Any, label: str) -> Any:
    """Whole numbers in [low, high), two scalar tensors of one dtype."""
    convert.examine(partial(_check_between, label), low._value, high._value)
    return drawn(chance.between, stream, low, high, shape=shape)


def _check_between(label: str, low: Any, high: Any) -> None:
    a, b = int(low), int(high)
    if a >= b:
        raise errors.invalid(f"Need minval < maxval, got {a} >= {b} [Op:{label}]")


def bounds(minval: Any, maxval: Any, dtype: np.dtype) -> tuple[Any, Any]:
    """The ends of a uniform distribution as tensors; of fractions from 0 to 1 unless said."""
    if maxval is None:
        maxval = 1
    return convert.to_tensor(minval, dtype), convert.to_tensor(maxval, dtype)


def stretched(unit: Any, minval: Any, maxval: Any) -> Any:
    """Numbers of [0, 1) moved to [minval, maxval)."""
    if _is(minval, 0) and (maxval is None or _is(maxval, 1)):
        return unit
    low, high = bounds(minval, maxval, unit._value.dtype)
    width = elementwise.sub.apply(high, low)
    return elementwise.add.apply(elementwise.mul.apply(unit, width), low)


def _is(value: Any, number: int) -> bool:
    return isinstance(value, (int, float)) and value == number


def logits_of(logits: Any, num_samples: Any, label: str) -> tuple[Any, int]:
    """The checked arguments of a categorical draw."""
    given = convert.to_tensor(logits)
    values = given._value
    count = number(as_input(num_samples, np.int32, label), label)
    if values.dtype.kind in "bcO":
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(values.dtype)} is not in the list of allowed "
            f"values: real numbers; logits are cast first, for example to tf.float32 [Op:{label}]"
        )
    if values.ndim != 2:
        raise errors.invalid(
            f"logits should be a matrix, got shape {list(values.shape)}: one row for each "
            f"distribution [Op:{label}]"
        )
    if values.dtype.name not in FLOATS:
        raise errors.NotFoundError(
            None, None, f"Could not find device for node: {label} of {dtypes.of(values.dtype).name}"
            " logits; cast them to a floating-point dtype",
        )  # fmt: skip
    if count < 0:
        raise errors.invalid(f"num_samples should be non-negative, got {count} [Op:{label}]")
    if values.shape[1] < 1 and values.shape[0]:
        raise errors.invalid(f"num_classes should be positive, got 0 [Op:{label}]")
    return given, count


def gamma_deviates(stream: Stream, alpha: Any, times: tuple[int, ...]) -> Any:
    """Gamma deviates, `times` of them for each shape parameter. Their gradient keeps the quantile
    of a draw: it is not that of the numbers which the stream gives for another parameter."""

    @custom_gradient
    def sample(alpha: Any) -> Any:
        fixed = stop_gradient.apply(alpha)
        made = drawn(chance.gamma, stream, fixed, times=times, dtype=alpha._value.dtype)

        def grad(g: Any) -> Any:
            weighted = elementwise.mul.apply(g, chance.gamma_grad.apply(alpha, made))
            lead = tuple(range(-weighted._value.ndim, -alpha._value.ndim))
            return reduce_ops.sum.apply(weighted, axis=lead, keepdims=False) if lead else weighted

        return made, grad

    return sample(alpha)


def counts_dtype(dtype: Any, label: str, rates: Any = None) -> np.dtype:
    """The dtype of counts, of which TensorFlow asks the same as of the rates."""
    if rates is not None:
        kernel_dtype(rates.dtype, label, ("float16", "float32", "float64", "int32", "int64"))
    return kernel_dtype(dtype, label, ("float16", "float32", "float64", "int32", "int64"))


def whole_dtype(dtype: Any) -> np.dtype:
    """The dtype of drawn classes."""
    if dtypes.as_dtype(dtype).name not in WHOLE:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtypes.as_dtype(dtype)!r}. Accepted dtypes are "
            "(tf.int32, tf.int64)."
        )
    return numpy_dtype(dtype)


def rates_of(alpha: Any, beta: Any, dtype: np.dtype, label: str) -> tuple[Any, Any]:
    """The parameters of gamma deviates, which a floating-point dtype is needed for."""
    pair = convert.to_tensor(alpha, dtype), convert.to_tensor(1 if beta is None else beta, dtype)
    if label == "RandomGamma" and dtype.kind not in "fc":
        raise ValueError(f"data type {dtype.type} not inexact: gamma deviates are fractions")
    kernel_dtype(dtypes.of(dtype), label, ("float16", "float32", "float64"))
    return pair


def at_least_tiny(deviates: Any) -> Any:
    """No deviate is rounded down to 0, where densities have no logarithm."""
    tiny = np.finfo(deviates._value.dtype).tiny
    return elementwise.maximum.apply(tensor(tiny), deviates)
