"""Who depends on whom: paths from a source to a target, and where each of them is cut.

Every event joins its inputs to its outputs. For one tape a joint flows, or it is cut for a reason,
named by a cause. The path with the fewest cuts is the one to mend.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from . import kinds
from .place import Place
from .trace import Event, Query, Tape, Value, Variable


@dataclass(eq=False)
class Cut:
    """A joint that the gradient did not pass."""

    cause: str
    event: Event
    input: Value
    output: Value

    @property
    def place(self) -> Place:
        """Where it is: of several values that left together, where this one did."""
        exits = [e for e in self.event.attrs.get("exits", ()) if e.value is self.input]
        return exits[0].place if exits else self.event.place


@dataclass(eq=False)
class Path:
    """A way from a source to a target."""

    values: list[Value]
    events: list[Event]
    cuts: list[Cut]

    def by(self, event: Event, after: Path, tape: Tape) -> Path:
        """This path to an input of an event, the event, and the path from its output on."""
        found = cut(event, self.values[-1], after.values[0], tape)
        cuts = [*self.cuts, *([found] if found is not None else []), *after.cuts]
        return Path(self.values + after.values, [*self.events, event, *after.events], cuts)


def cut(event: Event, given: Value, made: Value, tape: Tape) -> Cut | None:
    """Why the gradient of this tape does not pass from an output to an input, if it does not."""
    cause = kinds.cause(event, event.inputs.index(given), event.outputs.index(made))
    if cause is None and tape.number not in event.tapes:
        cause = "outside-tape"
    return None if cause is None else Cut(cause, event, given, made)


class Search:
    """All ways up from the targets, each with the fewest cuts: one search serves every source."""

    def __init__(self, targets: list[Value], tape: Tape) -> None:
        self.tape = tape
        self.best: dict[Value, tuple[int, int]] = dict.fromkeys(targets, (0, 0))  # cuts, length
        self.after: dict[Value, tuple[Event, Value]] = {}
        began = tape.spans[0][0] if tape.spans else 0
        past: set[Value] = set()  # of steps before: what a variable was updated with
        queue = deque(targets)
        while queue:
            value = queue.popleft()
            event, (cost, length) = value.maker, self.best[value]
            if event is None or (event.way == "gradient" and value in past):
                continue  # how a variable was trained is no part of what this tape was to record
            old = value in past or (event.way == "assign" and event.time < began)
            for given in event.inputs:
                price = (cost + (cut(event, given, value, tape) is not None), length + 1)
                if given not in self.best or price < self.best[given]:
                    self.best[given] = price
                    self.after[given] = event, value
                    past.add(given) if old else past.discard(given)
                    queue.append(given)

    def path(self, sources: list[Value]) -> Path | None:
        """The path with the fewest cuts from one of these."""
        reached = [s for s in sources if s in self.best]
        if not reached:
            return None
        value = min(reached, key=lambda s: self.best[s])
        values, events, cuts = [value], [], []
        while value in self.after:
            event, made = self.after[value]
            found = cut(event, value, made, self.tape)
            if found is not None:
                cuts.append(found)
            events.append(event)
            values.append(made)
            value = made
        return Path(values, events, cuts)


def path(sources: list[Value], targets: list[Value], tape: Tape) -> Path | None:
    """The path with the fewest cuts from a source to a target."""
    return Search(targets, tape).path(sources)


def ancestors(targets: list[Value], without: Collection[str] = ()) -> set[Value]:
    """All values that the targets were computed from, but not by the ways `without`."""
    seen = set(targets)
    queue = list(targets)
    while queue:
        maker = queue.pop().maker
        for given in maker.inputs if maker is not None and maker.way not in without else ():
            if given not in seen:
                seen.add(given)
                queue.append(given)
    return seen


def nodes(query: Query, source: Value | Variable, values: list[Value]) -> list[Value]:
    """The values that a source stands for: a variable's reads, or the tensor itself."""
    if isinstance(source, Variable):
        return [v for v in values if v.variable is source]
    return [source]
