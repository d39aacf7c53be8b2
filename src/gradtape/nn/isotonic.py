"""Regression onto sequences that only fall or only rise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import number
from ..ops import elementwise, index, segment, shape
from .losses import in_range

_NARROW = ("float16", "bfloat16", "float32", "int8", "int16")


class IsotonicRegression(NamedTuple):
    """The solutions, and the number of the level that each entry lies on."""

    output: Any
    segments: Any


def isotonic_regression(inputs: Any, decreasing: bool = True, axis: int = -1) -> Any:
    """The nearest sequence that never rises (or never falls), and its levels.

    >>> import gradtape as tf
    >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0]).output
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([3. , 1.5, 1.5], dtype=float32)>
    """
    x = convert.to_tensor(inputs)
    dtype = x._value.dtype
    if dtype.kind in "bcO":
        raise convert.wrong_dtype(elementwise.maximum, dtype)
    if dtype.kind not in "fV" or dtype.name == "float64":
        wide = np.float32 if dtype.name in _NARROW else np.float64
        x = shape.cast.apply(x, dtype=np.dtype(wide))
    ndim = x._value.ndim
    if not ndim:
        return IsotonicRegression(x, tensor(np.int32(0)))
    place = number(axis)
    in_range(place, ndim)
    place %= ndim
    order = [k for k in range(ndim) if k != place] + [place]
    rows = x if place == ndim - 1 else shape.transpose.apply(x, axes=tuple(order))
    sizes = rows._value.shape
    count, width = int(np.prod(sizes[:-1])), sizes[-1]
    levels = convert.computed(
        lambda rows: _levels(rows.reshape(count, width).astype(np.float64), decreasing), rows._value
    )
    # Every level of every row is a segment; a solution is the mean of its segment.
    flat = shape.reshape.apply(rows, shape=(count * width,))
    firsts = np.arange(count)[:, None] * width
    ids = tensor(convert.computed(lambda levels: (levels + firsts).reshape(-1), levels))
    sums = segment.segment_sum.apply(flat, ids, count=count * width, axis=0)
    own = rows._value.dtype
    times = convert.computed(
        lambda ids: np.maximum(np.bincount(ids, minlength=count * width), 1).astype(own), ids._value
    )
    means = elementwise.div.apply(sums, tensor(times))
    y = shape.reshape.apply(index.take.apply(means, ids, axis=0), shape=sizes)
    segments = tensor(convert.computed(lambda n: n.astype(np.int32).reshape(sizes), levels))
    if place == ndim - 1:
        parts = y, segments
        return IsotonicRegression(*parts) if decreasing else parts
    back = tuple(np.argsort(order).tolist())
    return tuple(shape.transpose.apply(part, axes=back) for part in (y, segments))


def _levels(rows: Any, decreasing: bool) -> Any:
    """The level of each entry: neighbours are on one only if they would be out of order."""
    from scipy.optimize import isotonic_regression as solve

    out = np.zeros(rows.shape, np.int64)
    for row, levels in zip(rows, out, strict=True):
        if len(row) < 2:
            continue
        fitted = solve(row, increasing=not decreasing).x
        # What was met so far has the mean of the level: the level may end there.
        rest = np.cumsum(row - fitted)
        scale = np.abs(row).max() * len(row)
        ends = np.abs(rest[:-1]) <= 4 * np.finfo(np.float64).eps * scale
        levels[1:] = np.cumsum(ends)
    return out
