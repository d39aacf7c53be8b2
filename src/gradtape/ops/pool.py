"""Pooling: the greatest or the mean of the numbers in each window, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import REALS, Op
from .declare import op
from .elementwise import FLOATING, in_float32
from .reasons import Flat
from .windows import Geometry, inner_key, padded

CHOICE = "which number is the greatest of its window is a matter of yes or no"


def _pool_shape(a: tuple[int, ...], *_: Any, geometry: Geometry, **more: Any) -> tuple[int, ...]:
    return (a[0], *geometry.counts(a[1:-1]), a[-1])


def _cells(a: Any, geometry: Geometry, fill: float = 0) -> Any:
    """For each cell of the window, its numbers in all windows."""
    full = padded(a, geometry.pads, fill)
    for cell in geometry.cells(geometry.counts(a.shape[1:-1])):
        yield full[(slice(None), *cell)]


def _scatter(parts: Any, shape: tuple[int, ...], dtype: Any, geometry: Geometry) -> Any:
    """Add one array for each cell to where its numbers came from."""
    inner = shape[1:-1]
    sizes = [n + low + high for n, (low, high) in zip(inner, geometry.pads, strict=True)]
    out = np.zeros((shape[0], *sizes, shape[-1]), dtype)
    for cell, part in zip(geometry.cells(geometry.counts(inner)), parts, strict=True):
        out[(slice(None), *cell)] += part
    return out[inner_key(inner, geometry.pads)]


# --- the greatest ---------------------------------------------------------------------------------
def _least(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _max_pool(a: Any, geometry: Geometry) -> Any:
    cells = _cells(a, geometry, _least(a.dtype))
    y = next(cells).copy()
    for cell in cells:
        # fmax: nan is greater than nothing, as in TensorFlow.
        np.fmax(y, cell, out=y)
    return y


def _winners(a: Any, y: Any, geometry: Geometry) -> Any:
    """For each cell, where it is the first of its window to hold the greatest number."""
    free = np.ones(y.shape, bool)
    for cell in _cells(a, geometry, _least(a.dtype)):
        first = free & (cell == y)
        free &= ~first
        yield first


def _max_spread(a: Any, b: Any, c: Any, geometry: Geometry) -> Any:
    """Send each window's number (a) to the winner among its operands (b), whose maximum is c."""
    parts = (a * first for first in _winners(b, c, geometry))
    return _scatter(parts, b.shape, a.dtype, geometry)


def _max_pick(a: Any, b: Any, c: Any, geometry: Geometry) -> Any:
    """Of each window of `a`, the number where `b` has its maximum c."""
    out = np.zeros(c.shape, a.dtype)
    for cell, first in zip(_cells(a, geometry), _winners(b, c, geometry), strict=True):
        out += cell * first
    return out


_PAIRS = Geometry((2, 2), (2, 2), (1, 1), ((0, 0), (0, 1)))
_SLIDING = Geometry((2,), (1,), (1,), ((1, 0),))


def _max_samples(d: Any) -> list:
    """Of sizes a few tenths apart, so that differences do not change which is the greatest."""

    def apart(*shape: int) -> Any:
        size = int(np.prod(shape))
        return (np.argsort(d(size)) / 2.0).reshape(shape)

    return [([apart(1, 4, 3, 2)], {"geometry": _PAIRS}), ([apart(2, 3, 1)], {"geometry": _SLIDING})]


def _routed(spread: bool) -> Any:
    def samples(d: Any) -> list:
        found = []
        for (a,), params in _max_samples(d):
            y = _max_pool(a, **params)
            found.append(([d(*(y if spread else a).shape), a, y], params))
        return found

    return samples


max_pool: Op = op(
    "max_pool", _max_pool, lambda g, a, y, geometry: max_spread(g, a, y, geometry=geometry),
    shape=_pool_shape, label="MaxPool", params=("geometry",), takes=REALS, sample=_max_samples,
)  # fmt: skip
max_spread: Op = op(
    "max_spread", _max_spread,
    (
        lambda g, b, c, geometry: max_pick(g, b, c, geometry=geometry),
        Flat(CHOICE, gives="zeros"),
        Flat(CHOICE),
    ),
    shape=lambda a, b, c, geometry: b, label="MaxPoolGrad", params=("geometry",), takes=FLOATING,
    sample=_routed(True),
)  # fmt: skip
max_pick: Op = op(
    "max_pick", _max_pick,
    (
        lambda g, b, c, geometry: max_spread(g, b, c, geometry=geometry),
        Flat(CHOICE),
        Flat(CHOICE),
    ),
    shape=lambda a, b, c, geometry: c, label="MaxPoolGradGrad", params=("geometry",),
    takes=FLOATING, sample=_routed(False),
)  # fmt: skip


# --- the mean -------------------------------------------------------------------------------------
def _counts(shape: tuple[int, ...], geometry: Geometry, dtype: Any) -> Any:
    """How many numbers each window holds: padding does not count."""
    ones = np.ones((1, *shape, 1), dtype)
    return sum(_cells(ones, geometry))


@in_float32
def _avg_pool(a: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    cells = _cells(a, geometry)
    y = next(cells).copy()
    for cell in cells:
        y += cell
    y /= _counts(inner, geometry, a.dtype)
    return y


@in_float32
def _avg_spread(a: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    share = a / _counts(inner, geometry, a.dtype)
    shape = (a.shape[0], *inner, a.shape[-1])
    cells = int(np.prod(geometry.size))
    return _scatter([share] * cells, shape, a.dtype, geometry)


avg_pool: Op = op(
    "avg_pool", _avg_pool,
    lambda g, geometry, inner: avg_spread(g, geometry=geometry, inner=inner),
    shape=_pool_shape, label="AvgPool", params=("geometry", "inner"), push="linear",
    takes=FLOATING,
    sample=lambda d: [
        ([d(1, 4, 3, 2)], {"geometry": _PAIRS, "inner": (4, 3)}),
        ([d(2, 3, 1)], {"geometry": _SLIDING, "inner": (3,)}),
    ],
)  # fmt: skip
avg_spread: Op = op(
    "avg_spread", _avg_spread,
    lambda g, geometry, inner: avg_pool(g, geometry=geometry, inner=inner),
    shape=lambda a, geometry, inner: (a[0], *inner, a[-1]), label="AvgPoolGrad",
    params=("geometry", "inner"), push="linear", takes=FLOATING,
    sample=lambda d: [
        ([d(1, 2, 2, 2)], {"geometry": _PAIRS, "inner": (4, 3)}),
        ([d(2, 3, 1)], {"geometry": _SLIDING, "inner": (3,)}),
    ],
)  # fmt: skip
