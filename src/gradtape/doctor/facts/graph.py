"""Who depends on whom: paths from a source to a target, and where each of them is cut.

Every event joins its inputs to its outputs. For one tape a joint flows, or it is cut for a reason,
named by a cause. The path with the fewest cuts is the one to mend.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ...traits import Family
from ..source.place import Place
from ..trace import Event, Tape, Value, kinds

FEW = 16  # operands, which are looked through
BLIND = 8  # cuts that are rather looked at than one op that does not see numbers

# A set of values that keeps the order in which they were found: a plain one goes by addresses, and
# the same program would have another report on another day.
Values = dict[Value, None]


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

    @property
    def joints(self) -> list[tuple[Event, Value, Value]]:
        """Each event with its input and its output on the way."""
        return list(zip(self.events, self.values, self.values[1:], strict=False))

    def by(self, event: Event, after: Path, tape: Tape) -> Path:
        """This path to an input of an event, the event, and the path from its output on."""
        found = cut(event, self.values[-1], after.values[0], tape)
        cuts = [*self.cuts, *([found] if found is not None else []), *after.cuts]
        return Path(self.values + after.values, [*self.events, event, *after.events], cuts)


def cut(event: Event, given: Value, made: Value, tape: Tape) -> Cut | None:
    """Why the gradient of this tape does not pass from an output to an input, if it does not."""
    cause = why(event, event.inputs.index(given), made, tape)
    return None if cause is None else Cut(cause, event, given, made)


def why(event: Event, given: int, made: Value, tape: Tape) -> str | None:
    """The cause of a cut between an output and the operand of this number, if there is one."""
    if event.way != "op":
        return kinds.DETOURS[event.way]
    found = kinds.cause(event, given, made)
    return "outside-tape" if found is None and tape.number not in event.tapes else found


class Search:
    """All ways up from the targets, each with the fewest cuts: one search serves every source."""

    def __init__(self, targets: list[Value], tape: Tape) -> None:
        self.tape = tape
        self.best: dict[Value, tuple[int, int]] = dict.fromkeys(targets, (0, 0))  # cuts, length
        self.after: dict[Value, tuple[Event, Value]] = {}
        self._causes: dict[Value, frozenset[str]] = {}
        self._routes: dict[Value, int] = {}
        self._places: list[frozenset[Place]] = [frozenset()]  # by the number of a route
        self._steps: dict[tuple[int, Place], int] = {}
        began = tape.spans[0][0] if tape.spans else 0
        past: set[Value] = set()  # of steps before: what a variable was updated with
        best, after = self.best, self.after
        queue = deque(targets)
        while queue:
            value = queue.popleft()
            event = value.maker
            if event is None or (event.way == "gradient" and value in past):
                continue  # how a variable was trained is no part of what this tape was to record
            cost, length = best[value]
            old = value in past or (event.way == "assign" and event.time < began)
            for k, given in enumerate(event.inputs):
                known = best.get(given)
                if known is not None and known <= (cost, length + 1):
                    continue
                if len(event.inputs) < FEW:  # `cut` looks at the first of two that are the same
                    k = event.inputs.index(given)
                broken = why(event, k, value, tape) is not None
                # A way by a shape is none, if there is any other.
                price = (cost + broken + BLIND * event.is_a(Family.IGNORES_NUMBERS), length + 1)
                if known is None or price < known:
                    best[given] = price
                    after[given] = event, value
                    past.add(given) if old else past.discard(given)
                    queue.append(given)

    def start(self, sources: Iterable[Value]) -> Value | None:
        """Of these, the one with the fewest cuts before it."""
        reached = [s for s in sources if s in self.best]
        return min(reached, key=lambda s: self.best[s]) if reached else None

    def causes(self, value: Value) -> frozenset[str]:
        """What cuts the path of a value, found for all on the way at once."""
        way: list[Value] = []
        while value in self.after and value not in self._causes:
            way.append(value)
            value = self.after[value][1]
        found = self._causes.get(value, frozenset())
        for given in reversed(way):
            event, made = self.after[given]
            broken = cut(event, given, made, self.tape)
            if broken is not None and broken.cause not in found:
                found = found | {broken.cause}
            self._causes[given] = found
        return found

    def route(self, value: Value) -> int:
        """A number for the places on the path of a value: the same for all turns of a loop."""
        way: list[Value] = []
        while value in self.after and value not in self._routes:
            way.append(value)
            value = self.after[value][1]
        found = self._routes.get(value, 0)
        for given in reversed(way):
            place = self.after[given][0].place
            if place not in self._places[found]:
                step = (found, place)
                if step not in self._steps:
                    self._steps[step] = len(self._places)
                    self._places.append(self._places[found] | {place})
                found = self._steps[step]
            self._routes[given] = found
        return found

    def path(self, sources: list[Value]) -> Path | None:
        """The path with the fewest cuts from one of these."""
        value = self.start(sources)
        if value is None:
            return None
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


def ancestors(targets: list[Value], without: Collection[str] = ()) -> Values:
    """All values that the targets were computed from, but not by the ways `without`."""
    seen = dict.fromkeys(targets)
    queue = list(targets)
    done: set[Event] = set()  # a tape that answers makes thousands of values of thousands
    while queue:
        maker = queue.pop().maker
        if maker is None or maker in done or maker.way in without:
            continue
        done.add(maker)
        for given in maker.inputs:
            if given not in seen:
                seen[given] = None
                queue.append(given)
    return seen


def makers(values: Iterable[Value]) -> list[Event]:
    """The events that made some values, oldest first."""
    return in_order(v.maker for v in values if v.maker is not None)


def first_use(value: Value) -> float:
    """When something was first computed from a value."""
    return min((event.time for event in value.users), default=math.inf)


def in_order(events: Iterable[Event]) -> list[Event]:
    """Events, each once, oldest first; of the same time, in the order in which they are given."""
    return sorted(dict.fromkeys(events), key=lambda event: event.time)
