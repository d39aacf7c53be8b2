"""Ops on each element: arithmetic, powers, exponentials, trigonometry, steps.

g: cotangent; a, b: operands; y: result. Rules are written for real numbers; of complex ones the
sweep takes the conjugates (an op that is not holomorphic lives in `complex.py`). `sample` is the
interval that tests draw operands from, where it is not (-2, 2).
"""

from __future__ import annotations

import math
import operator

import numpy as np

from ..core.declare import elementwise
from ..core.op import NUMBERS, REALS, Flat
from .special import SPECIAL

POSITIVE = (0.1, 3.0)
UNIT = (-0.9, 0.9)
STEP = "a staircase: its slope is 0 wherever it exists"

# --- arithmetic ---------------------------------------------------------------------------------
add = elementwise(
    "add", operator.add, (lambda g: g, lambda g: g),
    label="AddV2", numpy=(np.add,), takes=NUMBERS + "O",
)  # fmt: skip
sub = elementwise(
    "sub", operator.sub, (lambda g: g, lambda g: -g),
    numpy=(np.subtract,), takes=NUMBERS,
)  # fmt: skip
mul = elementwise(
    "mul", operator.mul, (lambda g, b: g * b, lambda g, a: g * a),
    numpy=(np.multiply,), takes=NUMBERS,
)  # fmt: skip
div = elementwise(
    "div",
    operator.truediv,
    (lambda g, b: g / b, lambda g, a, b: g * (-a / b / b)),
    label="RealDiv",
    numpy=(np.true_divide,),
    sample=((-2, 2), POSITIVE),
)
neg = elementwise("neg", operator.neg, lambda g: -g, numpy=(np.negative,), takes=NUMBERS)
reciprocal = elementwise("reciprocal", np.reciprocal, lambda g, y: -g * y * y, sample=POSITIVE)
square = elementwise("square", np.square, lambda g, a: g * (2.0 * a), takes=NUMBERS)
squared_difference = elementwise(
    "squared_difference",
    lambda a, b: np.square(a - b),
    (lambda g, a, b: 2.0 * g * (a - b), lambda g, a, b: -2.0 * g * (a - b)),
    takes=NUMBERS,
)
# x - floor(x / y) * y: the quotient is a staircase in both operands.
mod = elementwise(
    "mod",
    np.mod,
    (lambda g: g, lambda g, a, b: -g * np.floor(a / b)),
    label="FloorMod",
    sample=((0.2, 0.9), (1.1, 1.9)),
    takes=REALS,
)
floordiv = elementwise(
    "floordiv",
    np.floor_divide,
    (Flat("floor division is " + STEP), Flat("floor division is " + STEP)),
    label="FloorDiv",
    sample=((-2, 2), POSITIVE),
    takes=REALS,
)


def _divide_no_nan(a, b):
    zero = b == 0
    return np.where(zero, np.zeros_like(a), a / np.where(zero, np.ones_like(b), b))


divide_no_nan = elementwise(
    "divide_no_nan",
    _divide_no_nan,
    (
        lambda g, b: divide_no_nan(g, b),
        lambda g, a, b: g * divide_no_nan(divide_no_nan(-a, b), b),
    ),
    label="DivNoNan",
    sample=((-2, 2), POSITIVE),
)
multiply_no_nan = elementwise(
    "multiply_no_nan",
    lambda a, b: np.where(b == 0, np.zeros_like(a * b), a * b),
    (lambda g, b: multiply_no_nan(g, b), lambda g, a: multiply_no_nan(a, g)),
    label="MulNoNan",
)
maximum = elementwise(
    "maximum",
    np.maximum,
    # A tie gives everything to the first operand, as in TensorFlow.
    (lambda g, a, b: np.where(a >= b, g, 0.0), lambda g, a, b: np.where(a >= b, 0.0, g)),
    takes=REALS,
)
minimum = elementwise(
    "minimum",
    np.minimum,
    (lambda g, a, b: np.where(a <= b, g, 0.0), lambda g, a, b: np.where(a <= b, 0.0, g)),
    takes=REALS,
)

# --- powers and exponentials --------------------------------------------------------------------
sqrt = elementwise("sqrt", np.sqrt, lambda g, y: g * 0.5 / y, sample=POSITIVE)
rsqrt = elementwise(
    "rsqrt", lambda a: 1 / np.sqrt(a), lambda g, y: g * (-0.5 * y) * (y * y), sample=POSITIVE
)


def _log_or_zero(a):
    positive = a > 0
    return np.where(positive, np.log(np.where(positive, a, 1.0)), 0.0)


power = elementwise(
    "power",
    np.power,
    # The logarithm of a base that is not positive counts as 0, so that y^x has a gradient there.
    (lambda g, a, b: g * b * np.power(a, b - 1), lambda g, a, y: g * y * _log_or_zero(a)),
    label="Pow",
    sample=(POSITIVE, (-2, 2)),
    takes=NUMBERS,
)
exp = elementwise("exp", np.exp, lambda g, y: g * y)
expm1 = elementwise("expm1", np.expm1, lambda g, y: g * (y + 1.0))
log = elementwise("log", np.log, lambda g, a: g / a, sample=POSITIVE)
log1p = elementwise("log1p", np.log1p, lambda g, a: g / (1.0 + a), sample=POSITIVE)


def _sigmoid(a):
    if a.dtype.kind == "c":
        return 1 / (1 + np.exp(-a))
    # exp only of numbers that are not positive: no overflow on either side.
    e = np.exp(-np.abs(a))
    return np.where(a >= 0, 1 / (1 + e), e / (1 + e))


sigmoid = elementwise("sigmoid", _sigmoid, lambda g, y: g * y * (1.0 - y))
xlogy = elementwise(
    "xlogy",
    lambda a, b: np.where(a == 0, np.zeros_like(a * b), a * np.log(np.where(a == 0, 1, b))),
    (
        lambda g, a, b: g * np.where(a == 0, 0.0, np.log(np.where(a == 0, 1.0, b))),
        lambda g, a, b: g * np.where(a == 0, 0.0, a / np.where(a == 0, 1.0, b)),
    ),
    sample=(POSITIVE, POSITIVE),
)
xlog1py = elementwise(
    "xlog1py",
    lambda a, b: np.where(a == 0, np.zeros_like(a * b), a * np.log1p(np.where(a == 0, 1, b))),
    (
        lambda g, a, b: g * np.where(a == 0, 0.0, np.log1p(np.where(a == 0, 1.0, b))),
        lambda g, a, b: g * np.where(a == 0, 0.0, a / (1.0 + np.where(a == 0, 1.0, b))),
    ),
    sample=(POSITIVE, POSITIVE),
)
xdivy = elementwise(
    "xdivy",
    lambda a, b: np.where(a == 0, np.zeros_like(a * b), a / np.where(a == 0, 1, b)),
    (
        lambda g, a, b: g * np.where(a == 0, 0.0, 1.0 / np.where(a == 0, 1.0, b)),
        lambda g, a, b: g * np.where(a == 0, 0.0, -a / np.where(a == 0, 1.0, b) / b),
    ),
    sample=(POSITIVE, POSITIVE),
)

# --- trigonometry -------------------------------------------------------------------------------
sin = elementwise("sin", np.sin, lambda g, a: g * np.cos(a))
cos = elementwise("cos", np.cos, lambda g, a: -g * np.sin(a))
tan = elementwise("tan", np.tan, lambda g, a: g / np.square(np.cos(a)), sample=UNIT)
asin = elementwise("asin", np.arcsin, lambda g, a: g / np.sqrt(1.0 - np.square(a)), sample=UNIT)
acos = elementwise("acos", np.arccos, lambda g, a: -g / np.sqrt(1.0 - np.square(a)), sample=UNIT)
atan = elementwise("atan", np.arctan, lambda g, a: g / (1.0 + np.square(a)))
sinh = elementwise("sinh", np.sinh, lambda g, a: g * np.cosh(a))
cosh = elementwise("cosh", np.cosh, lambda g, a: g * np.sinh(a))
tanh = elementwise("tanh", np.tanh, lambda g, y: g * (1.0 - y * y))
asinh = elementwise("asinh", np.arcsinh, lambda g, y: g / np.cosh(y))
acosh = elementwise("acosh", np.arccosh, lambda g, y: g / np.sinh(y), sample=(1.1, 3.0))
atanh = elementwise("atanh", np.arctanh, lambda g, a: g / (1.0 - np.square(a)), sample=UNIT)
atan2 = elementwise(
    "atan2",
    np.arctan2,
    (lambda g, a, b: g * (b / (a * a + b * b)), lambda g, a, b: g * (-a / (a * a + b * b))),
    sample=(POSITIVE, POSITIVE),
)

# --- special functions --------------------------------------------------------------------------
erf = elementwise(
    "erf", SPECIAL.erf, lambda g, a: g * (2.0 / math.sqrt(math.pi)) * np.exp(-np.square(a))
)
erfc = elementwise(
    "erfc", SPECIAL.erfc, lambda g, a: g * (-2.0 / math.sqrt(math.pi)) * np.exp(-np.square(a))
)
lgamma = elementwise("lgamma", SPECIAL.gammaln, lambda g, a: g * digamma(a), sample=POSITIVE)
digamma = elementwise(
    "digamma", SPECIAL.psi, lambda g, a: g * polygamma(np.ones_like(a), a), sample=POSITIVE
)
polygamma = elementwise(
    "polygamma",
    SPECIAL.polygamma,
    (
        Flat("the order of a polygamma function is a whole number"),
        lambda g, a, b: g * polygamma(a + 1.0, b),
    ),
    sample=((1, 1), (0.5, 3.0)),
)

# --- steps --------------------------------------------------------------------------------------
floor = elementwise("floor", np.floor, Flat("floor is " + STEP))
ceil = elementwise("ceil", np.ceil, Flat("ceil is " + STEP))
# Halves go to the even neighbour in NumPy and in TensorFlow.
round = elementwise("round", np.round, Flat("round is " + STEP), takes=NUMBERS)
sign = elementwise("sign", np.sign, Flat("sign is " + STEP, gives="zeros"), takes=NUMBERS)
