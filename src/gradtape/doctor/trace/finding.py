"""A finding: facts about one fault, which reports put into words and pictures."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..source.place import Place

if TYPE_CHECKING:
    from ..facts.spots import Onset, Spot


@dataclass
class WouldBe:
    """The gradient that the user would have had, and how it was come by."""

    array: Any
    norm: float
    how: str = ""  # a substitute that was made: "rounding passed straight through"


CONFIRMED, LIKELY, REFUTED = "confirmed", "likely", "refuted"


@dataclass
class Verdict:
    """What a trial of the change that a rule claims would help has shown."""

    kind: str  # confirmed, likely (it could not be tried), or refuted, which is never shown
    words: str = ""  # what was different: "with …, d loss/d w is …"
    gradient: WouldBe | None = None  # that it gave
    why: str = ""  # of a likely one: why it could not be tried
    more: int = 0  # other changes that it takes beside this one


@dataclass(repr=False)
class Finding:
    """One fault and all that is known about it."""

    code: str
    name: str
    cause: str
    state: str
    source: str  # in the user's code
    target: str
    place: Place | None
    message: str  # one sentence: the cause
    fix: str  # what to change
    edit: str | None = None  # the line of `place` as it should be, where that can be written
    further: list[tuple[Place, str]] = field(default_factory=list)  # lines that change with it
    also: list[tuple[Place, str]] = field(default_factory=list)  # other places, with a label each
    path: list[str] = field(default_factory=list)  # words; the break in brackets
    would_be: WouldBe | None = None
    why_not: str | None = None  # why there is no would-be gradient
    sure: bool = True
    sources: list[str] = field(default_factory=list)  # all that share the fault
    steps: list[int] = field(default_factory=list)  # of the query's place, in which it was seen
    asked: int = 1  # how often that place has asked in all, known when the run has ended
    checked: list[int] | None = None  # the steps that could tell; None: all
    severity: str = "warning"  # as `trace.severity` judges it when the run has ended
    query: Any = None  # the trace's Query
    survey: Callable[[], tuple[list[Spot], Onset | None]] | None = None  # see `surveyed`
    # Tries the change that is claimed to help: what came of it, and whether its gradient is the one
    # that the user would have had. None when it was tried.
    trial: Callable[[], tuple[Verdict, bool]] | None = None
    order: int = 0  # of several breaks on one path, all of which must be mended: which one it is
    verdict: Verdict = field(default_factory=lambda: Verdict(LIKELY))
    # Of a fault that a later step may show in another light: what is to be said then.
    later: Callable[[], Finding | None] | None = None
    training: Any = None  # of a fault of a model: the trace's Training

    def __post_init__(self) -> None:
        """A finding never points outside of the user's program: what happens there is shown where
        the gradient was asked for. A program that asks from within a library is itself installed
        as one, and keeps its places."""
        if self.query is None or self.query.place.foreign:
            return
        if self.place is not None and self.place.foreign:
            self.message = self.message.replace(f"`{self.place.text}`", "an op of a library")
            self.place, self.edit, self.further = self.query.place, None, []
        self.also = [(place, words) for place, words in self.also if not place.foreign]

    @cached_property
    def surveyed(self) -> tuple[list[Spot], Onset | None]:
        """What is told of arrays in numbers; to be asked for while the trace is at hand."""
        survey, self.survey = self.survey, None  # it holds the arrays of the whole trace
        return ([], None) if survey is None else survey()

    @property
    def spots(self) -> list[Spot]:
        """The expressions on the way."""
        return self.surveyed[0]

    @property
    def onset(self) -> Onset | None:
        """Of numbers that are not finite: the op where they begin."""
        return self.surveyed[1]

    def copied(self) -> Finding:
        """As it is now, also when it is met again."""
        found = copy(self)
        found.sources, found.steps = [*self.sources], [*self.steps]
        return found

    def __repr__(self) -> str:
        at = "" if self.place is None else f" at {self.place.file}:{self.place.line}"
        return f"<{self.code} {self.name}: {self.state} of {', '.join(self.sources)}{at}>"

    @property
    def lasting(self) -> tuple[int, int] | None:
        """The first step and the last, when all in between that were checked have the fault; the
        last that was checked stands for those after it, unless it is the only one."""
        if not self.steps:
            return None
        first, last = self.steps[0], self.steps[-1]
        if self.checked is None:
            return (first, last) if last - first + 1 == len(self.steps) else None
        if [step for step in self.checked if first <= step <= last] != self.steps:
            return None
        return first, max(self.asked, last) if last == self.checked[-1] and len(
            self.steps
        ) > 1 else last

    @property
    def length(self) -> int:
        """For how many steps the fault lasted, as far as was seen."""
        if self.lasting is None:
            return len(self.steps)
        first, last = self.lasting
        return last - first + 1

    @property
    def key(self) -> tuple:
        """Findings with one key are one fault."""
        return self.code, self.place, self.target, self.state
