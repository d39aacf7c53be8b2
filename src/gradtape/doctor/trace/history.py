"""What is kept of every query over a whole run: numbers, not arrays."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from ..source.place import Place
from .finding import Finding
from .states import CANCELLED, WORST, by_norm

BROKEN = ("nan", "inf")
STUCK = 10  # steps of zeros that are no chance, however long it went well before
DONE = 1e-6  # of the largest target of a run, what is nothing
DIVERGED = 1e3  # times the first target: what is larger is no measure of it
NEARLY_DONE = 1e-3  # and what is on the way there
NOTHING = ("zero", "vanishing")
MOST = 4096  # numbers kept a series; then every second one is dropped
TURNS = 1024  # changes of state kept a line; then those that are near to one another become one
LAST = sys.maxsize  # later than any step
UNSEEN = "unseen"  # the state of a step of which no number is known
Spell = tuple[int, str]  # the first step of a state that lasts until the next spell


@dataclass(slots=True)
class Series:
    """A number over the steps, thinned when there are many."""

    every: int = 1
    count: int = 0
    numbers: list[float] = field(default_factory=list)

    def add(self, number: float) -> None:
        if self.count % self.every == 0:
            self.numbers.append(number)
            if len(self.numbers) > MOST:
                self.numbers = self.numbers[::2]
                self.every *= 2
        self.count += 1

    def copied(self) -> Series:
        return replace(self, numbers=[*self.numbers])

    def extend(self, numbers: list[float]) -> None:
        for number in numbers:
            self.add(number)


@dataclass(slots=True)
class Line:
    """One source of one query, over the steps."""

    name: str
    state: str = "ok"  # the last
    states: dict[str, int] = field(default_factory=dict)
    norms: Series = field(default_factory=Series)
    shape: tuple[int, ...] = ()
    dtype: str = ""
    known: dict[str, str] = field(default_factory=dict)  # states, by what the norm tells of them
    converged: int = 0  # steps in which it had gone to nothing because the target had
    unseen: int = 0  # steps of which no number is known: the state is that of those before
    aliases: list[str] = field(default_factory=list)  # its other names
    reason: str = ""  # why it is zero by construction, once that is known
    turned: str = "ok"  # the state of the last spell
    turns: list[Spell] = field(default_factory=list)  # before the first, all was well

    def copied(self) -> Line:
        return replace(
            self, states=dict(self.states), norms=self.norms.copied(), turns=[*self.turns]
        )

    def cancel(self, reason: str) -> None:
        """It is zero by construction, and was so in the steps before."""
        self.reason = reason
        times = sum(self.states.pop(state, 0) for state in NOTHING)
        self.states[CANCELLED] = self.states.get(CANCELLED, 0) + times
        self.state = CANCELLED if self.state in NOTHING else self.state
        self.known = {told: self.judged(state) for told, state in self.known.items()}
        self.turns = [(step, "ok" if s in NOTHING else s) for step, s in self.turns]
        self.turned = "ok" if self.turned in NOTHING else self.turned

    def judged(self, state: str) -> str:
        """A state, by what is known of this gradient."""
        return CANCELLED if self.reason and state in NOTHING else state

    def turn(self, step: int, state: str) -> None:
        """From this step on, the state is another one."""
        state = "ok" if state == CANCELLED else state
        if state != self.turned:
            self.turned = state
            # What became coarse may begin after this step, see `coarse`.
            while self.turns and self.turns[-1][0] >= step:
                self.turns.pop()
            self.turns.append((step, state))
            if len(self.turns) > TURNS:
                self.turns = coarse(self.turns, TURNS // 2)

    def spells(self, most: int = TURNS) -> list[Spell]:
        """The states over the steps, as far as is known now that the run has ended."""
        known = [(step, "ok" if self.converged and s in NOTHING else s) for step, s in self.turns]
        if not known or known[0][0] > 1:
            known.insert(0, (1, "ok"))
        return coarse(known, most)

    @property
    def stuck(self) -> bool:
        """Is it zero to the end, and longer than it ever was before it came back? A few steps of
        zeros are chance: small batches in which no unit of a layer was active."""
        norms = self.norms.numbers
        runs = [len(list(run)) for zero, run in groupby(norms, lambda n: n == 0) if zero]
        if not runs or norms[-1] != 0:
            return False
        *before, last = runs
        well = len(norms) - sum(runs)
        return not well or last >= max(2, 2 * max(before, default=0), min(well / 4, STUCK))

    @property
    def spell_of_zeros(self) -> int:
        """How many of the last steps had no gradient but zeros."""
        norms = self.norms.numbers
        return next((k for k, norm in enumerate(reversed(norms)) if norm != 0), len(norms))

    def settle(self, sizes: list[float], most: float) -> None:
        """The target went to nothing, over the steps by these sizes: so did the gradient, if it was
        there before, and is small only where the target is."""
        norms, small = self.norms.numbers, [state for state in self.states if state in NOTHING]
        if not small or "ok" not in self.states or len(norms) != len(sizes):
            return
        numbers = math.prod(self.shape)
        for norm, size in zip(norms, sizes, strict=True):
            if by_norm(norm, numbers) in NOTHING and size > NEARLY_DONE * most:
                return
        self.converged = sum(self.states.pop(state) for state in small)
        self.states["ok"] += self.converged
        self.state = "ok" if self.state in NOTHING else self.state

    def disprove(self, steps: int) -> None:
        """In so many steps it looked well and was wrong."""
        well = self.states.pop("ok", 0)
        wrong = min(steps, well)
        if wrong:
            self.states["wrong"] = self.states.get("wrong", 0) + wrong
            self.state = "wrong" if self.state == "ok" else self.state
        if well > wrong:
            self.states["ok"] = well - wrong


def usual(sizes: list[float]) -> float:
    """The size that a target has before it goes to nothing: its largest, but for steps in which it
    had diverged. A loss of 0.7 that was 1e20 for a while has not gone to nothing."""
    known = [size for size in sizes if math.isfinite(size)]
    first = next((size for size in known if size), 0.0)
    return min(max(known, default=0.0), DIVERGED * first)


def coarse(spells: list[Spell], most: int) -> list[Spell]:
    """At most so many spells: of neighbouring steps the worst state stands for all, so that one
    step of NaN among thousands is never lost."""
    grain = 1
    while True:
        found: list[Spell] = []
        for (start, state), (end, _) in pairwise([*spells, (LAST, "")]):
            first = start - (start - 1) % grain
            if first < start and found and _badness(found[-1][1]) > _badness(state):
                first += grain  # the neighbours before it are worse
                if first >= end:
                    continue
            while found and found[-1][0] >= first:
                found.pop()
            if not found or found[-1][1] != state:
                found.append((first, state))
        if len(found) <= max(most, 1):
            return found
        grain *= 2


def _badness(state: str) -> int:
    return len(WORST) - WORST.index(state) if state in WORST else -(state == "ok")


@dataclass
class Record:
    """One place that asks for gradients, over the steps."""

    place: Place
    method: str
    target: str
    lines: list[Line]
    steps: int = 0
    targets: Series = field(default_factory=Series)  # the size of the target
    several: bool = False  # a target was no single number
    examined: list[int] = field(default_factory=list)  # the steps that were looked into

    def copied(self) -> Record:
        lines = [line.copied() for line in self.lines]
        targets = self.targets.copied()
        return replace(self, lines=lines, targets=targets, examined=[*self.examined])

    def settle(self) -> None:
        """A gradient that went to nothing because the target did is what one wants."""
        sizes = [abs(size) for size in self.targets.numbers]
        most = usual(sizes)
        if sizes and all(map(math.isfinite, sizes)) and sizes[-1] <= DONE * most:
            for line in self.lines:
                line.settle(sizes, most)

    @property
    def checked(self) -> int:
        """How many steps the states are known from: a wrong gradient shows in few of them."""
        if any("wrong" in line.states for line in self.lines):
            return len(self.examined)
        return self.steps - max((line.unseen for line in self.lines), default=0)

    def told(self, finding: Finding) -> list[int] | None:
        """The steps in which it shows whether a fault is there; None when that is all of them.

        A bad state shows in every step whose numbers are seen. A wrong gradient looks well, and
        only a step that is looked into tells.
        """
        lines = [line for line in self.lines if line.name in finding.sources]
        if finding.state != "wrong" and lines and not any(line.unseen for line in lines):
            return None
        return sorted({*self.examined, *finding.steps})


@dataclass
class History:
    """All places that asked, in the order of their first question."""

    records: dict[Place, Record] = field(default_factory=dict)

    @property
    def gradients(self) -> int:
        return sum(record.steps * len(record.lines) for record in self.records.values())

    @property
    def states(self) -> dict[str, int]:
        """How many gradients were in each state."""
        found: dict[str, int] = {}
        for record in self.records.values():
            for line in record.lines:
                for state, times in line.states.items():
                    found[state] = found.get(state, 0) + times
        return found

    def copied(self) -> History:
        """As it is now; the numbers of the steps are shared, to which more are only added."""
        return History({place: record.copied() for place, record in self.records.items()})

    def broken_before(self, place: Place) -> bool:
        """Was a gradient not finite before those that are asked for just now, at this place?"""
        now = self.records[place].lines if place in self.records else []
        broken = sum(self.states.get(state, 0) for state in BROKEN)
        return broken > sum(line.state in BROKEN for line in now)
