"""Weighted sums of few entries along an axis: what images of another size are made of.

An infinite entry reaches only the results that take from it, which a product with a matrix of
weights would not keep to: there it meets the zeros of all the others.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..core.op import Op
from .declare import op
from .infer import Shape, exchanged
from .kernels.product import product_of_stacks

# Entries up to which adding them up is quicker than a product with a matrix: 8 images of 224 by 224
# to 64 by 64 by lanczos3, of 23 entries each, take 35 ms added up and 10 by the product.
_FEW = 4


class Taps(NamedTuple):
    """For each result the entries that it takes from, -1 for none, and their weights."""

    places: Any
    weights: Any
    # Of two entries, the second part of the way from the first: a + (b - a) w.
    between: bool = False

    def turned(self, size: int) -> Taps:
        """The same for the transpose, with this many results: those that take from an entry."""
        result, tap = np.nonzero(self.places >= 0)
        entry = self.places[result, tap]
        order = np.argsort(entry, kind="stable")
        counts = np.bincount(entry, minlength=size)
        entry = entry[order]
        column = np.arange(len(entry)) - (np.cumsum(counts) - counts)[entry]
        places = np.full((size, int(counts.max(initial=0))), -1)
        weights = np.zeros(places.shape)
        places[entry, column] = result[order]
        weights[entry, column] = self.weights[result, tap][order]
        return Taps(places, weights)


def _resample(a: Any, axis: int, taps: Taps, turned: Taps) -> Any:
    tail = (1,) * (-1 - axis)
    weights = taps.weights.astype(a.dtype).reshape(*taps.weights.shape, *tail)
    if taps.between:
        low, high = (a.take(places, axis) for places in taps.places.T)
        high -= low
        high *= weights[:, 1]
        high += low
        return high
    shape: Any = _shape(a.shape, axis, taps, turned)
    if taps.places.shape[1] > _FEW:
        sizes = prod(shape[:axis]), a.shape[axis], prod(shape[axis:][1:])
        y = product_of_stacks(_matrix(taps, a, axis), a.reshape(sizes))
        if np.isfinite(y).all():
            return y.reshape(shape)
    y = np.zeros(shape, a.dtype)
    for k, places in enumerate(taps.places.T):
        part = a.take(np.maximum(places, 0), axis)
        part *= weights[:, k]
        part[(..., places < 0, *(slice(None),) * len(tail))] = 0
        y += part
    return y


def _matrix(taps: Taps, a: Any, axis: int) -> Any:
    found = np.zeros((len(taps.places), a.shape[axis]), a.dtype)
    result, tap = np.nonzero(taps.places >= 0)
    np.add.at(found, (result, taps.places[result, tap]), taps.weights[result, tap])
    return found


def _shape(a: Shape, axis: int, taps: Taps, turned: Taps) -> Shape:
    return exchanged(a, axis, len(taps.places))


_SOME = Taps(np.array([[0, 1], [2, -1]]), np.array([[0.5, -1.5], [2.0, 0.0]]))
_LINE = Taps(np.array([[0, 0], [0, 1], [1, 2]]), np.array([[0.75, 0.25]] * 3), between=True)

# `axis` counts from the end.
resample: Op = op(
    "resample", _resample,
    lambda g, axis, taps, turned: resample(g, axis=axis, taps=turned, turned=taps),
    shape=_shape, label="ScaleAndTranslate", params=("axis", "taps", "turned"), push="linear",
    batches=True,
    sample=lambda d: [
        ([d(2, 3, 2)], {"axis": -2, "taps": _SOME, "turned": _SOME.turned(3)}),
        ([d(3)], {"axis": -1, "taps": _SOME, "turned": _SOME.turned(3)}),
        ([d(3)], {"axis": -1, "taps": _LINE, "turned": _LINE.turned(3)}),
    ],
)  # fmt: skip
