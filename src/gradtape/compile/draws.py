"""Random numbers in functions: each random op has a stream of its own, which goes on from call to
call, as TensorFlow's kernels do."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..ops.kernels.philox import HUGE, Stream
from ..random import when_seed_is_set
from .program import Var

Pair = tuple[int, int] | None  # of seeds


class Number(int):
    """A Python number that the program computes anew at every call: a place in a stream."""

    var: Var
    recording: Any


@dataclass
class Place:
    """Where to draw, in a program: both numbers may be `Number`s."""

    key: int
    counter: int


class Drawing(Stream):
    """The stream of one random op of a function."""

    __slots__ = ("pair", "start", "twins")

    def __init__(self, key: int, counter: int, pair: Pair = None) -> None:
        super().__init__(key, counter)
        self.pair, self.start = pair, self.counter
        self.twins: dict[str, Drawing] = {}

    @staticmethod
    def of(pair: Pair) -> Drawing:
        if pair is None:
            return Drawing(*np.frombuffer(os.urandom(16), np.uint64).tolist())
        seeded = Stream.seeded(*pair)
        return Drawing(seeded.key, seeded.counter, pair)

    def twin(self, mode: str) -> Drawing:
        """The stream of the same op in another mode: under tapes TensorFlow runs other kernels."""
        if not mode:
            return self
        if mode not in self.twins:
            self.twins[mode] = Drawing.of(self.pair) if self.pair is None else Drawing(
                self.key, self.start, self.pair
            )  # fmt: skip
        return self.twins[mode]

    def restart(self) -> None:
        self.counter = self.start
        for twin in self.twins.values():
            twin.restart()


class Kernels:
    """The streams of all recordings of a trace: those of ops without a seed by their number."""

    def __init__(self) -> None:
        self._streams: dict[tuple[tuple[int, ...], Pair], Drawing] = {}
        when_seed_is_set(self)

    def at(self, index: tuple[int, ...], pair: Pair) -> Drawing:
        if (index, pair) not in self._streams:
            self._streams[index, pair] = Drawing.of(pair)
        return self._streams[index, pair]

    def restart(self) -> None:
        """Begin again, as all kernels do when the global seed is set; their seeds stay."""
        for stream in self._streams.values():
            stream.restart()

    def restart_seeded(self) -> None:
        """Begin again where a seed says so; what has none goes on."""
        for stream in self._streams.values():
            if stream.pair is not None:
                stream.restart()


def _further(blocks: int, counter: int) -> int:
    return counter + blocks & HUGE


class Kernel:
    """One random op while it is recorded."""

    def __init__(self, recording: Any, stream: Drawing) -> None:
        self._recording, self._stream = recording, stream

    def reserve(self, blocks: int) -> Place:
        recording, stream = self._recording, self._stream
        counter = stream.twin(recording.mode).counter
        for k, (one, var, before) in enumerate(recording.streams):
            if one is stream:  # again, in the next turn of a loop
                recording.streams[k] = stream, var, before + blocks
                begin = recording.number(counter, var)
                further = partial(_further, before)
                return Place(stream.key, *recording.numbers("further", further, begin))
        var = recording.program.new(None, None)
        recording.streams.append((stream, var, blocks))
        return Place(stream.key, recording.number(counter, var))
