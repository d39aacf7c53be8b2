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

from ..core.op import Op
from .declare import op
from .elementwise import FLOATING, in_float32
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


@in_float32
def _conv(a: Any, b: Any, geometry: Geometry) -> Any:
    groups = a.shape[-1] // b.shape[-2]
    counts = geometry.counts(a.shape[1:-1])
    if groups > 1 and b.shape[-2] == 1:
        return _channelwise(a, b, geometry, counts)
    weights = _grouped_filter(b, groups)
    out = np.empty((a.shape[0], *counts, b.shape[-1]), a.dtype)
    for images, rows in _rows(a, geometry, groups):
        part = out[images].reshape(rows.shape[1], b.shape[-1])
        if groups == 1:
            np.matmul(rows[0], weights[0], out=part)
        else:
            part[...] = np.matmul(rows, weights).transpose(1, 0, 2).reshape(part.shape)
    return out


@in_float32
def _conv_input(a: Any, b: Any, geometry: Geometry, shape: tuple[int, ...]) -> Any:
    """Add each window's product with the filter back to where the window lies."""
    *inner, depth = shape
    groups = depth // b.shape[-2]
    counts = a.shape[1:-1]
    if groups > 1 and b.shape[-2] == 1:
        return _channelwise_input(a, b, geometry, shape)
    cells = geometry.cells(counts)
    sizes = [n + low + high for n, (low, high) in zip(inner, geometry.pads, strict=True)]
    out = np.zeros((a.shape[0], *sizes, depth), a.dtype)
    weights = _grouped_filter(b, groups).transpose(0, 2, 1)
    each = max(prod(counts) * len(cells) * depth * a.itemsize, 1)
    step = max(_PIECE // each, 1)
    for start in range(0, a.shape[0], step):
        some, target = a[start : start + step], out[start : start + step]
        back = np.matmul(_grouped(some, groups), weights)
        back = back.reshape(groups, *some.shape[:-1], len(cells), b.shape[-2])
        for k, cell in enumerate(cells):
            part = np.moveaxis(back[..., k, :], 0, -2)
            target[(slice(None), *cell)] += part.reshape(*some.shape[:-1], depth)
    return out[inner_key(tuple(inner), geometry.pads)]


@in_float32
def _conv_filter(a: Any, b: Any, geometry: Geometry, depth: int) -> Any:
    """Every cell's channels times the results' cotangents, added up over all windows."""
    groups = a.shape[-1] // depth
    if groups > 1 and depth == 1:
        return _channelwise_filter(a, b, geometry)
    total = np.zeros((groups, prod(geometry.size) * depth, b.shape[-1] // groups), a.dtype)
    for images, rows in _rows(a, geometry, groups):
        total += np.matmul(rows.transpose(0, 2, 1), _grouped(b[images], groups))
    return total.transpose(1, 0, 2).reshape(*geometry.size, depth, b.shape[-1])


# --- a filter for each channel --------------------------------------------------------------------
# There is nothing to add up over channels, so matrices would have one column: cell by cell, each
# channel times its number, is quicker. One image at a time stays in the cache, and the numbers are
# repeated along the last inner axis for longer loops. 8 images of 56 by 56 with 32 channels, there
# and back: 58 ms by matrices, 15 so.
def _by_channel(b: Any, channels: int, repeat: int) -> Any:
    """The filter as (cells, repeat, channels, results of a channel)."""
    cells = b.reshape(prod(b.shape[:-1]), 1, channels, b.shape[-1] // channels)
    return np.repeat(cells, repeat, axis=1)


def _channelwise(a: Any, b: Any, geometry: Geometry, counts: tuple[int, ...]) -> Any:
    full, cells = padded(a, geometry.pads), geometry.cells(counts)
    weights = _by_channel(b, a.shape[-1], counts[-1])
    out = np.zeros((a.shape[0], *counts, *weights.shape[2:]), a.dtype)
    part = np.empty_like(out[0]) if len(out) else out
    for image, y in zip(full, out, strict=True):
        for cell, weight in zip(cells, weights, strict=True):
            y += np.multiply(image[cell][..., None], weight, out=part)
    return out.reshape(*out.shape[:-2], b.shape[-1])


def _channelwise_input(a: Any, b: Any, geometry: Geometry, shape: tuple[int, ...]) -> Any:
    *inner, channels = shape
    sizes = [n + low + high for n, (low, high) in zip(inner, geometry.pads, strict=True)]
    counts = a.shape[1:-1]
    cells, weights = geometry.cells(counts), _by_channel(b, channels, counts[-1])
    out = np.zeros((a.shape[0], *sizes, channels), a.dtype)
    for image, y in zip(a.reshape(*a.shape[:-1], *weights.shape[2:]), out, strict=True):
        for cell, weight in zip(cells, weights, strict=True):
            back = image * weight
            y[cell] += back[..., 0] if back.shape[-1] == 1 else np.add.reduce(back, axis=-1)
    return out[inner_key(tuple(inner), geometry.pads)]


def _channelwise_filter(a: Any, b: Any, geometry: Geometry) -> Any:
    full, channels, counts = padded(a, geometry.pads), a.shape[-1], b.shape[1:-1]
    cells, windows = geometry.cells(counts), prod(counts)
    total = np.zeros((len(cells), channels, b.shape[-1] // channels), a.dtype)
    for image, g in zip(full, b.reshape(len(b), windows, *total.shape[1:]), strict=True):
        for cell, sums in zip(cells, total, strict=True):
            sums += np.einsum("wc,wcr->cr", image[cell].reshape(windows, channels), g)
    return total.reshape(*geometry.size, 1, b.shape[-1])


# --- the three ops --------------------------------------------------------------------------------
PLAIN = Geometry((2, 2), (1, 1), (1, 1), ((0, 0), (0, 0)))
ODD = Geometry((2, 3), (2, 1), (1, 2), ((1, 0), (2, 1)))
LINE = Geometry((2,), (2,), (1,), ((0, 1),))

conv: Op = op(
    "conv", _conv,
    (
        lambda g, b, a_shape, geometry: conv_input(g, b, geometry=geometry, shape=a_shape[1:]),
        lambda g, a, b_shape, geometry: conv_filter(a, g, geometry=geometry, depth=b_shape[-2]),
    ),
    shape=lambda a, b, geometry: (a[0], *geometry.counts(a[1:-1]), b[-1]),
    label="Conv2D", params=("geometry",), push="bilinear", takes=FLOATING + "i",
    sample=lambda d: [
        ([d(2, 3, 3, 2), d(2, 2, 2, 3)], {"geometry": PLAIN}),
        ([d(1, 4, 3, 4), d(2, 3, 2, 4)], {"geometry": ODD}),
        ([d(2, 4, 1), d(2, 1, 2)], {"geometry": LINE}),
        ([d(1, 4, 3, 2), d(2, 3, 1, 4)], {"geometry": ODD}),
    ],
)  # fmt: skip
conv_input: Op = op(
    "conv_input", _conv_input,
    (
        lambda g, b, geometry: conv(g, b, geometry=geometry),
        lambda g, a, b_shape, geometry: conv_filter(g, a, geometry=geometry, depth=b_shape[-2]),
    ),
    shape=lambda a, b, geometry, shape: (a[0], *shape),
    label="Conv2DBackpropInput", params=("geometry", "shape"), push="bilinear", takes=FLOATING,
    sample=lambda d: [
        ([d(2, 2, 2, 3), d(2, 2, 2, 3)], {"geometry": PLAIN, "shape": (3, 3, 2)}),
        ([d(1, 2, 2, 4), d(2, 3, 2, 4)], {"geometry": ODD, "shape": (4, 3, 4)}),
        ([d(1, 2, 2, 4), d(2, 3, 1, 4)], {"geometry": ODD, "shape": (4, 3, 2)}),
    ],
)  # fmt: skip
conv_filter: Op = op(
    "conv_filter", _conv_filter,
    (
        lambda g, b, a_shape, geometry: conv_input(b, g, geometry=geometry, shape=a_shape[1:]),
        lambda g, a, geometry: conv(a, g, geometry=geometry),
    ),
    shape=lambda a, b, geometry, depth: (*geometry.size, depth, b[-1]),
    label="Conv2DBackpropFilter", params=("geometry", "depth"), push="bilinear", takes=FLOATING,
    sample=lambda d: [
        ([d(2, 3, 3, 2), d(2, 2, 2, 3)], {"geometry": PLAIN, "depth": 2}),
        ([d(1, 4, 3, 4), d(1, 2, 2, 4)], {"geometry": ODD, "depth": 2}),
        ([d(1, 4, 3, 2), d(1, 2, 2, 4)], {"geometry": ODD, "depth": 1}),
    ],
)  # fmt: skip
