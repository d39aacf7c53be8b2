"""Pooling: the greatest or the mean of the numbers in each window, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from ..core.op import REALS, Op
from .declare import op
from .elementwise import FLOATING, in_float32
from .kernels.jobs import spread
from .kernels.windows import Geometry, in_batch, inner_key, padded, pieces, room, whole
from .reasons import Flat

# Bytes of the input looked at by one thread at a time. Each piece takes a dozen short calls of
# NumPy's, before and after which threads wait for the interpreter's lock: the derivative of 64
# images of 28 by 28 with 16 channels takes 0.8 ms in one piece and 2.3 in two threads with pieces
# of 0.5 MB; of 64 images of 56 by 56 with 32 channels 7 ms in two threads, 13 in one, 31 with such
# pieces.
PIECE = 1 << 22
CHOICE = "which number is the greatest of its window is a matter of yes or no"


def _pool_shape(a: tuple[int, ...], *_: Any, geometry: Geometry, **more: Any) -> tuple[int, ...]:
    return (a[0], *geometry.counts(a[1:-1]), a[-1])


def _in_pieces(work: Any, a: Any) -> None:
    """Call work(images) for slices of some images of `a`, in threads if there are several."""
    if a.nbytes <= PIECE:
        work(slice(None))
        return

    def run(keys: Iterator) -> None:
        for (images,) in keys:
            work(images)

    spread(run, pieces((len(a),), PIECE // max(a[:1].nbytes, 1)))


def _copied(a: Any) -> Any:
    out = np.empty(a.shape, a.dtype)
    np.copyto(whole(out), whole(a))
    return out


def _reduced(combine: Any, a: Any, geometry: Geometry, fill: float = 0) -> Any:
    """Combine the numbers of each window, one inner axis after the other."""
    counts = geometry.counts(a.shape[1:-1])
    y = np.empty((len(a), *counts, a.shape[-1]), a.dtype)

    def work(images: slice) -> None:
        part = padded(a[images], geometry.pads, fill)
        for axis, cells in enumerate(geometry.along(counts)):
            before = (slice(None),) * (axis + 1)
            found = [part[(*before, cell)] for cell in cells]
            if axis == len(counts) - 1:  # rows are only as long as there are channels
                found = [_copied(cell) for cell in found]
            part = found[0]
            for k, cell in enumerate(found[1:]):
                part = combine(part, cell, out=part if k else None)
        y[images] = part

    _in_pieces(work, a)
    return y


# --- the greatest ---------------------------------------------------------------------------------
def _least(dtype: Any) -> Any:
    """The least finite number, with which TensorFlow's kernels begin."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    import ml_dtypes

    return ml_dtypes.finfo(dtype).min


def _max_pool(a: Any, geometry: Geometry) -> Any:
    # fmax: NaN is greater than nothing, and -inf no less than the least, as in TensorFlow.
    least = _least(a.dtype)
    y = _reduced(np.fmax, a, geometry, least)
    if y.dtype.kind in "fV" and y.size and not y.min() >= least:
        np.fmax(y, least, out=y)
    return y


def _winners(a: Any, y: Any, geometry: Geometry, ties: bool) -> Iterator[tuple[Any, Any]]:
    """For each cell its key and the windows where it is the first to hold the greatest number (or
    one of several, with ties), as integers of as many bits as a number has: all set, or none."""
    if a.dtype.kind in "fV" and a.size:
        if ties:
            y = np.where(np.isfinite(y), y, np.nan).astype(y.dtype)  # TensorFlow subtracts
        elif not a.min() > -np.inf:
            yield from _compared(a, y, geometry)
            return
    full = whole(padded(a, geometry.pads, _least(a.dtype)))
    cells, numbers = geometry.cells(y.shape[1:-1]), np.empty(y.shape, a.dtype)
    places = whole(numbers)
    first, free = np.empty(y.shape, bool), None
    bits = np.empty(y.shape, _bits(a.dtype))
    for cell in cells:
        key = (slice(None), *cell)
        np.copyto(places, full[key])
        np.equal(numbers, y, out=first)
        if free is None:
            free = np.logical_not(first)
        elif not ties:
            np.logical_and(first, free, out=first)
            np.logical_xor(first, free, out=free)
        yield key, np.negative(first.view(np.int8), out=bits)


def _compared(a: Any, y: Any, geometry: Geometry) -> Iterator[tuple[Any, Any]]:
    """The same where NaN or -inf may be: the first cell, unless a later one is greater."""
    full = padded(a, geometry.pads, _least(a.dtype))
    inside = padded(np.ones(a.shape, np.int8), geometry.pads, 0)
    keys = [(slice(None), *cell) for cell in geometry.cells(y.shape[1:-1])]
    best, winner = np.zeros(y.shape, a.dtype), np.full(y.shape, -1)
    for k, key in enumerate(keys):
        better = (inside[key] > 0) & ((winner < 0) | (best < full[key]))
        best, winner = np.where(better, full[key], best), np.where(better, k, winner)
    for k, key in enumerate(keys):
        yield key, np.negative((winner == k).astype(_bits(a.dtype)))


def _bits(dtype: Any) -> str:
    return f"i{dtype.itemsize}"


# Winners are chosen by "and", which is exact for infinite cotangents as well; np.where takes three
# times as long.
def _max_spread(a: Any, b: Any, c: Any, geometry: Geometry) -> Any:
    """Send each window's number (a) to the winner among its operands (b), whose maximum is c."""
    if not c.size:
        return np.zeros(b.shape, a.dtype)
    apart = geometry.apart()  # then cells are written, else added to
    out = room(len(b), b.shape[1:], geometry, a.dtype, empty=geometry.tiles(b.shape[1:-1]))

    def work(images: slice) -> None:
        given, target = a[images], out[images]
        part = np.empty(given.shape, a.dtype)
        bits, chosen = given.view(_bits(a.dtype)), part.view(_bits(a.dtype))
        places, parts = whole(target), whole(part)
        # In three dimensions TensorFlow gives each of the greatest the gradient, in two the first.
        for key, first in _winners(b[images], c[images], geometry, ties=b.ndim == 5):
            np.bitwise_and(bits, first, out=chosen)
            if apart:
                np.copyto(places[key], parts)
            else:
                target[key] += part

    _in_pieces(work, b)
    return out[inner_key(b.shape[1:-1], geometry.pads)]


def _max_pick(a: Any, b: Any, c: Any, geometry: Geometry) -> Any:
    """Of each window of `a`, the number where `b` has its maximum c."""
    out = np.zeros(c.shape, a.dtype)

    def work(images: slice) -> None:
        full = padded(a[images], geometry.pads)
        bits, target = full.view(_bits(a.dtype)), out[images].view(_bits(a.dtype))
        for key, first in _winners(b[images], c[images], geometry, ties=False):
            target |= bits[key] & first

    _in_pieces(work, b)
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


def _routing(op: Op, g: Any, a: Any, y: Any, geometry: Geometry) -> Any:
    return in_batch(lambda g, a, y: op(g, a, y, geometry=geometry), g, y.ndim, a, y)


max_pool: Op = op(
    "max_pool", _max_pool, lambda g, a, y, geometry: _routing(max_spread, g, a, y, geometry),
    shape=_pool_shape, label="MaxPool", params=("geometry",), takes=REALS, sample=_max_samples,
    batches=True,
)  # fmt: skip
max_spread: Op = op(
    "max_spread", _max_spread,
    (
        lambda g, b, c, geometry: _routing(max_pick, g, b, c, geometry),
        Flat(CHOICE, gives="zeros"),
        Flat(CHOICE),
    ),
    shape=lambda a, b, c, geometry: b, label="MaxPoolGrad", params=("geometry",), takes=FLOATING,
    sample=_routed(True), batches=True,
)  # fmt: skip
max_pick: Op = op(
    "max_pick", _max_pick,
    (
        lambda g, b, c, geometry: _routing(max_spread, g, b, c, geometry),
        Flat(CHOICE),
        Flat(CHOICE),
    ),
    shape=lambda a, b, c, geometry: c, label="MaxPoolGradGrad", params=("geometry",),
    takes=FLOATING, sample=_routed(False), batches=True,
)  # fmt: skip


# --- the mean -------------------------------------------------------------------------------------
def _counts(shape: tuple[int, ...], geometry: Geometry, dtype: Any) -> Any:
    """How many numbers each window holds: padding does not count."""
    ones = np.ones((1, *shape, 1), dtype)
    return _reduced(np.add, ones, geometry)


@in_float32
def _avg_pool(a: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    y = _reduced(np.add, a, geometry)
    y /= _counts(inner, geometry, a.dtype)
    return y


@in_float32
def _avg_spread(a: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    share = np.divide(a, _counts(inner, geometry, a.dtype), order="C")
    out = room(len(a), (*inner, a.shape[-1]), geometry, a.dtype, empty=geometry.tiles(inner))
    along, apart = geometry.along(a.shape[1:-1]), geometry.apart()

    def work(images: slice) -> None:
        part, target = share[images], out[images]
        if apart:
            for cell in product(*along):
                np.copyto(whole(target)[(slice(None), *cell)], whole(part))
            return
        # One inner axis after the other, the last one first.
        for axis in reversed(range(len(inner))):
            shape = (*part.shape[: axis + 1], *out.shape[axis + 1 :])
            wider = np.zeros(shape, a.dtype) if axis else target
            for key in along[axis]:
                wider[(*(slice(None),) * (axis + 1), key)] += part
            part = wider

    _in_pieces(work, out)
    return out[inner_key(inner, geometry.pads)]


def _averaging(op: Op, g: Any, geometry: Geometry, inner: tuple[int, ...]) -> Any:
    return in_batch(lambda g: op(g, geometry=geometry, inner=inner), g, 2 + len(inner))


avg_pool: Op = op(
    "avg_pool", _avg_pool,
    lambda g, geometry, inner: _averaging(avg_spread, g, geometry, inner),
    shape=_pool_shape, label="AvgPool", params=("geometry", "inner"), push="linear",
    takes=FLOATING, batches=True,
    sample=lambda d: [
        ([d(1, 4, 3, 2)], {"geometry": _PAIRS, "inner": (4, 3)}),
        ([d(2, 3, 1)], {"geometry": _SLIDING, "inner": (3,)}),
    ],
)  # fmt: skip
avg_spread: Op = op(
    "avg_spread", _avg_spread,
    lambda g, geometry, inner: _averaging(avg_pool, g, geometry, inner),
    shape=lambda a, geometry, inner: (a[0], *inner, a[-1]), label="AvgPoolGrad",
    params=("geometry", "inner"), push="linear", takes=FLOATING, batches=True,
    sample=lambda d: [
        ([d(1, 2, 2, 2)], {"geometry": _PAIRS, "inner": (4, 3)}),
        ([d(2, 3, 1)], {"geometry": _SLIDING, "inner": (3,)}),
    ],
)  # fmt: skip
