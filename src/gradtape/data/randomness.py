"""Random numbers of datasets, word by word those of TensorFlow's kernels, and the order of a
shuffle that follows from them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.kernels.philox import Stream
from ..random import seeds_of
from .node import PIECE, Order


class Words:
    """Words of 32 bits, one after the other."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._stream = Stream.seeded(seed, seed2)
        self._left = np.zeros(0, np.uint32)

    def take(self, count: int) -> np.ndarray:
        if len(self._left) < count:
            blocks = -(-(count - len(self._left)) // 4)
            fresh = self._stream.reserve(blocks).words(4 * blocks)
            self._left = np.concatenate([self._left, fresh]) if len(self._left) else fresh
        taken, self._left = self._left[:count], self._left[count:]
        return taken


class Seeds:
    """The two seeds of each pass: the same ones, or those that a generator gives."""

    def __init__(self, seed: Any, again: bool) -> None:
        pair = seeds_of(None if seed is None else int(seed))
        if pair is None:
            first, second = np.frombuffer(os.urandom(16), np.int64).tolist()
            pair = first, second
        self._again = again
        self.go_to(*pair, 0)

    def next(self) -> tuple[int, int]:
        if self._words is None:
            return self._pair
        self._given += 1
        first, second = self._words.take(2).tolist()
        return first, second

    def state(self) -> list[int]:
        """What the next ones follow from."""
        return [*self._pair, self._given]

    def go_to(self, first: int, second: int, given: int) -> None:
        """Be in a state that another one was in."""
        self._pair = first, second
        self._words = Words(first, second) if self._again else None
        self._given = given
        if self._words is not None and given:
            self._words.take(2 * given)


def shuffled(order: Order, buffer: int, words: Words) -> Order:
    """Numbers of rows in the order in which TensorFlow's buffer gives them.

    The buffer is a window on the line of all that come in: each step swaps one of those in it with
    the first, gives that and moves on by one. 0.1 us a row; the draws of a piece are made at once.
    """
    line: list[int] = []
    for piece in order:
        line += piece.tolist()
        count = len(line) - buffer
        if count > 0:
            drawn = words.take(count).astype(np.int64) % buffer
            yield _given(line, drawn)
    for left in range(len(line), 0, -PIECE):  # nothing comes any more: the window gets shorter
        count = min(left, PIECE)
        drawn = words.take(count).astype(np.int64) % np.arange(left, left - count, -1)
        yield _given(line, drawn)


def _given(line: list[int], drawn: np.ndarray) -> np.ndarray:
    """The first of a line, each after it was swapped with the one drawn for it."""
    count = len(drawn)
    for k, at in enumerate((drawn + np.arange(count)).tolist()):
        line[k], line[at] = line[at], line[k]
    given = np.array(line[:count])
    del line[:count]
    return given


def shuffled_elements(elements: Iterator[Any], buffer: int, words: Words) -> Iterator[Any]:
    """The same for elements, each of which is asked for only when it is needed."""
    ring: list[Any] = []
    draw = _one_by_one(words)
    done = 0
    for element in elements:
        if len(ring) < buffer:
            ring.append(element)
            continue
        at, old = (done + next(draw)) % buffer, done % buffer
        given, ring[at] = ring[at], ring[old]
        ring[old] = element
        done += 1
        yield given
    size = len(ring)
    for step in range(size):
        at, old = (done + step + next(draw) % (size - step)) % size, (done + step) % size
        given, ring[at] = ring[at], ring[old]
        ring[old] = None
        yield given


def _one_by_one(words: Words) -> Iterator[int]:
    count = 16
    while True:
        yield from words.take(count).tolist()
        count = min(2 * count, PIECE)
