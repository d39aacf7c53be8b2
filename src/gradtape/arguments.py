"""Arguments that must be known beforehand: shapes, axes, sizes, read as Python's own numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .core.op import Op
from .core.record import Value
from .shapes import TensorShape


def numbers(value: Any, label: str, attr: str = "Tshape") -> tuple[int, ...]:
    """A vector of whole numbers: a list (of scalar tensors too), a tensor, an array, a shape."""
    found = _quickly(value)
    if found is None:
        array = vector(value, label, attr)
        if array.ndim > 1:
            raise errors.invalid(
                f"sizes input must be 1-D, not {list(array.shape)} (argument of {label}) "
                f"[Op:{label}]"
            )
        found = tuple(array.reshape(-1).tolist())
    return found


def _quickly(value: Any) -> tuple[int, ...] | None:
    """The common cases: Python's whole numbers in a list or tuple, or scalar tensors among them."""
    if value.__class__ not in (list, tuple):
        return None
    found = []
    for n in value:
        if n.__class__ is not int:
            n = getattr(n, "_value", n)
            if not isinstance(n, np.integer):
                return None
            n = int(n)
        found.append(n)
    return tuple(found)


def vector(value: Any, label: str, attr: str) -> np.ndarray:
    """An array of whole numbers of any rank, or TensorFlow's error about the dtype."""
    if isinstance(value, TensorShape):
        return np.array(known(value), np.int64)
    array = np.asarray(convert.to_tensor(value)._value)
    if array.dtype.kind in "iu" or not array.size:
        return array.astype(np.int64)
    if isinstance(value, np.ndarray) and array.dtype.kind == "f":
        return array.astype(np.int64)
    raise errors.invalid(
        f"Value for attr '{attr}' of {convert.c_name(array.dtype)} is not in the list of allowed "
        f"values: int32, int64. {label} takes whole numbers here, got {value!r}. [Op:{label}]"
    )


def known(shape: TensorShape) -> list[int]:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return shape.as_list()  # type: ignore[return-value]


def dimensions(shape: Any, label: str = "Fill") -> tuple[int, ...]:
    """The shape of a tensor to be made: a number stands for a vector of that size."""
    found = _quickly(shape)
    if found is None:
        if isinstance(shape, TensorShape):
            found = tuple(known(shape))
        else:
            floating = not isinstance(shape, (Value, np.ndarray)) and not hasattr(shape, "_read")
            array = np.asarray(convert.to_tensor(shape)._value)
            if floating and array.size and array.dtype.kind not in "iu":
                raise convert.cannot(shape, np.dtype(np.int32))
            found = tuple(vector(shape, label, "index_type").reshape(-1).tolist())
    for n in found:
        if n < 0:
            raise errors.invalid(f"Dimension {n} must be >= 0 [Op:{label}]")
    return found


def number(value: Any) -> int:
    """One whole number, such as an axis; a list of one is as good, as it is in TensorFlow."""
    if value.__class__ is int:
        return value
    array = getattr(value, "_value", None)
    if array is None:
        if not isinstance(value, (np.ndarray, np.generic, list, tuple)):
            try:
                return operator.index(value)
            except TypeError:
                pass
        array = convert.array(value, np.dtype(np.int64))
    if array.dtype.kind not in "iu" or array.size != 1:
        raise errors.invalid(f"a single whole number is needed here, got {value!r}")
    return int(array.reshape(()))


def dtype(value: Any) -> np.dtype:
    """NumPy's dtype for any name of one."""
    return np.dtype(dtypes.as_dtype(value).as_numpy_dtype)


def matching(op: Op, values: Any, name: str = "") -> list[Any]:
    """Tensors of one dtype: that of the first tensor among them, or else of the first value."""
    if isinstance(values, Value) or hasattr(values, "_read"):
        values = [values]
    wanted: Any = next(
        (v._value.dtype for v in values if isinstance(v, Value) or hasattr(v, "_read")), None
    )
    tensors: list[Any] = []
    for v in values:
        own = isinstance(v, Value) or hasattr(v, "_read") or hasattr(v, "__tf_tensor__")
        t = convert.to_tensor(v) if own else convert.to_tensor(v, wanted)
        wanted = t._value.dtype if wanted is None else wanted
        tensors.append(t)
    for k, t in enumerate(tensors):
        if t._value.dtype != wanted:
            raise errors.invalid(
                f"cannot compute {op.label} as input #{k}(zero-based) was expected to be a "
                f"{convert.c_name(wanted)} tensor but is a {convert.c_name(t._value.dtype)} "
                f"tensor; tf.cast makes them agree [Op:{op.label}] name: {name}"
            )
    return tensors
