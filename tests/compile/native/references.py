"""What the native functions are measured by: the same in a wider type, and errors in units."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from gradtape.compile.native.normal import PEAK, ROOT

from .harness import in_80_bits

WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}
NARROWER = {np.dtype(wide): narrow for narrow, wide in WIDER.items()}


@cache
def _extended(name: str) -> Callable[[Any], Any]:
    return in_80_bits(name)


def erf(x: Any) -> Any:
    return special.erf(x) if x.dtype == np.float64 else _extended("erfl")(x)


def erfc(x: Any) -> Any:
    return special.erfc(x) if x.dtype == np.float64 else _extended("erfcl")(x)


def sigmoid(x: Any) -> Any:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _scaled(x: Any) -> Any:
    """-x / sqrt(2) as gelu has it: rounded."""
    narrow = NARROWER[x.dtype]
    return (x.astype(narrow) * narrow.type(-ROOT)).astype(x.dtype)


def _or_zero(y: Any) -> Any:
    """Zero where y is that in the narrower type: its product with a very large number is, too."""
    return np.where(y.astype(NARROWER[y.dtype]) == 0, 0, y)


def gelu(x: Any) -> Any:
    return 0.5 * x * _or_zero(erfc(_scaled(x)))


def gelu_grad(g: Any, x: Any) -> Any:
    z = _scaled(x)
    return g * (0.5 * _or_zero(erfc(z)) + x * _or_zero(np.exp(-z * z)) * PEAK)


UNARY: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "log_sigmoid": lambda x: -softplus(-x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": erf,
    "erfc": erfc,
    "gelu": gelu,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "power": np.power,
    "atan2": np.arctan2,
    "xlogy": lambda x, y: np.where(x == 0, 0, x * np.log(y)),
    "xlog1py": lambda x, y: np.where(x == 0, 0, x * np.log1p(y)),
    "gelu_grad": gelu_grad,
}


def units(y: Any, exact: Any) -> Any:
    """The error of `y` in units in its last place; infinity where NaN, infinities or the sign of 0
    are not the exact ones'."""
    rounded = exact.astype(y.dtype)
    finite = np.isfinite(rounded) & np.isfinite(y)
    unit = np.spacing(np.abs(np.where(finite, rounded, 1)))
    error = np.abs(np.where(finite, y - exact, 0)) / unit
    same = (y == rounded) | (np.isnan(y) & np.isnan(rounded))
    # Next to the largest number, what is rounded to infinity may be that number, and it that.
    top = np.finfo(y.dtype).max
    edge = (np.abs(y) >= top) & (np.abs(rounded) >= top) & (np.sign(y) == np.sign(rounded))
    error = np.where(finite | edge, error, np.where(same, 0, np.inf))
    return np.where((exact == 0) & (np.signbit(y) != np.signbit(exact)), np.inf, error)
