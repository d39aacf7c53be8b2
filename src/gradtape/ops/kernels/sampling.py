"""Draws that take more than one number each: orders, categories, gamma, Poisson and binomial.

A kernel that draws several times for each parameter keeps the draws of one parameter together in
the stream, and their place in the result is the last but the parameter's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.apply import QUIET, restore, silence
from .philox import RESERVED, Stream, normals64, units64


def order(stream: Stream, count: int) -> Any:
    """A random order of `range(count)` (Fisher and Yates; a swap depends on those before it)."""
    left = np.arange(count, 1, -1, dtype=np.uint32)
    targets = (stream.words(len(left)) % left + np.arange(len(left))).tolist()
    places = list(range(count))
    for k, target in enumerate(targets):
        places[k], places[target] = places[target], places[k]
    return np.array(places, np.intp)


def categorical(stream: Stream, logits: Any, samples: int) -> Any:
    """For each row of logits, the classes where uniform numbers fall in its cumulative sum."""
    rows = len(logits)
    wide = logits.astype(np.float64)
    finite = np.isfinite(logits.astype(np.float32))
    peak = np.max(wide, axis=1, where=finite, initial=np.finfo(np.float32).min, keepdims=True)
    token = silence[QUIET]
    try:
        sums = np.cumsum(np.where(finite, np.exp(wide - peak), 0.0), axis=1)
    finally:
        restore(token)
    found = np.empty((rows, samples), np.int64)
    drawn = stream.uniform(rows * samples, np.dtype(np.float64)).reshape(rows, samples)
    for k in range(rows):
        found[k] = np.searchsorted(sums[k], drawn[k] * sums[k, -1], side="right")
    return found


class _Each:
    """Numbers for many draws at once, each of which reads its own stretch of the stream.

    A block gives two numbers, of which the kernels take the second one first.
    """

    def __init__(self, stream: Stream, count: int) -> None:
        self.stream = stream
        self.places = np.arange(count, dtype=np.uint64) * np.uint64(RESERVED)
        self.kept: dict[Callable[..., Any], tuple[Any, Any]] = {}

    def take(self, kind: Callable[..., Any], draws: Any) -> Any:
        """The next number of a kind for each of these draws."""
        if kind not in self.kept:
            count = len(self.places)
            self.kept[kind] = np.empty((count, 2)), np.zeros(count, np.int8)
        values, left = self.kept[kind]
        empty = draws[left[draws] == 0]
        if empty.size:
            values[empty] = kind(self.stream.at(self.places[empty])).T
            self.places[empty] += np.uint64(1)
            left[empty] = 2
        left[draws] -= 1
        return values[draws, left[draws]]


def for_each(draw: Callable[[Any], Any], parameters: Any, times: tuple[int, ...]) -> Any:
    """`times` draws for each parameter: an array of the shape `times + parameters.shape`."""
    count = math.prod(times)
    drawn = draw(np.repeat(parameters.reshape(-1), count))
    return drawn.reshape(parameters.size, count).T.reshape(times + parameters.shape)


def gamma(stream: Stream, alpha: Any) -> Any:
    """One deviate for each shape parameter (Marsaglia and Tsang, 2000)."""
    alpha = alpha.astype(np.float64)
    each, out = _Each(stream, alpha.size), np.empty(alpha.size)
    ones, pending = np.flatnonzero(alpha == 1.0), np.flatnonzero(alpha != 1.0)
    out[ones] = -np.log1p(-each.take(units64, ones))
    small = alpha < 1.0
    d = alpha + np.where(small, 2.0 / 3, -1.0 / 3)
    token = silence[QUIET]
    try:
        c = 1.0 / 3 / np.sqrt(d)
        while pending.size:
            x = each.take(normals64, pending)
            v = 1.0 + c[pending] * x
            inside = ~(v <= 0.0)
            draws, x, v = pending[inside], x[inside], v[inside]
            v = v * v * v
            u = each.take(units64, draws)
            good = (u < 1.0 - 0.0331 * (x * x) * (x * x)) | (
                np.log(u) < 0.5 * x * x + d[draws] * (1.0 - v + np.log(v))
            )
            taken = draws[good]
            out[taken] = d[taken] * v[good]
            little = taken[small[taken]]
            out[little] *= np.power(each.take(units64, little), 1.0 / alpha[little])
            done = np.zeros(alpha.size, bool)
            done[taken] = True
            pending = pending[~done[pending] & ~np.isnan(d[pending])]
    finally:
        restore(token)
    out[np.isnan(alpha)] = np.nan
    return out


def poisson(stream: Stream, rate: Any, top: float) -> Any:
    """One count for each rate, none above `top`: products of uniform numbers where the rate is
    below 10 (Knuth), transformed rejection where it is not (Hörmann, 1993)."""
    rate = rate.astype(np.float64)
    each, out = _Each(stream, rate.size), np.zeros(rate.size)
    _poisson_small(each, np.flatnonzero(rate < 10.0), rate, out)
    endless = np.isinf(rate) & (rate > 0)
    out[endless] = np.inf
    out[np.isnan(rate)] = np.nan
    _poisson_large(each, np.flatnonzero((rate >= 10.0) & ~endless), rate, out, top)
    return out


def _poisson_small(each: _Each, pending: Any, rate: Any, out: Any) -> None:
    product, limit = np.ones(rate.size), np.exp(-rate)
    while pending.size:
        product[pending] *= each.take(units64, pending)
        pending = pending[product[pending] > limit[pending]]
        out[pending] += 1.0


def _poisson_large(each: _Each, pending: Any, rate: Any, out: Any, top: float) -> None:
    from scipy.special import gammaln

    token = silence[QUIET]
    try:
        b = 0.931 + 2.53 * np.sqrt(rate)
        a = -0.059 + 0.02483 * b
        inverse = 1.1239 + 1.1328 / (b - 3.4)
        while pending.size:
            lam, bb, aa = rate[pending], b[pending], a[pending]
            u = each.take(units64, pending) - 0.5
            v = each.take(units64, pending)
            shifted = 0.5 - np.abs(u)
            k = np.floor((2.0 * aa / shifted + bb) * u + lam + 0.43)
            sure = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (bb - 2.0))
            never = (k < 0) | ((shifted < 0.013) & (v > shifted))
            s = np.log(v * inverse[pending] / (aa / (shifted * shifted) + bb))
            t = -lam + k * np.log(lam) - gammaln(k + 1.0)
            good = (k <= top) & (sure | (~never & (s <= t)))
            out[pending[good]] = k[good]
            pending = pending[~good]
    finally:
        restore(token)


def binomial(stream: Stream, counts: Any, probs: Any) -> Any:
    """One count for each pair, by NumPy's own algorithm on bits that the stream seeds."""
    seed = np.random.SeedSequence([stream.key, stream.counter])
    draw = np.random.Generator(np.random.PCG64(seed)).binomial
    bad = ~((counts >= 0) & (probs >= 0.0) & (probs <= 1.0))
    drawn = draw(np.where(bad, 0, counts).astype(np.int64), np.where(bad, 0.0, probs))
    return np.where(bad, np.nan, drawn.astype(np.float64))
