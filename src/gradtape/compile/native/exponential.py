"""Exponentials, logarithms and what is made of them, in float32 and float64.

Polynomials are fitted by `tests/compile/native/minimax.py`; a comment has the interval and the
relative error of the function that the polynomial is a part of. Without another word a function is
within 2 units in the last place of the true value, everywhere.
"""

from __future__ import annotations

import math

from .values import Value, by_double, polynomial, where

INF, NAN = math.inf, math.nan
# log 2 as the sum of two numbers, in each of the two types.
LN2_F32 = 0.6931471824645996, -1.9046542121259336e-09
LN2_F64 = 0.6931471805599453, 2.3190468138462996e-17

# (e^r - 1 - r) / r² for |r| <= log 2, to 2^-29.5 and 2^-56.3.
EXP_WIDE_F32 = (
    0.5, 0.16666679, 0.041666754, 0.008332193, 0.0013883045, 0.00020158108, 2.5787293e-05,
)  # fmt: skip
EXP_WIDE_F64 = (
    0.4999999999999993, 0.1666666666666696, 0.0416666666667023, 0.008333333333264177,
    0.0013888888883541177, 0.00019841269897707636, 2.4801590850644305e-05, 2.755729873808575e-06,
    2.755615310266523e-07, 2.5055377381753854e-08, 2.106274775741413e-09, 1.5912280078753822e-10,
)  # fmt: skip
# The same for |r| <= log(2) / 2, to 2^-26.1 and 2^-60.9 of e^r - 1.
EXP_F32 = 0.5, 0.16666539, 0.041666605, 0.0083670355, 0.0013920771
EXP_F64 = (
    0.5, 0.16666666666666677, 0.041666666666666664, 0.008333333333321381, 0.0013888888888886372,
    0.00019841269886842968, 2.4801587316405872e-05, 2.7557243408409626e-06, 2.7557285226886075e-07,
    2.5109341472873215e-08, 2.0909878321378285e-09,
)  # fmt: skip
# (log(1 + f) - f) / f² for 1 + f from sqrt(1/2) to sqrt(2), to 2^-27.7.
LOG_F32 = (
    -0.4999999, 0.33333322, -0.2500161, 0.20002227, -0.16608584, 0.14176168, -0.1324149, 0.12942842,
    -0.076747365,
)  # fmt: skip
# (log(1 + f) - 2 s) / s³ as a function of s² with s = f / (2 + f), for the same 1 + f, to 2^-59.5.
LOG_F64 = (
    0.6666666666666735, 0.3999999999940929, 0.28571428743711064, 0.22222198425584566,
    0.18183572568600925, 0.15313825863347483, 0.1479832943467161,
)  # fmt: skip


# --- exponentials ---------------------------------------------------------------------------------
def nearest(x: Value, factor: float) -> tuple[Value, Value]:
    """The whole number n next to x factor, and an integer whose lowest bits are those of n."""
    shift = 1.5 * 2.0**x.mantissa  # what is added to it keeps no fraction
    t = x.fma(factor, shift)
    return t - shift, t.bits()


def power_of_two(like: Value, n: Value) -> Value:
    """2^n, of the lowest bits of n."""
    return ((n << like.mantissa) + like.pattern(1.0)).as_real()


def exp(x: Value) -> Value:
    p, _, s = scaled_exp(x.at_most(x.either(89.0, 710.0)))
    return p * s * s


def scaled_exp(x: Value) -> tuple[Value, Value, Value]:
    """e^x as (p + rest) s s, where the rest is what roundings took from p."""
    # e^x = 2^n 2^n e^r with x = 2 n log 2 + r: with an even power of two, a product of two equal
    # factors reaches the subnormal numbers and infinity without a special case.
    x = x.at_least(x.either(-104.0, -746.0))
    n, bits = nearest(x, 0.5 / math.log(2))
    high, low = x.either(LN2_F32, LN2_F64)
    first = n.fma(-2 * high, x)  # exact
    r = n.fma(-2 * low, first)
    r_rest = n.fma(-2 * low, first - r)
    rr = r * r
    w = polynomial(r, x.either(EXP_WIDE_F32, EXP_WIDE_F64), rr).fma(rr, r)
    p = w + 1.0
    return p, r_rest.fma(p, w - (p - 1.0)), power_of_two(x, bits)


def _exp_less_one(x: Value) -> tuple[Value, Value, Value]:
    """p + rest = e^r - 1 and n with x = n log 2 + r."""
    n, bits = nearest(x, 1 / math.log(2))
    high, low = x.either(LN2_F32, LN2_F64)
    r = n.fma(-low, n.fma(-high, x))  # the first difference is exact
    rr = r * r
    q = polynomial(r, x.either(EXP_F32, EXP_F64), rr)
    p = q.fma(rr, r)
    return p, q.fma(rr, r - p), bits


def expm1(x: Value) -> Value:
    # 2^n e^r - 1 = 2 (2^(n-1) (e^r - 1) + (2^(n-1) - 1/2)), where 2^128 would be infinite.
    inside = x.at_most(x.either(89.0, 710.0)).at_least(x.either(-18.0, -40.0))
    p, rest, n = _exp_less_one(inside)
    s = power_of_two(x, n - 1)
    y = p.fma(s, s - 0.5)
    y = (y + rest.fma(s, p.fma(s, (s - 0.5) - y))) * 2.0
    return where(x.abs() < x.either(2.0**-26, 2.0**-55), x, y)  # -0.0 and subnormal numbers


@by_double
def sinh(x: Value) -> Value:
    """Within 4 units in the last place in float64."""
    # (t + t / (1 + t)) / 2 with t = e^|x| - 1
    z = x.abs()
    t, half = expm1(z), _half_exp(z)
    y = where(z > 22.0, half, (t + t / (t + 1.0)) * 0.5)
    return where(z < 2.0**-28, x, y.with_sign_of(x))


@by_double
def cosh(x: Value) -> Value:
    half = _half_exp(x.abs())
    return half + 0.25 / half


def _half_exp(x: Value) -> Value:
    """e^x / 2, infinite only where that is."""
    p, _, s = scaled_exp(x.at_most(711.0))
    return p * s * (s * 0.5)


def quotient(a: Value, a_rest: Value, b: Value, b_rest: Value) -> Value:
    """(a + a_rest) / (b + b_rest), rounded nearly once."""
    inverse = 1.0 / b
    q = a * inverse
    return ((-q).fma(b_rest, a_rest) + (-q).fma(b, a)).fma(inverse, q)


def tanh(x: Value) -> Value:
    # e / (e + 2) with e = e^(2 |x|) - 1
    z = x.abs()
    p, rest, n = _exp_less_one((z + z).at_most(x.either(20.0, 44.0)))
    s = power_of_two(x, n)
    e = p.fma(s, s - 1.0)
    e_rest = rest.fma(s, p.fma(s, (s - 1.0) - e))
    d = e + 2.0
    return quotient(e, e_rest, d, (e - (d - 2.0)) + e_rest).with_sign_of(x)


def sigmoid(x: Value) -> Value:
    # With e = e^-|x| it is 1 / (1 + e), and below 0 e / (1 + e).
    p, rest, s = scaled_exp(-x.abs())
    ss = s * s
    d = p.fma(ss, 1.0)
    d_rest = rest.fma(ss, p.fma(ss, 1.0 - d))
    below = x < 0.0
    s = where(below, s, x(1.0))
    return quotient(where(below, p, x(1.0)), where(below, rest, x(0.0)), d, d_rest) * s * s


# --- logarithms -----------------------------------------------------------------------------------
def split(x: Value) -> tuple[Value, Value]:
    """The whole number e plus the bias, as an integer, and m with x = 2^e m, m from sqrt(1/2) to
    sqrt(2), for normal positive x."""
    root = x.pattern(math.sqrt(0.5))
    i = x.bits() + (x.pattern(1.0) - root)
    m = ((i & ((1 << x.mantissa) - 1)) + root).as_real()
    return i.shifted_down(x.mantissa), m


def exponent(like: Value, biased: Value) -> Value:
    """The exponent as a float: by bits, as AVX2 has no conversion from 64 bits."""
    if like.single:
        return biased.whole_as(like) - float(like.bias)
    return (biased | like.pattern(2.0**52)).as_real() - (2.0**52 + like.bias)


def log_near_one(f: Value, e: Value, rest: Value | None = None) -> Value:
    """log(1 + f) + e log 2 + rest, for 1 + f from sqrt(1/2) to sqrt(2) and a tiny rest."""
    high, low = f.either(LN2_F32, LN2_F64)
    small = e * low if rest is None else e.fma(low, rest)
    ff = f * f
    if f.single:
        return e.fma(high, polynomial(f, LOG_F32, ff).fma(ff, small) + f)
    # log(1 + f) = f - (f²/2 - s (f²/2 + R)) with R = s² P(s²): f, the exact part, comes last.
    s, half = f / (f + 2.0), ff * 0.5
    z = s * s
    return e.fma(high, f - (half - s.fma(polynomial(z, LOG_F64).fma(z, half), small)))


def log(x: Value) -> Value:
    small = x < x.either(2.0**-126, 2.0**-1022)
    lift = x.either(2.0**24, 2.0**53)
    biased, m = split(where(small, x * lift, x))
    e = exponent(x, biased) - where(small, x(math.log2(lift)), x(0.0))
    y = log_near_one(m - 1.0, e)
    y = where(x > 0.0, y, where(x.equals(0.0), x(-INF), x(NAN)))
    return where(x.equals(INF), x, y)


def log1p(x: Value) -> Value:
    # 1 + x = 2^e (1 + f): f = 2^-e x + (2^-e - 1) has one rounding, though 1 + x had one before.
    biased, _ = split(x + 1.0)
    # 4 * 2^-e, as 2^-128 has no bits of a normal number.
    s = ((-biased + (2 * x.bias + 2)) << x.mantissa).as_real()
    f = (x * 0.25).fma(s, s.fma(0.25, -1.0))
    y = log_near_one(f, exponent(x, biased))
    y = where(x > -1.0, y, where(x.equals(-1.0), x(-INF), x(NAN)))
    # -0.0, subnormal numbers, infinity
    return where((x.abs() < x.either(2.0**-26, 2.0**-55)) | x.equals(INF), x, y)


def softplus(x: Value) -> Value:
    """log(1 + e^x) = max(x, 0) + log(1 + e^-|x|)"""
    p, rest, s = scaled_exp(-x.abs())
    e, rest = p * s * s, rest * s * s
    large = e > math.sqrt(2) - 1
    # 1 + e = 2 (1 + (e - 1) / 2); the rest counts 1 / (1 + e) times, which is about 1 - e/2.
    f, twos = where(large, (e - 1.0) * 0.5, e), where(large, x(1.0), x(0.0))
    return log_near_one(f, twos, rest.fma(e * -0.5, rest)) + x.at_least(0.0)


def log_sigmoid(x: Value) -> Value:
    return -softplus(-x)


# --- inverses of the hyperbolic functions ---------------------------------------------------------
@by_double
def asinh(x: Value) -> Value:
    """Within 4 units in the last place in float64."""
    z = x.abs()
    zz = z * z
    large = z > 2.0**60
    y = log1p(where(large, z, z + zz / ((zz + 1.0).sqrt() + 1.0)))
    return (y + where(large, x(math.log(2)), x(0.0))).with_sign_of(x)


@by_double
def acosh(x: Value) -> Value:
    """Within 4 units in the last place in float64."""
    large, t = x > 2.0**60, x - 1.0
    y = log1p(where(large, x, t + t.fma(t, t + t).sqrt()))
    return where(x < 1.0, x(NAN), y + where(large, x(math.log(2)), x(0.0)))


@by_double
def atanh(x: Value) -> Value:
    """Within 4 units in the last place in float64."""
    z = x.abs()
    return (log1p((z + z) / (1.0 - z)) * 0.5).with_sign_of(x)
