"""Which calls of a large function are played once more: not all, while its gradients are sound.

To play a call once more, equation by equation, takes longer than the call. Of a small function that
is nothing, and each call is judged. Of a large one it would double the time of a training.
"""

from __future__ import annotations

import math
import weakref
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ....compile.program import Loop, Program
from ...trace import Asked

LARGE = 4_000_000  # numbers that the equations of a program make in a call
MANY = 2_000  # operations of a call, with each turn of its loops
FIRST, EVERY = 3, 16  # calls that are played once more: the first ones, then one of so many
SMALL = 16  # numbers of a result that are looked at after every call


@dataclass(eq=False)
class _Known:
    """What is known of the calls of one program."""

    large: bool
    calls: int = 0
    asked: list[Asked] = field(default_factory=list)  # by the last call that was judged
    broken: bool = False  # was a result not finite?

    @property
    def sound(self) -> bool:
        return bool(self.asked) and all(asked.sound for asked in self.asked)


class Rarely:
    """The calls of all functions, by their programs."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, _Known] = weakref.WeakKeyDictionary()
        self._now: _Known | None = None
        # The last call that was not judged, until it is clear that it need not be: the program, its
        # arguments, and how it is played once more.
        self.waiting: tuple[Any, list, Any] | None = None

    def skips(self, take: Any, found: list[Any]) -> bool:
        """Is a call not to be judged? What comes out of it is looked at in any case."""
        known = self._known.get(take)
        if known is None or not known.large:
            return False
        known.calls += 1
        broken, known.broken = known.broken, not all(map(_finite, found))
        if known.calls <= FIRST or not known.calls % EVERY or not known.sound:
            return False
        return broken or not known.broken

    def begin(self, take: Any) -> None:
        """A call is judged: what is asked from now on is asked in it."""
        known = self._known.get(take)
        if known is None:
            known = self._known[take] = _Known(_is_large(take.program), 1)
        known.asked.clear()
        self._now = known

    def note(self, asked: Asked) -> None:
        """A query of that call, without the program's objects."""
        if self._now is not None and self._now.large:
            self._now.asked.append(
                replace(
                    asked, target=None, sources=None, frame=None, gradients=[], values=[],
                    results=[], sizes=None, norms=[],
                )
            )  # fmt: skip

    def broke(self, take: Any) -> bool:
        """Was a result of the last call not finite?"""
        return self._known[take].broken

    def pass_over(self, engine: Any) -> None:
        """Tell that the call that waits has asked, and that its numbers are not known."""
        waiting, self.waiting = self.waiting, None
        for asked in () if waiting is None else self._known[waiting[0]].asked:
            engine.asked(replace(asked))


def _is_large(program: Program) -> bool:
    sizes = (v.shape or () for e in program.equations for v in e.outputs)
    return sum(map(math.prod, sizes)) >= LARGE or _operations(program) >= MANY


def _operations(program: Program) -> int:
    """Of a loop that turns until something holds, those of one turn: how many is not known."""
    number = len(program.equations)
    for equation in program.equations:
        loop = equation.op.state if isinstance(equation.op, Loop) else None
        if loop is not None:
            number += len(loop.order or (0,)) * _operations(loop.body.program)
    return number


def _finite(tensor: Any) -> bool:
    array: Any = getattr(tensor, "_value", None)
    if not isinstance(array, (np.ndarray, np.generic)) or array.size > SMALL:
        return True
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())
