"""What a gradient function of the user's answered, so that the doctor need not call it once more.

The function is Python code of the program: it may count, print or draw. A walk that comes back with
the cotangents of the sweep takes its answer from here; only a trial with others has to call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .fading import LARGE

Rule = Callable[[list], list]


class Answers:
    """A rule that remembers its last answer, if that and what it was given are small."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._given: list[Any] = []
        self._answer: list[Any] | None = None

    def __call__(self, cotangents: list) -> list:
        answer = self.rule(cotangents)
        if all(map(_small, cotangents)) and all(map(_small, answer)):
            self._given, self._answer = list(cotangents), list(answer)
        return answer

    def to(self, cotangents: list) -> list:
        """The answer to these, by the function only if it was not asked just this."""
        known = self._answer
        if known is None or len(cotangents) != len(self._given):
            return self.rule(cotangents)
        if not all(map(_same, cotangents, self._given)):
            return self.rule(cotangents)
        return list(known)


def _small(part: Any) -> bool:
    return part is None or (isinstance(part, (np.ndarray, np.generic)) and part.nbytes < LARGE)


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    # A sum in another order differs in its last bits.
    return np.shape(one) == np.shape(other) and np.allclose(one, other, 1e-6, 0, equal_nan=True)
