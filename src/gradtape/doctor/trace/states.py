"""The state of a gradient: one word for what its numbers look like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

VANISHING, EXPLODING = 1e-6, 1e4
CANCELLED = "cancelled"  # zero by construction, see `facts/cancelled`: as good as `ok`
SOUND = frozenset({"ok", CANCELLED})
SMALL = 256  # numbers of an array that is worth looking at together with others
BAD = ("none", "nan", "inf", "zero", "vanishing", "exploding", "wrong", "error")
# What to look at first: a program that stopped, what spoils all weights, what is not there.
WORST = ("error", "nan", "inf", "none", "zero", "wrong", "exploding", "vanishing")


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
    if size == 1 and VANISHING <= norm <= EXPLODING:  # of many variables without axes
        return "ok"
    if not math.isfinite(norm):
        return "nan" if math.isnan(norm) else "inf"
    if norm == 0:
        return "zero"
    small = norm < VANISHING * math.sqrt(size)
    return "vanishing" if small else "exploding" if norm > EXPLODING else "ok"


def lengths(gradients: Sequence[Any]) -> list[float]:
    """The norm of each, in its own precision: of many small ones in a few calls, 0.3 us each
    instead of 4. What is None has none, 0."""
    alike: dict[Any, list[int]] = {}
    found = [0.0] * len(gradients)
    for k, gradient in enumerate(gradients):
        kind = gradient.__class__
        if kind is np.float32 or kind is np.float64:
            alike.setdefault(kind, []).append(k)
        elif kind is np.ndarray and 0 < gradient.size <= SMALL and gradient.dtype.char in "fd":
            alike.setdefault((gradient.dtype.char, gradient.shape), []).append(k)
        elif gradient is not None:
            flat = np.asarray(gradient).ravel()
            found[k] = abs(np.vdot(flat, flat).item()) ** 0.5 if flat.size else 0.0
    for which in alike.values():
        rows = np.array([gradients[k] for k in which]).reshape(len(which), -1)
        for k, square in zip(which, np.einsum("ij,ij->i", rows, rows).tolist(), strict=True):
            found[k] = square**0.5
    return found


def norm(gradient: Any) -> float | None:
    """The Euclidean norm, in float64."""
    if gradient is None:
        return None
    flat = np.asarray(gradient, dtype=_wide(gradient)).ravel()
    return float(np.sqrt(np.vdot(flat, flat).real))


def _wide(gradient: Any) -> Any:
    return np.complex128 if gradient.dtype.kind == "c" else np.float64
