"""x^y = e^(y log x), in float32 by way of float64, in float64 by way of a logarithm of 68 bits."""

from __future__ import annotations

import math

from .exponential import exponent, nearest, power_of_two, scaled_exp, split
from .normal import EXP_FOR_F32
from .values import Value, horner, polynomial, where

# (log(1 + f) - 2 s) / s³ as a function of s² with s = f / (2 + f), for 1 + f from sqrt(1/2) to
# sqrt(2), to 2^-37.6.
LOG_FOR_F32 = 0.6666666564372996, 0.4000033561482319, 0.28537279844874186, 0.23582726905997312
# (that - 2/3) / s², to 2^-66.3 of log(1 + f).
LOG_LESS_F64 = (
    0.4000000000000226, 0.28571428570096774, 0.22222222520447604, 0.18181784319319577,
    0.15386759611953468, 0.13256762951519993, 0.1319685185349647,
)  # fmt: skip
TWO_THIRDS = 0.6666666666666666, 3.700743415417188e-17
# log 2 with 42 bits, so that its product with an exponent is exact, and the rest.
LN2_SHORT = 0.6931471805598903, 5.497923018708371e-14


def power(x: Value, y: Value) -> Value:
    positive = _power_for_f32(x, y) if x.single else _power_f64(x, y)
    # The sign of the base stays for odd exponents; fractional ones have no power of it.
    half = y * 0.5
    whole = y.floor().equals(y)
    odd = whole & half.floor().differs(half)
    sign = where(odd, x, x(1.0))
    z = positive.with_sign_of(sign)
    z = where((x < 0.0) & (x > -math.inf) & ~whole, x(math.nan), z)
    z = where(x.is_nan() | y.is_nan(), x + y, z)
    one = y.equals(0.0) | x.equals(1.0) | (x.equals(-1.0) & y.abs().equals(math.inf))
    return where(one, x(1.0), z)


def _limited(log: Value, x: Value) -> Value:
    """The logarithm of |x|, with infinities where it has them."""
    log = where(x.equals(0.0), x(-math.inf), log)
    return where(x.equals(math.inf), x, log)


def _power_for_f32(single: Value, y: Value) -> Value:
    x = single.as_double().abs()
    biased, m = split(x)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    near = (horner(z, LOG_FOR_F32) * z).fma(s, s + s)
    log = _limited(exponent(x, biased).fma(math.log(2), near), x)
    product = (log * y.as_double()).at_most(89.0).at_least(-105.0)
    n, bits = nearest(product, 1 / math.log(2))
    r = n.fma(-math.log(2), product)
    p = polynomial(r, EXP_FOR_F32).fma(r * r, r) + 1.0
    return (p * power_of_two(x, bits)).as_float()


def _power_f64(x: Value, y: Value) -> Value:
    x = x.abs()
    high, low = _long_log(x)
    high = _limited(high, x)
    product = y * high
    rest = y.fma(high, -product) + y * low
    inside = product.abs() < 800.0
    p, p_rest, s = scaled_exp(where(inside, product, product.at_most(710.0)))
    p = p + p.fma(where(inside, rest, x(0.0)), p_rest)
    return p * s * s


def _long_log(x: Value) -> tuple[Value, Value]:
    """log x for positive x as the sum of two numbers, with about 68 bits."""
    small = x < 2.0**-1022
    biased, m = split(where(small, x * 2.0**53, x))
    e = exponent(x, biased) - where(small, x(53.0), x(0.0))
    f = m - 1.0
    # s + s_rest = f / (2 + f)
    d = f + 2.0
    inverse = 1.0 / d
    s = f * inverse
    s_rest = ((-s).fma(d, f) - s * (f - (d - 2.0))) * inverse
    # z + z_rest = s²
    z = s * s
    z_rest = s.fma(s, -z) + s * s_rest * 2.0
    # u + u_rest = 2/3 + z (…)
    first, second = TWO_THIRDS
    more = polynomial(z, LOG_LESS_F64).fma(z, second)
    u = more + first
    u_rest = (first - u) + more
    # w + w_rest = 2 + z u
    zu = z * u
    zu_rest = z.fma(u, -zu) + z.fma(u_rest, z_rest * u)
    w = zu + 2.0
    w_rest = ((2.0 - w) + zu) + zu_rest
    # log(1 + f) = s w
    near = s * w
    near_rest = s.fma(w, -near) + s.fma(w_rest, s_rest * w)
    big, less = LN2_SHORT
    turns = e * big
    high = turns + near
    return high, ((turns - high) + near) + e.fma(less, near_rest)
