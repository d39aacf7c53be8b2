"""`tf.math`: functions of numbers, element by element; those over axes are in `reductions.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import agree, matching, truths
from ..framework.functions import binary, over_values, unary
from ..framework.indexed_slices import IndexedSlices
from ..framework.tensor import absolute, divisible
from ..framework.tensor import divide as true_divide
from ..ops import compare, elementwise
from ..ops import complex as complex_ops
from ..ops import special as special_ops
from ..ops.shape import add_n as sum_of
from ..ops.shape import cast

# --- arithmetic -----------------------------------------------------------------------------------
multiply = binary(elementwise.mul, "multiply", "x * y, element by element.")
subtract = binary(elementwise.sub, "subtract", "x - y, element by element.")
negative = unary(elementwise.neg, "negative", "-x.")
square = unary(elementwise.square, "square", "x * x.")


def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """(x - y) * (x - y)."""
    return _not_short(elementwise.squared_difference.apply(x, y), "SquaredDifference")


def _not_short(result: Any, label: str) -> Any:
    """A result, if TensorFlow's op is declared for its dtype: not for whole numbers of few bits."""
    if result._value.dtype.name in ("int8", "int16"):
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {result.dtype.name} is not in the list of allowed values: "
            f"int32, int64 and floating-point numbers; cast the arguments first [Op:{label}]"
        )
    return result


floordiv = binary(elementwise.floordiv, "floordiv", "x / y rounded down; it has no gradient.")
floormod = binary(elementwise.mod, "floormod", "x - floor(x / y) * y, with the sign of y.")
mod = floormod
truncatediv = binary(elementwise.truncatediv, "truncatediv", "x / y rounded towards zero.")


def truncatemod(x: Any, y: Any, name: str | None = None) -> Any:
    """The rest of truncatediv."""
    return _not_short(elementwise.truncatemod.apply(x, y), "TruncateMod")


def realdiv(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y of floating-point numbers."""
    x, y = matching("RealDiv", [x, y])
    if x._value.dtype.kind in "iu":
        raise errors.no_kernel("RealDiv", x.dtype.name)
    return elementwise.div.apply(x, y)


def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """x * y, but 0 wherever y is 0."""
    a = convert.to_tensor(x)
    return elementwise.multiply_no_nan.apply(a, convert.to_tensor(y, a._value.dtype))


xdivy = binary(elementwise.xdivy, "xdivy", "x / y, but 0 wherever x is 0.")
xlogy = binary(elementwise.xlogy, "xlogy", "x * log(y), but 0 wherever x is 0.")
xlog1py = binary(elementwise.xlog1py, "xlog1py", "x * log(1 + y), but 0 wherever x is 0.")
maximum = binary(
    elementwise.maximum, "maximum", "The larger of x and y; a tie passes its gradient to x."
)
minimum = binary(
    elementwise.minimum, "minimum", "The smaller of x and y; a tie passes its gradient to x."
)
pow = binary(
    elementwise.power,
    "pow",
    "x to the power of y; by y, its derivative is 0 where x is not positive.",
)


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, element by element; y takes the dtype of x."""
    return elementwise.add.apply(convert.to_tensor(x), y)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, element by element; whole numbers are divided as floating-point ones."""
    return true_divide(x, y)


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, element by element; whole numbers are divided as floating-point ones."""
    a = convert.to_tensor(x)
    return elementwise.div.apply(*divisible(a, convert.to_tensor(y, hint=a._value.dtype)))


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y, but 0 wherever y is 0.

    >>> import gradtape as tf
    >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0. , 0.5], dtype=float32)>
    """
    if convert.is_tensor_like(y) and not convert.is_tensor_like(x):
        y = convert.to_tensor(y)
        x = convert.to_tensor(x, y._value.dtype)
    else:
        x = convert.to_tensor(x)
        y = convert.to_tensor(y, None if convert.is_tensor_like(y) else x._value.dtype)
    return elementwise.divide_no_nan.apply(*divisible(x, y))


def reciprocal(x: Any, name: str | None = None) -> Any:
    """1 / x."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind == "i":
        raise errors.no_kernel("Reciprocal", x.dtype.name)
    return elementwise.reciprocal.apply(x)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """1 / x, but 0 wherever x is 0."""
    x = convert.to_tensor(x)
    return elementwise.divide_no_nan.apply(convert.to_tensor(1, x._value.dtype), x)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number times a tensor, or times the rows of an IndexedSlices."""
    values = x.values if isinstance(x, IndexedSlices) else convert.to_tensor(x)
    scalar = convert.to_tensor(scalar, values._value.dtype)
    if scalar._value.ndim:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    product = elementwise.mul.apply(scalar, values)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(product, x.indices, x.dense_shape)
    return product


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of a list of tensors of one shape and dtype.

    >>> import gradtape as tf
    >>> tf.add_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>
    """
    parts = [] if isinstance(inputs, dict) else [convert.to_tensor(part) for part in inputs]
    if not parts:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype "
            f"and shape, got {inputs!r}."
        )
    if len(parts) == 1:
        return parts[0]
    first = parts[0]._value
    for i, part in enumerate(parts):
        if part._value.dtype != first.dtype:
            raise convert.mismatch(sum_of, first.dtype, part._value.dtype)
        if not agree(part._value.shape, first.shape):
            raise errors.invalid(
                f"Inputs to operation AddN must have the same size and shape. Input 0: "
                f"{list(first.shape)} != input {i}: {list(part._value.shape)} [Op:AddN] name: "
            )
    if first.dtype.kind not in sum_of.takes or first.dtype.kind in "bO":
        raise convert.wrong_dtype(sum_of, first.dtype)
    return sum_of.apply(*parts)


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Any:
    """The sum of a list of tensors, as `add_n`, whose shape and dtype may be stated."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape, got "
            f"{inputs!r}."
        )
    parts = [convert.to_tensor(part) for part in inputs]
    if len({part.dtype for part in parts}) > 1:
        raise ValueError(
            "inputs must be a list of at least one Tensor with the same dtype and shape, got "
            f"{', '.join(part.dtype.name for part in parts)}."
        )
    for part in parts:
        if not part.shape.is_compatible_with(parts[0].shape if shape is None else shape):
            raise ValueError(f"Shapes {parts[0].shape} and {part.shape} are not compatible")
        if part._value.dtype != parts[0]._value.dtype:
            raise ValueError(
                "inputs must be a list of at least one Tensor with the same dtype and shape, got "
                f"{parts[0].dtype!r} and {part.dtype!r}."
            )
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) != parts[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {parts[0].dtype}")
    return add_n(parts)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The polynomial whose coefficients, the highest power's first, are in a list."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert.to_tensor(x)
    if not coeffs:
        return tensor(np.zeros(x._value.shape, x._value.dtype)[()])
    y = convert.to_tensor(coeffs[0])
    for c in coeffs[1:]:
        y = c + y * x
    return y


# --- powers, exponentials, trigonometry -----------------------------------------------------------
exp = unary(elementwise.exp, "exp", "e to the power of x.")
expm1 = unary(elementwise.expm1, "expm1", "exp(x) - 1, exact for small x.")
log = unary(elementwise.log, "log", "The natural logarithm; its derivative at 0 is infinite.")
log1p = unary(elementwise.log1p, "log1p", "log(1 + x), exact for small x.")
sqrt = unary(elementwise.sqrt, "sqrt", "The square root; its derivative at 0 is infinite.")
rsqrt = unary(elementwise.rsqrt, "rsqrt", "1 / sqrt(x).")
sigmoid = unary(elementwise.sigmoid, "sigmoid", "1 / (1 + exp(-x)).")
log_sigmoid = unary(elementwise.log_sigmoid, "log_sigmoid", "log(sigmoid(x)).")
sin = unary(elementwise.sin, "sin", "The sine of x, in radians.")
cos = unary(elementwise.cos, "cos", "The cosine of x, in radians.")
tan = unary(elementwise.tan, "tan", "The tangent of x, in radians.")
asin = unary(elementwise.asin, "asin", "The angle whose sine is x.")
acos = unary(elementwise.acos, "acos", "The angle whose cosine is x.")
atan = unary(elementwise.atan, "atan", "The angle whose tangent is x.")
sinh = unary(elementwise.sinh, "sinh", "The hyperbolic sine.")
cosh = unary(elementwise.cosh, "cosh", "The hyperbolic cosine.")
tanh = unary(elementwise.tanh, "tanh", "The hyperbolic tangent.")
asinh = unary(elementwise.asinh, "asinh", "The inverse of sinh.")
acosh = unary(elementwise.acosh, "acosh", "The inverse of cosh, for x from 1.")
atanh = unary(elementwise.atanh, "atanh", "The inverse of tanh, for x between -1 and 1.")


def atan2(y: Any, x: Any, name: str | None = None) -> Any:
    """The angle of the point (x, y), between -pi and pi."""
    return elementwise.atan2.apply(y, x)


def softplus(features: Any, name: str | None = None) -> Any:
    """log(1 + exp(x)), without overflow."""
    return elementwise.softplus.apply(features)


def softsign(features: Any, name: str | None = None) -> Any:
    """x / (1 + |x|)."""
    return elementwise.softsign.apply(features)


# --- steps and signs ------------------------------------------------------------------------------
floor = unary(elementwise.floor, "floor", "x rounded down; it has no gradient.")
ceil = unary(elementwise.ceil, "ceil", "x rounded up; it has no gradient.")


def rint(x: Any, name: str | None = None) -> Any:
    """x rounded to the nearest whole number, halves to the even one; it has no gradient."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind in "fV" and x._value.dtype.itemsize == 2:
        raise errors.no_kernel("Rint", x.dtype.name)
    return elementwise.rint.apply(x)


def round(x: Any, name: str | None = None) -> Any:
    """x rounded to the nearest whole number, halves to the even one; it has no gradient."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind in "iu":
        return x
    if x._value.dtype.kind == "c":
        raise errors.no_kernel("Round", x.dtype.name)
    return elementwise.round.apply(x)


@over_values
def abs(x: Any, name: str | None = None) -> Any:
    """|x|, whose derivative at 0 is 0; of complex numbers their size, which is real."""
    return absolute(x)


@over_values
def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1 by the sign of x, with gradient 0; of complex numbers x / |x|."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind != "c":
        return elementwise.sign.apply(x)
    size = cast.apply(complex_ops.complex_abs.apply(x), dtype=x._value.dtype)
    return elementwise.divide_no_nan.apply(x, size)


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Any:
    """The next number that the dtype can hold after x1 towards x2."""
    x1, x2 = matching("NextAfter", [x1, x2], default=("float32", "float64"))
    if x1._value.dtype.itemsize == 2:
        raise convert.wrong_dtype(elementwise.nextafter, x1._value.dtype)
    return elementwise.nextafter.apply(x1, x2)


# --- complex numbers ------------------------------------------------------------------------------
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """real + imag * 1j, of two float32 or two float64 tensors.

    >>> import gradtape as tf
    >>> tf.complex(1.0, 2.0).dtype
    tf.complex64
    """
    x, y = convert.to_tensor(real), convert.to_tensor(imag)
    if x.dtype != y.dtype or x.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {x.dtype.name} "
            f"{y.dtype.name}. They must be consistent, and one of [tf.float32, tf.float64]"
        )
    return complex_ops.to_complex.apply(x, y)


def real(input: Any, name: str | None = None) -> Any:
    """The real part; a real tensor is its own."""
    x = convert.to_tensor(input)
    if x._value.dtype.kind == "c":
        return complex_ops.real.apply(x)
    if x._value.dtype.kind in "bO":
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype}")
    return x


def imag(input: Any, name: str | None = None) -> Any:
    """The imaginary part; a real tensor has 0 and passes no gradient."""
    x = convert.to_tensor(input)
    if x._value.dtype.kind == "c":
        return complex_ops.imag.apply(x)
    kind = x._value.dtype
    if kind.kind == "O":
        return tensor(np.full(x._value.shape, b"", kind))
    return tensor(np.zeros(x._value.shape, kind)[()])


def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; a real tensor is its own."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind == "c":
        return complex_ops.conj.apply(x)
    if x._value.dtype.kind in "bO":
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}.")
    return x


def angle(input: Any, name: str | None = None) -> Any:
    """The angle of a complex number; of a real one 0 or pi, without gradient."""
    x = convert.to_tensor(input)
    value = x._value
    if value.dtype.kind == "c":
        return complex_ops.angle.apply(x)
    if value.dtype.kind not in "fV":
        raise TypeError(f"tf.math.angle takes floating-point or complex numbers, got {x.dtype!r}.")
    number = value.dtype.type
    return tensor(convert.computed(lambda v: np.where(v < 0, number(np.pi), number(0))[()], value))


# --- comparisons and logic ------------------------------------------------------------------------
equal = binary(compare.equal, "equal", "x == y, element by element.")
not_equal = binary(compare.not_equal, "not_equal", "x != y, element by element.")
greater = binary(compare.greater, "greater", "x > y, element by element.")
greater_equal = binary(compare.greater_equal, "greater_equal", "x >= y, element by element.")
less = binary(compare.less, "less", "x < y, element by element.")
less_equal = binary(compare.less_equal, "less_equal", "x <= y, element by element.")


def _truths(x: Any, y: Any) -> tuple[Any, Any]:
    given = (x, y)
    if not all(map(convert.quickly, given)):
        for v in given:
            if convert.is_tensor_like(v):
                convert.to_tensor(v, np.dtype(bool))  # which TensorFlow then complains of first
            else:
                truths(v)
    return truths(x), truths(y)


def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether both are true."""
    return compare.logical_and.apply(*_truths(x, y))


def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether one of them is true, or both."""
    return compare.logical_or.apply(*_truths(x, y))


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Any:
    """Whether just one of them is true."""
    return compare.logical_xor.apply(*_truths(x, y))


def logical_not(x: Any, name: str | None = None) -> Any:
    """Whether x is false."""
    return compare.logical_not.apply(truths(x))


is_nan = unary(compare.is_nan, "is_nan", "Whether x is not a number.")
is_inf = unary(compare.is_inf, "is_inf", "Whether x is infinite.")
is_finite = unary(compare.is_finite, "is_finite", "Whether x is neither infinite nor nan.")

# --- special functions ----------------------------------------------------------------------------
erf = unary(special_ops.erf, "erf", "The error function.")
erfc = unary(special_ops.erfc, "erfc", "1 - erf(x), exact where that is small.")
erfinv = unary(special_ops.erfinv, "erfinv", "The inverse of erf, for x between -1 and 1.")
ndtri = unary(special_ops.ndtri, "ndtri", "The quantile of the standard normal distribution.")
lgamma = unary(special_ops.lgamma, "lgamma", "The logarithm of |gamma(x)|.")
digamma = unary(special_ops.digamma, "digamma", "The derivative of lgamma.")
bessel_i0 = unary(special_ops.bessel_i0, "bessel_i0", "The modified Bessel function of order 0.")
bessel_i1 = unary(special_ops.bessel_i1, "bessel_i1", "The modified Bessel function of order 1.")
bessel_i0e = unary(special_ops.bessel_i0e, "bessel_i0e", "exp(-|x|) bessel_i0(x).")
bessel_i1e = unary(special_ops.bessel_i1e, "bessel_i1e", "exp(-|x|) bessel_i1(x).")


def erfcinv(x: Any, name: str | None = None) -> Any:
    """The inverse of erfc, for x between 0 and 2."""
    return ndtri(0.5 * convert.to_tensor(x)) * -(0.5**0.5)


def polygamma(a: Any, x: Any, name: str | None = None) -> Any:
    """The derivative of order a (a whole number) of digamma at x."""
    return special_ops.polygamma.apply(a, x)


def zeta(x: Any, q: Any, name: str | None = None) -> Any:
    """The Hurwitz zeta function: the sum of (q + n)^-x over n from 0."""
    return special_ops.zeta.apply(x, q)


def igamma(a: Any, x: Any, name: str | None = None) -> Any:
    """The lower incomplete gamma function of x, divided by gamma(a)."""
    return special_ops.igamma.apply(a, x)


def igammac(a: Any, x: Any, name: str | None = None) -> Any:
    """The upper incomplete gamma function of x, divided by gamma(a)."""
    return special_ops.igammac.apply(a, x)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Any:
    """The regularised incomplete beta function; its gradient is that by x alone."""
    a, b, x = matching("Betainc", [a, b, x])
    shapes = {v._value.shape for v in (a, b, x) if v._value.ndim}
    if len(shapes) > 1:
        raise errors.invalid(
            f"Shapes of a, b and x are inconsistent: {a.shape}, {b.shape} and {x.shape}. Those of "
            "betainc must be equal or (); tf.broadcast_to makes them so. [Op:Betainc]"
        )
    return special_ops.betainc.apply(a, b, x)
