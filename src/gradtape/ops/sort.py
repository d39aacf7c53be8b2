"""Ops that order and search: results are places, and gradients flow through what they pick."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .declare import op
from .infer import INT32, INT64, asked
from .kernels.order import greatest_first
from .reasons import Discrete, Missing

PLACE = Discrete("the result is a place, a whole number")


def _argsort(a: Any, descending: bool, count: int | None, in_order: bool = True) -> Any:
    """Stable both ways, of equals the first comes first; NaN where TensorFlow's sort leaves it."""
    n = a.shape[-1]
    loose = not in_order and count is not None and 1 < count < n
    if n and count != 0 and (loose or (a.dtype.kind in "fV" and bool((a != a).any()))):
        return _retraced(a if descending else -a, n if count is None else count, in_order)
    if not descending:
        return np.argsort(a, axis=-1, kind="stable")[..., :count].astype(np.int32)
    if count and n >= 512 and 8 * count <= n and a.dtype.kind in "iuf":
        found = _greatest(a, count, n)
        if found is not None:
            return found
    order = np.argsort(a[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return (n - 1 - order[..., :count]).astype(np.int32)


def _retraced(a: Any, count: int, in_order: bool) -> Any:
    rows = a.reshape(-1, a.shape[-1])
    found = [greatest_first(row, count, in_order) for row in rows]
    return np.array(found, np.int32).reshape(*a.shape[:-1], count)


def _greatest(a: Any, count: int, n: int) -> Any:
    """The places of a few of many, without sorting all: 10 of 100,000 in 1 ms instead of 11.

    None if more than these equal the least of them: then the first ones count, and any are found.
    """
    places = np.sort(np.argpartition(a, n - count, axis=-1)[..., n - count :], axis=-1)
    values = np.take_along_axis(a, places, -1)
    least = np.min(values, axis=-1, keepdims=True)
    if (least != least).any() or np.count_nonzero(a == least) > np.count_nonzero(values == least):
        return None
    order = np.argsort(values[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.take_along_axis(places, count - 1 - order, -1).astype(np.int32)


argsort = op(
    "argsort", _argsort, PLACE,
    shape=lambda a, descending, count, in_order=True: a if count is None else (*a[:-1], count),
    dtype=INT32, label="TopKV2", params=("descending", "count", "in_order"),
    sample=lambda d: [
        ([d(2, 3)], {"descending": True, "count": 2, "in_order": True}),
        ([d(2, 5)], {"descending": True, "count": 3, "in_order": False}),
    ],
)  # fmt: skip


def _searchsorted(a: Any, b: Any, side: Any, dtype: Any) -> Any:
    """C++'s lower_bound and upper_bound: halves, as TensorFlow, also of what is not in order."""
    n = a.shape[-1]
    rows, wanted = a.reshape(-1, n or 1), b.reshape(math.prod(b.shape[:-1]), b.shape[-1])
    first, left = np.zeros(wanted.shape, np.intp), np.full(wanted.shape, n)
    for _ in range(n.bit_length()):
        half = left >> 1
        middle = np.take_along_axis(rows, np.minimum(first + half, n - 1), -1)
        later = middle < wanted if side == "left" else ~(wanted < middle)
        later &= left > 0
        first = np.where(later, first + half + 1, first)
        left = np.where(later, left - half - 1, half)
    return first.reshape(b.shape).astype(dtype)


searchsorted = op(
    "searchsorted", _searchsorted, (PLACE, PLACE), shape=lambda a, b, side, dtype: b,
    dtype=asked, label="LowerBound", params=("side", "dtype"),
    sample=lambda d: [([np.arange(3.0), d(4)], {"side": "left", "dtype": np.int32})],
)  # fmt: skip


def _unique(a: Any, dtype: Any) -> tuple:
    """In the order in which they first come, where NumPy sorts; halves are told by their bits."""
    keys = a
    if a.dtype.kind in "fV" and a.itemsize == 2:
        keys = np.where(a == a, a.view(np.uint16).astype(np.int64), -1 - np.arange(len(a)))
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return a[first[order]], rank[inverse.reshape(-1)].astype(dtype), counts[order].astype(dtype)


unique = op(
    "unique", _unique, Missing("which values are equal changes in jumps"),
    shape=lambda a, dtype: [(None,), a, (None,)], dtype=(0, asked, asked), params=("dtype",),
    sample=lambda d: [([np.array([4.0, 5.0, 4.0])], {"dtype": np.int32})],
)  # fmt: skip


def _where_true(a: Any) -> Any:
    return np.argwhere(a)


where_true = op(
    "where_true", _where_true, PLACE, shape=lambda a: (None, len(a)), dtype=INT64,
    label="Where",
    sample=lambda d: [([np.array([[True, False], [True, True]])], {})],
)  # fmt: skip
