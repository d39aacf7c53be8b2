"""Windows that slide over the inner axes of an array: what convolution and pooling share.

Arrays are laid out as (batch, *inner, channels). A geometry says for each inner axis the window's
size, its stride, the distance of its cells (dilation) and the padding before and after.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Geometry(NamedTuple):
    """Of a sliding window, one entry for each inner axis."""

    size: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]

    def counts(self, inner: tuple[int, ...]) -> tuple[int, ...]:
        """How many windows there are along each inner axis."""
        return tuple(
            (n + low + high - (k - 1) * d - 1) // s + 1
            for n, k, s, d, (low, high) in zip(inner, *self, strict=True)
        )

    def cells(self, counts: tuple[int, ...]) -> list[tuple[slice, ...]]:
        """For each cell of the window the key to it in all windows, on the padded inner axes."""
        axes = [
            [slice(c * d, c * d + (n - 1) * s + 1, s) for c in range(k)]
            for n, k, s, d in zip(counts, self.size, self.strides, self.dilations, strict=True)
        ]
        return list(product(*axes))


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


def padded(a: Any, pads: tuple[tuple[int, int], ...], fill: float = 0) -> Any:
    if not any(map(any, pads)):
        return a
    shape = [n + low + high for n, (low, high) in zip(a.shape[1:-1], pads, strict=True)]
    out = np.full((a.shape[0], *shape, a.shape[-1]), fill, a.dtype)
    out[inner_key(a.shape[1:-1], pads)] = a
    return out


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
