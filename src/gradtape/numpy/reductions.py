"""Functions over axes: sums, means, extremes, positions, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, errors
from .. import math as tf_math
from ..arrays.values import cast
from ..core.apply import tensor
from ..core.record import Value
from ..linalg import products
from .elementwise import isnan
from .types import BOOL, as_tensor, chosen, common, default_float, is_inexact, settings

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "average", "count_nonzero",
    "cumprod", "cumsum", "diff", "max", "mean", "min", "nanmean", "nanprod", "nansum", "prod",
    "ptp", "sort", "std", "sum", "var",
]  # fmt: skip


# --- how the argument's dtype is treated ----------------------------------------------------------
def _counted(x: Any) -> Any:
    """Truth values and narrow whole numbers in int64 or uint64, so that sums fit."""
    dtype = x._value.dtype
    if dtype.kind not in "biu":
        return x
    wide = 4 if settings.mode in ("safe", "all") else 8
    if dtype.kind != "b" and dtype.itemsize >= wide:
        return x
    return cast(x, np.dtype(f"{'u' if dtype.kind == 'u' else 'i'}{wide}"))


def _floating(x: Any) -> Any:
    return cast(x, default_float()) if x._value.dtype.kind in "biu" else x


def _reduce(
    compute: Callable[..., Any],
    a: Any,
    axis: Any,
    dtype: Any = None,
    keepdims: Any = None,
    prepare: Callable[[Any], Any] | None = None,
    truths: Callable[..., Any] | None = None,
) -> Any:
    """Over the axes, in the dtype that is asked for, else in the one that `prepare` chooses."""
    wanted = chosen(dtype)
    a = as_tensor(a, wanted)
    if wanted is None and prepare is not None:
        a = prepare(a)
    if truths is not None and a._value.dtype == BOOL:
        compute = truths
    if isinstance(axis, Value) and axis._value.dtype.name not in ("int32", "int64"):
        axis = cast(axis, np.dtype(np.int64))
    if isinstance(axis, np.floating):
        axis = int(axis)  # TensorFlow takes NumPy's numbers for whole ones
    return compute(a, axis=axis, keepdims=bool(keepdims))


def _no_out(out: Any) -> None:
    if out is not None:
        raise ValueError("Setting out is not supported: tensors do not change, take the result.")


# --- sums and means -------------------------------------------------------------------------------
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """The sum over the axes (all, if none is named); narrow whole numbers are summed in int64.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([4, 6])>
    """
    return _reduce(
        tf_math.reduce_sum, a, axis, dtype, keepdims, _counted, truths=tf_math.reduce_any
    )


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """The product over the axes; narrow whole numbers are multiplied in int64."""
    return _reduce(
        tf_math.reduce_prod, a, axis, dtype, keepdims, _counted, truths=tf_math.reduce_all
    )


def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """The mean over the axes; that of whole numbers is float64."""
    _no_out(out)
    return _reduce(tf_math.reduce_mean, a, axis, dtype, keepdims, _floating)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = None,
) -> Any:
    """The mean square of the distances from the mean; `ddof` makes the divisor smaller."""
    _no_out(out)
    working = None if dtype is None else common(a, dtype)
    compute = _variance(ddof) if ddof else tf_math.reduce_variance
    result = _reduce(compute, a, axis, working, keepdims, _floating)
    return result if dtype is None else cast(result, dtype)  # where `float` is float32


def _variance(ddof: Any) -> Callable[..., Any]:
    def compute(x: Any, axis: Any, keepdims: bool) -> Any:
        apart = x - tf_math.reduce_mean(x, axis=axis, keepdims=True)
        if x.dtype.is_complex:
            squares = cast(tf_math.real(apart * tf_math.conj(apart)), x.dtype)
        else:
            squares = tf_math.square(apart)
        total = tf_math.reduce_sum(squares, axis=axis, keepdims=keepdims)
        kept = tf_math.reduce_sum(squares, axis=axis)._value.size
        count = x._value.size // builtin_max(kept, 1) - ddof
        return total / tensor(x._value.dtype.type(count))

    return compute


def std(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The square root of the variance over the axes."""
    return _reduce(tf_math.reduce_std, a, axis, None, keepdims, _floating)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The mean over one axis or all, weighted; with `returned`, the sum of the weights too."""
    if axis is not None and not isinstance(axis, int):
        raise ValueError(
            f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})"
        )
    a = as_tensor(a)
    if weights is None:
        a = a if is_inexact(a) else cast(a, default_float())
        result = tf_math.reduce_mean(a, axis=axis)
        shape = a._value.shape
        count = a._value.size if axis is None else shape[axis]
        total = tensor(a._value.dtype.type(count))
    else:
        result, total = _weighted(a, axis, weights)
    if returned:
        return result, arrays.broadcast_to(total, result._value.shape)
    return result


def _weighted(a: Any, axis: Any, weights: Any) -> tuple[Any, Any]:
    dtype = common(a, weights) if is_inexact(a) else common(a, weights, default_float())
    a, weights = as_tensor(a, dtype), as_tensor(weights, dtype)
    shapes = a._value.shape, weights._value.shape
    if axis is None or len(shapes[0]) == len(shapes[1]):
        if shapes[0] != shapes[1]:
            raise errors.invalid(
                f"average needs weights of the shape of a, {list(shapes[0])}, got "
                f"{list(shapes[1])}; or one axis and a weight for each of its entries"
            )
        total = tf_math.reduce_sum(weights, axis=axis)
        return tf_math.reduce_sum(a * weights, axis=axis) / total, total
    if len(shapes[1]) != 1:
        raise errors.invalid(f"average needs weights with one axis, got shape {list(shapes[1])}")
    total = tf_math.reduce_sum(weights)
    return products.tensordot(a, weights, [[axis], [0]]) / total, total


def _without_nan(a: Any, instead: int) -> Any:
    return arrays.where(isnan(a), tensor(a._value.dtype.type(instead)), a)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """The sum over the axes, in which nan counts as 0."""
    return sum(_without_nan(as_tensor(a), 0), axis, dtype, keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """The product over the axes, in which nan counts as 1."""
    return prod(_without_nan(as_tensor(a), 1), axis, dtype, keepdims)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """The mean over the axes of what is not nan."""
    a = as_tensor(a)
    if a._value.dtype.kind in "biu":
        return mean(a, axis, dtype, keepdims=keepdims)
    wanted = a._value.dtype if dtype is None else dtype
    count = sum(tf_math.logical_not(isnan(a)), axis, wanted, keepdims)
    return nansum(a, axis, wanted, keepdims) / count


# --- extremes and truth ---------------------------------------------------------------------------
def amax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """The largest over the axes; ties share the gradient."""
    _no_out(out)
    return _reduce(tf_math.reduce_max, a, axis, keepdims=keepdims, truths=tf_math.reduce_any)


def amin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """The smallest over the axes; ties share the gradient."""
    _no_out(out)
    return _reduce(tf_math.reduce_min, a, axis, keepdims=keepdims, truths=tf_math.reduce_all)


def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The largest over the axes less the smallest."""
    return amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)


def all(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Whether all are true; a number is, unless it is 0."""
    return tf_math.reduce_all(as_tensor(a, BOOL), axis, bool(keepdims))


def any(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Whether one is true; a number is, unless it is 0."""
    return tf_math.reduce_any(as_tensor(a, BOOL), axis, bool(keepdims))


def count_nonzero(a: Any, axis: Any = None) -> Any:
    """How many are not 0."""
    return tf_math.count_nonzero(as_tensor(a), axis)


builtin_max = max


def max(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The largest over the axes; ties share the gradient."""
    return amax(a, axis, keepdims=keepdims)


def min(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The smallest over the axes; ties share the gradient."""
    return amin(a, axis, keepdims=keepdims)


# --- running --------------------------------------------------------------------------------------
def _run(compute: Callable[..., Any], a: Any, axis: Any, dtype: Any) -> Any:
    a = as_tensor(a, chosen(dtype))
    if dtype is None and a._value.dtype.kind in "iu":
        a = cast(a, np.promote_types(a._value.dtype, common(int)))
    if axis is None:
        a, axis = arrays.reshape(a, [-1]), 0
    if isinstance(axis, np.unsignedinteger):
        axis = int(axis.astype(np.int32))  # TensorFlow keeps 32 bits of it
    return compute(a, axis)


def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The sums up to each place; without an axis, of all numbers in a row."""
    return _run(tf_math.cumsum, a, axis, dtype)


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The products up to each place; without an axis, of all numbers in a row."""
    return _run(tf_math.cumprod, a, axis, dtype)


def diff(a: Any, n: Any = 1, axis: Any = -1) -> Any:
    """The differences of neighbours along an axis, n times; of truth values, where they change."""
    a = as_tensor(a)
    count = a._value.ndim
    if (axis + count if axis < 0 else axis) >= count:
        raise ValueError(
            f"Argument `axis` (received axis={axis}) is out of bounds for rank {count}."
        )
    if n < 0:
        raise ValueError(f"Argument `n` must be a non-negative integer. Received: n={n}")
    later, faster = [slice(None)] * count, [slice(None)] * count
    later[axis], faster[axis] = slice(1, None), slice(None, -1)
    between = tf_math.not_equal if a._value.dtype == BOOL else tf_math.subtract
    for _ in range(n):
        a = between(a[tuple(later)], a[tuple(faster)])
    return a


# --- positions and order --------------------------------------------------------------------------
def _position(compute: Callable[..., Any], a: Any, axis: Any) -> Any:
    a = as_tensor(a)
    if axis is None or not a._value.ndim:
        a = arrays.reshape(a, [-1])
    return compute(a, axis=axis)


def argmax(a: Any, axis: Any = None) -> Any:
    """The place of the largest along an axis, else among all numbers in a row."""
    return _position(tf_math.argmax, a, axis)


def argmin(a: Any, axis: Any = None) -> Any:
    """The place of the smallest along an axis, else among all numbers in a row."""
    return _position(tf_math.argmin, a, axis)


def _known_order(kind: Any, order: Any, kinds: tuple[str, ...]) -> None:
    if kind not in kinds:
        allowed = " and ".join(f'kind="{one}"' for one in kinds)
        raise ValueError(f"Invalid value for argument `kind`. Only {allowed} can be. Got {kind!r}")
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The places of the numbers in their ascending order along an axis, or of all in a row."""
    _known_order(kind, order, ("quicksort", "stable"))
    a = as_tensor(a)
    if a._value.dtype.kind == "c":
        raise TypeError(
            f"argsort does not support complex64/complex128 dtypes. Received dtype: {a.dtype}"
        )
    dtype = common(int)
    if not a._value.ndim:
        return tensor(np.zeros(1, dtype))
    if axis is None:
        a, axis = arrays.reshape(a, [-1]), 0
    return cast(arrays.argsort(a, axis, stable=kind == "stable"), dtype)


def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The numbers in ascending order along an axis, or all in a row."""
    _known_order(kind, order, ("quicksort",))
    a = as_tensor(a)
    return arrays.sort(arrays.reshape(a, [-1]), 0) if axis is None else arrays.sort(a, axis)
