"""Dtypes and their promotion: what a NumPy user expects of mixed arguments, by TensorFlow's rules.

A tensor, a variable and an array bring their dtype; a Python number is weak, as in NumPy 2, and
alone it is int64 or float64. `experimental_enable_numpy_behavior` changes the settings below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors, nest
from ..arrays.values import cast
from ..core.record import Value
from ..dtypes import DType
from ..framework.convert import dtype_of, holds_tensor, pack, to_tensor, unsupported
from ..framework.shapes import CompositeTensor

__all__ = [
    "bool_", "complex128", "complex64", "complex_", "finfo", "float16", "float32", "float64",
    "float_", "iinfo", "inexact", "int16", "int32", "int64", "int8", "int_", "issubdtype",
    "object_", "promote_types", "result_type", "string_", "uint16", "uint32", "uint64", "uint8",
    "unicode_",
]  # fmt: skip

bool_, object_, inexact, int_ = np.bool_, np.object_, np.inexact, np.int_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64, float_ = np.float16, np.float32, np.float64, np.float64
complex64, complex128, complex_ = np.complex64, np.complex128, np.complex128
string_, unicode_ = np.bytes_, np.str_
iinfo, issubdtype = np.iinfo, np.issubdtype

BOOL, OBJECT = np.dtype(bool), np.dtype(object)
OTHER = np.empty((), object)


class Settings:
    """How numbers promote each other; one for the process, as in TensorFlow."""

    mode = "off"  # of tensors in operators: off, legacy (NumPy's way), safe, all
    prefer_float32 = False


settings = Settings()


# --- which dtype ----------------------------------------------------------------------------------
def finfo(dtype: Any) -> Any:
    """The limits of a floating-point dtype."""
    return np.finfo(_numpy(dtype))


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype that holds both, by NumPy's rules."""
    return np.promote_types(_numpy(type1), _numpy(type2))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that a function of these arguments computes in.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.result_type(tf.constant(1.0), 2.0, tf.int32)
    tf.float64
    """
    return dtypes.of(common(*arrays_and_dtypes))


def common(*values: Any) -> np.dtype:
    """`result_type` as NumPy's dtype; texts are objects."""
    if settings.mode in ("safe", "all"):
        from .weak import result_of

        return result_of(values)[0]
    return by_numpy(values)


def by_numpy(values: Any) -> np.dtype:
    """The dtype that NumPy gives to a result of these arguments."""
    found = [_told(value) for value in nest.flatten(values)]
    dtype = np.result_type(*found) if found else np.dtype(np.float64)
    return OBJECT if dtype.kind in "US" else dtype


def _told(value: Any) -> Any:
    """What NumPy is told about an argument."""
    if isinstance(value, Value) or hasattr(value, "_read"):
        return dtype_of(value)
    if isinstance(value, DType):
        return _numpy(value)
    if isinstance(value, CompositeTensor):
        raise unsupported(value)
    if isinstance(value, range):
        raise TypeError(f"Cannot interpret '{value!r}' as a data type: write list({value!r})")
    if settings.prefer_float32 and isinstance(value, (float, complex)):
        return np.float32(value) if isinstance(value, float) else np.complex64(value)
    return getattr(value, "dtype", value) if not isinstance(value, type) else value


def _numpy(dtype: Any) -> np.dtype:
    return np.dtype(dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype)


def chosen(dtype: Any) -> np.dtype | None:
    """A `dtype=` argument as NumPy's dtype, where `float` is 64 bits wide."""
    held = dtype._value if isinstance(dtype, Value) else dtype
    if isinstance(dtype, Value) and not held.size:
        return None  # TensorFlow asks whether it is true
    if isinstance(held, np.ndarray) and held.size != 1:
        raise ValueError(
            "The truth value of an array with more than one element is ambiguous: `dtype` is a "
            f"dtype or the name of one, not {dtype!r}."
        )
    if isinstance(dtype, CompositeTensor):
        dtype = getattr(dtype, "dtype", dtype)  # a sparse tensor has one, as a tensor has
    return None if dtype is None else common(dtype)


def default_float() -> np.dtype:
    """What whole numbers become where a function needs floating-point ones."""
    return common(float)


def is_inexact(x: Any) -> bool:
    """Floating-point or complex to NumPy, which does not count bfloat16 among these."""
    return x._value.dtype.kind in "fc"


# --- arguments as tensors -------------------------------------------------------------------------
def as_tensor(value: Any, dtype: np.dtype | None = None) -> Any:
    """The tensor for an argument, with NumPy's dtype for Python numbers; cast if one is given."""
    if isinstance(value, Value):
        return value if dtype is None or value._value.dtype == dtype else cast(value, dtype)
    if hasattr(value, "_read"):
        return as_tensor(to_tensor(value), dtype)
    mixed = isinstance(value, (list, tuple)) and holds_tensor(value)
    wanted = _own(value) if dtype is None else dtype
    if mixed:
        return pack(value, wanted)
    if isinstance(value, int) and value > _LARGEST:
        if value >= 2 * (_LARGEST + 1):
            raise errors.UnimplementedError(
                None,
                None,
                f"{value} is too large for any dtype, and NumPy's object is none [Op:Cast]",
            )
        return cast(to_tensor(value, np.dtype(np.uint64)), wanted)
    try:
        return cast(to_tensor(value, hint=wanted), wanted)
    except ValueError:
        array = np.asarray(value) if isinstance(value, (list, tuple)) else OTHER
        if array.dtype.kind not in "biufc":
            raise
        return to_tensor(array.astype(wanted))  # [True, 2, 1j], of which `tf.constant` makes none


_LARGEST = np.iinfo(np.int64).max


def _own(value: Any) -> np.dtype:
    if isinstance(value, (str, bytes)):
        return OBJECT
    if isinstance(value, (list, tuple)):
        leaves = nest.flatten(value)
        if leaves and all(isinstance(leaf, (str, bytes)) for leaf in leaves):
            return OBJECT
    return common(value)


def promoted(*values: Any) -> list[Any]:
    """The arguments as tensors of the one dtype that holds them all."""
    dtype = common(*values)
    return [as_tensor(value, dtype) for value in values]


NUMBERS: Any = frozenset((int, float))


def pair(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arguments as tensors of one dtype, quickly if they are that already."""
    if (
        a.__class__ is Value.kind
        and b.__class__ is Value.kind
        and (a._value.dtype == b._value.dtype)
    ):
        return a, b
    for x, y in ((a, b), (b, a)):  # a Python number beside floating-point ones: 5 us less
        if y.__class__ in NUMBERS and x.__class__ is Value.kind and not settings.prefer_float32:
            dtype = x._value.dtype
            if dtype.kind in "fc":
                y = as_tensor(y, dtype)
                return (x, y) if x is a else (y, x)
    for x in (a, b):
        if isinstance(x, range):
            _told(x)
    # Also in the modes with weak numbers: TensorFlow's functions of two go by NumPy's rules.
    dtype = by_numpy((a, b))
    return as_tensor(a, dtype), as_tensor(b, dtype)
