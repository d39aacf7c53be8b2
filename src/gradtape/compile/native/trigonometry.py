"""Sine, cosine, tangent and their inverses, in float32 and float64."""

from __future__ import annotations

from .turns import Reduced, outlined, reduce
from .values import Value, horner, where

# (sin(r) / r - 1) / r² as a function of r² for |r| <= π/4, to 2^-28 and 2^-58.
SIN_F32 = -0.16666655, 0.008332191, -0.00019518608
SIN_F64 = (
    -0.16666666666666632, 0.008333333333322486, -0.0001984126982985325, 2.755731370497713e-06,
    -2.5050759868982946e-08, 1.5896884949663102e-10,
)  # fmt: skip
# (cos(r) - 1 + r²/2) / r⁴, likewise, to 2^-33 and 2^-64.
COS_F32 = 0.041666646, -0.0013887301, 2.4430667e-05
COS_F64 = (
    0.0416666666666666, -0.001388888888887447, 2.4801587289666885e-05, -2.755731439925676e-07,
    2.0875728993021517e-09, -1.1359917279547112e-11,
)  # fmt: skip


def _sin_near(a: Reduced, zz: Value) -> Value:
    p = horner(zz, zz.either(SIN_F32, SIN_F64))
    return (p * zz).fma(a.r, a.rest) + a.r


def _cos_near(a: Reduced, zz: Value) -> Value:
    p, half = horner(zz, zz.either(COS_F32, COS_F64)), zz * 0.5
    one = 1.0 - half
    # The rest of 1 - r²/2 first, then what is smaller.
    return one + (((1.0 - one) - half) + (p * zz).fma(zz, -(a.r * a.rest)))


def _wave(a: Reduced, turns: int) -> Value:
    """sin(x + turns π/2)"""
    zz, n = a.r * a.r, a.n + turns
    odd = (n & 1).differs(0)
    y = where(odd, _cos_near(a, zz), _sin_near(a, zz))
    sign = (n & 2) << (30 if y.single else 62)
    return (y.bits() ^ sign).as_real()


@outlined
def sin(x: Value) -> Value:
    y = _wave(reduce(x), 0)
    return where(x.abs() < x.either(2.0**-13, 2.0**-27), x, y)  # for -0.0


@outlined
def cos(x: Value) -> Value:
    return _wave(reduce(x), 1)
