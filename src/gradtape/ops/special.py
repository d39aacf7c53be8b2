"""Special functions: the error function, gamma, beta, zeta and Bessel functions, by SciPy.

SciPy, which costs more than all of gradtape, is imported at the first call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.op import Op
from .declare import elementwise, op
from .elementwise import FLOATING, POSITIVE, UNIT, exp, no_kernel, square, xlog1py, xlogy
from .infer import broadcast
from .kernels.parallel import BLOCK, in_blocks
from .reasons import Missing, Reason

COARSE = ("float16", "bfloat16")


def scipy(function: Callable[..., Any] | str, label: str = "", lacks: Any = ()) -> Any:
    """A forward in the operands' own dtype out of one of SciPy's functions, or of a function of
    `scipy.special` and the operands; TensorFlow's op `label` has no kernel for what it `lacks`."""

    def forward(*values: Any) -> Any:
        from scipy import special

        dtype = values[0].dtype
        if dtype.kind not in FLOATING:
            raise TypeError("only floating-point numbers")
        if dtype.name in lacks:
            raise no_kernel(label, dtype)
        if dtype.itemsize == 2:
            values = tuple(v.astype(np.float32) for v in values)
        if isinstance(function, str):
            y = getattr(special, function)(*values)
        else:
            y = function(special, *values)
        return y if y.dtype is dtype else y.astype(dtype)

    return forward


def _bessel(name: str, label: str, forward: Any, rule: Any) -> Any:
    coarse = scipy(forward, label, ("bfloat16",))
    return elementwise(name, coarse, rule, label=label, takes=FLOATING)


# --- the error function and the normal distribution -----------------------------------------------
# Of float32 by quotients of polynomials fitted to the function, in parts that fit into the cache:
# a million in 3.5 ms in one thread, where SciPy, in float64, takes 18. Both are as close to the
# exact value as TensorFlow's own, to within 6 units in the last place, on the average 0.5.
SEVERAL = 2048  # elements from which some 30 calls of NumPy's are quicker than SciPy


def constants(*numbers: float) -> list[Any]:
    """Arrays without axes, which ufuncs take 0.3 us faster than numbers."""
    return [np.array(x, np.float32) for x in numbers]


# erf(x) = x P(x²) / Q(x²) to 2e-8 for |x| < 3.93, where it rounds to 1.
_P = constants(
    1.1283791455351497, 0.1907734693769363, 0.05278871624964431, 0.0037791116200571605,
    0.000284788783938421, 2.041937995990763e-06,
)  # fmt: skip
_Q = constants(
    1.0, 0.5024013076377782, 0.11425305985043609, 0.014996445474292174, 0.0011650760241625573,
    3.80026959196683e-05,
)  # fmt: skip
# exp(x²) erfc(x) = R(x) / S(x) to 6e-9 for 0 <= x < 10.1, where erfc is 0 in float32.
SCALED_ERFC = (
    (
        1.0000000057170488, 1.238431594145076, 0.7316244527781341, 0.22922770551754074,
        0.03279806951171977,
    ),
    (
        1.0, 2.366811338394455, 2.402275730310157, 1.3254061645424282, 0.4063219203769207,
        0.05813236618130969,
    ),
)  # fmt: skip
_R, _S = (constants(*numbers) for numbers in SCALED_ERFC)
_ONE, _ROUGH = constants(1.0, 1.5 * 2**15)
_SIGN = np.array(-(2**31), np.int32)
_FAR = np.full(BLOCK, 10.1, np.float32)  # with an array np.minimum takes a third of the time


def polynomial(coefficients: list[Any], x: Any, out: Any) -> None:
    np.multiply(x, coefficients[-1], out)
    for c in coefficients[-2:0:-1]:
        np.add(out, c, out)
        np.multiply(out, x, out)
    np.add(out, coefficients[0], out)


def erf_in_blocks(a: Any, y: Any, t: Any, p: Any) -> None:
    np.clip(a, -3.93, 3.93, out=y)
    np.multiply(y, y, t)
    polynomial(_P, t, p)
    np.multiply(y, p, y)
    polynomial(_Q, t, p)
    np.divide(y, p, y)


def erfc_parts(a: Any, y: Any, e: Any, t: Any, p: Any, exact: bool = True) -> None:
    """erfc(a) into `y` and exp(-a²) into `e`, which comes with it."""
    np.absolute(a, t)
    np.minimum(t, _FAR[: t.size], out=t)
    np.multiply(t, t, e)
    if exact:
        # What rounding takes from t²: with t rounded to 12 bits as h, h h is exact.
        np.add(t, _ROUGH, p)
        np.subtract(p, _ROUGH, p)
        np.subtract(t, p, y)
        rest = t + p
        np.multiply(y, rest, y)
        np.multiply(p, p, p)
        np.subtract(p, e, p)
        np.add(y, p, y)
        np.subtract(_ONE, y, y)
    np.negative(e, e)
    np.exp(e, e)
    if exact:
        np.multiply(e, y, e)
    polynomial(_R, t, y)
    np.multiply(y, e, y)
    polynomial(_S, t, p)
    np.divide(y, p, y)
    # 1 - s + s y, where s is the sign of a: 2 - y below 0. By bits, 3 times as quick as copysign.
    sign, bits = p.view(np.int32), y.view(np.int32)
    np.bitwise_and(a.view(np.int32), _SIGN, sign)
    np.bitwise_xor(bits, sign, bits)
    np.bitwise_or(sign, _ONE.view(np.int32), sign)
    np.subtract(_ONE, p, p)
    np.add(y, p, y)


def large(a: Any) -> bool:
    """Whether a kernel in blocks pays."""
    return a.__class__ is np.ndarray and a.size >= SEVERAL and a.dtype.char == "f"


def _quick(kernel: Any, spare: int, small: Any) -> Any:
    return lambda a: in_blocks(kernel, spare, a) if large(a) else small(a)


erf = elementwise(
    "erf", _quick(erf_in_blocks, 2, scipy("erf")),
    lambda g, a: g * (exp(-square(a)) * (2.0 / math.sqrt(math.pi))), takes=FLOATING,
)  # fmt: skip
erfc = elementwise(
    "erfc", _quick(erfc_parts, 3, scipy("erfc")),
    lambda g, a: g * (exp(-square(a)) * (-2.0 / math.sqrt(math.pi))), takes=FLOATING,
)  # fmt: skip
erfinv = elementwise(
    "erfinv", scipy("erfinv", "Erfinv", COARSE),
    lambda g, y: g * (math.sqrt(math.pi) / 2.0) * np.exp(np.square(y)),
    sample=UNIT, takes=FLOATING,
)  # fmt: skip
ndtri = elementwise(
    "ndtri", scipy("ndtri", "Ndtri", COARSE),
    lambda g, y: g * math.sqrt(2.0 * math.pi) * np.exp(np.square(y) / 2.0),
    sample=(0.1, 0.9), takes=FLOATING,
)  # fmt: skip


# --- gamma and zeta functions ---------------------------------------------------------------------
def _lgamma(special: Any, a: Any) -> Any:
    return np.where(np.isinf(a), np.abs(a), special.gammaln(a))


def _digamma(special: Any, a: Any) -> Any:
    # At a pole both signs are right, so neither is; SciPy takes one at 0. TensorFlow takes
    # subnormal numbers for 0.
    pole = ((a <= 0) & (a == np.floor(a))) | (np.abs(a) < np.finfo(a.dtype).tiny)
    return np.where(pole, a.dtype.type("nan"), special.psi(a))


def _zeta(special: Any, a: Any, b: Any) -> Any:
    # At its poles 0, -1, -2, … only an even power has one sign from both sides.
    pole = (b <= 0) & (b == np.floor(b)) & (a % 2 != 0) & (a != 1) & (a != np.inf)
    y = special.zeta(a, b)
    y = np.where(np.isnan(y) & (a > 1) & (b > 1), 0.0, y)  # (1 + …)^-a, where a is very large
    y = np.where((a == 1) | ((a == np.inf) & (b <= 0)), np.inf, y)
    return np.where(pole, b.dtype.type("nan"), y)


def _polygamma(special: Any, a: Any, b: Any) -> Any:
    whole = (a >= 0) & (a == np.floor(a))
    sign = np.where(a % 2 == 0, a.dtype.type(-1), a.dtype.type(1))
    above = sign * special.gamma(a + 1) * _zeta(special, a + 1, b)
    return np.where(whole, np.where(a == 0, _digamma(special, b), above), a.dtype.type("nan"))


ORDER = Reason("TensorFlow has no derivative by the order of the function")
lgamma = elementwise(
    "lgamma", scipy(_lgamma, "Lgamma", ("bfloat16",)), lambda g, a: g * digamma(a),
    sample=POSITIVE, takes=FLOATING,
)  # fmt: skip
digamma: Op = elementwise(
    "digamma", scipy(_digamma, "Digamma", ("bfloat16",)),
    lambda g, a: g * polygamma(np.ones_like(a), a), sample=POSITIVE, takes=FLOATING,
)  # fmt: skip


def _only_wide(forward: Any) -> Any:
    def checked(*values: Any) -> Any:
        if values[0].dtype.itemsize == 2:
            from ..errors import invalid

            raise invalid(
                f"Value for attr 'T' of {values[0].dtype.name} is not in the list of allowed "
                "values: float, double; cast the argument first, for example "
                "tf.cast(x, tf.float32)"
            )
        return forward(*values)

    return checked


zeta: Op = elementwise(
    "zeta", _only_wide(scipy(_zeta)),
    (ORDER, lambda g, a, b: g * (-a * zeta(a + 1.0, b))),
    sample=((1.5, 3.0), (0.5, 2.0)), takes="f",
)  # fmt: skip
polygamma: Op = elementwise(
    "polygamma", _only_wide(scipy(_polygamma)),
    (ORDER, lambda g, a, b: g * polygamma(a + 1.0, b)),
    sample=((1, 1), (0.5, 3.0)), takes="f",
)  # fmt: skip


# --- incomplete gamma and beta functions ----------------------------------------------------------
def _density(a: Any, b: Any) -> Any:
    """The derivative of igamma by its second operand: b^(a-1) e^-b / Γ(a)."""
    return np.exp(-b + (a - 1.0) * np.log(b) - lgamma(a))


def _gamma_part(name: str) -> Any:
    """SciPy's incomplete gamma function with TensorFlow's answers on the border."""

    def forward(special: Any, a: Any, b: Any) -> Any:
        y = getattr(special, name)(a, b)
        y = np.where((a == 0) & (b > 0), np.nan, y)
        zero = (a == np.inf) & (b == np.inf)
        if name == "gammainc":
            zero |= b == 0
        return np.where(zero, 0.0, y)

    return forward


igamma = elementwise(
    "igamma", scipy(_gamma_part("gammainc"), "Igamma", COARSE),
    (lambda g, a, b: g * igamma_grad(a, b), lambda g, a, b: g * _density(a, b)),
    sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip
igammac = elementwise(
    "igammac", scipy(_gamma_part("gammaincc"), "Igammac", COARSE),
    (lambda g, a, b: -g * igamma_grad(a, b), lambda g, a, b: -g * _density(a, b)),
    sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip


def _igamma_grad(special: Any, a: Any, b: Any) -> Any:
    """dP(a, x)/da: P's power series where x is small beside a, elsewhere the continued fraction of
    1 - P, each with its derivative carried along term by term."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    out = np.full(a.shape, np.nan)
    out[(x == 0) | ((a > 0) & (x == np.inf)) | ((a == np.inf) & (x > 0))] = 0.0
    inside = (a > 0) & (a < np.inf) & (x > 0) & (x < np.inf)
    low = inside & ((x <= 1) | (x <= a))
    high = inside & ~low
    if low.any():
        out[low] = _by_series(special, a[low], x[low])
    if high.any():
        out[high] = -_by_fraction(special, a[high], x[high])
    return out[()]


TERMS, SMALL, LARGE = 2000, 2.0**-53, 2.0**52


def _by_series(special: Any, a: Any, x: Any) -> Any:
    # P = x^a e^-x / Γ(a+1) (1 + x/(a+1) + x^2/((a+1)(a+2)) + …)
    total, term, derivative, term_grad = np.ones_like(a), np.ones_like(a), 0.0 * a, 0.0 * a
    for n in range(1, TERMS):
        ratio = x / (a + n)
        term_grad = term_grad * ratio - term * ratio / (a + n)
        term = term * ratio
        total, derivative = total + term, derivative + term_grad
        if (np.abs(term_grad) <= SMALL * np.abs(derivative)).all():
            break
    front = np.exp(a * np.log(x) - x - special.gammaln(a + 1))
    return front * (derivative + total * (np.log(x) - special.psi(a + 1)))


def _by_fraction(special: Any, a: Any, x: Any) -> Any:
    # 1 - P = x^a e^-x / Γ(a) p/q, where p and q obey the same recurrence of two terms.
    y, z = 1 - a, x - a + 2
    p0, p1, q0, q1 = np.ones_like(a), x + 1, x, z * x
    dp0, dp1, dq0, dq1 = 0.0 * a, 0.0 * a, 0.0 * a, -x
    ratio = p1 / q1
    derivative = (dp1 - ratio * dq1) / q1
    for n in range(1, TERMS):
        y, z = y + 1, z + 2
        p0, p1, dp0, dp1 = p1, p1 * z - p0 * y * n, dp1, dp1 * z - p1 - dp0 * y * n + p0 * n
        q0, q1, dq0, dq1 = q1, q1 * z - q0 * y * n, dq1, dq1 * z - q1 - dq0 * y * n + q0 * n
        ratio, before = p1 / q1, derivative
        derivative = (dp1 - ratio * dq1) / q1
        # Four times as coarse as the series: below that it wavers, often for hundreds of terms.
        if (np.abs(derivative - before) <= 4 * SMALL * np.abs(derivative)).all():
            break
        scale = np.where(np.abs(p1) > LARGE, 1 / LARGE, 1.0)
        p0, p1, dp0, dp1 = p0 * scale, p1 * scale, dp0 * scale, dp1 * scale
        q0, q1, dq0, dq1 = q0 * scale, q1 * scale, dq0 * scale, dq1 * scale
    front = np.exp(a * np.log(x) - x - special.gammaln(a))
    return front * (derivative + ratio * (np.log(x) - special.psi(a)))


igamma_grad: Op = elementwise(
    "igamma_grad", scipy(_igamma_grad),
    (Missing("TensorFlow has no second derivative of igamma by its first argument"),) * 2,
    label="IgammaGradA", sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip


def _grad_of_betainc(g: Any, a: Any, b: Any, c: Any) -> Any:
    beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return g * np.exp(xlog1py(b - 1.0, -c) + xlogy(a - 1.0, c) - beta)


def _betainc(special: Any, a: Any, b: Any, c: Any) -> Any:
    """SciPy's, with TensorFlow's answers on the border."""
    y = np.where(np.isinf(a) | np.isinf(b), np.nan, special.betainc(a, b, c))
    y = np.where(c == 0, 0.0, np.where(c == 1, 1.0, y))
    return np.where((a <= 0) | (b <= 0), np.nan, y)


betainc = op(
    "betainc", _only_wide(scipy(_betainc)), (ORDER, ORDER, _grad_of_betainc),
    shape=broadcast, broadcasts=True, batches=True, takes="f",
    sample=lambda d: [([d(3) + 1.5, d(3) + 2.5, 0.5 + 0.4 * d(3)], {})],
)  # fmt: skip


# --- Bessel functions -----------------------------------------------------------------------------
# The growing ones are those with e^-|x| taken out times e^|x|, hence nan at infinity.
bessel_i0 = _bessel(
    "bessel_i0", "BesselI0", lambda special, a: np.exp(np.abs(a)) * special.i0e(a),
    lambda g, a: g * bessel_i1(a),
)  # fmt: skip
bessel_i1: Op = _bessel(
    "bessel_i1", "BesselI1", lambda special, a: np.exp(np.abs(a)) * special.i1e(a),
    # 1 at 0, where the derivative is 1/2, as TensorFlow.
    lambda g, a, y: g * np.where(a == 0, 1.0, bessel_i0(a) - y / a),
)  # fmt: skip
bessel_i0e = _bessel(
    "bessel_i0e", "BesselI0e", "i0e", lambda g, a, y: g * (bessel_i1e(a) - np.sign(a) * y)
)
bessel_i1e: Op = _bessel(
    "bessel_i1e", "BesselI1e", "i1e",
    lambda g, a, y: g * np.where(a == 0, 0.5, bessel_i0e(a) - y * (np.sign(a) + 1.0 / a)),
)  # fmt: skip


def _beyond(name: str, at_most_zero: float, at_infinity: float | None = None) -> Any:
    """One of SciPy's functions with TensorFlow's values where it is not defined."""

    def compute(special: Any, a: Any) -> Any:
        y = getattr(special, name)(a)
        y = np.where(a <= 0, a.dtype.type(at_most_zero), y)
        return y if at_infinity is None else np.where(a == np.inf, a.dtype.type(at_infinity), y)

    return compute


def _oscillating(name: str) -> Any:
    """nan at infinity, as TensorFlow."""

    def compute(special: Any, a: Any) -> Any:
        return np.where(np.isinf(a), a.dtype.type("nan"), getattr(special, name)(a))

    return compute


INF, NAN = math.inf, math.nan


def _y1(special: Any, a: Any) -> Any:
    y = _beyond("y1", -INF, NAN)(special, a)
    # TensorFlow's kernel for 32 bits has 0 times infinity there.
    return y if a.dtype == np.float64 else np.where(a == 0, a.dtype.type(NAN), y)


bessel_j0 = _bessel(
    "bessel_j0", "BesselJ0", _oscillating("j0"), lambda g, a: g * -bessel_j1(a)
)  # fmt: skip
bessel_j1: Op = _bessel(
    "bessel_j1", "BesselJ1", _oscillating("j1"),
    lambda g, a, y: g * np.where(a == 0, 0.5, bessel_j0(a) - y / a),
)  # fmt: skip


def _second_kind(name: str, label: str, forward: Any, rule: Any) -> Any:
    forward = scipy(forward, label, ("bfloat16",))
    return elementwise(name, forward, rule, label=label, takes=FLOATING, sample=(0.5, 3.0))


bessel_k0 = _second_kind(
    "bessel_k0", "BesselK0", _beyond("k0", INF), lambda g, a: g * -bessel_k1(a)
)
bessel_k1: Op = _second_kind(
    "bessel_k1", "BesselK1", _beyond("k1", INF), lambda g, a, y: g * (-bessel_k0(a) - y / a)
)
bessel_k0e = _second_kind(
    "bessel_k0e", "BesselK0e", _beyond("k0e", INF), lambda g, a, y: g * (y - bessel_k1e(a))
)
bessel_k1e: Op = _second_kind(
    "bessel_k1e", "BesselK1e", _beyond("k1e", INF),
    lambda g, a, y: g * (y * (1.0 - 1.0 / a) - bessel_k0e(a)),
)  # fmt: skip
bessel_y0 = _second_kind(
    "bessel_y0", "BesselY0", _beyond("y0", -INF, NAN), lambda g, a: g * -bessel_y1(a)
)
bessel_y1: Op = _second_kind(
    "bessel_y1", "BesselY1", _y1,
    lambda g, a, y: g * (bessel_y0(a) - y / a),
)  # fmt: skip


# --- integrals ------------------------------------------------------------------------------------
def _expint(special: Any, a: Any) -> Any:
    # As TensorFlow, not for negative numbers, where it is -E1(-x).
    return np.where((a < 0) | (a == np.inf), a.dtype.type("nan"), special.expi(a))


def _fresnel(part: int) -> Any:
    """Beyond 36974 the limit, as in TensorFlow: the square's phase is a matter of rounding."""

    def integral(special: Any, a: Any) -> Any:
        limit = np.copysign(a.dtype.type(0.5), a)
        return np.where(np.abs(a) > 36974, limit, special.fresnel(a)[part])

    return integral


def _integral(name: str, label: str, forward: Any, rule: Any, **more: Any) -> Op:
    return elementwise(name, scipy(forward, label, COARSE), rule, label=label, takes="fV", **more)


dawsn = _integral("dawsn", "Dawsn", "dawsn", lambda g, a, y: g * (1.0 - 2.0 * a * y))
expint = _integral("expint", "Expint", _expint, lambda g, a: g * np.exp(a) / a, sample=POSITIVE)
fresnel_cos = _integral(
    "fresnel_cos", "FresnelCos", _fresnel(1),
    lambda g, a: g * np.cos(math.pi / 2.0 * np.square(a)),
)  # fmt: skip
fresnel_sin = _integral(
    "fresnel_sin", "FresnelSin", _fresnel(0),
    lambda g, a: g * np.sin(math.pi / 2.0 * np.square(a)),
)  # fmt: skip
spence = _integral(
    "spence", "Spence", _oscillating("spence"),
    lambda g, a: g * np.where(a == 1, -1.0, np.log(a) / (1.0 - a)), sample=(0.2, 0.8),
)  # fmt: skip
