"""Where the polynomials of `compile/native` come from: Remez's exchange, in mpmath's numbers.

`python -m tests.compile.native.minimax [name …]` prints the coefficients, lowest power first, with
the interval and the largest weighted error. Needs mpmath, which gradtape itself does not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

mp.prec = 220
Function = Callable[[Any], Any]


def value(coefficients: list[Any], x: Any) -> Any:
    y = mpf(0)
    for c in reversed(coefficients):
        y = y * x + c
    return y


def remez(f: Function, weight: Function, low: Any, high: Any, degree: int) -> tuple[list[Any], Any]:
    """The polynomial p of least max |p - f| weight on [low, high], and that maximum."""
    low, high, n = mpf(low), mpf(high), degree + 2
    centre, half = (low + high) / 2, (high - low) / 2
    # A grid that is dense at both ends, where the extremes crowd.
    grid = [centre - half * mp.cos(mp.pi * (k + mpf(1) / 2) / (40 * n)) for k in range(40 * n)]
    values, weights = [f(x) for x in grid], [weight(x) for x in grid]
    chosen = [40 * k + 20 for k in range(n)]
    for _ in range(30):
        rows = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i, k in enumerate(chosen):
            for j in range(degree + 1):
                rows[i, j] = grid[k] ** j
            rows[i, degree + 1] = (-1) ** i / weights[k]
            right[i] = values[k]
        solved = mp.lu_solve(rows, right)
        p = [solved[j] for j in range(degree + 1)]
        errors = [(value(p, x) - y) * w for x, y, w in zip(grid, values, weights, strict=True)]
        # The extremes: of each run of one sign, the largest.
        chosen = []
        for k, e in enumerate(errors):
            if chosen and (errors[chosen[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[chosen[-1]]):
                    chosen[-1] = k
            else:
                chosen.append(k)
        while len(chosen) > n:
            chosen.pop(0 if abs(errors[chosen[0]]) < abs(errors[chosen[-1]]) else -1)
        worst = max(abs(e) for e in errors)
        if len(chosen) < n or worst < abs(solved[degree + 1]) * mpf("1.001"):
            break
    return p, worst


def rounded(f: Any, w: Any, low: Any, high: Any, degree: int, kind: Any) -> Any:
    """Coefficients of the type `kind`: each of the first three is rounded and then the rest fitted
    anew, so that it takes up the rounding error."""
    done: list[Any] = []
    for k in range(3):
        fixed = list(done)
        rest = lambda x, k=k, fixed=fixed: (f(x) - value(fixed, x)) / x**k
        p, _ = remez(rest, lambda x, k=k: w(x) * x**k, low, high, degree - k)
        done.append(mpf(float(kind(p[0]))))
    done += [mpf(float(kind(c))) for c in p[1:]]
    grid = [mpf(low) + (mpf(high) - low) * (k + mpf(1) / 2) / 2000 for k in range(2000)]
    return [float(c) for c in done], max(abs((value(done, x) - f(x)) * w(x)) for x in grid)


f32, f64 = np.float32, np.float64
LN2 = mp.log(2)
ROOT = mp.sqrt(2)


def series(f: Function, terms: Function, threshold: str = "1e-12") -> Function:
    """f, and near 0, where it is a quotient of nothing by nothing, its power series."""

    def either(x: Any) -> Any:
        if abs(x) > mpf(threshold):
            return f(x)
        return sum((terms(k) * x**k for k in range(6)), mpf(0))

    return either


exp_rest = series(lambda r: (mp.exp(r) - 1 - r) / r**2, lambda k: 1 / mp.factorial(k + 2))
log_rest = series(lambda f: (mp.log1p(f) - f) / f**2, lambda k: mpf((-1) ** (k + 1)) / (k + 2))
atanh_rest = series(
    lambda z: 2 * (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, lambda k: mpf(2) / (2 * k + 3)
)
sin_rest = series(
    lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
    lambda k: mpf((-1) ** (k + 1)) / mp.factorial(2 * k + 3),
)
cos_rest = series(
    lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
    lambda k: mpf((-1) ** k) / mp.factorial(2 * k + 4),
)
atan_rest = series(
    lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
    lambda k: mpf((-1) ** (k + 1)) / (2 * k + 3),
)
asin_rest = series(
    lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
    lambda k: mp.binomial(2 * k + 2, k + 1) / (mpf(4) ** (k + 1) * (2 * k + 3)),
)
erf_part = series(
    lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
    lambda k: 2 / mp.sqrt(mp.pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1)) - (k == 0),
)


def scaled_erfc(t: Any) -> Any:
    """e^(x²) erfc(x) (1 + x) with x = 3 (1 + t) / (1 - t)."""
    x = 3 * (1 + t) / (1 - t)
    return mp.exp(x * x) * mp.erfc(x) * (1 + x)


def where_t_is(x: str) -> Any:
    return (mpf(x) - 3) / (mpf(x) + 3)


QUARTER = (mp.pi / 4 + mpf("1e-4")) ** 2

# name: what is fitted, by which weight its errors count, from, to, degree, dtype of coefficients.
FITS: dict[str, tuple[Any, ...]] = {
    # (e^r - 1 - r) / r²
    "EXP_WIDE_F32": (exp_rest, lambda r: r**2 / mp.exp(r), -LN2 * 1.001, LN2 * 1.001, 6, f32),
    "EXP_WIDE_F64": (exp_rest, lambda r: r**2 / mp.exp(r), -LN2 * 1.001, LN2 * 1.001, 11, f64),
    "EXP_F32": (exp_rest, abs, -LN2 * 0.501, LN2 * 0.501, 4, f32),
    "EXP_F64": (exp_rest, abs, -LN2 * 0.501, LN2 * 0.501, 10, f64),
    "EXP_FOR_F32": (exp_rest, lambda r: r**2, -LN2 * 0.501, LN2 * 0.503, 5, f64),
    # (log(1 + f) - f) / f²
    "LOG_F32": (
        log_rest, lambda f: f**2 / abs(mp.log1p(f)),
        1 / ROOT - 1 - mpf("1e-6"), ROOT - 1 + mpf("1e-6"), 8, f32,
    ),
    # (log((1 + s) / (1 - s)) - 2 s) / s³ of s²
    "LOG_F64": (atanh_rest, lambda z: z / 2, mpf(0), mpf("0.02945"), 6, f64),
    "LOG_FOR_F32": (atanh_rest, lambda z: z / 2, mpf(0), mpf("0.02945"), 3, f64),
    # the same less its first term 2/3, over s²
    "LOG_LESS_F64": (
        lambda z: (atanh_rest(z) - mpf(2) / 3) / z, lambda z: z**2 / 2, mpf("1e-12"),
        mpf("0.02945"), 6, f64,
    ),
    # erf(x) / x - 1 of x²
    "ERF_F32": (erf_part, lambda z: 1, mpf(0), mpf(1), 6, f32),
    "ERF_F64": (erf_part, lambda z: 1, mpf(0), mpf(1), 12, f64),
    # erfc(2.475 + t); log(erfc(x)) / x
    "ERFC_FAR_F32": (
        lambda t: mp.erfc(mpf("2.475") + t), lambda t: 1, mpf("-1.48"), mpf("1.48"), 14, f32,
    ),
    "LOG_ERFC_F64": (
        lambda x: mp.log(mp.erfc(x)) / x, lambda x: x * mp.erfc(x), mpf(1), mpf("5.95"), 17, f64,
    ),
    # e^(x²) erfc(x) (1 + x) of (x - 3) / (x + 3), for float32 and for float64
    "ERFC_FOR_F32": (
        scaled_erfc, lambda t: 1 / scaled_erfc(t), where_t_is("0"), where_t_is("10.2"), 11, f64,
    ),
    "ERFC_F64": (
        scaled_erfc, lambda t: 1 / scaled_erfc(t), where_t_is("0.5"), where_t_is("27.3"), 21, f64,
    ),
    # (sin(r) / r - 1) / r² and (cos(r) - 1 + r²/2) / r⁴ of r²
    "SIN_F32": (sin_rest, lambda z: z, mpf(0), QUARTER, 2, f32),
    "SIN_F64": (sin_rest, lambda z: z, mpf(0), QUARTER, 5, f64),
    "COS_F32": (cos_rest, lambda z: z * z, mpf(0), QUARTER, 2, f32),
    "COS_F64": (cos_rest, lambda z: z * z, mpf(0), QUARTER, 5, f64),
    # (atan(t) / t - 1) / t² of t²
    "ATAN_F32": (atan_rest, lambda z: z, mpf(0), mpf(1), 8, f32),
    "ATAN_F64": (atan_rest, lambda z: z, mpf(0), mpf(1), 19, f64),
    # (asin(t) / t - 1) / t² of t²
    "ASIN_F32": (asin_rest, lambda z: z, mpf(0), mpf("0.25"), 4, f32),
    "ASIN_F64": (asin_rest, lambda z: z, mpf(0), mpf("0.25"), 11, f64),
}  # fmt: skip


def main(names: list[str]) -> None:
    for name in names or FITS:
        coefficients, error = rounded(*FITS[name])
        low, high = (float(x) for x in FITS[name][2:4])
        print(f"# {name}: on [{low:.4g}, {high:.4g}] to 2^{float(mp.log(error, 2)):.1f}")
        print("(" + ", ".join(str(FITS[name][5](c)) for c in coefficients) + ")")


if __name__ == "__main__":
    main(sys.argv[1:])
