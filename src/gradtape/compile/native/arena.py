"""Where values lie in one stretch of memory, in which those share room that never meet."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from math import prod

from ..program import Var

LINE = 64  # bytes of a cache line, at which everything begins


class Arena:
    """Memory that is taken and given back: always the smallest gap that is large enough."""

    def __init__(self) -> None:
        self.size = 0  # of all that was ever taken
        self._end = 0  # of what is taken now
        self._gaps: list[tuple[int, int]] = []  # sizes and places, in order
        self._starting: dict[int, int] = {}  # the sizes of gaps by where they begin,
        self._ending: dict[int, int] = {}  # and by where they end

    def take(self, size: int) -> int:
        k = bisect_left(self._gaps, (size, 0))
        if k == len(self._gaps):
            place = self._end
            self._end += size
            self.size = max(self.size, self._end)
            return place
        room, place = self._gaps[k]
        self._drop(room, place)
        if room > size:
            self._keep(room - size, place + size)
        return place

    def give_back(self, place: int, size: int) -> None:
        """Join what is free again with the gaps beside it, or with what lies behind all."""
        before = self._ending.get(place)
        if before is not None:
            place, size = place - before, size + before
            self._drop(before, place)
        after = self._starting.get(place + size)
        if after is not None:
            self._drop(after, place + size)
            size += after
        if place + size == self._end:
            self._end = place
        else:
            self._keep(size, place)

    def _keep(self, size: int, place: int) -> None:
        insort(self._gaps, (size, place))
        self._starting[place] = self._ending[place + size] = size

    def _drop(self, size: int, place: int) -> None:
        del self._gaps[bisect_left(self._gaps, (size, place))]
        del self._starting[place], self._ending[place + size]


def bytes_of(value: Var) -> int:
    """The memory of a value, in whole cache lines."""
    return -(-prod(value.shape) * value.dtype.itemsize // LINE) * LINE or LINE


def arranged(uses: Sequence[Sequence[Var]], outside: set[Var]) -> tuple[dict[Var, int], int]:
    """Where values begin, and how much memory that is: each lies there from the first item that
    uses it to the last. What is `outside` has a place already."""
    last = {v: k for k, values in enumerate(uses) for v in values if v not in outside}
    ending: dict[int, list[Var]] = {}
    for value, k in last.items():
        ending.setdefault(k, []).append(value)
    arena, found = Arena(), dict[Var, int]()
    for k, values in enumerate(uses):
        for value in values:
            if value not in outside and value not in found:
                found[value] = arena.take(bytes_of(value))
        for value in ending.get(k, ()):
            arena.give_back(found[value], bytes_of(value))
    return found, arena.size
