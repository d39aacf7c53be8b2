"""Ops that place: rows and entries written into a tensor, or the greater or lesser of the two kept.

Places are numbers of rows (`b`): `flat_index` makes them of the coordinates that TensorFlow takes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import invalid
from .declare import op
from .infer import INT64, same
from .reasons import Discrete
from .rows import add_rows, rows_of
from .shape import cast


def _flat_index(b: Any, shape: tuple[int, ...], of: str) -> Any:
    """The coordinates in the last axis of `b` as one number; checked, as TensorFlow does in the op
    that this is a part of."""
    depth = b.shape[-1]
    sizes = np.array(shape, np.int64)
    wrong = ((b < 0) | (b >= sizes)).any(axis=-1)
    if wrong.any():
        at = np.unravel_index(int(np.flatnonzero(wrong)[0]), wrong.shape)
        place = ",".join(str(int(k)) for k in at)
        raise invalid(
            f"indices[{place}] = {b[at].tolist()} does not index into shape {list(shape)} "
            f"[Op:{of}] name: "
        )
    steps = [math.prod(shape[k + 1 :]) for k in range(depth)]
    return (b * np.array(steps, np.int64)).sum(axis=-1, dtype=np.int64)


flat_index = op(
    "flat_index", _flat_index, Discrete("a place is a whole number"),
    shape=lambda b, shape, of: b[:-1], dtype=INT64, label="ScatterNd", params=("shape", "of"),
    sample=lambda d: [([np.array([[1, 2], [0, 1]])], {"shape": (2, 3), "of": "GatherNd"})],
)  # fmt: skip


# --- written over ---------------------------------------------------------------------------------
def _set_rows(a: Any, b: Any, c: Any) -> Any:
    out = a.copy()
    out[b] = c
    return out


def _without(g: Any, b: Any, a_shape: tuple[int, ...]) -> Any:
    """g with zeros in the rows that were written over."""
    lead = g.ndim - len(a_shape)
    first = np.moveaxis(g, tuple(range(lead)), tuple(range(-lead, 0)))
    zeros = np.zeros((b.size, *first.shape[1:]), g.dtype)
    return np.moveaxis(set_rows(first, b, zeros), tuple(range(-lead, 0)), tuple(range(lead)))


set_rows = op(
    "set_rows", _set_rows,
    (_without, None, rows_of),
    shape=same, label="TensorScatterUpdate", push="linear", batches=True,
    sample=lambda d: [([d(4, 2), np.array([2, 0]), d(2, 2)], {})],
)  # fmt: skip


# --- the greater or the lesser --------------------------------------------------------------------
def _extreme_rows(ufunc: Any, worst: float) -> Any:
    def forward(a: Any, b: Any, c: Any) -> Any:
        out = a.copy()
        if c.dtype.kind in "fV":  # nan is neither greater nor less, as TensorFlow
            c = np.where(c != c, c.dtype.type(worst), c)
        ufunc.at(out, b, c)
        return out

    return forward


def _share(g: Any, a: Any, b: Any, c: Any, y: Any) -> tuple:
    """Of all that tie in a place, each gets the same part."""
    kept = cast(a == y, dtype=g.dtype)
    came = cast(c == np.take(y, b, axis=0), dtype=g.dtype)
    each = g / (kept + add_rows(came, b, shape=a.shape))
    return each * kept, None, np.take(each, b, axis=0) * came


max_rows = op(
    "max_rows", _extreme_rows(np.maximum, -math.inf), _share, shape=same,
    label="TensorScatterMax", joint=True,
    sample=lambda d: [([d(4, 2), np.array([2, 0, 2]), d(3, 2)], {})],
)  # fmt: skip
min_rows = op(
    "min_rows", _extreme_rows(np.minimum, math.inf), _share, shape=same,
    label="TensorScatterMin", joint=True,
    sample=lambda d: [([d(4, 2), np.array([2, 0, 2]), d(3, 2)], {})],
)  # fmt: skip
