"""TensorFlow's order where there is none: NaN among numbers, and the greatest few unsorted.

Its kernels sort with C++'s library, whose algorithms are defined for NaN by what they compare, and
keep the greatest few in a heap. Both are retraced here, row by row, for rows that need it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Before = Callable[[int, int], bool]
SHORT = 16  # what libstdc++ leaves to insertion


def greatest_first(row: Any, count: int, in_order: bool) -> list[int]:
    """The places of the greatest few of a row as TensorFlow's TopKV2 gives them."""
    values = row.tolist() if row.dtype.kind != "V" else row.astype(np.float32).tolist()
    n = len(values)
    if count == 1 and row.dtype.kind in "fV":
        return [_greatest(row)]
    if count == n:
        places = list(range(n))
        _sort(places, lambda a, b: values[b] < values[a])
        _runs_in_order(places, values)
        return places

    def before(a: int, b: int) -> bool:
        x, y = values[a], values[b]
        return y < x or (not y > x and a < b)

    heap = _few(row, count, before)
    if in_order:
        for end in range(count - 1, 0, -1):  # C++'s sort_heap: the last goes to the end
            last, heap[end] = heap[end], heap[0]
            _sift(heap, 0, end, last, before)
    return heap


def _greatest(row: Any) -> int:
    """The first of the greatest; where that is NaN, which equals nothing, the first place.

    TensorFlow's maximum takes 32 bytes at once (16 of the halves) and then one by one: NaN is
    passed over in the former, and taken for the greater one and then the lesser in the latter.
    """
    numbers = row.astype(np.float64)
    blocks = len(row) - len(row) % (4 if row.dtype.itemsize == 8 else 8)
    found = float(np.fmax.reduce(numbers[:blocks], initial=-np.inf))
    for number in numbers[blocks:].tolist():
        found = found if found > number else number
    places = np.flatnonzero(numbers == found)
    return int(places[0]) if len(places) else 0


def _runs_in_order(places: list[int], values: list[Any]) -> None:
    """Equals that stand side by side come in the order of their places."""
    start = 0
    while start + 1 < len(places):
        stop = start + 1
        while stop < len(places) and values[places[start]] == values[places[stop]]:
            stop += 1
        places[start:stop] = sorted(places[start:stop])
        start = stop


def _few(row: Any, count: int, before: Before) -> list[int]:
    """A heap of the places that come first, the last of them on top."""
    heap = list(range(count + 1))
    for hole in range((count - 1) // 2, -1, -1):
        _sift(heap, hole, count + 1, heap[hole], before)
    _drop(heap, before)
    for place in _candidates(row, heap):
        if before(place, heap[0]):
            _drop(heap, before)
            heap.append(place)
            _sift_up(heap, count - 1, 0, place, before)
    return heap


def _candidates(row: Any, heap: list[int]) -> Any:
    """The places that may enter: those greater than the least that is kept, which only rises."""
    at, n, ordered = len(heap) + 1, len(row), bool((row == row).all())
    while at < n:
        block = row[at : at + 4096]
        places = np.flatnonzero(block > row[heap[0]]) if ordered else np.arange(len(block))
        yield from (at + places).tolist()
        at += len(block)


def _drop(heap: list[int], before: Before) -> None:
    """C++'s pop_heap: without the one on top."""
    last = heap.pop()
    if heap:
        _sift(heap, 0, len(heap), last, before)


def _sift(heap: list[int], hole: int, n: int, value: int, before: Before) -> None:
    """libstdc++'s __adjust_heap: down along the later child to a leaf, then up to its place."""
    top, child = hole, hole
    while child < (n - 1) // 2:
        child = 2 * (child + 1)
        if before(heap[child], heap[child - 1]):
            child -= 1
        heap[hole], hole = heap[child], child
    if n % 2 == 0 and child == (n - 2) // 2:
        child = 2 * child + 1
        heap[hole], hole = heap[child], child
    _sift_up(heap, hole, top, value, before)


def _sift_up(heap: list[int], hole: int, top: int, value: int, before: Before) -> None:
    while hole > top and before(heap[(hole - 1) // 2], value):
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = value


# --- libstdc++'s std::sort ------------------------------------------------------------------------
def _sort(x: list[int], before: Before) -> None:
    depth = 2 * (len(x).bit_length() - 1)
    _part(x, 0, len(x), depth, before)
    for i in range(1, len(x)):
        value, j = x[i], i
        if i < SHORT and before(value, x[0]):
            j = 0
            x[1 : i + 1] = x[:i]
        else:
            while j and before(value, x[j - 1]):
                x[j], j = x[j - 1], j - 1
        x[j] = value


def _part(x: list[int], first: int, last: int, depth: int, before: Before) -> None:
    while last - first > SHORT and depth:
        depth -= 1
        _median_to_first(x, first, first + 1, first + (last - first) // 2, last - 1, before)
        pivot, low, high = x[first], first + 1, last
        while True:
            while low < len(x) and before(x[low], pivot):
                low += 1
            high -= 1
            while high >= 0 and before(pivot, x[high]):
                high -= 1
            if low >= high:
                break
            x[low], x[high] = x[high], x[low]
            low += 1
        _part(x, low, last, depth, before)
        last = low


def _median_to_first(x: list[int], to: int, a: int, b: int, c: int, before: Before) -> None:
    if before(x[a], x[b]):
        chosen = b if before(x[b], x[c]) else c if before(x[a], x[c]) else a
    else:
        chosen = a if before(x[a], x[c]) else c if before(x[b], x[c]) else b
    x[to], x[chosen] = x[chosen], x[to]
