"""Ops that order and search: their results are places, and slopes flow through what they pick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.declare import op
from ..core.op import Discrete, Missing

PLACE = Discrete("the result is a place, a whole number")


def _falling(a: Any) -> Any:
    """Numbers in the opposite order; `~` because the least integer has no negative."""
    return ~a if a.dtype.kind in "iu" else -a


def _argsort(a: Any, descending: bool, count: int | None) -> Any:
    # Stable both ways: of equals, the first comes first, as in TensorFlow.
    order = np.argsort(_falling(a) if descending else a, axis=-1, kind="stable")
    return order[..., :count].astype(np.int32)


argsort = op(
    "argsort", _argsort, PLACE,
    shape=lambda a, descending, count: a if count is None else (*a[:-1], count),
    label="TopKV2", params=("descending", "count"),
    sample=lambda d: [([d(2, 3)], {"descending": True, "count": 2})],
)  # fmt: skip


def _searchsorted(a: Any, b: Any, side: str, dtype: Any) -> Any:
    if a.ndim == 1:
        return np.searchsorted(a, b, side).astype(dtype)
    # NumPy searches in one row only.
    rows, wanted = a.reshape(-1, a.shape[-1]), b.reshape(math.prod(b.shape[:-1]), b.shape[-1])
    found = np.empty(wanted.shape, dtype)
    for k, row in enumerate(rows):
        found[k] = np.searchsorted(row, wanted[k], side)
    return found.reshape(b.shape)


searchsorted = op(
    "searchsorted", _searchsorted, (PLACE, PLACE), shape=lambda a, b, side, dtype: b,
    label="LowerBound", params=("side", "dtype"),
    sample=lambda d: [([np.arange(3.0), d(4)], {"side": "left", "dtype": np.int32})],
)  # fmt: skip


def _unique(a: Any, dtype: Any) -> tuple:
    """In the order in which they first come, where NumPy sorts."""
    values, first, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return values[order], rank[inverse.reshape(-1)].astype(dtype), counts[order].astype(dtype)


unique = op(
    "unique", _unique, Missing("which values are equal changes in jumps"),
    shape=lambda a, dtype: ((None,), a, (None,)), params=("dtype",),
    sample=lambda d: [([np.array([4.0, 5.0, 4.0])], {"dtype": np.int32})],
)  # fmt: skip


def _where_true(a: Any) -> Any:
    return np.argwhere(a)


where_true = op(
    "where_true", _where_true, PLACE, shape=lambda a: (None, len(a)), label="Where",
    sample=lambda d: [([np.array([[True, False], [True, True]])], {})],
)  # fmt: skip


def _invert_permutation(a: Any) -> Any:
    n = len(a)
    counts = np.bincount(a[(a >= 0) & (a < n)], minlength=n)
    if n and counts.min(initial=1) != 1:
        repeated = np.flatnonzero(counts > 1)
        what = f"{int(repeated[0])} is duplicated" if repeated.size else "a number is out of range"
        raise ValueError(f"{what} in the input: each of 0 to {n - 1} must come once")
    y = np.empty_like(a)
    y[a] = np.arange(n, dtype=a.dtype)
    return y


invert_permutation = op(
    "invert_permutation", _invert_permutation, PLACE, shape=lambda a: a,
    sample=lambda d: [([np.array([2, 0, 1])], {})],
)  # fmt: skip


def _in_top_k(a: Any, b: Any, k: int) -> Any:
    mine = np.take_along_axis(a, np.clip(b, 0, a.shape[-1] - 1)[:, None], axis=-1)
    inside = (b >= 0) & (b < a.shape[-1]) & np.isfinite(mine[:, 0])
    return inside & ((a > mine).sum(axis=-1) < k)


in_top_k = op(
    "in_top_k", _in_top_k, (Discrete("the result is true or false"), PLACE),
    shape=lambda a, b, k: b, label="InTopKV2", params=("k",),
    sample=lambda d: [([d(2, 3), np.array([0, 1])], {"k": 1})],
)  # fmt: skip
