"""Promotion in the modes "safe" and "all": Python numbers are weak, and what loses digits is told.

TensorFlow's table of 20 dtypes by 20, said as rules. "safe" allows what loses nothing, "all"
everything but texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, nest
from ..core.record import Value
from ..dtypes import DType
from ..framework.convert import dtype_of
from .types import OBJECT, settings

Kind = tuple[np.dtype, bool]  # a dtype, and whether it yields to others

INT32, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.int32, np.float32, np.float64))
COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)
_WEAK = {int: (INT32, True), float: (FLOAT32, True), complex: (COMPLEX128, True)}
_LIMITS = np.iinfo(np.int32)
# Whole numbers up to this many bits fit into the digits of a floating-point number of so many.
_HOLDS = {2: 8, 4: 16, 8: 32}


def result_of(values: Any) -> Kind:
    """The dtype of a result of these arguments, and whether it is weak."""
    kinds = [kind_of(value) for value in nest.flatten(values) if value is not None]
    result = kinds[0] if kinds else (FLOAT32, True)
    for kind in kinds[1:]:
        found, safe = _together(result, kind)
        if not safe and settings.mode == "safe":
            raise TypeError(
                f"In promotion mode PromoMode.SAFE, implicit dtype promotion between "
                f"({_name(result)}, weak={result[1]}) and ({_name(kind)}, weak={kind[1]}) is "
                "disallowed. Cast one of them, or enable the mode 'all'."
            )
        result = found
    return result


def kind_of(value: Any) -> Kind:
    """The dtype of an argument; those of Python numbers are weak."""
    if isinstance(value, Value) or hasattr(value, "_read"):
        return dtype_of(value), False
    if isinstance(value, (str, bytes)):
        return OBJECT, False
    if isinstance(value, type) and value in _WEAK:
        return _WEAK[value]
    own = value if isinstance(value, type) else getattr(value, "dtype", value)
    if isinstance(own, (DType, np.dtype, type)):
        dtype = dtypes.as_dtype(own)
        return np.dtype(dtype.as_numpy_dtype), False
    if isinstance(value, bool):
        return np.dtype(bool), False
    for kind, weak in _WEAK.items():
        if isinstance(value, kind):
            if isinstance(value, int) and not _LIMITS.min <= value <= _LIMITS.max:
                raise OverflowError(f"Python int {value} too large to convert to np.int32")
            return weak
    if hasattr(value, "as_list"):  # a shape
        return INT32, False
    raise NotImplementedError(
        f"Auto dtype conversion semantics does not support {type(value)} type."
    )


def _name(kind: Kind) -> str:
    return repr(dtypes.of(kind[0]))


def _together(a: Kind, b: Kind) -> tuple[Kind, bool]:
    """The kind of a result of two, and whether nothing can be lost on the way to it."""
    if a == b:
        return a, True
    if "O" in (a[0].kind, b[0].kind):
        raise NotImplementedError(
            f"Implicit Conversion between {_name(a)} and {_name(b)} is not allowed. Please "
            "convert the input manually if you need to."
        )
    if "b" in (a[0].kind, b[0].kind):
        return (b if a[0].kind == "b" else a), True
    if a[1] and b[1]:
        order = ("int32", "int64", "float32", "float64", "complex128")
        return max(a, b, key=lambda kind: order.index(kind[0].name)), True
    if a[1] or b[1]:
        return _weak(a[0], b[0]) if b[1] else _weak(b[0], a[0])
    first, second = sorted((a[0], b[0]), key=_rank)
    return _strong(first, second)


def _rank(dtype: np.dtype) -> tuple[int, int]:
    return "uifVc".index(dtype.kind), dtype.itemsize


def _weak(own: np.dtype, weak: np.dtype) -> tuple[Kind, bool]:
    """A dtype beside a Python number: it stays, unless the number is of another sort."""
    if own.kind in "iu":
        if weak.kind in "iu":
            return (own, False), True
        wide = FLOAT64 if weak.kind == "f" else weak
        return (wide, True), own.itemsize < 8 and weak != FLOAT32
    if weak.kind == "c" and own.kind in "fV":
        double = own == FLOAT64
        return (COMPLEX128 if double else COMPLEX64, False), double
    return (own, False), True


def _strong(a: np.dtype, b: np.dtype) -> tuple[Kind, bool]:
    """Two dtypes in the order unsigned, signed, floating, complex."""
    if a.kind == b.kind and a.kind != "V":
        return (b, False), True
    if b.kind in "iu":  # an unsigned and a signed one: what holds both
        if b.itemsize > a.itemsize:
            return (b, False), True
        if a.itemsize == 8:
            return (FLOAT64, True), False
        return (np.dtype(f"i{2 * a.itemsize}"), False), False
    if a.kind in "iu":
        size = b.itemsize // 2 if b.kind == "c" else b.itemsize
        return (b, False), a.itemsize * 8 <= _HOLDS[size]
    if b.kind == "V":  # bfloat16 and another floating type
        if a.itemsize == 2:
            return (FLOAT32, False), False
        return (a, False), True
    if a == FLOAT64 and b == COMPLEX64:
        return (COMPLEX128, False), False
    return (b, False), True
