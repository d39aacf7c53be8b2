"""Windows that slide over the inner axes of an array: what convolution and pooling share.

Arrays are laid out as (batch, *inner, channels). A geometry says for each inner axis the window's
size, its stride, the distance of its cells (dilation) and the padding before and after.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .parallel import threads

# A layer asks the same of its geometry at every step of a training.
_once = lru_cache(maxsize=256)


class Geometry(NamedTuple):
    """Of a sliding window, one entry for each inner axis."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    @_once
    def counts(self, inner: Any) -> Any:
        """How many windows there are along each inner axis; None where its size is unknown."""
        return tuple(
            None if n is None else (n + low + high - (k - 1) * d - 1) // s + 1
            for n, k, s, d, (low, high) in zip(inner, *self, strict=True)
        )

    @_once
    def along(self, counts: tuple[int, ...]) -> list[list[slice]]:
        """For each inner axis the key to each of a window's cells in all windows, padded."""
        return [
            [slice(c * d, c * d + max((n - 1) * s + 1, 0), s) for c in range(k)]
            for n, k, s, d in zip(counts, self.size, self.strides, self.dilations, strict=True)
        ]

    @_once
    def cells(self, counts: tuple[int, ...]) -> list[tuple[slice, ...]]:
        """For each cell of the window the key to it in all windows, on the padded inner axes."""
        return list(product(*self.along(counts)))

    @_once
    def apart(self) -> bool:
        """Whether no two windows share a number."""
        return all(s > (k - 1) * d for k, s, d, _ in zip(*self, strict=True))

    @_once
    def tiles(self, inner: tuple[int, ...]) -> bool:
        """Whether every number is in one window and no more."""
        return all(
            k == s and d == 1 and (n + low + high) % s == 0
            for n, k, s, d, (low, high) in zip(inner, *self, strict=True)
        )


def pads_for(
    padding: str, inner: Any, size: Any, strides: Any, dilations: Any
) -> tuple[tuple[int, int], ...]:
    """What SAME and VALID add before and after each inner axis."""
    if padding == "VALID":
        return ((0, 0),) * len(size)
    pads = []
    for n, k, s, d in zip(inner, size, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def opposite(geometry: Geometry) -> Geometry | None:
    """The windows of the results in which an input takes part, if those are one step apart."""
    pads = []
    for k, s, d, (low, high) in zip(*geometry, strict=True):
        reach = (k - 1) * d
        if s != 1 or low > reach or high > reach:
            return None
        pads.append((reach - low, reach - high))
    return geometry._replace(pads=tuple(pads))


def pieces(counts: tuple[int, ...], wanted: int) -> list[tuple[slice, ...]]:
    """Keys to parts of about `wanted` windows, (images,) or (images, rows); counts has the batch
    first. What a key selects is contiguous."""
    batch, *inner = counts
    each = max(prod(inner), 1)
    images = _evenly(batch, max(wanted // each, 1))
    if not inner or wanted >= each:
        return [(some,) for some in images]
    return list(product(images, _evenly(inner[0], max(wanted * inner[0] // each, 1))))


def _evenly(size: int, step: int) -> list[slice]:
    """range(size) in parts of at most `step`, as many for each thread and of one size, if it
    allows: 64 images by 6 are 11 parts, of which one thread of two would do 6."""
    count, hands = -(-size // step), threads()
    if count > 1:
        count = min(-(-count // hands) * hands, size)
    return [slice(size * k // count, size * (k + 1) // count) for k in range(count)]


def padded(a: Any, pads: tuple[tuple[int, int], ...], fill: float = 0) -> Any:
    if not any(map(any, pads)):
        return np.ascontiguousarray(a)
    shape = [n + low + high for n, (low, high) in zip(a.shape[1:-1], pads, strict=True)]
    size = (a.shape[0], *shape, a.shape[-1])
    # Zeros cost less: of 64 x 18 x 18 x 32 all in all 0.1 ms instead of 0.2.
    out = np.full(size, fill, a.dtype) if fill else np.zeros(size, a.dtype)
    out[inner_key(a.shape[1:-1], pads)] = a
    return out


def room(
    batch: int, shape: tuple[int, ...], geometry: Geometry, dtype: Any, empty: bool = False
) -> Any:
    """Zeros of the padded shape of an input, to add windows to; or what is all to be written."""
    sizes = [n + low + high for n, (low, high) in zip(shape[:-1], geometry.pads, strict=True)]
    return (np.empty if empty else np.zeros)((batch, *sizes, shape[-1]), dtype)


def inner_key(inner: tuple[int, ...], pads: tuple[tuple[int, int], ...]) -> tuple[slice, ...]:
    """The place of an array in its padded form."""
    cut = [slice(low, low + n) for n, (low, _) in zip(inner, pads, strict=True)]
    return (slice(None), *cut)


def views(a: Any, geometry: Geometry) -> Any:
    """All windows of a padded array, without a copy: (batch, *windows, *cells, channels)."""
    batch, *inner, channels = a.shape
    bare = geometry._replace(pads=((0, 0),) * len(inner))
    step, *steps, last = a.strides
    along = [s * n for s, n in zip(steps, geometry.strides, strict=True)]
    within = [s * n for s, n in zip(steps, geometry.dilations, strict=True)]
    shape = (batch, *bare.counts(tuple(inner)), *geometry.size, channels)
    strides = (step, *along, *within, last)
    return np.lib.stride_tricks.as_strided(a, shape, strides, writeable=False)


def whole(a: Any, axes: int = 1) -> Any:
    """The numbers of the last axes, which lie side by side, as single elements: copied whole, they
    take half the time, as NumPy's loop over a few numbers costs more than the numbers."""
    if not a.size:
        return a
    length = prod(a.shape[-axes:])
    if axes > 1:
        shape, strides = (*a.shape[:-axes], length), (*a.strides[:-axes], a.itemsize)
        a = np.lib.stride_tricks.as_strided(a, shape, strides)
    return a.view(f"V{length * a.itemsize}")[..., 0]


def rows(a: Any, geometry: Geometry) -> Any:
    """All windows of a padded array whose last inner axis has windows one step apart: their numbers
    and channels lie side by side, as one axis: (batch, *windows but those, *cells, row)."""
    windows = views(a, geometry)
    axes, channels = len(geometry.size), a.shape[-1]
    count = windows.shape[axes]
    first = windows[(slice(None),) * axes + (0,)]
    shape = (*first.shape[:-1], count * channels)
    return np.lib.stride_tricks.as_strided(first, shape, first.strides, writeable=False)


# --- stacks of cotangents -------------------------------------------------------------------------
# In rules, for Jacobians: g may have one axis more than the result of its op, in front.
def in_batch(call: Callable[..., Any], g: Any, ndim: int, *others: Any) -> Any:
    """call(g, *others), of a stack with its rows as further images."""
    if g.ndim == ndim:
        return call(g, *others)
    n, batch, *rest = g.shape
    others = tuple(np.concatenate([o] * n or [o[:0]], axis=0) for o in others)
    y = call(np.reshape(g, (n * batch, *rest)), *others)
    return np.reshape(y, (n, batch, *y.shape[1:]))


def in_channels(g: Any, groups: int = 1) -> Any:
    """A stack with its rows as further channels of each group."""
    n, *rest, channels = g.shape
    y = np.moveaxis(np.reshape(g, (n, *rest, groups, channels // groups)), 0, -2)
    return np.reshape(y, (*rest, n * channels))


def from_channels(y: Any, n: int, channels: int, groups: int = 1) -> Any:
    """A stack of n rows from an array that has their channels side by side."""
    *rest, _ = y.shape
    y = np.moveaxis(np.reshape(y, (*rest, groups, n, channels // groups)), -2, 0)
    return np.reshape(y, (n, *rest, channels))
