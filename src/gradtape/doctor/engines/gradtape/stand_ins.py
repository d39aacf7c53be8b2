"""Stand-ins that the log holds for variables, tapes and tensors, which die as without the doctor.

An object that is alive is had by its stand-in, of which there is one as long as the object lives;
of one that has died the stand-in knows what a report needs. What is compared are stand-ins: the id
of a dead object may belong to another one by now.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any
from weakref import ref

from .... import nest
from ....autodiff.tape import GradientTape
from ....core.apply import tensor
from ....framework.lifetimes import Beside
from ....framework.tensor import Tensor
from ....framework.variable import Variable
from .models import held

MISSING: Any = object()


def twin_of(it: Tensor) -> Tensor:
    """The tensor that the log holds for another one: it has the same numbers, and is one and the
    same as long as that lives. A twin is its own."""
    known = getattr(it, "_twin", MISSING)  # an exception would take twice the time
    if known is MISSING:
        known = tensor(it._value)
        known._twin, it._twin = None, known
    return it if known is None else known


class KeptVariable:
    """Stands for a variable."""

    __slots__ = ("_variable", "name", "trainable")

    def __init__(self, variable: Variable) -> None:
        self._variable = ref(variable)
        self.name, self.trainable = variable.name, variable.trainable

    @property
    def variable(self) -> Variable | None:
        """The variable itself, as long as it lives."""
        return self._variable()


class KeptTape:
    """Stands for a tape."""

    __slots__ = ("_persistent", "_watch_accessed_variables", "tape")

    def __init__(self, tape: GradientTape) -> None:
        self.tape: Callable[[], GradientTape | None] = ref(tape)
        self._persistent = tape._persistent
        self._watch_accessed_variables = tape._watch_accessed_variables


class StandIns:
    """The stand-ins of all objects that are alive."""

    def __init__(self) -> None:
        self._variables: Beside[Variable, KeptVariable] = Beside()

    def forget(self) -> None:
        self._variables = Beside()

    def variable(self, variable: Variable) -> KeptVariable:
        """The stand-in of a variable."""
        known = self._variables.get(variable)
        if known is None:
            known = KeptVariable(variable)
            self._variables.put(variable, known)
        return known

    def keep(self, thing: Any) -> Any:
        """What the log may hold of a thing, and of what is in lists, tuples and dictionaries; of a
        nest of other kinds, a list of its parts."""
        kind = thing.__class__
        if kind is Tensor:
            return twin_of(thing)
        if thing is None:
            return thing
        if kind is Variable:
            return self.variable(thing)
        if isinstance(thing, GradientTape):
            return KeptTape(thing)
        if kind is dict:
            named = {key: self.keep(part) for key, part in thing.items()}
            return thing if all(map(is_, named.values(), thing.values())) else named
        if kind is list or kind is tuple:
            several = kind(map(self.keep, thing))
            return thing if all(map(is_, several, thing)) else several
        if isinstance(thing, (list, tuple, dict)):
            parts = nest.flatten(thing)
            kept = list(map(self.keep, parts))
            return thing if all(map(is_, kept, parts)) else kept
        inner = held(thing)
        return self.variable(inner) if isinstance(inner, Variable) else thing
