"""Random bits by Philox 4x32-10, and fractions made of them as TensorFlow's kernels make them.

A counter of 128 bits is scrambled with a key of 64 into a block of four words of 32 bits (Salmon et
al., "Parallel random numbers: as easy as 1, 2, 3", 2011): every place in the stream is reached at
once, so all blocks are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np

from ... import errors
from . import libm
from .forks import in_children
from .parallel import share

WORD, LONG, HUGE = 2**32 - 1, 2**64 - 1, 2**128 - 1
# Blocks computed at a time. Small enough for the cache, large enough for the calls not to count:
# 1,024: 39 ns a word, 4,096: 15, 16,384: 9, 65,536: 9.
CHUNK = 16384
# Up to so many, Python's numbers are quicker than NumPy's.
FEW = 12
# A kernel sets this many blocks aside for each number, so that rejections never meet.
RESERVED = 256

_MULTIPLIERS = np.array([[0xD2511F53], [0xCD9E8D57]], np.uint64)
_WEYL = 0x9E3779B9, 0xBB67AE85
_MASK, _HALF = np.uint64(WORD), np.uint64(32)


def _scramble(even: Any, odd: Any, key: int) -> None:
    """Ten rounds in place: words 0 and 2 of the blocks are the rows of `even`, 1 and 3 of `odd`."""
    low, high, product = key & WORD, key >> 32, np.empty_like(even)
    crossed = product[::-1]
    for k in range(10):
        keys = np.array([[low + k * _WEYL[0] & WORD], [high + k * _WEYL[1] & WORD]], np.uint64)
        np.multiply(even, _MULTIPLIERS, out=product)
        np.right_shift(crossed, _HALF, out=even)
        np.bitwise_xor(even, odd, out=even)
        np.bitwise_xor(even, keys, out=even)
        np.bitwise_and(crossed, _MASK, out=odd)


def _block(counter: int, key: int) -> tuple[int, int, int, int]:
    """One block by Python's own numbers: 6 us, where the calls into NumPy take 100 for any few."""
    c0, c1, c2, c3 = (counter >> shift & WORD for shift in (0, 32, 64, 96))
    k0, k1 = key & WORD, key >> 32
    for _ in range(10):
        p, q = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = q >> 32 ^ c1 ^ k0, q & WORD, p >> 32 ^ c3 ^ k1, p & WORD
        k0, k1 = k0 + _WEYL[0] & WORD, k1 + _WEYL[1] & WORD
    return c0, c1, c2, c3


_moving = RLock()


@in_children
def _unlock() -> None:
    global _moving
    _moving = RLock()


class Stream:
    """A place in the sequence of blocks that a key gives."""

    __slots__ = ("counter", "key")

    def __init__(self, key: int, counter: int) -> None:
        self.key = key & LONG
        self.counter = counter & HUGE

    @classmethod
    def seeded(cls, seed: int, seed2: int) -> Stream:
        """The start for a pair of seeds of a kernel."""
        return cls(seed, (seed2 & LONG) << 64)

    def reserve(self, blocks: int) -> Stream:
        """The present place, to draw from; this stream itself moves on, for all threads."""
        with _moving:
            here = Stream(self.key, self.counter)
            self.counter = (self.counter + blocks) & HUGE
        return here

    def at(self, places: Any) -> Any:
        """The blocks this many further on (uint64), as four rows of 64-bit numbers."""
        if len(places) <= FEW:
            blocks = [_block(self.counter + k & HUGE, self.key) for k in places.tolist()]
            return np.array(blocks, np.uint64).reshape(-1, 4).T
        low, high = np.uint64(self.counter & LONG), self.counter >> 64
        rows = np.empty((4, len(places)), np.uint64)
        start = np.add(places, low, out=rows[1])
        rows[2:] = [[high & WORD], [high >> 32]]
        if int(low) + int(places.max()) > LONG:  # carry into the upper half
            high = (high + 1) & LONG
            rows[2:, start < low] = [[high & WORD], [high >> 32]]
        np.bitwise_and(start, _MASK, out=rows[0])
        np.right_shift(start, _HALF, out=start)
        _scramble(rows[::2], rows[1::2], self.key)
        return rows

    def words(self, count: int) -> Any:
        """The next words, as uint32."""
        return self._fill(count, np.uint32, 4, lambda rows: rows)

    def _fill(self, count: int, dtype: Any, each: int, make: Callable[[Any], Any]) -> Any:
        """`each` numbers of a block, side by side, by a function of the rows of words."""
        blocks = -(-count // each)
        out = _room((blocks, each), dtype)

        def task(start: int, stop: int) -> None:
            for i in range(start, stop, CHUNK):
                j = min(i + CHUNK, stop)
                out[i:j] = make(self.at(np.arange(i, j, dtype=np.uint64))).T

        share(task, blocks)
        return out.reshape(-1)[:count]

    # --- floating-point numbers -------------------------------------------------------------------
    def uniform(self, count: int, dtype: np.dtype) -> Any:
        """Numbers in [0, 1): as many of a word's low bits as the dtype's fraction has."""
        if dtype.itemsize == 8:
            return self._fill(count, dtype, 2, units64)
        bits = {"float32": 23, "float16": 10, "bfloat16": 7}[dtype.name]
        mask, scale = np.uint64(2**bits - 1), np.float32(2.0**-bits)
        return self._fill(count, dtype, 4, lambda rows: _float32(rows & mask) * scale)

    def normal(self, count: int, dtype: np.dtype) -> Any:
        """Normal deviates; float16 and bfloat16 are rounded float32."""
        if dtype.itemsize == 8:
            return self._fill(count, dtype, 2, normals64)
        return self._fill(count, dtype, 4, normals32)

    def truncated(self, count: int, dtype: np.dtype) -> Any:
        """Normal deviates in (-2, 2): each group of numbers redraws in a stretch of its own."""
        make, each = (normals64, 2) if dtype.itemsize == 8 else (normals32, 4)
        groups = -(-count // each)
        out = _room((groups, each), np.float64 if dtype.itemsize == 8 else np.float32)
        stride = np.uint64(each * RESERVED // 4)
        for start in range(0, groups, CHUNK):
            part = np.arange(start, min(start + CHUNK, groups), dtype=np.uint64) * stride
            drawn = make(self.at(part)).T
            good = np.abs(drawn) < 2.0
            again = np.flatnonzero(~good.all(axis=1))
            drawn[again] = self._redrawn(part[again], make, drawn[again], good[again])
            out[start : start + len(part)] = drawn
        return out.reshape(-1)[:count].astype(dtype, copy=False)

    def _redrawn(self, places: Any, make: Any, drawn: Any, good: Any) -> Any:
        """Rows of the first good draws of stretches, of which the first blocks are drawn."""
        out, each = np.empty_like(drawn), drawn.shape[1]
        found = np.zeros(len(out), np.intp)
        pending = np.arange(len(out))
        while pending.size:
            column = found[pending, None] + np.cumsum(good, axis=1) - 1
            good &= column < each
            rows = np.broadcast_to(pending[:, None], good.shape)
            out[rows[good], column[good]] = drawn[good]
            found[pending] += good.sum(axis=1)
            pending = pending[found[pending] < each]
            places = places + np.uint64(1)
            drawn = make(self.at(places[pending])).T
            good = np.abs(drawn) < 2.0
        return out


def _room(shape: tuple[int, int], dtype: Any) -> Any:
    """An array to fill, or TensorFlow's error if there is no memory for it."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise errors.exhausted("Random", MemoryError(str(error))) from None


def _float32(words: Any) -> Any:
    # By way of int32, which processors convert several at a time; the top bit is never set here.
    return words.astype(np.int32).astype(np.float32)


def units64(rows: Any) -> Any:
    """Two numbers in [0, 1) of 52 bits from each block."""
    whole = (rows[::2] & np.uint64(0xFFFFF)) << _HALF | rows[1::2]
    return whole.astype(np.int64) * 2.0**-52


def normals32(rows: Any) -> Any:
    """Four float32 deviates of each block (Box and Muller, twice)."""
    units = _float32(rows & np.uint64(0x7FFFFF)) * np.float32(2.0**-23)
    radius = np.sqrt(np.float32(-2.0) * libm.log(np.maximum(units[::2], np.float32(1e-7))))
    angle = (2.0 * math.pi * units[1::2].astype(np.float64)).astype(np.float32)
    out = np.empty(rows.shape, np.float32)
    for k, wave in enumerate(libm.sin_cos(angle)):
        np.multiply(wave, radius, out=out[k::2])
    return out


def normals64(rows: Any) -> Any:
    """Two float64 deviates of each block."""
    first, second = units64(rows)
    radius = np.sqrt(-2.0 * np.log(np.maximum(first, 1e-7)))
    angle = 2.0 * math.pi * second
    out = np.stack([np.sin(angle), np.cos(angle)])
    out *= radius
    return out
