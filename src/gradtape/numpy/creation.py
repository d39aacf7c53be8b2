"""Functions that make tensors: of values, of shapes, of ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays, convert, errors, making
from .. import math as tf_math
from ..arguments import number
from ..arrays import cast
from ..core.apply import tensor
from .types import as_tensor, chosen, common, default_float, settings

__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "copy", "empty", "empty_like",
    "eye", "full", "full_like", "geomspace", "identity", "linspace", "logspace", "meshgrid",
    "ones", "ones_like", "tri", "vander", "zeros", "zeros_like",
]  # fmt: skip

_MOST_AXES = 32


# --- of values ------------------------------------------------------------------------------------
def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Any:
    """A tensor of any value, with NumPy's dtype for Python numbers; gradients flow to tensors.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.array([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1. , 2.5])>
    """
    x = as_tensor(val, chosen(dtype))
    if copy:
        x = arrays.identity(x)
    if ndmin > _MOST_AXES:
        raise ValueError(f"ndmin bigger than allowable number of dimensions: {_MOST_AXES}.")
    shape = x._value.shape
    missing = ndmin - len(shape)
    return arrays.reshape(x, (1,) * missing + shape) if missing > 0 else x


def asarray(a: Any, dtype: Any = None) -> Any:
    """A tensor of any value; one of the right dtype is itself."""
    return as_tensor(a, chosen(dtype))


def asanyarray(a: Any, dtype: Any = None) -> Any:
    """A tensor of any value; one of the right dtype is itself."""
    return as_tensor(a, chosen(dtype))


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """A tensor of any value, with at least one axis."""
    return array(a, dtype, ndmin=1)


def copy(a: Any) -> Any:
    """The same value as a new tensor, with a gradient of its own."""
    return array(a)


# --- of a shape -----------------------------------------------------------------------------------
def zeros(shape: Any, dtype: Any = float) -> Any:
    """A tensor of zeros."""
    wanted = chosen(dtype)
    if wanted is None:
        wanted = np.dtype(np.float32 if settings.prefer_float32 else np.float64)
    return making.zeros(shape, wanted)


def ones(shape: Any, dtype: Any = float) -> Any:
    """A tensor of ones."""
    return making.ones(shape, dtype if dtype is None else chosen(dtype))


def empty(shape: Any, dtype: Any = float) -> Any:
    """A tensor of zeros: memory with nothing in it does not exist here."""
    return zeros(shape, dtype)


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of a."""
    return making.zeros_like(as_tensor(a), chosen(dtype))


def ones_like(a: Any, dtype: Any = None) -> Any:
    """Ones in the shape of a."""
    a = as_tensor(a)
    return making.ones(a._value.shape, chosen(dtype) or a._value.dtype)


def empty_like(a: Any, dtype: Any = None) -> Any:
    """Zeros in the shape of a."""
    return zeros_like(a, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A value, broadcast to a shape."""
    sizes = arrays.convert_to_tensor(shape, dtype_hint=np.int32)
    return arrays.broadcast_to(as_tensor(fill_value, chosen(dtype)), arrays.reshape(sizes, [-1]))


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    """A value, broadcast to the shape and cast to the dtype of a."""
    if order != "K":
        raise ValueError(f"order={order!r}: non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported: use full(shape, fill_value).")
    a = as_tensor(a)
    dtype = a._value.dtype if dtype is None else common(dtype)
    return arrays.broadcast_to(as_tensor(fill_value, dtype), a._value.shape)


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    """Zeros with ones on the diagonal, or on the k-th above it."""
    rows, columns, k = int(N), int(M or N), int(k)
    wanted = chosen(dtype)
    wanted = np.dtype(np.float64) if wanted is None else wanted
    if k >= columns or -k >= rows:
        return making.zeros([rows, columns], wanted)
    if wanted.kind == "O":
        raise convert.cannot(1, wanted)
    return tensor(np.eye(rows, columns, k, wanted))


def identity(n: Any, dtype: Any = float) -> Any:
    """A square of zeros with ones on the diagonal."""
    return eye(n, n, dtype=dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Any:
    """Ones on and below the k-th diagonal, zeros above."""
    wanted = default_float() if dtype is None else common(dtype)
    height, width = number(N), None if M is None else number(M)
    return tensor(np.tri(height, width, number(k, "MatrixBandPart"), bool).astype(wanted))


# --- of a range -----------------------------------------------------------------------------------
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """The numbers from start (else 0) up to stop, not included, in steps."""
    if not step:
        raise ValueError("step must be non-zero.")
    if dtype is not None:
        wanted = common(dtype)
    else:
        wanted = common(start, step) if stop is None else common(start, step, stop)
    low, high = (0, start) if stop is None else (start, stop)
    if (step > 0 and low > high) or (step < 0 and low < high):
        return making.zeros([0], wanted)
    return cast(arrays.range(low, high, step), wanted)


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: Any = 0,
) -> Any:
    """`num` numbers at even distances, from start to stop; with `retstep`, the distance too.

    As in TensorFlow beside NumPy 2, the dtype of start and stop decides, whatever `dtype` says.
    """
    wanted = None if dtype is None else _of_ends(start, stop)
    start, stop = as_tensor(start, wanted), as_tensor(stop, wanted)
    if num < 0:
        raise ValueError(
            "Argument `num` (number of samples) must be a non-negative integer. "
            f"Received: num={num}"
        )
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else tensor(np.float32(np.nan))
    if not endpoint and num > 1:
        stop = cast(stop, step.dtype) - step
        start = cast(start, step.dtype)
    result = arrays.linspace(start, stop, num, axis=axis)
    if wanted is not None:
        result = cast(result, wanted)
    return (result, step) if retstep else result


def _of_ends(start: Any, stop: Any) -> np.dtype:
    if isinstance(start, (list, tuple)) or isinstance(stop, (list, tuple)):
        start, stop = as_tensor(start), as_tensor(stop)
        return common(start, stop, default_float())
    return common(start * 1.0, stop * 1.0)


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """`num` numbers from base**start to base**stop, each the same multiple of the last."""
    wanted = _of_ends(start, stop)
    powers = linspace(start, stop, num=num, endpoint=endpoint, dtype=wanted, axis=axis)
    return cast(tf_math.pow(cast(base, powers.dtype), powers), wanted)


def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: Any = 0
) -> Any:
    """`num` numbers from start to stop, each the same multiple of the last."""
    from .elementwise import log10
    from .shaping import moveaxis

    wanted = chosen(dtype)
    if wanted is None:
        wanted = common(start, stop, float(num), zeros((), dtype))
    working = np.promote_types(wanted, np.float32)
    start, stop = as_tensor(start, working), as_tensor(stop, working)
    # Of two negative ends, the positive ones are taken, and the result turned over.
    away = [1 - tf_math.sign(tf_math.real(x)) for x in (start, stop)]
    turned = 1 - away[0] * away[1] // 2
    result = turned * logspace(
        log10(turned * start), log10(turned * stop), num, endpoint, 10.0, working
    )
    return cast(result if axis == 0 else moveaxis(result, 0, axis), wanted)


def meshgrid(*xi: Any, **kwargs: Any) -> list[Any]:
    """The coordinates of all points of a grid, one tensor for each direction."""
    if kwargs.get("sparse", False):
        raise ValueError(
            f"Function `meshgrid` does not support returning sparse arrays: use ix_ for "
            f"coordinates that broadcast. Received: sparse={kwargs['sparse']}"
        )
    if not kwargs.get("copy", True):
        raise ValueError(f"Function `meshgrid` only supports copy=True. Received: {kwargs}")
    indexing = kwargs.get("indexing", "xy")
    parts = [as_tensor(x) for x in xi]
    if settings.mode == "off":
        return arrays.meshgrid(*parts, indexing=indexing)
    # Promoted as by the operator with which TensorFlow spreads them.
    found = [
        arrays.meshgrid(*[cast(x, part.dtype) for x in parts], indexing=indexing) for part in parts
    ]
    dtypes = [common(parts[0], part) for part in parts]
    return [cast(found[k][k], dtypes[k]) for k in range(len(parts))]


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The powers of the numbers x, one column each, from the highest unless `increasing`."""
    x = as_tensor(x)
    if not x._value.ndim:
        raise errors.invalid("slice index 0 of dimension 0 out of bounds. [Op:StridedSlice]")
    if x._value.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    count = x._value.shape[0] if N is None else int(N)
    if count < 0:
        raise ValueError(f"N must be nonnegative, got {N}")
    powers = np.arange(count, dtype=np.int32)
    powers = tensor((powers if increasing else powers[::-1]).astype(x._value.dtype))
    return tf_math.pow(arrays.expand_dims(x, -1), powers)
