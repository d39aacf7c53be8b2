"""The part of `tf.linalg` that measures vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.op import Op
from ..framework import convert
from ..math.reductions import axes_of
from ..ops import complex as complex_ops
from ..ops import decompose, elementwise, shape
from ..ops import reduce as reduce_ops

_MATRIX_ORDERS = ["euclidean", "fro", 1, 2, np.inf]


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Any:
    """The norm of the vectors along an axis, of the matrices along two, or of all elements.

    The derivative of the Euclidean norm is nan at 0, as in TensorFlow.

    >>> import gradtape as tf
    >>> tf.norm([3.0, 4.0])
    <tf.Tensor: shape=(), dtype=float32, numpy=5.0>
    """
    keep = bool(keepdims)
    x = convert.to_tensor(tensor)
    pair = isinstance(axis, (list, tuple))
    if x._value.dtype.kind in "bO":
        # TensorFlow takes the conjugate first for the euclidean norm only.
        if ord in ("euclidean", "fro") or (ord == 2 and not pair):
            raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(x._value.dtype)} is not in the list of allowed "
            "values: bfloat16, half, float, double, int8, int16, int32, int64; a norm is one of "
            "numbers [Op:Abs]"
        )
    if pair:
        if len(axis) != 2 or any(np.ndim(k) for k in axis) or axis[0] == axis[1]:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        axis = [int(k) for k in axis]
        if ord not in _MATRIX_ORDERS:
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], "
                f"got {ord}"
            )
    elif axis is not None and not _single(axis):
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        )
    elif np.ndim(getattr(ord, "_value", ord)) or (
        ord != "euclidean" and (isinstance(ord, str) or not ord > 0)
    ):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    if pair:
        return _matrix_norm(x, ord, axis, keep)
    return _vector_norm(x, ord, axis, keep)


def _single(axis: Any) -> bool:
    """Whether an axis is one number: Python's, NumPy's or a tensor of one."""
    return isinstance(axis, int) or (hasattr(axis, "dtype") and not np.ndim(axis))


def _reduced(op: Op, x: Any, axis: Any, keepdims: bool) -> Any:
    return op.apply(x, axis=axes_of(x._value.ndim, axis, op.label), keepdims=keepdims)


def _euclidean(x: Any, axis: Any, keepdims: bool) -> Any:
    squares = x * (complex_ops.conj.apply(x) if x._value.dtype.kind == "c" else x)
    return elementwise.sqrt.apply(_reduced(reduce_ops.sum, squares, axis, keepdims))


def _vector_norm(x: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    if order in ("euclidean", 2):
        return _euclidean(x, axis, keepdims)
    size = abs(x)
    if order == 1:
        return _reduced(reduce_ops.sum, size, axis, keepdims)
    if order == np.inf:
        return _reduced(reduce_ops.max, size, axis, keepdims)
    powers = elementwise.power.apply(size, float(order))
    total = _reduced(reduce_ops.sum, powers, axis, keepdims)
    return elementwise.power.apply(total, 1.0 / order)


def _matrix_norm(x: Any, order: Any, axis: list[int], keepdims: bool) -> Any:
    if order in ("euclidean", "fro"):
        return _euclidean(x, axis, keepdims)
    if order == 2:
        return _spectral_norm(x, axis, keepdims)
    summed, greatest = axis if order == 1 else reversed(axis)
    total = _reduced(reduce_ops.sum, abs(x), summed, True)
    y = _reduced(reduce_ops.max, total, greatest, True)
    return y if keepdims else _dropped(y, axis)


def _dropped(y: Any, axis: list[int]) -> Any:
    sizes = y._value.shape
    gone = {k % len(sizes) for k in axis}
    return shape.reshape.apply(y, shape=tuple(n for k, n in enumerate(sizes) if k not in gone))


def _spectral_norm(x: Any, axis: list[int], keepdims: bool) -> Any:
    ndim = x._value.ndim
    inner = [k % ndim for k in axis]
    outer = [k for k in range(ndim) if k not in inner]
    moved = shape.transpose.apply(x, axes=tuple(k - ndim for k in outer + inner))
    values = decompose.singular_values.apply(moved)
    y = reduce_ops.max.apply(values, axis=(-1,), keepdims=False)
    if not keepdims:
        return y
    sizes = tuple(1 if k in inner else x._value.shape[k] for k in range(ndim))
    return shape.reshape.apply(y, shape=sizes)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple:
    """The tensor divided by its norm, and the norm, whose axes are kept."""
    x = convert.to_tensor(tensor)
    size = norm(x, ord, axis, keepdims=True)
    if size._value.dtype != x._value.dtype:
        size = shape.cast.apply(size, dtype=x._value.dtype)
    return x / size, size
