"""What may stand between a tensor's brackets, made into a key that NumPy takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, errors
from .core.record import Value
from .ops import index


def getitem(x: Any, key: Any) -> Any:
    """x[key] with TensorFlow's rules: integers, slices, `...`, `tf.newaxis`, a boolean mask."""
    if _is_mask(key):
        from .array_ops import boolean_mask

        return boolean_mask(x, key)
    shape = x._value.shape
    if key.__class__ is int and shape:
        n = shape[0]
        if not -n <= key < n:
            raise errors.invalid(
                f"slice index {key} of dimension 0 out of bounds: the size is {n}. "
                "[Op:StridedSlice] name: strided_slice/"
            )
        return index.getitem.apply(x, key=(key,))
    return index.getitem.apply(x, key=numpy_key(key, shape))


def _is_mask(key: Any) -> bool:
    if isinstance(key, Value) or hasattr(key, "_read"):
        return key._value.dtype.kind == "b"
    if isinstance(key, (bool, np.bool_)):
        return True
    return isinstance(key, np.ndarray) and key.dtype.kind == "b"


def numpy_key(key: Any, shape: tuple[int, ...]) -> tuple:
    """Checked against the shape, because NumPy's errors and TensorFlow's differ."""
    parts = tuple(_part(k) for k in (key if isinstance(key, (tuple, list)) else (key,)))
    if sum(k is Ellipsis for k in parts) > 1:
        raise ValueError("Multiple ellipses not allowed.")
    used = sum(k is not None and k is not Ellipsis for k in parts)
    if used > len(shape):
        raise errors.invalid(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims "
            "[Op:StridedSlice] name: strided_slice/"
        )
    axis = 0
    for k in parts:
        if k is None:
            continue
        if k is Ellipsis:
            axis += len(shape) - used
            continue
        if k.__class__ is int and not -shape[axis] <= k < shape[axis]:
            raise errors.invalid(
                f"slice index {k} of dimension {axis} out of bounds: the size is {shape[axis]}. "
                "[Op:StridedSlice] name: strided_slice/"
            )
        axis += 1
    return parts


def _part(key: Any) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        if key.step is not None and _whole(key.step) == 0:
            raise errors.invalid("strides[0] must be non-zero [Op:StridedSlice]")
        return slice(*(None if p is None else _whole(p) for p in (key.start, key.stop, key.step)))
    return _whole(key)


def _whole(value: Any) -> int:
    plain = value
    if isinstance(value, Value) or hasattr(value, "_read"):
        plain = convert.to_tensor(value)._value
    if isinstance(plain, (int, np.integer)) and not isinstance(plain, bool):
        return int(plain)
    if isinstance(plain, np.ndarray) and not plain.ndim and plain.dtype.kind in "iu":
        return int(plain)
    if hasattr(plain, "__index__") and not isinstance(plain, (bool, np.bool_, np.ndarray)):
        return plain.__index__()
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {value!r}"
    )
