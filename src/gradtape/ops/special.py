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
from .elementwise import FLOATING, POSITIVE, UNIT, no_kernel, xlog1py, xlogy
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
erf = elementwise(
    "erf", scipy("erf"), lambda g, a: g * (2.0 / math.sqrt(math.pi)) * np.exp(-np.square(a)),
    takes=FLOATING,
)  # fmt: skip
erfc = elementwise(
    "erfc", scipy("erfc"), lambda g, a: g * (-2.0 / math.sqrt(math.pi)) * np.exp(-np.square(a)),
    takes=FLOATING,
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
    # At a pole both signs are right, so neither is; SciPy takes one at 0.
    return np.where((a <= 0) & (a == np.floor(a)), a.dtype.type("nan"), special.psi(a))


def _zeta(special: Any, a: Any, b: Any) -> Any:
    # At its poles 0, -1, -2, … only an even power has one sign from both sides.
    pole = (b <= 0) & (b == np.floor(b)) & (a % 2 != 0)
    return np.where(pole, b.dtype.type("nan"), special.zeta(a, b))


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
    """The slope of igamma by its second operand: b^(a-1) e^-b / Γ(a)."""
    return np.exp(-b + (a - 1.0) * np.log(b) - lgamma(a))


igamma = elementwise(
    "igamma", scipy("gammainc", "Igamma", COARSE),
    (lambda g, a, b: g * igamma_slope(a, b), lambda g, a, b: g * _density(a, b)),
    sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip
igammac = elementwise(
    "igammac", scipy("gammaincc", "Igammac", COARSE),
    (lambda g, a, b: -g * igamma_slope(a, b), lambda g, a, b: -g * _density(a, b)),
    sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip


def _igamma_slope(special: Any, a: Any, b: Any) -> Any:
    """dP(a, x)/da: P's power series where x is small beside a, elsewhere the continued fraction of
    1 - P, each with its derivative carried along term by term."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    out = np.full(a.shape, np.nan)
    out[(a > 0) & ((x == 0) | (x == np.inf))] = 0.0
    inside = (a > 0) & (x > 0) & (x < np.inf)
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
    total, term, slope, term_slope = np.ones_like(a), np.ones_like(a), 0.0 * a, 0.0 * a
    for n in range(1, TERMS):
        ratio = x / (a + n)
        term_slope = term_slope * ratio - term * ratio / (a + n)
        term = term * ratio
        total, slope = total + term, slope + term_slope
        if (np.abs(term_slope) <= SMALL * np.abs(slope)).all():
            break
    front = np.exp(a * np.log(x) - x - special.gammaln(a + 1))
    return front * (slope + total * (np.log(x) - special.psi(a + 1)))


def _by_fraction(special: Any, a: Any, x: Any) -> Any:
    # 1 - P = x^a e^-x / Γ(a) p/q, where p and q obey the same recurrence of two terms.
    y, z = 1 - a, x - a + 2
    p0, p1, q0, q1 = np.ones_like(a), x + 1, x, z * x
    dp0, dp1, dq0, dq1 = 0.0 * a, 0.0 * a, 0.0 * a, -x
    ratio = p1 / q1
    slope = (dp1 - ratio * dq1) / q1
    for n in range(1, TERMS):
        y, z = y + 1, z + 2
        p0, p1, dp0, dp1 = p1, p1 * z - p0 * y * n, dp1, dp1 * z - p1 - dp0 * y * n + p0 * n
        q0, q1, dq0, dq1 = q1, q1 * z - q0 * y * n, dq1, dq1 * z - q1 - dq0 * y * n + q0 * n
        ratio, before = p1 / q1, slope
        slope = (dp1 - ratio * dq1) / q1
        if (np.abs(slope - before) <= SMALL * np.abs(slope)).all():
            break
        scale = np.where(np.abs(p1) > LARGE, 1 / LARGE, 1.0)
        p0, p1, dp0, dp1 = p0 * scale, p1 * scale, dp0 * scale, dp1 * scale
        q0, q1, dq0, dq1 = q0 * scale, q1 * scale, dq0 * scale, dq1 * scale
    front = np.exp(a * np.log(x) - x - special.gammaln(a))
    return front * (slope + ratio * (np.log(x) - special.psi(a)))


igamma_slope: Op = elementwise(
    "igamma_slope", scipy(_igamma_slope),
    (Missing("TensorFlow has no second derivative of igamma by its first argument"),) * 2,
    label="IgammaGradA", sample=((0.5, 2.0), (0.5, 3.0)), takes=FLOATING,
)  # fmt: skip


def _slope_of_betainc(g: Any, a: Any, b: Any, c: Any) -> Any:
    beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return g * np.exp(xlog1py(b - 1.0, -c) + xlogy(a - 1.0, c) - beta)


betainc = op(
    "betainc", _only_wide(scipy("betainc")), (ORDER, ORDER, _slope_of_betainc),
    shape=np.broadcast_shapes, broadcasts=True, batches=True, takes="f",
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
    # 1 at 0, where the slope is 1/2, as TensorFlow.
    lambda g, a, y: g * np.where(a == 0, 1.0, bessel_i0(a) - y / a),
)  # fmt: skip
bessel_i0e = _bessel(
    "bessel_i0e", "BesselI0e", "i0e", lambda g, a, y: g * (bessel_i1e(a) - np.sign(a) * y)
)
bessel_i1e: Op = _bessel(
    "bessel_i1e", "BesselI1e", "i1e",
    lambda g, a, y: g * np.where(a == 0, 0.5, bessel_i0e(a) - y * (np.sign(a) + 1.0 / a)),
)  # fmt: skip
