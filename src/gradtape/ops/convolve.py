"""Convolution over any number of inner axes, and its two transposes.

Each of the three is bilinear, and its derivatives are the other two, so that any order of them is
made of products of matrices: the windows of the input are laid out as a matrix (in pieces that fit
the cache, shared among threads) and meet the filter in one product. A filter for each channel has
a file of its own, `depthwise.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .depthwise import channelwise, channelwise_filter, channelwise_input
from .elementwise import FLOATING, in_float32
from .kernels.jobs import Effort, blas, portions
from .kernels.parallel import threads
from .kernels.pending import Awaited
from .kernels.windows import (
    Geometry,
    from_channels,
    in_batch,
    in_channels,
    inner_key,
    opposite,
    padded,
    pieces,
    room,
    whole,
)

# Bytes of windows laid out at once: a piece that stays in the cache until it is multiplied.
PIECE = 3 << 20
# Numbers that lie side by side in a window, from which on they are copied window by window.
RUN = 8
# Channels up to which products go back to the input plane by plane.
FEW = 4
# Parts of a filter's sum for each thread, so that one which comes late has something left to do.
PORTIONS = 4
# Multiplications from which on threads share the work.
LARGE = 1 << 22


class _Layout:
    """How the windows of inputs of one shape become a matrix, (groups, windows, cells * channels of
    a group): it is the same at every step of a training, and takes 40 us to find out.

    It is written window by window, rows of cells at a time. Where these are a few numbers only, it
    is written cell by cell, in rows as long as the input's: 4 images of 28 by 28 with one channel
    and windows of 5 by 5 take 0.02 ms so and 0.11 otherwise, with 4 channels 0.14 and 0.06.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, geometry: Geometry, groups: int) -> None:
        batch, *inner, channels = shape
        axes, depth = len(inner), channels // groups
        self.counts = (batch, *geometry.counts(tuple(inner)))
        self.columns = prod(geometry.size) * depth
        self.row = self.columns * groups * dtype.itemsize
        self.bare = self.columns == depth
        cells = range(2 + axes, 3 + 2 * axes)
        self.order = (0, *cells, *range(1, 2 + axes))
        # Of the padded input: (groups, batch, *counts, *cells, channels).
        sizes = [n + low + high for n, (low, high) in zip(inner, geometry.pads, strict=True)]
        self.inside = inner_key(tuple(inner), geometry.pads)
        self.image = (*sizes, channels)
        steps = [prod(self.image[k:]) * dtype.itemsize for k in range(axes + 1)]
        along = [n * step for n, step in zip(geometry.strides, steps[1:], strict=True)]
        within = [n * step for n, step in zip(geometry.dilations, steps[1:], strict=True)]
        self.dtype, self.shape = dtype, (groups, *self.counts, *geometry.size, depth)
        self.strides = (depth * dtype.itemsize, steps[0], *along, *within, dtype.itemsize)
        # Numbers that lie side by side are copied as single elements: see `whole`.
        rows = 2 if groups == 1 and geometry.dilations[-1] == 1 else 1
        length = prod(self.shape[-rows:])
        self.by_cell = not self.bare and length < RUN
        if not (self.bare or self.by_cell) and length:
            self.dtype = np.dtype(f"V{length * dtype.itemsize}")
            self.shape, self.strides = self.shape[:-rows], self.strides[:-rows]


_layout = lru_cache(maxsize=256)(_Layout)


class _Matrix:
    """The windows of an input as a matrix, made in pieces."""

    def __init__(self, a: Any, geometry: Geometry, groups: int) -> None:
        self.layout = _layout(a.shape, a.dtype, geometry, groups)
        self.a, self.columns, self.pads = a, self.layout.columns, geometry.pads

    def pieces(self, least: int, multiplications: int) -> list[tuple[slice, ...]]:
        """Keys of parts of the windows, of as many bytes as `least` or as the cache likes."""
        wanted = max(PIECE, least) // max(self.layout.row, 1)
        keys = _pieces(self.layout.counts, wanted, multiplications)
        self.most = max((images.stop - images.start for images, *_ in keys), default=0)
        # Images are padded piece by piece, if they are not cut: all of them at once would keep one
        # thread busy, with 64 x 14 x 14 x 32 numbers for 0.4 ms.
        self.full = None
        if not any(map(any, self.pads)) or any(len(key) > 1 for key in keys):
            self.full = padded(self.a, self.pads)
        return keys


def _pieces(counts: tuple[int, ...], wanted: int, multiplications: int) -> list:
    """Keys to parts of about so many windows; of much work there is one for each thread, because
    BLAS's own threads spin next to ours: a step on a small network took 30 ms of processor time
    instead of 7."""
    if multiplications >= LARGE:
        wanted = min(wanted, -(-prod(counts) // threads()))
    return pieces(counts, wanted)


class _Desk:
    """Where a thread lays out pieces of the matrix, one after the other."""

    def __init__(self, matrix: _Matrix) -> None:
        self.a, self.layout, full = matrix.a, matrix.layout, matrix.full
        groups, _, *windows = self.layout.shape
        self.framed = full is None
        if full is None:
            full = np.zeros((matrix.most, *self.layout.image), self.a.dtype)
            self.frame = full[self.layout.inside]
        shape = (groups, len(full), *windows)
        self.windows = np.ndarray(shape, self.layout.dtype, full, 0, self.layout.strides)
        self.room = np.empty(0, self.a.dtype)

    def part(self, key: tuple[slice, ...]) -> Any:
        """Some rows of the matrix, which hold until the next ones."""
        layout, columns = self.layout, self.layout.columns
        if self.framed:
            some = self.a[key]
            self.frame[: len(some)] = some
            key = (slice(len(some)),)
        some = self.windows[(slice(None), *key)]
        groups = len(some)
        if layout.bare:
            return some.reshape(groups, -1, columns)
        if layout.by_cell:
            some = some.transpose(layout.order)
            if some.strides[-1] == some.itemsize:  # one channel, and windows one step apart
                some = whole(some)
        size = some.nbytes // self.room.itemsize
        if self.room.size < size:
            self.room = np.empty(size, self.room.dtype)
        target = self.room[:size]
        np.copyto(target.view(some.dtype).reshape(some.shape), some)
        if layout.by_cell:
            return target.reshape(groups, columns, -1).transpose(0, 2, 1)
        return target.reshape(groups, -1, columns)


def _grouped_filter(b: Any, groups: int) -> Any:
    """A filter as (groups, cells * channels of a group, results of a group)."""
    flat = b.reshape(prod(b.shape[:-1]), groups, b.shape[-1] // groups)
    return flat.transpose(1, 0, 2)


def _grouped(y: Any, groups: int) -> Any:
    """The channels of all windows as (groups, windows, channels of a group)."""
    return y.reshape(prod(y.shape[:-1]), groups, y.shape[-1] // groups).transpose(1, 0, 2)


def _products(a: Any, b: Any) -> Any:
    """np.matmul of two stacks. Alone, it keeps the interpreter's lock for results of up to 500
    numbers, however long it takes, and other threads wait."""
    return np.matmul(a, b) if len(a) > 1 else a[0].dot(b[0])[None]


def _run(work: Any, jobs: Sequence, multiplications: int) -> None:
    if multiplications >= LARGE:
        Effort(work, jobs, products=True).finish()
    elif blas.found():
        with blas:
            work(iter(jobs))
    else:
        blas.shared(work, iter(jobs))


@in_float32
def _conv(a: Any, b: Any, geometry: Geometry) -> Any:
    groups = a.shape[-1] // b.shape[-2]
    if groups > 1 and b.shape[-2] == 1:
        return channelwise(a, b, geometry)
    out = np.empty((a.shape[0], *geometry.counts(a.shape[1:-1]), b.shape[-1]), a.dtype)
    matrix, weights = _Matrix(a, geometry, groups), _grouped_filter(b, groups)

    def work(keys: Iterator) -> None:
        desk = _Desk(matrix)
        for key in keys:
            np.matmul(desk.part(key), weights, out=_grouped(out[key], groups))

    multiplications = out.size * matrix.columns
    _run(work, matrix.pieces(b.nbytes, multiplications), multiplications)
    return out


@in_float32
def _conv_input(a: Any, b: Any, geometry: Geometry, shape: tuple[int, ...]) -> Any:
    """Add each window's product with the filter back to where the window lies."""
    groups = shape[-1] // b.shape[-2]
    if groups > 1 and b.shape[-2] == 1:
        return channelwise_input(a, b, geometry, shape)
    if groups == 1 and shape[-1] <= FEW:
        return _by_plane(a, b, geometry, shape)
    back = opposite(geometry)
    # Of many channels to few, the sums are less to write than the windows: 32 images of 13 by 13,
    # 3 by 3, 32 channels to 16 take 0.9 ms of processor time so and 1.7 otherwise.
    if back is None or (groups == 1 and 2 * shape[-1] <= b.shape[-1]):
        return _by_cell(a, b, geometry, shape, groups)
    # Of windows one step apart it is a convolution as well, with the filter turned round.
    axes = len(geometry.size)
    turned = b[(slice(None, None, -1),) * axes]
    turned = turned.reshape(*b.shape[:-1], groups, b.shape[-1] // groups)
    turned = turned.transpose(*range(axes), axes + 2, axes + 1, axes)
    return _conv(a, turned.reshape(*geometry.size, b.shape[-1] // groups, shape[-1]), back)


def _by_cell(
    a: Any, b: Any, geometry: Geometry, shape: tuple[int, ...], groups: int
) -> Any:  # fmt: skip
    """One product for each cell of the window."""
    out = room(a.shape[0], shape, geometry, a.dtype)
    counts = a.shape[1:-1]
    cells = geometry.cells(counts)
    weights = b.reshape(len(cells), b.shape[-2], groups, b.shape[-1] // groups)
    weights = np.ascontiguousarray(weights.transpose(0, 2, 3, 1))

    def work(keys: Iterator) -> None:
        for (images,) in keys:
            some, target = _grouped(a[images], groups), out[images]
            part = np.empty((*a[images].shape[:-1], shape[-1]), a.dtype)
            for weight, cell in zip(weights, cells, strict=True):
                np.matmul(some, weight, out=_grouped(part, groups))
                place = target[(slice(None), *cell)]
                np.add(place, part, out=place)

    each = prod(counts) * max(shape[-1], 1) * a.itemsize
    multiplications = a.size * b[..., 0].size
    _run(work, _pieces((len(a),), PIECE // 2 // max(each, 1), multiplications), multiplications)
    return out[inner_key(shape[:-1], geometry.pads)]


def _by_plane(a: Any, b: Any, geometry: Geometry, shape: tuple[int, ...]) -> Any:
    """One product for all cells: with few channels, each cell's numbers are rows of the input.

    16 images of 28 by 28, windows of 5 by 5, 16 channels to 1: 0.7 ms, by cell 1.3.
    """
    counts = a.shape[1:-1]
    cells = geometry.cells(counts)
    out = room(a.shape[0], shape, geometry, a.dtype)
    weights = b.reshape(prod(b.shape[:-1]), b.shape[-1])

    def work(keys: Iterator) -> None:
        for (images,) in keys:
            some = a[images]
            flat = some.reshape(prod(some.shape[:-1]), a.shape[-1])
            back = np.matmul(weights, flat.T)
            back = back.reshape(len(cells), shape[-1], len(some), *counts)
            target = np.moveaxis(out[images], -1, 0)
            for part, cell in zip(back, cells, strict=True):
                place = target[(slice(None), slice(None), *cell)]
                np.add(place, part, out=place)

    each = prod(counts) * len(weights) * a.itemsize
    multiplications = a.size * len(weights)
    _run(work, _pieces((len(a),), PIECE // max(each, 1), multiplications), multiplications)
    return out[inner_key(shape[:-1], geometry.pads)]


@in_float32
def _conv_filter(a: Any, b: Any, geometry: Geometry, depth: int) -> Any:
    """Every cell's channels times the results' cotangents, added up over all windows."""
    groups = a.shape[-1] // depth
    if groups > 1 and depth == 1:
        return channelwise_filter(a, b, geometry)
    run, result = _filter_in_parts(a, b, geometry, depth)
    _run(*run)
    return result()


def _filter_in_parts(a: Any, b: Any, geometry: Geometry, depth: int) -> Any:
    """What `_run` takes to compute a filter, and what puts it together afterwards."""
    groups = a.shape[-1] // depth
    matrix = _Matrix(a, geometry, groups)
    total = np.zeros((groups, matrix.columns, b.shape[-1] // groups), a.dtype)
    multiplications = b.size * matrix.columns
    parts = portions(matrix.pieces(2 * total.nbytes, multiplications), PORTIONS)
    sums: list = [None] * len(parts)

    def work(jobs: Iterator) -> None:
        desk = _Desk(matrix)
        for k in jobs:
            for key in parts[k]:
                rows = desk.part(key).transpose(0, 2, 1)
                part = _products(rows, _grouped(b[key], groups))
                sums[k] = part if sums[k] is None else np.add(sums[k], part, out=part)

    def result() -> Any:
        y = total
        for part in sums:
            y += part
        return y.transpose(1, 0, 2).reshape(*geometry.size, depth, b.shape[-1])

    return (work, range(len(parts)), multiplications), result


def _filter_meanwhile(g: Any, a: Any, b_shape: tuple[int, ...], geometry: Geometry) -> Any:
    """The cotangent of a filter, from threads that work on it while the sweep goes on.

    Nothing but the caller's update waits for it, whereas much of what the sweep does next keeps one
    thread busy: in the step of a small convolutional network 2 of 17 ms.
    """
    depth = b_shape[-2]
    channelwise = depth == 1 < a.shape[-1]
    if g.size * prod(b_shape[:-1]) < LARGE or g.dtype.char not in "fd" or channelwise:
        return _conv_filter(a, g, geometry=geometry, depth=depth)
    (work, jobs, _), result = _filter_in_parts(a, g, geometry, depth)
    return Awaited(Effort(work, jobs, products=True), result)


# --- the three ops --------------------------------------------------------------------------------
PLAIN = Geometry((2, 2), (1, 1), (1, 1), ((0, 0), (0, 0)))
ODD = Geometry((2, 3), (2, 1), (1, 2), ((1, 0), (2, 1)))
LINE = Geometry((2,), (2,), (1,), ((0, 1),))


def _to_input(g: Any, b: Any, geometry: Geometry, shape: tuple[int, ...], ndim: int) -> Any:
    return in_batch(lambda g: conv_input(g, b, geometry=geometry, shape=shape), g, ndim)


def _to_filter(g: Any, a: Any, geometry: Geometry, depth: int) -> Any:
    if g.ndim == a.ndim:
        return conv_filter(a, g, geometry=geometry, depth=depth)
    n, groups = g.shape[0], a.shape[-1] // depth
    y = conv_filter(a, in_channels(g, groups), geometry=geometry, depth=depth)
    return from_channels(y, n, g.shape[-1], groups)


def _times(a: Any, n: int) -> Any:
    """The same channels n times, to meet those of a stack."""
    return np.concatenate([a] * n, axis=-1)


def _input_to_filter(g: Any, a: Any, geometry: Geometry, depth: int) -> Any:
    if g.ndim == a.ndim:
        return conv_filter(g, a, geometry=geometry, depth=depth)
    n = g.shape[0]
    y = conv_filter(in_channels(g), _times(a, n), geometry=geometry, depth=depth)
    return from_channels(y, n, a.shape[-1])


def _filter_to_input(g: Any, b: Any, geometry: Geometry, shape: tuple[int, ...]) -> Any:
    if g.ndim == b.ndim:
        return conv_input(b, g, geometry=geometry, shape=shape)
    n = g.shape[0]
    *inner, channels = shape
    y = conv_input(_times(b, n), in_channels(g), geometry=geometry, shape=(*inner, n * channels))
    return from_channels(y, n, channels)


def _filter_to_result(g: Any, a: Any, geometry: Geometry, depth: int) -> Any:
    if g.ndim == a.ndim:
        return conv(a, g, geometry=geometry)
    n, groups = g.shape[0], a.shape[-1] // depth
    y = conv(a, in_channels(g, groups), geometry=geometry)
    return from_channels(y, n, g.shape[-1], groups)


conv: Op = op(
    "conv", _conv,
    (
        lambda g, b, a_shape, geometry: _to_input(g, b, geometry, a_shape[1:], len(a_shape)),
        lambda g, a, b_shape, geometry: _to_filter(g, a, geometry, b_shape[-2]),
    ),
    shape=lambda a, b, geometry: (a[0], *geometry.counts(a[1:-1]), b[-1]),
    label="Conv2D", params=("geometry",), push="bilinear", batches=True, takes=FLOATING + "i",
    meanwhile=_filter_meanwhile,
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
        lambda g, b, geometry: in_batch(lambda g: conv(g, b, geometry=geometry), g, b.ndim),
        lambda g, a, b_shape, geometry: _input_to_filter(g, a, geometry, b_shape[-2]),
    ),
    shape=lambda a, b, geometry, shape: (a[0], *shape),
    label="Conv2DBackpropInput", params=("geometry", "shape"), push="bilinear",
    batches=True, takes=FLOATING,
    sample=lambda d: [
        ([d(2, 2, 2, 3), d(2, 2, 2, 3)], {"geometry": PLAIN, "shape": (3, 3, 2)}),
        ([d(1, 2, 2, 4), d(2, 3, 2, 4)], {"geometry": ODD, "shape": (4, 3, 4)}),
        ([d(1, 2, 2, 4), d(2, 3, 1, 4)], {"geometry": ODD, "shape": (4, 3, 2)}),
    ],
)  # fmt: skip
conv_filter: Op = op(
    "conv_filter", _conv_filter,
    (
        lambda g, b, a_shape, geometry: _filter_to_input(g, b, geometry, a_shape[1:]),
        lambda g, a, geometry, depth: _filter_to_result(g, a, geometry, depth),
    ),
    shape=lambda a, b, geometry, depth: (*geometry.size, depth, b[-1]),
    label="Conv2DBackpropFilter", params=("geometry", "depth"), push="bilinear",
    batches=True, takes=FLOATING,
    sample=lambda d: [
        ([d(2, 3, 3, 2), d(2, 2, 2, 3)], {"geometry": PLAIN, "depth": 2}),
        ([d(1, 4, 3, 4), d(1, 2, 2, 4)], {"geometry": ODD, "depth": 2}),
        ([d(1, 4, 3, 2), d(1, 2, 2, 4)], {"geometry": ODD, "depth": 1}),
    ],
)  # fmt: skip
