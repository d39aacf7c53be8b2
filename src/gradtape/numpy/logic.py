"""Comparisons, truth values and questions about arguments: their results have no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import math as tf_math
from ..arrays.values import cast
from ..core.apply import tensor
from .elementwise import named
from .types import BOOL, as_tensor, common, is_inexact, pair

__all__ = [
    "allclose", "array_equal", "equal", "greater", "greater_equal", "isclose", "iscomplex",
    "iscomplexobj", "isinf", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal",
]  # fmt: skip

INT32 = np.dtype(np.int32)


def _together(x1: Any, x2: Any) -> tuple[Any, Any]:
    dtype = common(x1, x2)
    return as_tensor(x1, dtype), as_tensor(x2, dtype)


def _comparison(name: str, compute: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    ordered = name not in ("equal", "not_equal")

    def function(x1: Any, x2: Any) -> Any:
        a, b = _together(x1, x2)
        if ordered and a._value.dtype == BOOL:
            a, b = cast(a, INT32), cast(b, INT32)
        return compute(a, b)

    return named(name, function, doc)


def _logical(name: str, compute: Callable[[Any, Any], Any], doc: str) -> Callable[..., Any]:
    def function(x1: Any, x2: Any) -> Any:
        return compute(as_tensor(x1, BOOL), as_tensor(x2, BOOL))

    return named(name, function, doc)


equal = _comparison("equal", tf_math.equal, "x1 == x2.")
not_equal = _comparison("not_equal", tf_math.not_equal, "x1 != x2.")
greater = _comparison("greater", tf_math.greater, "x1 > x2.")
greater_equal = _comparison("greater_equal", tf_math.greater_equal, "x1 >= x2.")
less = _comparison("less", tf_math.less, "x1 < x2.")
less_equal = _comparison("less_equal", tf_math.less_equal, "x1 <= x2.")
logical_and = _logical(
    "logical_and", tf_math.logical_and, "Whether both are true; a number is, unless it is 0."
)
logical_or = _logical(
    "logical_or",
    tf_math.logical_or,
    "Whether one of them is true, or both; a number is, unless it is 0.",
)
logical_xor = _logical(
    "logical_xor",
    tf_math.logical_xor,
    "Whether just one of them is true; a number is, unless it is 0.",
)
logical_not = named(
    "logical_not",
    lambda x: tf_math.logical_not(as_tensor(x, BOOL)),
    "Whether x is false; a number is, if it is 0.",
)


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether |a - b| <= atol + rtol * |b|; whole numbers must be equal."""
    a, b = pair(a, b)
    if not is_inexact(a):
        return tf_math.equal(a, b)
    real = a.dtype.real_dtype
    close = tf_math.less_equal(
        tf_math.abs(a - b), cast(atol, real) + cast(rtol, real) * tf_math.abs(b)
    )
    if equal_nan:
        close = close | (tf_math.is_nan(a) & tf_math.is_nan(b))
    return close


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether all of |a - b| <= atol + rtol * |b|."""
    return tf_math.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any) -> Any:
    """Whether the two have one shape and equal numbers."""
    a, b = _together(a1, a2)
    if a._value.shape != b._value.shape:
        return tensor(np.bool_(False))
    return tf_math.reduce_all(tf_math.equal(a, b))


# --- questions ------------------------------------------------------------------------------------
def iscomplex(x: Any) -> Any:
    """Where the imaginary part is not 0."""
    return tf_math.imag(as_tensor(x)) != 0


def isreal(x: Any) -> Any:
    """Where the imaginary part is 0."""
    return tf_math.imag(as_tensor(x)) == 0


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return as_tensor(x)._value.dtype.kind == "c"


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex."""
    return not iscomplexobj(x)


def _infinite(x: Any, compute: Callable[[Any], Any]) -> Any:
    x = as_tensor(x)
    return compute(x) if x._value.dtype.kind in "fV" else False


def isinf(x: Any) -> Any:
    """Where x is infinite; of whole and complex numbers simply False, as in TensorFlow."""
    return _infinite(x, tf_math.is_inf)


def isposinf(x: Any) -> Any:
    """Where x is infinite and positive; of whole and complex numbers simply False."""
    return _infinite(x, lambda x: tf_math.equal(x, x._value.dtype.type(np.inf)))


def isneginf(x: Any) -> Any:
    """Where x is infinite and negative; of whole and complex numbers simply False."""
    return _infinite(x, lambda x: tf_math.equal(x, x._value.dtype.type(-np.inf)))


def isscalar(num: Any) -> bool:
    """Whether this has no axes."""
    return as_tensor(num)._value.ndim == 0
