"""Ops on each element: arithmetic, powers, exponentials, trigonometry, steps.

g: cotangent; a, b: operands; y: result. Rules are written for real numbers; of complex ones the
sweep takes the conjugates (an op that is not holomorphic lives in `complex.py`). `sample` is the
interval that tests draw operands from, where it is not (-2, 2). `real` on arithmetic: TensorFlow
does not conjugate there. Special functions have a file of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from ..core.op import NUMBERS, REALS, Op
from .declare import elementwise, op
from .infer import broadcast
from .kernels.choose import only
from .kernels.parallel import MANY, in_blocks, shared
from .kernels.pending import rows_later
from .reasons import Discrete, Flat, Missing
from .shape import cast

POSITIVE = (0.1, 3.0)
UNIT = (-0.9, 0.9)
SIGNED = "ifcV"
FLOATING = "fV"
STEP = "a staircase: its derivative is 0 wherever it exists"
# As arrays without axes, which ufuncs take 0.4 us faster than Python's numbers.
ONE = {char: np.array(1, char) for char in "fdFD"}


def in_float32(forward: Callable[..., Any]) -> Callable[..., Any]:
    """Compute float16 and bfloat16 in float32 and round once: for forwards of several steps."""
    if forward.__code__.co_argcount == 1:  # 0.3 us faster

        def compute_one(a: Any) -> Any:
            if a.dtype.itemsize != 2:
                return forward(a)
            return forward(a.astype(np.float32)).astype(a.dtype)

        return compute_one

    def compute(*values: Any, **params: Any) -> Any:
        dtype = values[0].dtype
        if dtype.itemsize != 2:
            return forward(*values, **params)
        return forward(*[v.astype(np.float32) for v in values], **params).astype(dtype)

    return compute


def costly(name: str, ufunc: Any, pull: Any, **more: Any) -> Op:
    """A function of 1 ns an element or more, which threads may share."""
    return elementwise(name, shared(ufunc), pull, numpy=(ufunc,), **more)


def zero_where(condition: Any, y: Any) -> Any:
    # Asking first saves two thirds of the time where nothing is to be replaced.
    some = condition.any() if condition.__class__ is np.ndarray else condition
    return np.asarray(only(~condition, y), y.dtype)[()] if some else y


# --- arithmetic ---------------------------------------------------------------------------------
def _joined(a: Any, b: Any) -> np.ndarray:
    return np.asarray(a + b, object)  # of two scalars, NumPy's sum is no array


join_texts = op(
    "join_texts", _joined, Discrete("the result is a text"), label="AddV2",
    shape=broadcast, broadcasts=True,
    sample=lambda d: [([np.array([b"a", b"b"], object)] * 2, {})],
)  # fmt: skip
add = elementwise(
    "add", operator.add, (lambda g: g, lambda g: g),
    label="AddV2", numpy=(np.add,), takes=NUMBERS, of_texts=join_texts,
    later=lambda old, g, a, b_shape: None if b_shape is None else rows_later(old, g),
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
    "div", operator.truediv, (lambda g, b: g / b, lambda g, a, b: g * (-a / b / b)),
    label="RealDiv", numpy=(np.true_divide,), sample=((-2, 2), POSITIVE),
)  # fmt: skip
neg = elementwise("neg", operator.neg, lambda g: -g, numpy=(np.negative,), takes=SIGNED)


def _grad_of_square(g: Any, a: Any) -> Any:
    if g.__class__ is ndarray and g.size > 4096 and not all(g.strides) and g.shape == a.shape:
        # Numbers that are seen from several places, as below a mean: one pass instead of two.
        return (2.0 * g[tuple([slice(None if s else 1) for s in g.strides])]) * a
    return g * (2.0 * a)


square = elementwise("square", np.square, _grad_of_square, takes=NUMBERS)


def _squared_difference(a: Any, b: Any) -> Any:
    d = a - b
    return d * np.conj(d) if d.dtype.kind == "c" else d * d


squared_difference = elementwise(
    "squared_difference", _squared_difference,
    (lambda g, a, b: 2.0 * g * (a - b), lambda g, a, b: -2.0 * g * (a - b)),
    takes=SIGNED, real=True,
)  # fmt: skip


def no_kernel(label: str, dtype: np.dtype) -> Exception:
    """The error for a dtype that TensorFlow names for an op but has no kernel for."""
    from ..errors import no_kernel

    return no_kernel(label, dtype.name)


def _none_truncated(b: Any, label: str) -> None:
    """TensorFlow calls a whole number by 0 an error of its own, where quotients are truncated."""
    if not b.all():
        from ..errors import InternalError

        raise InternalError(None, None, f"Integer division by zero [Op:{label}] name: ")


def _no_zero(a: Any, b: Any) -> bool:
    """Whether these are whole numbers, of which the second must not be 0."""
    if a.dtype.kind not in "iu":
        return False
    if not b.all():
        raise ValueError("Integer division by zero")
    return True


def _floordiv(a: Any, b: Any) -> Any:
    if a.dtype.kind == "c":
        raise no_kernel("FloorDiv", a.dtype)
    # NumPy's own gives nan for an infinite quotient.
    return np.floor_divide(a, b) if _no_zero(a, b) else np.floor(a / b)


def _mod(a: Any, b: Any) -> Any:
    whole = _no_zero(a, b)
    y = np.mod(a, b)
    # A remainder of 0 has the sign of the dividend, NumPy's that of the divisor.
    return y if whole else np.where(y == 0, np.copysign(y, a), y)


def _truncatediv(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return np.trunc(a / b)
    _none_truncated(b, "TruncateDiv")
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a))


def _truncatemod(a: Any, b: Any) -> Any:
    if a.dtype.kind in "fV" and a.dtype.itemsize == 2:
        raise no_kernel("TruncateMod", a.dtype)
    if a.dtype.kind == "i":
        _none_truncated(b, "TruncateMod")
    return np.fmod(a, b)


# x - floor(x / y) * y: the quotient is a staircase in both operands.
mod = elementwise(
    "mod", _mod, (lambda g: g, lambda g, a, b: -g * floordiv(a, b)),
    label="FloorMod", sample=((0.2, 0.9), (1.1, 1.9)), takes=REALS, numpy=(np.mod,),
)  # fmt: skip
floordiv: Op = elementwise(
    "floordiv", _floordiv, (Flat("floor division is " + STEP), Flat("floor division is " + STEP)),
    label="FloorDiv", sample=((-2, 2), POSITIVE), takes=REALS, numpy=(np.floor_divide,),
)  # fmt: skip
truncatediv = elementwise(
    "truncatediv", _truncatediv, (Flat("a whole quotient is " + STEP),) * 2,
    label="TruncateDiv", sample=((-2, 2), POSITIVE), takes=REALS,
)  # fmt: skip
truncatemod = elementwise(
    "truncatemod", _truncatemod, (Missing("TensorFlow has no derivative of truncatemod"),) * 2,
    label="TruncateMod", sample=((-2, 2), POSITIVE), takes="ifV",
)  # fmt: skip
divide_no_nan: Op = elementwise(
    "divide_no_nan", lambda a, b: zero_where(b == 0, a / b),
    (
        lambda g, b: divide_no_nan(g, b),
        lambda g, a, b: g * divide_no_nan(divide_no_nan(-a, b), b),
    ),
    label="DivNoNan", sample=((-2, 2), POSITIVE),
)  # fmt: skip
multiply_no_nan: Op = elementwise(
    "multiply_no_nan", lambda a, b: zero_where(b == 0, a * b),
    (lambda g, b: multiply_no_nan(g, b), lambda g, a: multiply_no_nan(a, g)),
    label="MulNoNan", real=True,
)  # fmt: skip
# A tie gives everything to the first operand, as in TensorFlow.
maximum = elementwise(
    "maximum", np.maximum,
    (lambda g, a, b: only(a >= b, g), lambda g, a, b: only(~(a >= b), g)),
    takes=REALS,
)  # fmt: skip
minimum = elementwise(
    "minimum", np.minimum,
    (lambda g, a, b: only(a <= b, g), lambda g, a, b: only(~(a <= b), g)),
    takes=REALS,
)  # fmt: skip
nextafter = elementwise(
    "nextafter", np.nextafter,
    (lambda g: g, Flat("only the direction of the next number depends on it", gives="zeros")),
    label="NextAfter", takes="f",
)  # fmt: skip

# --- powers and exponentials --------------------------------------------------------------------
# Of these three TensorFlow's derivatives are kernels of their own, which give 0 for a cotangent of
# 0 whatever the derivative, so that tf.where may hide their poles; hence np.reciprocal in other
# rules.
sqrt = elementwise(
    "sqrt", np.sqrt, lambda g, y: sqrt_grad(g, y), sample=POSITIVE,
    hides_pole=True,
)  # fmt: skip
sqrt_grad: Op = elementwise(
    "sqrt_grad", lambda a, b: zero_where(a == 0, a / (b + b)),
    (lambda g, b: g / (b + b), lambda g, b, y: -g / b * y),
    label="SqrtGrad", sample=((-2, 2), POSITIVE),
)  # fmt: skip
rsqrt = elementwise(
    "rsqrt", lambda a: np.reciprocal(np.sqrt(a)), lambda g, y: rsqrt_grad(g, y), sample=POSITIVE
)
rsqrt_grad: Op = elementwise(
    "rsqrt_grad", lambda a, b: zero_where(a == 0, a * b * (b * b) / b.dtype.type(-2)),
    (lambda g, b: rsqrt_grad(g, b), lambda g, a, b: -1.5 * g * a * np.square(b)),
    label="RsqrtGrad",
)  # fmt: skip
reciprocal = elementwise(
    "reciprocal", np.reciprocal, lambda g, y: reciprocal_grad(g, y), sample=POSITIVE, takes=SIGNED
)
reciprocal_grad: Op = elementwise(
    "reciprocal_grad", lambda a, b: zero_where(a == 0, -a * b * b),
    (lambda g, b: reciprocal_grad(g, b), lambda g, a, b: -2.0 * g * a * b),
    label="ReciprocalGrad",
)  # fmt: skip


def _log_or_zero(a: Any) -> Any:
    good = a != 0 if a.dtype.kind == "c" else a > 0
    return np.where(good, np.log(np.where(good, a, 1.0)), 0.0)


def _power(a: Any, b: Any) -> Any:
    # Small whole exponents by products: of 1 M float32 the cube takes 0.5 ms, np.power 10.
    if b.__class__ is not ndarray and a.dtype.kind in "fc":
        if b == 2:
            return a * a
        if b == 3:
            return a * a * a
        if b == 1:
            return a
        if b == 0.5 and a.dtype.kind == "f":
            # NumPy takes the root, which differs from the power at -0.0 and -inf.
            return np.where(a == float("-inf"), a.dtype.type("inf"), np.sqrt(a + 0))
    return np.power(a, b)


power: Op = elementwise(
    "power", _power,
    # The logarithm of a base that is not positive counts as 0, so that y^x has a gradient there.
    (lambda g, a, b: g * b * power(a, b - 1.0), lambda g, a, y: g * y * _log_or_zero(a)),
    label="Pow", numpy=(np.power,), sample=(POSITIVE, (-2, 2)), takes=SIGNED,
)  # fmt: skip
exp = costly("exp", np.exp, lambda g, y: g * y)
expm1 = costly("expm1", np.expm1, lambda g, a: g * exp(a))
log = costly("log", np.log, lambda g, a: g * np.reciprocal(a), sample=POSITIVE)
log1p = costly(
    "log1p", np.log1p, lambda g, a: g * np.reciprocal(1.0 + a), label="Log1p", sample=POSITIVE
)


@in_float32
def _sigmoid(a: Any) -> Any:
    # 1 / (1 + exp(-a)): exp may overflow, and then the result is the 0 that it should be.
    if a.__class__ is not ndarray:
        return np.reciprocal(np.exp(-a) + a.dtype.type(1))
    if a.size >= MANY and a.dtype.char in "fd":
        return in_blocks(_sigmoid_of, 0, a)
    y = np.negative(a)
    np.exp(y, y)
    np.add(y, ONE[a.dtype.char], y)
    return np.reciprocal(y, y)


def _sigmoid_of(a: Any, y: Any) -> None:
    np.negative(a, y)
    np.exp(y, y)
    np.add(y, ONE[y.dtype.char], y)
    np.reciprocal(y, y)


@in_float32
def _softplus(a: Any) -> Any:
    """log(1 + exp(a)) = max(a, 0) + log1p(exp(-|a|)), where exp cannot overflow."""
    if a.__class__ is not ndarray:
        return np.maximum(a, 0) + np.log1p(np.exp(-np.abs(a)))
    y = np.abs(a)
    np.negative(y, y)
    np.exp(y, y)
    if y.size < 4096:
        np.log1p(y, y)
    else:
        # log1p(e) = log(u) + (e - (u - 1)) / u with u = 1 + e: 5 ms for 1 M float32, where
        # np.log1p takes 10.
        u = y + 1
        y -= u - 1
        y /= u
        y += np.log(u, u)
    y += np.maximum(a, 0)
    return y


# With one temporary array instead of three.
def _sigmoid_grad(a: Any, b: Any) -> Any:
    if b.__class__ is not ndarray or b.dtype.char not in "fd":
        return a * ((b.dtype.type(1) - b) * b)  # ml_dtypes 0.5 takes 1 for a float32
    t = ONE[b.dtype.char] - b
    np.multiply(t, b, t)
    return np.multiply(t, a, t) if a.shape == t.shape else t * a


def _tanh_grad(a: Any, b: Any) -> Any:
    if b.__class__ is not ndarray or b.dtype.char not in "fd":
        return a * (b.dtype.type(1) - b * b)
    t = b * b
    np.subtract(ONE[b.dtype.char], t, t)
    return np.multiply(t, a, t) if a.shape == t.shape else t * a


sigmoid_grad: Op = elementwise(
    "sigmoid_grad",
    _sigmoid_grad,
    (lambda g, b: sigmoid_grad(g, b), lambda g, a, b: g * a * (1.0 - 2.0 * b)),
    label="SigmoidGrad",
)
sigmoid = elementwise("sigmoid", _sigmoid, lambda g, y: sigmoid_grad(g, y))
softplus = elementwise("softplus", _softplus, lambda g, a: g * sigmoid(a), takes=FLOATING)
log_sigmoid = elementwise(
    "log_sigmoid", lambda a: -_softplus(-a), lambda g, a: g * sigmoid(-a),
    label="Softplus", kind="LogSigmoid", takes=FLOATING,
)  # fmt: skip
softsign = elementwise(
    "softsign", in_float32(lambda a: a / (1 + np.abs(a))), lambda g, a: softsign_grad(g, a),
    takes=FLOATING,
)  # fmt: skip
softsign_grad: Op = elementwise(
    "softsign_grad", in_float32(lambda a, b: a / np.square(1 + np.abs(b))),
    (Missing("TensorFlow has no second derivative of softsign"),) * 2,
    label="SoftsignGrad", takes=FLOATING,
)  # fmt: skip


def _not_zero(a: Any) -> Any:
    return cast(a != 0, dtype=a.dtype)


xlogy: Op = elementwise(
    "xlogy", lambda a, b: zero_where(a == 0, a * np.log(b)),
    (lambda g, a, b: g * xlogy(_not_zero(a), b), lambda g, a, b: g * xdivy(a, b)),
    sample=(POSITIVE, POSITIVE), real=True,
)  # fmt: skip
xlog1py: Op = elementwise(
    "xlog1py", lambda a, b: zero_where(a == 0, a * np.log1p(b)),
    (lambda g, a, b: g * xlog1py(_not_zero(a), b), lambda g, a, b: g * xdivy(a, b + 1.0)),
    label="Xlog1py", sample=(POSITIVE, POSITIVE), real=True,
)  # fmt: skip
xdivy: Op = elementwise(
    "xdivy", lambda a, b: zero_where(a == 0, a / b),
    (lambda g, a, b: g * xdivy(_not_zero(a), b), lambda g, a, b: g * xdivy(-a, np.square(b))),
    sample=(POSITIVE, POSITIVE), real=True,
)  # fmt: skip

# --- trigonometry -------------------------------------------------------------------------------
sin = costly("sin", np.sin, lambda g, a: g * cos(a))
cos: Op = costly("cos", np.cos, lambda g, a: -g * sin(a))
tan = costly("tan", np.tan, lambda g, a: g * np.square(np.reciprocal(np.cos(a))), sample=UNIT)
asin = costly(
    "asin", np.arcsin, lambda g, a: g * np.reciprocal(np.sqrt(1.0 - np.square(a))), sample=UNIT
)
acos = costly(
    "acos", np.arccos, lambda g, a: -g * np.reciprocal(np.sqrt(1.0 - np.square(a))), sample=UNIT
)
atan = costly("atan", np.arctan, lambda g, a: g * np.reciprocal(1.0 + np.square(a)))
sinh = costly("sinh", np.sinh, lambda g, a: g * cosh(a))
cosh: Op = costly("cosh", np.cosh, lambda g, a: g * sinh(a))
tanh_grad: Op = elementwise(
    "tanh_grad",
    _tanh_grad,
    (lambda g, b: tanh_grad(g, b), lambda g, a, b: g * a * (-2.0 * b)),
    label="TanhGrad",
)
tanh = costly("tanh", np.tanh, lambda g, y: tanh_grad(g, y))
asinh = costly("asinh", np.arcsinh, lambda g, y: g / np.cosh(y))
acosh = costly("acosh", np.arccosh, lambda g, y: g / np.sinh(y), sample=(1.1, 3.0))
atanh = costly("atanh", np.arctanh, lambda g, a: g * np.reciprocal(1.0 - np.square(a)), sample=UNIT)
atan2 = elementwise(
    "atan2", np.arctan2,
    (
        lambda g, a, b: b * (g / (np.square(a) + np.square(b))),
        lambda g, a, b: -a * (g / (np.square(a) + np.square(b))),
    ),
    sample=(POSITIVE, POSITIVE), takes=FLOATING,
)  # fmt: skip

# --- steps --------------------------------------------------------------------------------------
floor = elementwise("floor", np.floor, Flat("floor is " + STEP), takes=FLOATING)
ceil = elementwise("ceil", np.ceil, Flat("ceil is " + STEP), takes=FLOATING)
# Halves go to the even neighbour in NumPy and in TensorFlow.
round = elementwise("round", np.round, Flat("round is " + STEP), takes=NUMBERS)
rint = elementwise("rint", np.rint, Flat("rint is " + STEP), takes="f")
sign = elementwise(
    "sign", np.sign, Flat("sign is " + STEP, gives="zeros"), takes=SIGNED
)  # fmt: skip
