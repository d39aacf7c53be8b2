"""The state of a gradient: one word for what its numbers look like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

VANISHING, EXPLODING = 1e-6, 1e4
BAD = ("none", "nan", "inf", "zero", "vanishing", "exploding", "wrong", "error")


def state(gradient: Any) -> str:
    """none, nan, inf, zero, vanishing (largest entry below 1e-6), exploding (above 1e4) or ok."""
    if gradient is None:
        return "none"
    sizes = np.abs(np.asarray(gradient, dtype=_wide(gradient)))
    if not sizes.size:
        return "ok"
    largest = sizes.max()
    if np.isfinite(largest):
        if largest == 0:
            return "zero"
        return "vanishing" if largest < VANISHING else "exploding" if largest > EXPLODING else "ok"
    return "nan" if np.isnan(largest) else "inf"


def by_norm(norm: float, size: int) -> str:
    """The state as far as the norm tells: the largest entry is between norm / sqrt(size) and it."""
    if not math.isfinite(norm):
        return "nan" if math.isnan(norm) else "inf"
    if norm == 0:
        return "zero"
    small = norm < VANISHING * math.sqrt(size)
    return "vanishing" if small else "exploding" if norm > EXPLODING else "ok"


def norm(gradient: Any) -> float | None:
    """The Euclidean norm, in float64."""
    if gradient is None:
        return None
    flat = np.asarray(gradient, dtype=_wide(gradient)).ravel()
    return float(np.sqrt(np.vdot(flat, flat).real))


def _wide(gradient: Any) -> Any:
    return np.complex128 if gradient.dtype.kind == "c" else np.float64
