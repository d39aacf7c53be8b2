"""A finding: facts about one fault, which reports put into words and pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..source.place import Place

if TYPE_CHECKING:
    from ..facts.spots import Spot


@dataclass
class WouldBe:
    """The gradient that the user would have had, and how it was come by."""

    array: Any
    norm: float
    how: str = ""  # a substitute that was made: "rounding passed straight through"


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
    also: list[tuple[Place, str]] = field(default_factory=list)  # other places, with a label each
    path: list[str] = field(default_factory=list)  # words; the break in brackets
    would_be: WouldBe | None = None
    why_not: str | None = None  # why there is no would-be gradient
    sure: bool = True
    sources: list[str] = field(default_factory=list)  # all that share the fault
    steps: list[int] = field(default_factory=list)  # of the query's place
    asked: int = 1  # how often that place has asked in all, known when the run has ended
    query: Any = None  # the trace's Query
    survey: Callable[[], list[Spot]] | None = None  # see `spots`

    @cached_property
    def spots(self) -> list[Spot]:
        """The expressions on the way, in numbers; to be asked for while the trace is at hand."""
        survey, self.survey = self.survey, None  # it holds the arrays of the whole trace
        return [] if survey is None else survey()

    def __repr__(self) -> str:
        at = "" if self.place is None else f" at {self.place.file}:{self.place.line}"
        return f"<{self.code} {self.name}: {self.state} of {', '.join(self.sources)}{at}>"

    @property
    def key(self) -> tuple:
        """Findings with one key are one fault."""
        return self.code, self.place, self.target, self.state
