"""Ops that tell the rank of a number among others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compare import TRUTH
from .declare import op
from .infer import BOOL, alike


def _in_top_k(a: Any, b: Any, c: Any) -> Any:
    """Whether fewer than c numbers of a row are larger than the one at b; not if it has others
    than finite ones."""
    rows, columns = a.shape
    inside = (b >= 0) & (b < columns)
    if not a.size:
        return np.zeros(rows, bool)
    own = a[np.arange(rows), np.where(inside, b, 0)][:, None]
    return inside & np.isfinite(a).all(1) & ((a > own).sum(1) < c)


in_top_k = op(
    "in_top_k", _in_top_k, (TRUTH, None, None), shape=lambda a, b, c: alike(a[:1], b),
    dtype=BOOL, label="InTopKV2",
    sample=lambda d: [([d(3, 4), np.array([1, 0, 7]), np.array(2)], {})],
)  # fmt: skip
