"""Convolution over any number of inner axes, and its two transposes.

Each of the three is bilinear and slopes into the other two, so that any order of derivative is
made of products of matrices: the windows of the input are laid out as rows (in pieces that fit the
cache) and meet the filter in one product.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from ..core.declare import op
from .linear import matmul
from .neural import FLOATING, wide
from .windows import Geometry, inner_key, padded, views

# Bytes of windows laid out at once: a piece that stays in the cache until it is multiplied.
_PIECE = 1 << 21


def _rows(a: Any, geometry: Geometry, groups: int) -> Iterator[tuple[slice, Any]]:
    """The windows of some images at a time, as (groups, windows, cells * channels of a group)."""
    windows = views(padded(a, geometry.pads), geometry)
    batch, channels = a.shape[0], a.shape[-1]
    cells = prod(geometry.size)
    each = max(prod(windows.shape[1:]) * a.itemsize, 1)
    step = max(_PIECE // each, 1)
    for start in range(0, batch, step):
        some = windows[start : start + step]
        count = prod(some.shape[: 1 + len(geometry.size)])
        if groups == 1:
            rows = some.reshape(1, count, cells * channels)
        else:
            rows = some.reshape(count, cells, groups, channels // groups)
            rows = rows.transpose(2, 0, 1, 3).reshape(groups, count, cells * channels // groups)
        yield slice(start, start + step), rows


def _grouped_filter(b: Any, groups: int) -> Any:
    """A filter as (groups, cells * channels of a group, results of a group)."""
    flat = b.reshape(prod(b.shape[:-1]), groups, b.shape[-1] // groups)
    return flat.transpose(1, 0, 2)


def _grouped(y: Any, groups: int) -> Any:
    """The channels of all windows as (groups, windows, channels of a group)."""
    return y.reshape(prod(y.shape[:-1]), groups, y.shape[-1] // groups).transpose(1, 0, 2)


def _groups(channels: int, b_shape: tuple[int, ...]) -> int:
    return channels // b_shape[-2] if b_shape[-2] else 1


@wide
def _conv(a: Any, b: Any, geometry: Geometry) -> Any:
    groups = _groups(a.shape[-1], b.shape)
    counts = geometry.counts(a.shape[1:-1])
    weights = _grouped_filter(b, groups)
    out = np.empty((a.shape[0], *counts, b.shape[-1]), a.dtype)
    for images, rows in _rows(a, geometry, groups):
        y = np.matmul(rows, weights)
        out[images] = y.transpose(1, 0, 2).reshape(out[images].shape)
    return out


@wide
def _conv_input(a: Any, b: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    """Add each window's product with the filter back to where the window lies."""
    groups = _groups_of_result(a, b)
    depth = b.shape[-2] * groups
    counts, cells = a.shape[1:-1], geometry.cells(a.shape[1:-1])
    sizes = [n + low + high for n, (low, high) in zip(inner, geometry.pads, strict=True)]
    out = np.zeros((a.shape[0], *sizes, depth), a.dtype)
    weights = _grouped_filter(b, groups).transpose(0, 2, 1)
    each = max(prod(counts) * len(cells) * depth * a.itemsize, 1)
    step = max(_PIECE // each, 1)
    for start in range(0, a.shape[0], step):
        some = a[start : start + step]
        back = np.matmul(_grouped(some, groups), weights)
        back = back.reshape(groups, *some.shape[:-1], len(cells), b.shape[-2])
        target = out[start : start + step]
        for k, cell in enumerate(cells):
            part = np.moveaxis(back[..., k, :], 0, -2)
            target[(slice(None), *cell)] += part.reshape(*some.shape[:-1], depth)
    return out[inner_key(inner, geometry.pads)]


def _groups_of_result(a: Any, b: Any) -> int:
    return 1 if a.ndim == b.ndim else 1


@wide
def _conv_filter(a: Any, b: Any, geometry: Geometry, depth: int) -> Any:
    """Every cell's channels times the results' cotangents, over all windows."""
    groups = a.shape[-1] // depth if depth else 1
    total = np.zeros((groups, prod(geometry.size) * depth, b.shape[-1] // groups), a.dtype)
    for images, rows in _rows(a, geometry, groups):
        total += np.matmul(rows.transpose(0, 2, 1), _grouped(b[images], groups))
    return total.transpose(1, 0, 2).reshape(*geometry.size, depth, b.shape[-1])
