"""The element types of tensors, one object each: `tf.float32`, `tf.int64`, `tf.as_dtype`, …

>>> import gradtape as tf
>>> tf.as_dtype("float64") is tf.float64
True
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .framework.namespaces import lookup


class DType:
    """The type of a tensor's elements.

    There is one object per type, so `is` compares two of them. `==` also accepts whatever
    `as_dtype` accepts: `tf.float32 == "float32"`, `tf.float32 == np.float32`.
    """

    __slots__ = (
        "as_datatype_enum",
        "as_numpy_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_numpy_compatible",
        "is_unsigned",
        "name",
        "size",
    )

    as_datatype_enum: int
    as_numpy_dtype: Any
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numeric: builtins.bool
    is_numpy_compatible: builtins.bool
    is_unsigned: builtins.bool
    name: str
    size: int

    is_quantized = False

    def __new__(cls, type_enum: int, handle_data: Any = None) -> DType:
        try:
            return _by_enum[int(type_enum)]
        except KeyError:
            raise TypeError(
                f"{type_enum} does not correspond to a valid tensorflow::DataType"
            ) from None

    def __getattr__(self, attribute: str) -> Any:
        """Fill the one slot that waits: importing `ml_dtypes` takes 6 ms, and few need it."""
        if attribute != "as_numpy_dtype":
            raise AttributeError(f"'DType' object has no attribute {attribute!r}")
        if self.name not in _FOREIGN:
            raise KeyError(self.as_datatype_enum)
        import ml_dtypes

        self.as_numpy_dtype = getattr(ml_dtypes, self.name)
        return self.as_numpy_dtype

    @property
    def base_dtype(self) -> DType:
        """The type itself: TensorFlow 1's reference types do not exist here."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return {complex64: float32, complex128: float64}.get(self, self)

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return self._bound("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest finite value."""
        return self._bound("max", "maximum")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of image intensities: from 0 to the largest integer, or to 1 for floats."""
        if self is bool:
            return 0, True
        if self.is_integer:
            return 0, self.max
        if self is float32 or self is float64:
            return 0, 1
        if not self.is_numpy_compatible:
            raise KeyError(self.as_datatype_enum)
        raise ValueError(f"{self} does not have defined limits.")

    def _bound(self, which: str, words: str) -> Any:
        if self.is_integer:
            return getattr(np.iinfo(self.as_numpy_dtype), which)
        if self.name in _FOREIGN:
            import ml_dtypes

            return getattr(ml_dtypes.finfo(self.as_numpy_dtype), which)
        if self.is_floating:
            return getattr(np.finfo(self.as_numpy_dtype), which)
        kind = f" with type {self}" if self.is_numpy_compatible else ""
        raise TypeError(f"Cannot find {words} value of {self}{kind}.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether `other` is this type, under any of its names."""
        return self is as_dtype(other)

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """Whether `other` is this type: no type contains another."""
        return self == other

    def most_specific_common_supertype(self, types: Any) -> DType | None:
        """This type if all the others are the same, else None."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other.__class__ is DType:
            return False
        return (_by_any.get(other) if other.__class__ is str else _find(other)) is self

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


# The types that NumPy has from `ml_dtypes`, with their bytes.
_FOREIGN = {"bfloat16": 2, "float8_e5m2": 1, "float8_e4m3fn": 1}
_by_enum: dict[int, DType] = {}
_by_type: dict[type, DType] = {}
_by_any: dict[Any, DType] = {}


class _ByNumpy(dict[Any, DType]):
    """From NumPy's dtype objects; what is not there (byte orders, `S3`, bfloat16) is added."""

    def __missing__(self, np_dtype: np.dtype[Any]) -> DType:
        found = self[np_dtype] = as_dtype(np_dtype)
        return found


_by_numpy = _ByNumpy()

of = _by_numpy.__getitem__
"""The DType of a NumPy dtype: one dictionary look-up."""


def _declare(name: str, enum: int, np_type: Any = None, kind: str = "") -> DType:
    dtype = object.__new__(DType)
    dtype.name = name
    dtype.as_datatype_enum = enum
    dtype.is_bool = kind == "b"
    dtype.is_complex = kind == "c"
    dtype.is_floating = kind == "f"
    dtype.is_integer = kind in ("i", "u")
    dtype.is_unsigned = kind == "u"
    dtype.is_numeric = kind in ("i", "u", "f", "c")
    dtype.is_numpy_compatible = kind != ""
    dtype.size = _FOREIGN.get(name, 0)
    _by_enum[enum] = _by_any[enum] = _by_any[name] = dtype
    if np_type is not None:
        dtype.as_numpy_dtype = np_type
        _by_any[np_type] = _by_numpy[np.dtype(np_type)] = dtype
        _by_type[np.dtype(np_type).type] = dtype
        if kind != "O":
            dtype.size = np.dtype(np_type).itemsize
    return dtype


# The numbers are those of TensorFlow's DataType enumeration.
float32 = _declare("float32", 1, np.float32, "f")
float64 = _declare("float64", 2, np.float64, "f")
int32 = _declare("int32", 3, np.int32, "i")
uint8 = _declare("uint8", 4, np.uint8, "u")
int16 = _declare("int16", 5, np.int16, "i")
int8 = _declare("int8", 6, np.int8, "i")
string = _declare("string", 7, object, "O")
complex64 = _declare("complex64", 8, np.complex64, "c")
int64 = _declare("int64", 9, np.int64, "i")
bool = _declare("bool", 10, np.bool_, "b")
bfloat16 = _declare("bfloat16", 14, None, "f")
uint16 = _declare("uint16", 17, np.uint16, "u")
complex128 = _declare("complex128", 18, np.complex128, "c")
float16 = _declare("float16", 19, np.float16, "f")
resource = _declare("resource", 20)
variant = _declare("variant", 21)
uint32 = _declare("uint32", 22, np.uint32, "u")
uint64 = _declare("uint64", 23, np.uint64, "u")

# `tf.experimental` shows these two. They are for storing: TensorFlow computes with none of them.
for _name, _enum in (("float8_e5m2", 24), ("float8_e4m3fn", 25)):
    _declare(_name, _enum, None, "f").is_numeric = False

half = float16
double = float64

# `int`, `complex` and `str` are refused, as TensorFlow refuses them.
_by_any |= {"half": float16, "float": float32, "double": float64}
_by_any |= {builtins.float: float32, builtins.bool: bool}

for _np_type in (np.object_, np.bytes_, np.str_):
    _by_any[_np_type] = _by_type[_np_type] = string

# C's names for integers: of two of the same width, one is a type of its own.
for _c_type in (np.intc, np.uintc, np.int_, np.uint, np.longlong, np.ulonglong):
    _by_any[_c_type] = _by_type[_c_type] = _by_numpy[np.dtype(_c_type)]


def _find(value: Any) -> DType | None:
    try:
        found = _by_any.get(value)
    except TypeError:  # not hashable
        found = None
    if found is not None:
        return found
    np_dtype = getattr(value, "dtype", value)
    np_type = np_dtype.type if isinstance(np_dtype, np.dtype) else value
    if not isinstance(np_type, type):
        return None
    # Strings of any length and encoding share these; bfloat16 is known by name, not imported.
    if np_type.__name__ in _FOREIGN and issubclass(np_type, np.generic):
        return _by_any[np_type.__name__]
    if np_type is builtins.str and isinstance(np_dtype, np.dtype):
        return string  # NumPy 2's StringDType
    return _by_type.get(np_type)


def as_dtype(type_value: Any) -> DType:
    """The DType of a name, a NumPy dtype, type or array, a Python type, or an enum number.

    >>> as_dtype("float"), as_dtype(float), as_dtype(2)
    (tf.float32, tf.float32, tf.float64)
    """
    if type_value.__class__ is DType:
        return type_value
    found = _find(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found


# Functions on tensors that TensorFlow has here too.
__getattr__ = lookup(
    __name__,
    {
        "arrays.values": "cast saturate_cast",
        "math.elementwise": "complex",
        "experimental.floats": "experimental",
    },
)
