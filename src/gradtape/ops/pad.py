"""Ops that lay copies of numbers beside each other or turn them about: pads, tiles, rolls, flips.

Axes are counted from the end, so that the rules also serve stacks of cotangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .infer import exchanged, same, times

Pads = tuple[tuple[int, int], ...]


# --- pads -----------------------------------------------------------------------------------------
def _inner(shape: tuple[int, ...], pads: Pads) -> tuple:
    return tuple(slice(low, low + n) for n, (low, _) in zip(shape, pads, strict=True))


def _padded(shape: Any, pads: Pads) -> Any:
    pairs = zip(shape, pads, strict=True)
    return tuple(None if n is None else low + n + high for n, (low, high) in pairs)


def _pad(a: Any, pads: Pads) -> Any:
    # np.pad takes 20 us where this takes 2.
    out = np.zeros(_padded(a.shape, pads), a.dtype)
    out[_inner(a.shape, pads)] = a
    return out


def _pad_with(a: Any, b: Any, pads: Pads) -> Any:
    out = np.full(_padded(a.shape, pads), b, a.dtype)
    out[_inner(a.shape, pads)] = a
    return out


def _grad_of_pad(g: Any, a_shape: tuple[int, ...], pads: Pads) -> Any:
    return g[(..., *_inner(a_shape, pads))]


pad = op(
    "pad", _pad, _grad_of_pad, shape=lambda a, pads: _padded(a, pads), params=("pads",),
    push="linear", batches=True, sample=lambda d: [([d(2, 3)], {"pads": ((1, 0), (0, 2))})],
)  # fmt: skip
# As in TensorFlow, nothing flows to the number that is padded with.
pad_with = op(
    "pad_with", _pad_with, (_grad_of_pad, None), shape=lambda a, b, pads: _padded(a, pads),
    label="PadV2", params=("pads",), batches=True,
    sample=lambda d: [([d(2, 3), np.float64(0.5)], {"pads": ((1, 0), (0, 2))})],
)  # fmt: skip


# Mirrored: `skip` is 1 if the edge itself is not repeated (REFLECT), 0 if it is (SYMMETRIC).
def _mirror_pad(a: Any, pads: Pads, skip: int) -> Any:
    for axis, (low, high) in zip(range(-a.ndim, 0), pads, strict=True):
        if low or high:
            n = a.shape[axis]
            before = np.flip(a[_along(axis, skip, skip + low)], axis)
            after = np.flip(a[_along(axis, n - skip - high, n - skip)], axis)
            a = np.concatenate([before, a, after], axis)
    return a


def _along(axis: int, start: int, stop: int) -> tuple:
    return (..., slice(start, stop), *[slice(None)] * (-axis - 1))


def _fold(g: Any, a_shape: tuple[int, ...], pads: Pads, skip: int) -> Any:
    """Add each mirrored part back to where it came from, the last axis first."""
    for axis, (low, high) in zip(range(-1, -len(pads) - 1, -1), reversed(pads), strict=True):
        n = a_shape[axis]
        total = g[_along(axis, low, low + n)]
        if low:
            before = np.flip(g[_along(axis, 0, low)], axis)
            total = total + _widen(before, axis, skip, n - skip - low)
        if high:
            after = np.flip(g[_along(axis, low + n, low + n + high)], axis)
            total = total + _widen(after, axis, n - skip - high, skip)
        g = total
    return g


def _widen(g: Any, axis: int, low: int, high: int) -> Any:
    pads = [(0, 0)] * g.ndim
    pads[axis] = (low, high)
    return pad(g, pads=tuple(pads))


mirror_pad = op(
    "mirror_pad", _mirror_pad, _fold, shape=lambda a, pads, skip: _padded(a, pads),
    params=("pads", "skip"), push="linear", batches=True,
    sample=lambda d: [
        ([d(3, 3)], {"pads": ((2, 1), (0, 2)), "skip": 1}),
        ([d(2, 3)], {"pads": ((2, 1), (3, 0)), "skip": 0}),
    ],
)  # fmt: skip


# --- turned about ---------------------------------------------------------------------------------
reverse = op(
    "reverse", lambda a, axis: np.flip(a, axis), lambda g, axis: np.flip(g, axis),
    shape=same, label="ReverseV2", params=("axis",), push="linear", batches=True,
    numpy=(np.flip,),
    sample=lambda d: [([d(2, 3)], {"axis": (-1,)}), ([d(2, 3)], {"axis": (-1, -2)})],
)  # fmt: skip
roll: Op = op(
    "roll", lambda a, shift, axis: np.roll(a, shift, axis),
    lambda g, shift, axis: roll(g, shift=tuple([-k for k in shift]), axis=axis),
    shape=same, params=("shift", "axis"), push="linear", batches=True,
    sample=lambda d: [([d(2, 3)], {"shift": (1, -1), "axis": (-1, -2)})],
)  # fmt: skip


# --- copied ---------------------------------------------------------------------------------------
def _sum_of_tiles(g: Any, a_shape: tuple[int, ...], counts: tuple[int, ...]) -> Any:
    lead = g.shape[: g.ndim - len(a_shape)]
    shape = tuple(n for pair in zip(counts, a_shape, strict=True) for n in pair)
    return np.sum(np.reshape(g, lead + shape), axis=tuple(range(-len(shape), 0, 2)))


tile = op(
    "tile", lambda a, counts: np.tile(a, counts), _sum_of_tiles,
    shape=lambda a, counts: tuple(map(times, a, counts)),
    params=("counts",), push="linear", batches=True,
    sample=lambda d: [([d(2, 3)], {"counts": (2, 1)}), ([d(2, 3)], {"counts": (1, 3)})],
)  # fmt: skip


def _sum_of_repeats(g: Any, a_shape: tuple[int, ...], count: int, axis: int) -> Any:
    head, tail = g.shape[: g.ndim + axis], g.shape[g.ndim + axis + 1 :]
    return np.sum(np.reshape(g, (*head, a_shape[axis], count, *tail)), axis=(axis,))


# Each entry the same number of times; TensorFlow does it with a tile.
repeat = op(
    "repeat", lambda a, *_, count, axis: np.repeat(a, count, axis), _sum_of_repeats,
    shape=lambda a, *_, count, axis: exchanged(a, axis, times(a[axis], count)), label="Tile",
    params=("count", "axis"), push="linear", batches=True,
    sample=lambda d: [
        ([d(2, 3)], {"count": 2, "axis": -1}),
        ([d(2, 3), np.array(3)], {"count": 3, "axis": -2}),  # a count that came as a tensor
    ],
)  # fmt: skip
