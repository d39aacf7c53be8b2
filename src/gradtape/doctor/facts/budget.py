"""What an examination may cost: every walk and every replay of it pays here.

Work is counted, so that the same program has the same report everywhere: operations that are
computed again, and the numbers that they are given. Both grow with the step that is examined. Time
is the last resort, for what counts as little and takes long. Whatever is spent, the explanation
that is the best so far stands.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..trace import Trace

SECONDS = 5.0  # of the processor, of one examination
# Operations that may be computed again, and the numbers that they may be given: at least so many,
# or so many times those of the step itself.
OPERATIONS, TIMES = 100_000, 16
NUMBERS, OVER = 1_000_000_000, 16
# Bytes of cotangents that an examination may hold: beside what the step itself held.
BYTES = 128 << 20


class Spent(Exception):
    """An examination has used up what it may cost."""


class Budget:
    """What is left of what one examination may cost."""

    def __init__(self, trace: Trace) -> None:
        # Of what operations gave: what a variable held after an update is computed when it is asked
        # for, and its numbers may be those of a graph.
        results = [value for event in trace.events if event.way == "op" for value in event.outputs]
        sizes = [math.prod(value.shape) for value in results]
        self.operations = max(OPERATIONS, TIMES * len(trace.events))
        self.numbers = max(NUMBERS, OVER * sum(sizes))
        self.bytes = BYTES + 4 * sum(sizes)
        self.ends = time.thread_time() + SECONDS
        self.why = ""  # of what there was too little

    @property
    def spent(self) -> bool:
        return bool(self.why)

    def pay(self, numbers: int) -> None:
        """An operation is computed again, on so many numbers."""
        self.operations -= 1
        self.numbers -= numbers
        if not self.why:
            if self.operations < 0 or self.numbers < 0:
                self.why = "after as many operations as are allowed for a step of this size"
            elif time.thread_time() > self.ends:
                self.why = f"after {SECONDS:g} s"
        if self.why:
            raise Spent(f"examination stopped {self.why}")

    def fits(self, held: int) -> None:
        """One walk holds so many bytes."""
        if held > self.bytes:
            self.why = self.why or f"at {self.bytes >> 20:,} MB of memory"
            raise Spent(f"examination stopped {self.why}")


_CURRENT: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(trace: Trace) -> Iterator[Budget]:
    """Everything that is computed again in here has one budget."""
    budget = Budget(trace)
    token = _CURRENT.set(budget)
    try:
        yield budget
    finally:
        _CURRENT.reset(token)


def current() -> Budget | None:
    return _CURRENT.get()


def pay(arrays: Iterable[Any]) -> None:
    """An operation is computed again, given these arrays."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.pay(sum(getattr(array, "size", 1) for array in arrays if array is not None))
