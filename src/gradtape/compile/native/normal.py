"""The error function, its complement, and the parts of gelu, in float32 and float64."""

from __future__ import annotations

import math
import struct

from .exponential import exp, nearest, power_of_two, scaled_exp
from .values import Value, horner, polynomial, where

# erf(x) / x - 1 as a function of x² for |x| < 1, to 2^-28.4 and 2^-55.9.
ERF_F32 = (
    0.12837917, -0.3761263, 0.11283618, -0.026855119, 0.005190718, -0.00080306095, 7.919844e-05,
)  # fmt: skip
ERF_F64 = (
    0.1283791670955126, -0.3761263890318411, 0.11283791670972064, -0.026866170648280834,
    0.005223977655682016, -0.0008548328735061135, 0.00012055394319764103, -1.4927094533967437e-05,
    1.648472397271274e-06, -1.659826180800109e-07, 1.630323496073947e-08, -1.7630769475001635e-09,
    1.6382680158670062e-10,
)  # fmt: skip
# erfc(2.475 + t) for |t| <= 1.48, to 2^-26.8 of 1.
ERFC_FAR_F32 = (
    0.00046494676, -0.0024666958, 0.006105264, -0.00925287, 0.009413665, -0.006536728,
    0.0028880858, -0.0005009377, -0.00031816965, 0.00028908256, -7.8181474e-05, -2.205961e-05,
    1.674659e-05, -2.5036232e-07, -1.0155168e-06,
)  # fmt: skip
# log(erfc(x)) / x for x from 1 to 5.95: erfc(x) to 2^-57.8 of 1.
LOG_ERFC_F64 = (
    -1.1283791081962435, -0.6366202772250465, -0.10277072205226334, 0.019124687789538707,
    0.00021254008197746902, -0.0016932786213831649, 0.0005753356526787865, 4.459803077158429e-07,
    -9.516283250502548e-05, 5.588240035749212e-05, -2.0292033637592764e-05, 5.36757805822389e-06,
    -1.0740568643700804e-06, 1.623126564461524e-07, -1.803977074293241e-08, 1.3943946892629002e-09,
    -6.701127578066486e-11, 1.507850289314993e-12,
)  # fmt: skip
# e^(x²) erfc(x) (1 + x) as a function of (x - 3) / (x + 3), for x from 0 to 10.2, to 2^-31.3.
ERFC_FOR_F32 = (
    0.7160046049804586, -0.23092733486702222, 0.09902071939335079, -0.010235315990274104,
    -0.02380313914704937, 0.021957186512439362, -0.009757147197394152, 0.0016181497685630645,
    0.0006688797866477807, -0.0003529268332243384, -5.07559244055243e-05, 2.3403684583663482e-05,
)  # fmt: skip
# The same for x from 0.5 to 27.3, to 2^-54.7.
ERFC_F64 = (
    0.7160046047255598, -0.2309273330838094, 0.09902075367943158, -0.010235388898982201,
    -0.023803913108131666, 0.021957764011560514, -0.009750689305871373, 0.0016185691488589265,
    0.0006458143644288803, -0.00036728871917828784, -2.0552734217189382e-05, 5.612095759990629e-05,
    -1.5096495718709846e-06, -8.996612396020994e-06, 2.4860056837834853e-07, 1.6057792934755257e-06,
    7.848382521444793e-08, -3.204185616441756e-07, -5.9279098172298495e-08, 7.453995977603772e-08,
    1.634999712364652e-08, -1.5312738160020633e-08,
)  # fmt: skip
# (e^r - 1 - r) / r² for |r| <= log(2) / 2, to 2^-34 of e^r.
EXP_FOR_F32 = (
    0.500000007922462, 0.1666666693849371, 0.04166626501068952, 0.008333243650987619,
    0.0013946439488970595, 0.00019930971428948688,
)  # fmt: skip


def erf(x: Value) -> Value:
    z = x.abs()
    near = horner(x * x, x.either(ERF_F32, ERF_F64)).fma(x, x)
    if x.single:
        far = 1.0 - polynomial(z.at_most(3.95) - 2.475, ERFC_FAR_F32)
    else:
        z = z.at_most(5.95)
        far = 1.0 - exp(polynomial(z, LOG_ERFC_F64) * z)
    return where(z < 1.0, near, far.with_sign_of(x))


def _scaled_erfc(z: Value, coefficients: tuple[float, ...], exact: bool = False) -> Value:
    """e^(z²) erfc(z)"""
    one = z + 1.0
    inverse = 1.0 / (one * (z + 3.0))
    t = (z - 3.0) * one * inverse
    factor = (z + 3.0) * inverse
    if exact:  # 1 / (1 + z) with the rounding of 1 + z and of itself mended
        error = (-one).fma(factor, 1.0) - factor * (z - (one - 1.0))
        factor = error.fma(factor, factor)
    return polynomial(t, coefficients) * factor


def erfc_for_f32(x: Value) -> tuple[Value, Value]:
    """erfc(x) and e^(-x²) of float64 operands, as exact as float32 needs it."""
    z = x.abs().at_most(10.2)
    zz = -(z * z)
    n, bits = nearest(zz, 1 / math.log(2))
    r = n.fma(-math.log(2), zz)
    e = (horner(r, EXP_FOR_F32).fma(r * r, r) + 1.0) * power_of_two(x, bits)
    y = _scaled_erfc(z, ERFC_FOR_F32) * e
    return where(x < 0.0, 2.0 - y, y), e


def erfc(x: Value) -> Value:
    """Within 4 units in the last place in float64, within 1 in float32, by way of float64."""
    if x.single:
        return erfc_for_f32(x.as_double())[0].as_float()
    z = x.abs().at_most(27.3)
    square = z * z
    rest = (-z).fma(z, square)  # -z² = rest - square
    p, p_rest, s = scaled_exp(-square)
    g = _scaled_erfc(z, ERFC_F64, exact=True)
    y = p.fma(g, p_rest.fma(g, p * rest * g)) * s * s
    near = horner(square, ERF_F64).fma(-x, 1.0 - x)
    return where(z < 1.0, near, where(x < 0.0, 2.0 - y, y))


# --- gelu -----------------------------------------------------------------------------------------
# As TensorFlow, which reads its constants as float32.
ROOT = struct.unpack("f", struct.pack("f", math.sqrt(0.5)))[0]
PEAK = ROOT / math.sqrt(math.pi)


def gelu(x: Value) -> Value:
    """x Φ(x) = x erfc(-x / sqrt(2)) / 2, NaN at minus infinity, as TensorFlow.

    As exact as this formula is: below -10 the rounding of x / sqrt(2) shows.
    """
    return x * 0.5 * erfc(x * -ROOT)


def gelu_grad(g: Value, x: Value) -> Value:
    """g (Φ(x) + x φ(x)), with the one exponential that both have."""
    z = x * -ROOT
    if x.single:
        c, e = (part.as_float() for part in erfc_for_f32(z.as_double()))
    else:
        c, e = erfc(z), exp(-(z * z))
    return g * (e * PEAK).fma(x, c * 0.5)
