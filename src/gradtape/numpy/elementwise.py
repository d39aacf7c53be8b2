"""Functions of numbers, element by element: a name, what computes it, and a sentence.

The arguments of a function of two are promoted to one dtype first; where a function needs
floating-point numbers, whole ones become float64.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, nn
from .. import math as tf_math
from ..arrays.values import cast
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..math.clipping import clip_by_value
from ..ops import bits
from ..ops import complex as complex_ops
from .types import BOOL, as_tensor, default_float, is_inexact, pair, promoted

__all__ = [
    "abs", "absolute", "add", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "around", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor",
    "cbrt", "ceil", "clip", "conj", "conjugate", "cos", "cosh", "deg2rad", "divide", "divmod",
    "exp", "exp2", "expm1", "fabs", "fix", "float_power", "floor", "floor_divide", "gcd",
    "heaviside", "hypot", "imag", "isfinite", "isnan", "lcm", "log", "log10", "log1p", "log2",
    "logaddexp", "logaddexp2", "maximum", "minimum", "mod", "multiply", "negative", "nextafter",
    "positive", "power", "rad2deg", "real", "reciprocal", "remainder", "round", "sign", "signbit",
    "sin", "sinc", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "true_divide",
]  # fmt: skip

INT8 = np.dtype(np.int8)


# --- how they are made ----------------------------------------------------------------------------
def floating(x: Any) -> Any:
    """The argument as a tensor of floating-point or complex numbers."""
    x = as_tensor(x)
    return x if is_inexact(x) else cast(x, default_float())


def floats(name: str, compute: Callable[[Any], Any], doc: str) -> Callable[[Any], Any]:
    """`name(x)` of floating-point numbers."""

    def function(x: Any) -> Any:
        return compute(floating(x))

    return named(name, function, doc)


def anything(name: str, compute: Callable[[Any], Any], doc: str) -> Callable[[Any], Any]:
    """`name(x)` of numbers as they are."""

    def function(x: Any) -> Any:
        return compute(as_tensor(x))

    return named(name, function, doc)


def binary(name: str, compute: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    """`name(x1, x2)`."""

    def function(x1: Any, x2: Any) -> Any:
        return compute(*pair(x1, x2))

    return named(name, function, doc)


def named(name: str, function: Any, doc: str) -> Any:
    """The function under its name, with its sentence."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def by_truth(truths: Callable[[Any, Any], Any], others: Callable[[Any, Any], Any]) -> Any:
    """One function for truth values and another for numbers."""
    return lambda a, b: (truths if a._value.dtype == BOOL else others)(a, b)


def whole(compute: Callable[[Any, Any], Any]) -> Any:
    """Truth values are counted as int8."""
    return by_truth(lambda a, b: compute(cast(a, INT8), cast(b, INT8)), compute)


def like(x: Any, number: float) -> Any:
    """A number in the dtype of a tensor."""
    return tensor(x._value.dtype.type(number))


def listed(x: Any) -> Any:
    """Numbers, arrays and tensors know operators; a list does not."""
    return as_tensor(x) if isinstance(x, (list, tuple)) else x


# --- of one number --------------------------------------------------------------------------------
def _cbrt(x: Any) -> Any:
    # A power of a negative number is no number.
    root = tf_math.abs(x) ** (1.0 / 3)
    return arrays.where(x < 0, -root, root)


def _angle(x: Any) -> Any:
    # TensorFlow chooses between two Python numbers here, so the result is float32.
    return arrays.where(x < 0, np.pi, 0) if x._value.dtype.kind in "fV" else tf_math.angle(x)


def _sinc(x: Any) -> Any:
    turn = x * np.pi
    return arrays.where(x == 0, arrays.ones_like(x), tf_math.sin(turn) / turn)


def _signbit(x: Any) -> Any:
    return arrays.zeros_like(x) if x._value.dtype == BOOL else x < 0


def _fix(x: Any) -> Any:
    return arrays.where(x < 0, tf_math.ceil(x), tf_math.floor(x))


def _power_of_two(x: Any) -> Any:
    return 2**x


def _in_radians(x: Any) -> Any:
    return x * (np.pi / 180.0)


# Of floating-point numbers.
exp = floats("exp", tf_math.exp, "e to the power of x.")
exp2 = floats("exp2", _power_of_two, "2 to the power of x.")
expm1 = floats("expm1", tf_math.expm1, "exp(x) - 1, exact for small x.")
log = floats("log", tf_math.log, "The natural logarithm; its derivative at 0 is infinite.")
log1p = floats("log1p", tf_math.log1p, "log(1 + x), exact for small x.")
sqrt = floats("sqrt", tf_math.sqrt, "The square root; its derivative at 0 is infinite.")
cbrt = floats("cbrt", _cbrt, "The cube root, also of negative numbers.")
sin = floats("sin", tf_math.sin, "The sine of x, in radians.")
cos = floats("cos", tf_math.cos, "The cosine of x, in radians.")
tan = floats("tan", tf_math.tan, "The tangent of x, in radians.")
arcsin = floats("arcsin", tf_math.asin, "The angle whose sine is x.")
arccos = floats("arccos", tf_math.acos, "The angle whose cosine is x.")
arctan = floats("arctan", tf_math.atan, "The angle whose tangent is x.")
sinh = floats("sinh", tf_math.sinh, "The hyperbolic sine.")
cosh = floats("cosh", tf_math.cosh, "The hyperbolic cosine.")
tanh = floats("tanh", tf_math.tanh, "The hyperbolic tangent.")
arcsinh = floats("arcsinh", tf_math.asinh, "The inverse of sinh.")
arccosh = floats("arccosh", tf_math.acosh, "The inverse of cosh, for x from 1.")
arctanh = floats("arctanh", tf_math.atanh, "The inverse of tanh, for x between -1 and 1.")
sinc = floats("sinc", _sinc, "sin(pi x) / (pi x), and 1 at 0.")
deg2rad = floats("deg2rad", _in_radians, "Degrees in radians.")
ceil = floats("ceil", tf_math.ceil, "x rounded up; it has no gradient.")
floor = floats("floor", tf_math.floor, "x rounded down; it has no gradient.")
fix = floats("fix", _fix, "x rounded towards zero; it has no gradient.")
isnan = floats("isnan", tf_math.is_nan, "Whether x is not a number.")
isfinite = floats("isfinite", tf_math.is_finite, "Whether x is neither infinite nor nan.")
# Of any numbers.
_SIZE = "|x|, whose derivative at 0 is 0; of complex numbers their size, which is real."
_CONJ = "The complex conjugate; a real tensor is its own."
abs = anything("abs", tf_math.abs, _SIZE)
absolute = anything("absolute", tf_math.abs, _SIZE)
fabs = anything("fabs", tf_math.abs, _SIZE)
negative = anything("negative", tf_math.negative, "-x.")
positive = anything("positive", lambda x: x, "x itself.")
square = anything("square", tf_math.square, "x * x.")
reciprocal = anything("reciprocal", tf_math.reciprocal, "1 / x.")
conj = anything("conj", tf_math.conj, _CONJ)
conjugate = anything("conjugate", tf_math.conj, _CONJ)


def real(val: Any) -> Any:
    """The real part; a real tensor is its own."""
    return tf_math.real(as_tensor(val))


def imag(val: Any) -> Any:
    """The imaginary part; of a real tensor 0."""
    return tf_math.imag(as_tensor(val))


signbit = anything("signbit", _signbit, "Whether x is less than 0.")
bitwise_not = anything(
    "bitwise_not", bits.invert, "Every bit turned over; of truth values, whether x is false."
)

# --- of two numbers -------------------------------------------------------------------------------
_EITHER, _BOTH = tf_math.logical_or, tf_math.logical_and


def _divide(a: Any, b: Any) -> Any:
    if a._value.dtype == BOOL:
        a, b = cast(a, default_float()), cast(b, default_float())
    return tf_math.truediv(a, b)


def _bitwise(compute: Any, truths: Any) -> Any:
    return by_truth(truths, compute.apply)


def _gcd(a: Any, b: Any) -> Any:
    return tensor(convert.computed(np.gcd, *_integers(a, b)))


def _lcm(a: Any, b: Any) -> Any:
    return tensor(convert.computed(np.lcm, *_integers(a, b)))


def _integers(a: Any, b: Any) -> tuple[Any, Any]:
    if a._value.dtype.kind not in "iu":
        raise ValueError(f"Arguments to gcd must be integers, got {a.dtype.name}.")
    if a._value.dtype.name in ("uint16", "uint32", "uint64"):
        raise convert.wrong_dtype(complex_ops.absolute, a._value.dtype)
    return a._value, b._value


def _heaviside(a: Any, b: Any) -> Any:
    y = arrays.where(a < 0, like(b, 0), arrays.where(a > 0, like(b, 1), b))
    return y if is_inexact(y) else cast(y, default_float())


_DIVIDE = "x1 / x2; whole numbers are divided as floating-point ones."
_REST = "x1 - floor(x1 / x2) * x2, with the sign of x2."
_POWER = "x1 to the power of x2."
add = binary(
    "add", by_truth(_EITHER, tf_math.add), "x1 + x2; of truth values, whether one is true."
)
subtract = binary("subtract", tf_math.subtract, "x1 - x2.")
multiply = binary(
    "multiply", by_truth(_BOTH, tf_math.multiply), "x1 * x2; of truth values, whether both are."
)
divide = binary("divide", _divide, _DIVIDE)
true_divide = binary("true_divide", _divide, _DIVIDE)
floor_divide = binary(
    "floor_divide", whole(tf_math.floordiv), "x1 / x2 rounded down; it has no gradient."
)
mod = binary("mod", whole(tf_math.floormod), _REST)
remainder = binary("remainder", whole(tf_math.floormod), _REST)
minimum = binary(
    "minimum", by_truth(_BOTH, tf_math.minimum), "The smaller; a tie's gradient goes to x1."
)
power = binary("power", tf_math.pow, _POWER)
float_power = binary("float_power", tf_math.pow, _POWER)
arctan2 = binary("arctan2", tf_math.atan2, "The angle of the point (x2, x1), between -pi and pi.")
nextafter = binary("nextafter", tf_math.nextafter, "The next number after x1 towards x2.")
heaviside = binary("heaviside", _heaviside, "0 for negative x1, 1 for positive, x2 at 0.")
gcd = binary("gcd", _gcd, "The greatest common divisor of whole numbers.")
lcm = binary("lcm", _lcm, "The least common multiple of whole numbers.")
bitwise_and = binary("bitwise_and", _bitwise(bits.bitwise_and, _BOTH), "The bits that both have.")
bitwise_or = binary(
    "bitwise_or", _bitwise(bits.bitwise_or, _EITHER), "The bits that one of them has."
)
bitwise_xor = binary(
    "bitwise_xor",
    _bitwise(bits.bitwise_xor, tf_math.logical_xor),
    "The bits that just one of them has.",
)


# --- those with ways of their own: their operators are the tensors' -------------------------------
def _log_of_sum(exponential: Callable[[Any], Any], unit: Any) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any) -> Any:
        if isinstance(x1, (list, tuple)) and isinstance(x2, Value):
            x1 = as_tensor(x1, x2._value.dtype)
        elif isinstance(x2, (list, tuple)) and isinstance(x1, Value):
            x2 = as_tensor(x2, x1._value.dtype)
        x1, x2 = listed(x1), listed(x2)
        larger, distance = floating(maximum(x1, x2)), x1 - x2
        rest = log1p(exponential(-absolute(distance)))
        far = larger + (rest if unit is None else rest / unit)
        # nan: one of them is, or both are infinite with the same sign.
        from .indexing import where

        return where(isnan(distance), x1 + x2, far)

    return function


def _angle_of(z: Any, deg: bool = False) -> Any:
    y = _angle(floating(z))
    return y * (180.0 / np.pi) if deg else y


logaddexp = named("logaddexp", _log_of_sum(exp, None), "log(exp(x1) + exp(x2)), without overflow.")
logaddexp2 = named(
    "logaddexp2", _log_of_sum(exp2, np.log(2)), "log2(2**x1 + 2**x2), without overflow."
)
log2 = named("log2", lambda x: log(x) / np.log(2), "The logarithm to base 2.")
log10 = named("log10", lambda x: log(x) / np.log(10), "The logarithm to base 10.")
hypot = named("hypot", lambda x1, x2: sqrt(square(x1) + square(x2)), "sqrt(x1**2 + x2**2).")
rad2deg = named("rad2deg", lambda x: listed(x) * (180.0 / np.pi), "Radians in degrees.")
angle = named("angle", _angle_of, "The angle of a complex number; of a real one 0 or pi.")


def maximum(x1: Any, x2: Any) -> Any:
    """The larger; a tie's gradient goes to x1, but at maximum(x, 0), which is relu, to nobody."""
    zero = isinstance(x2, numbers.Real) and not isinstance(x2, bool) and x2 == 0
    if zero and isinstance(x1, Value) and x1._value.dtype != BOOL:
        return nn.relu(x1)
    a, b = pair(x1, x2)
    return (_EITHER if a._value.dtype == BOOL else tf_math.maximum)(a, b)


def clip(a: Any, a_min: Any, a_max: Any) -> Any:
    """a, but at least a_min and at most a_max; None is no limit."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    from .shaping import broadcast_arrays

    return clip_by_value(*broadcast_arrays(*promoted(a, a_min, a_max)))


def divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """x1 / x2 rounded down, and the rest."""
    return floor_divide(x1, x2), mod(x1, x2)


def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Any:
    """-1, 0 or 1 by the sign of x, with gradient 0; of complex numbers x / |x|."""
    given = {"out": out, "where": where, **kwargs}
    for name, value in given.items():
        if name in kwargs or value:
            raise ValueError(f"sign takes x alone: setting {name} is not supported.")
    return tf_math.sign(as_tensor(x))


def around(a: Any, decimals: Any = 0) -> Any:
    """a rounded to so many decimals, halves to the even digit; it has no gradient."""
    a = as_tensor(a)
    own = a._value.dtype
    working = own if is_inexact(a) else default_float()
    # In float32 first, as TensorFlow's cast of a Python number.
    factor = tensor(np.float32(10.0**decimals).astype(working))
    return cast(tf_math.round(cast(a, working) * factor) / factor, own)


def round(a: Any, decimals: Any = 0) -> Any:
    """a rounded to so many decimals, halves to the even digit; it has no gradient."""
    return around(a, decimals)
