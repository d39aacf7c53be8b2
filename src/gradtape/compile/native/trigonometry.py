"""Sine, cosine, tangent and their inverses, in float32 and float64."""

from __future__ import annotations

from .turns import QUARTER_F32, QUARTER_F64, Reduced, outlined, reduce
from .values import Value, by_double, horner, where

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


@by_double
@outlined
def tan(x: Value) -> Value:
    """Within 4 units in the last place in float64."""
    a = reduce(x)
    zz, odd = a.r * a.r, (a.n & 1).differs(0)
    s, c = _sin_near(a, zz), _cos_near(a, zz)
    y = where(odd, -c, s) / where(odd, s, c)
    return where(x.abs() < 2.0**-27, x, y)  # for -0.0


# --- inverses -------------------------------------------------------------------------------------
# (atan(t) / t - 1) / t² as a function of t² for |t| <= 1, to 2^-28.3 and 2^-55.9.
ATAN_F32 = (
    -0.33333302, 0.19998626, -0.14265092, 0.10956663, -0.08416485, 0.05817862, -0.031395145,
    0.0110294055, -0.0018188279,
)  # fmt: skip
ATAN_F64 = (
    -0.33333333333333093, 0.19999999999955462, -0.14285714282803474, 0.11111111013682334,
    -0.09090907119745656, 0.0769228119187017, -0.06666415035360776, 0.05880592762286439,
    -0.052538064187660556, 0.047232961390907484, -0.042217247320173026, 0.036693660724836916,
    -0.029985770668720615, 0.022085384840048378, -0.013995199560643384, 0.007263505285481239,
    -0.002919417351251046, 0.0008435112815089265, -0.00015480287020448386, 1.3489867804403008e-05,
)  # fmt: skip
# (asin(t) / t - 1) / t² as a function of t² for |t| <= 1/2, to 2^-27.6 and 2^-55.9.
ASIN_F32 = 0.16666754, 0.07495252, 0.04547606, 0.024151891, 0.04221231
ASIN_F64 = (
    0.16666666666665383, 0.07500000000342946, 0.044642856823542604, 0.03038195932924236,
    0.022371753564891624, 0.01735977054541431, 0.013884603537107595, 0.012173248586151073,
    0.006510977108623024, 0.019573588127106772, -0.016293601476710086, 0.03195865738908544,
)  # fmt: skip


def _less_than(multiple: int, p: Value) -> Value:
    """multiple π/2 - p"""
    high, low = p.either(QUARTER_F32, QUARTER_F64)[:2]
    return high * multiple - (p - low * multiple)


def _atan_to_one(t: Value) -> Value:
    zz = t * t
    return (horner(zz, t.either(ATAN_F32, ATAN_F64)) * zz).fma(t, t)


def atan(x: Value) -> Value:
    z = x.abs()
    steep = z > 1.0
    p = _atan_to_one(where(steep, x(1.0), z) / where(steep, z, x(1.0)))
    return where(steep, _less_than(1, p), p).with_sign_of(x)


def atan2(y: Value, x: Value) -> Value:
    a, c = y.abs(), x.abs()
    steep = a > c
    t = where(steep, c, a) / where(steep, a, c)
    t = where(a.equals(c), where(c.equals(0.0), x(0.0), x(1.0)), t)  # 0 / 0, infinity by itself
    p = _atan_to_one(t)
    p = where(steep, _less_than(1, p), p)
    left = x.bits() < 0  # -0.0 too
    return where(left, _less_than(2, p), p).with_sign_of(y)


def _asin_parts(x: Value) -> tuple[Value, Value, Value]:
    """Whether |x| > 1/2, and s, t with asin |x| = s + t, or π/2 - 2 (s + t) if so."""
    z = x.abs()
    far = z > 0.5
    zz = where(far, (1.0 - z) * 0.5, z * z)
    s = where(far, zz.sqrt(), z)
    return far, s, horner(zz, x.either(ASIN_F32, ASIN_F64)) * zz * s


def asin(x: Value) -> Value:
    far, s, t = _asin_parts(x)
    high, low = x.either(QUARTER_F32, QUARTER_F64)[:2]
    ss = s + s
    first = high - ss
    rest = (high - first) - ss  # what rounding took
    return where(far, first - ((t + t - low) - rest), s + t).with_sign_of(x)


def acos(x: Value) -> Value:
    far, s, t = _asin_parts(x)
    p, right = s + t, x > 0.0
    near = _less_than(1, where(right, p, -p))
    return where(far, where(right, p + p, _less_than(2, p + p)), near)
