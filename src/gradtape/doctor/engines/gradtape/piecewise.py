"""When the values of a call that is played once more can be let go.

A call that is judged is played in pieces, and the events of each piece are written into the log.
What the gradient passed is held until the last query has been answered; what the sweep and the
update of the variables make is held no longer than the call itself needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ....compile.program import Equation, Program, Var
from ....core.apply import tensor
from .. import gradtape as raw
from .templates import ArrayOf, Entry, Packed, Template, with_own_array

PIECE = 32  # equations that are played at a time


class Schedule:
    """For each entry of a template, how many pieces are played before it can be written; for each
    piece, which values nobody needs behind it."""

    def __init__(self, program: Program, template: Template, followed: bool) -> None:
        equations, names = program.equations, template.names
        made = {v: k + 1 for k, e in enumerate(equations) for v in e.outputs}
        logged = [e for e in template.entries if followed or not e.swept]
        self.ready: list[int] = []
        needed = {v: k + 1 for k, e in enumerate(equations) for v in (*e.outputs, *e.uses)}
        written = dict[Var, int]()  # the last position at which an entry shows a value
        position = answered = 0
        for entry in logged:
            shown = set(_variables(entry))
            position = max((position, *(made.get(names.get(v, v), 0) for v in shown)))
            self.ready.append(_piece(position))
            written.update(dict.fromkeys(shown, position))
            if entry.event[0] == raw.QUERY:
                answered = position
        self.entries = logged
        for var, last in written.items():
            needed[var] = max(needed.get(var, 0), last, answered)
        self.release: dict[int, list[Var]] = {}
        for var, last in needed.items():
            if names.get(var, var) in made:
                self.release.setdefault(_piece(last), []).append(var)


class Showing:
    """The values of a call as events show them: `known` grows with what the player has made."""

    def __init__(
        self, program: Program, template: Template, made: dict[Any, Any], updated: dict[Var, Any]
    ) -> None:
        self._equations, self._made, self._updated = program.equations, made, updated
        self._shown = -1  # equations whose results are known
        self._names: dict[Var, list[Var]] = {}
        for name, var in template.names.items():
            self._names.setdefault(var, []).append(name)
        self.known: dict[Any, Any] = {k: with_own_array(a) for k, a in template.arrays.items()}
        self.ends: dict[Var, Any] = {}  # tensors that the user has of values

    def show(self) -> None:
        """What the player has made since."""
        if self._shown < 0:
            self._shown = 0
            self._show(list(self._made))
            return
        for equation in self._equations[self._shown : self._shown + PIECE]:
            self._show([var for var in equation.outputs if var in self._made])
        self._shown += PIECE

    def _show(self, variables: Any) -> None:
        for var in variables:
            value = self._updated.get(var, self._made[var])
            names = self._names.get(var, ())
            for name in names:
                self.known[name] = tensor(value._value)
            if names and var in self.ends:  # the user has the last of these
                self.known[names[-1]] = self.ends[var]
            else:
                value = self.ends.get(var, value)
            self.known[var] = value

    def release(self, variables: Iterable[Var]) -> None:
        for var in variables:
            self.known.pop(var, None)
            self._made.pop(var, None)


def _piece(position: int) -> int:
    """How many pieces have been played when so many equations have."""
    return -(-position // PIECE)


def _variables(entry: Entry) -> Iterator[Var]:
    yield from _blanks(entry.event)
    if entry.scene is not None:
        yield from _blanks(entry.scene.f_locals)


def _blanks(thing: Any) -> Iterator[Var]:
    """The values of the program that are held here."""
    kind = thing.__class__
    if kind is Var:
        yield thing
    elif kind is ArrayOf:
        yield thing.var
    elif kind is Packed:
        yield from _blanks(thing.parts)
    elif kind is Equation:  # of a loop, or of Python
        yield from (*thing.inputs, *thing.outputs)
    elif kind is tuple or kind is list:
        for part in thing:
            yield from _blanks(part)
    elif kind is dict:
        yield from _blanks(list(thing.values()))
