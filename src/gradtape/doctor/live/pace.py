"""When to do again what costs time: every so many seconds, and never more than a share of all."""

from __future__ import annotations

import math
from time import perf_counter


class Pace:
    """Work that is due now and then; `done` tells how long it took."""

    def __init__(self, every: float, share: float) -> None:
        self.every, self.share = every, share
        self.begun = perf_counter()
        self.due = self.begun + every
        self._ended, self._cost = -math.inf, 0.0

    @property
    def now(self) -> bool:
        return self.due <= perf_counter()

    def begin(self) -> None:
        self.begun = perf_counter()

    def done(self) -> None:
        self._ended = perf_counter()
        self._cost = self._ended - self.begun
        self.due = self._ended + max(self.every, self._cost / self.share)

    def hasten(self, seconds: float) -> None:
        """There is news: the next time is so many seconds after the last, if that is no more than
        its share."""
        self.due = min(self.due, self._ended + max(seconds, self._cost / self.share))
