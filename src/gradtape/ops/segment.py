"""Reductions of rows that share a number: `b` holds the segment of each row of `a`.

`axis` counts the axes in front of the rows (a stack of cotangents has one more), `count` is the
number of segments; rows of a negative segment are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import FLOATS, NUMBERS, REALS, Op
from .declare import op
from .infer import exchanged
from .reasons import Missing
from .rows import add_rows
from .shape import cast


def _rows(a: Any, b: Any, axis: int) -> tuple[Any, Any]:
    """The rows that are in a segment, the axes in front of them moved behind, and the segments."""
    a = a.reshape(*a.shape[:axis], b.size, *a.shape[axis + b.ndim :])
    if axis:
        a = np.moveaxis(a, axis, 0)
    ids = b.reshape(-1)
    if ids.size and ids.min() < 0:
        a, ids = a[ids >= 0], ids[ids >= 0]
    return a, ids


def _sum(a: Any, b: Any, count: int, axis: int = 0) -> Any:
    rows, ids = _rows(a, b, axis)
    return np.moveaxis(add_rows.forward(rows, ids, (count, *rows.shape[1:])), 0, axis)


def _by(ufunc: Any, empty: Any, beats: Any = None) -> Any:
    def forward(a: Any, b: Any, count: int, axis: int = 0) -> Any:
        rows, ids = _rows(a, b, axis)
        out = np.empty((count, *rows.shape[1:]), a.dtype)
        out[...] = empty(a.dtype)
        if beats and a.dtype.kind in "fV" and (rows != rows).any():
            return np.moveaxis(_one_by_one(rows, ids, out, beats), 0, axis)
        if (ids[1:] < ids[:-1]).any():
            order = np.argsort(ids, kind="stable")
            rows, ids = rows[order], ids[order]
        if ids.size:
            starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
            out[ids[starts]] = ufunc.reduceat(rows, starts, axis=0, dtype=a.dtype)
        return np.moveaxis(out, 0, axis)

    return forward


def _one_by_one(rows: Any, ids: Any, out: Any, beats: Any) -> Any:
    """As TensorFlow with nan: what does not beat the next row gives way to it."""
    met = np.zeros(len(out), bool)
    for i, row in zip(ids.tolist(), rows, strict=True):
        out[i] = np.where(beats(out[i], row), out[i], row) if met[i] else row
        met[i] = True
    return out


def _shape(a: Any, b: Any, count: int, axis: int = 0) -> Any:
    return (*a[:axis], count, *a[axis + len(b) :])


def _back(a: Any, b: Any, axis: int = 0) -> Any:
    if not a.shape[axis]:  # without segments, all rows are left out
        return np.zeros((*a.shape[:axis], *b.shape, *a.shape[axis + 1 :]), a.dtype)
    rows = np.take(a, np.maximum(b, 0), axis=axis)
    if b.size and b.min() < 0:
        kept = (b >= 0).reshape(b.shape + (1,) * (rows.ndim - axis - b.ndim))
        rows = np.where(kept, rows, rows.dtype.type(0))
    return rows


_SAMPLE_IDS = np.array([1, 0, -1, 1])


def _samples(d: Any) -> list:
    return [
        ([d(4), _SAMPLE_IDS], {"count": 2, "axis": 0}),
        ([d(2, 2, 3), _SAMPLE_IDS.reshape(2, 2)], {"count": 2, "axis": 0}),
    ]


def segments(name: str, forward: Any, pull: Any, label: str, **more: Any) -> Any:
    more = {"shape": _shape, "params": ("count", "axis"), "batches": True, **more}
    return op(name, forward, (pull, None), label=label, sample=_samples, **more)


# Gives every row the row of its segment; the transpose of the sum over segments.
from_segments = op(
    "from_segments", _back,
    (
        lambda g, b, a_shape, y_shape, axis: segment_sum(
            g, b, count=a_shape[axis], axis=axis + g.ndim - len(y_shape)
        ),
        None,
    ),
    shape=lambda a, b, axis=0: exchanged(a, axis, *b), label="GatherV2",
    params=("axis",), push="linear", batches=True,
    sample=lambda d: [([d(3, 2), _SAMPLE_IDS], {"axis": 0})],
)  # fmt: skip


def _behind(g: Any, y_shape: Any, axis: Any) -> int:
    return (axis or 0) + g.ndim - len(y_shape)


segment_sum: Op = segments(
    "segment_sum", _sum,
    lambda g, b, y_shape, axis: from_segments(g, b, axis=_behind(g, y_shape, axis)),
    label="UnsortedSegmentSum", push="linear", takes=NUMBERS,
)  # fmt: skip


def _counts(b: Any, count: int, behind: int, dtype: Any) -> Any:
    """The number of rows of each segment, with so many axes behind it."""
    return segment_sum(np.ones(b.shape + (1,) * behind, dtype), b, count=count, axis=0)


def _mean(a: Any, b: Any, count: int, axis: int = 0) -> Any:
    total = _sum(a, b, count, axis)
    times = _counts(b, count, total.ndim - axis - 1, total.dtype)
    return total / np.where(times == 0, times + times.dtype.type(1), times)


# As TensorFlow: the mean of no rows is 0, but its tangent is 0/0.
segment_mean: Op = segments(
    "segment_mean", _mean,
    lambda g, b, y_shape, axis, count: from_segments(
        g / _counts(b, count, len(y_shape) - (axis or 0) - 1, g.dtype),
        b, axis=_behind(g, y_shape, axis),
    ),
    label="SegmentMean", takes=FLOATS,
)  # fmt: skip


def _share(g: Any, a: Any, b: Any, y: Any, y_shape: Any, count: int, axis: Any) -> Any:
    """Those that tie for the extreme of their segment share its cotangent equally."""
    axis = axis or 0
    hit = a == from_segments(y, b, axis=axis)
    ties = segment_sum(cast(hit, dtype=g.dtype), b, count=count, axis=axis)
    part = g / ties  # of an empty segment, as TensorFlow, not a number: only higher orders see it
    return np.where(hit, from_segments(part, b, axis=_behind(g, y_shape, axis)), 0.0)


def _lowest(dtype: Any) -> Any:
    return _limits(dtype).min


def _highest(dtype: Any) -> Any:
    return _limits(dtype).max


def _limits(dtype: Any) -> Any:
    if dtype.kind == "V":
        import ml_dtypes

        return ml_dtypes.finfo(dtype)
    return np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)


segment_max = segments(
    "segment_max", _by(np.maximum, _lowest, np.greater),
    lambda g, a, b, y, y_shape, count, axis: _share(g, a, b, y, y_shape, count, axis),
    label="UnsortedSegmentMax", takes=REALS,
)  # fmt: skip
segment_min = segments(
    "segment_min", _by(np.minimum, _highest, np.less),
    lambda g, a, b, y, y_shape, count, axis: _share(g, a, b, y, y_shape, count, axis),
    label="UnsortedSegmentMin", takes=REALS,
)  # fmt: skip


def _others(g: Any, a: Any, b: Any, y: Any, y_shape: Any, count: int, axis: Any) -> Any:
    """The product of the others: the whole divided by a factor, unless that is the one zero; with
    two zeros in a segment nothing is left."""
    axis = axis or 0
    zero = a == 0
    counted = np.dtype(np.float32) if g.dtype.kind == "c" else g.dtype
    zeros = segment_sum(cast(zero, dtype=counted), b, count=count, axis=axis)
    rest = segment_prod(np.where(zero, 1.0, a), b, count=count, axis=axis)
    g = from_segments(np.where(zeros > 1, 0.0, g), b, axis=_behind(g, y_shape, axis))
    whole = from_segments(y, b, axis=axis) / np.where(zero, 1.0, a)
    return g * np.where(zero, from_segments(rest, b, axis=axis), whole)


segment_prod = segments(
    "segment_prod", _by(np.multiply, lambda dtype: 1),
    lambda g, a, b, y, y_shape, count, axis: _others(g, a, b, y, y_shape, count, axis),
    label="UnsortedSegmentProd", takes=NUMBERS, real=True,
)  # fmt: skip


def _bins(a: Any, b: Any, size: int, binary: bool) -> Any:
    rows = b if b.ndim == 2 else b.reshape(1, -1)
    places = np.where(rows < size, rows + size * np.arange(len(rows))[:, None], -1)
    total = _sum(a.reshape(-1), places.reshape(-1), size * len(rows))
    total = (total > 0).astype(total.dtype) if binary else total
    return total.reshape(len(rows), size) if rows is b else total


# The sum of the weights `a` of each number in `b`, of each row of it apart.
bins = op(
    "bins", _bins,
    (Missing("TensorFlow has no derivative of bincount"), None),
    shape=lambda a, b, size, binary: (*b[:-1], size), label="DenseBincount",
    params=("size", "binary"), takes=NUMBERS,
    sample=lambda d: [
        ([d(4), np.array([1, 0, 7, 1])], {"size": 3, "binary": False}),
        ([d(2, 2), np.array([[1, 0], [7, 1]])], {"size": 3, "binary": True}),
    ],
)  # fmt: skip
