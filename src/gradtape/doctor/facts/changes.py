"""What would help: the few changes that a rule may claim, in one form that can be tried.

A change says what is different in the recorded step: breaks that are crossed, values, derivatives,
the precision, the sources that are asked for, the size of a step. `counterfactual` tries it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trace import Event, Value
from ..trace.finding import WouldBe
from .pulling import Pull

if TYPE_CHECKING:
    from .case import Case

LINE = "this line changed"


@dataclass(eq=False)
class Change:
    """One change; `words` complete the sentence "with …, d loss/d w is …"."""

    words: str = LINE
    bridge: bool = False  # the breaks on the path of the source are crossed
    values: Mapping[Value, Any] = field(default_factory=dict)
    pulls: Mapping[Event, Pull] = field(default_factory=dict)
    wide: bool = False  # the walk back is done in double precision
    sources: tuple[Any, ...] | None = None  # that are asked for instead; none: without this one
    given: WouldBe | None = None  # what a replay of the rule's own gave
    test: Callable[[], bool | None] | None = None  # of another kind: did it help, if that is known?
    unknown: str = ""  # why it cannot be tried
    unknown_gradient: str = ""  # why what it gives is not known, only that it is there
    # Is its gradient the one that the user would have had, or that of one cure of many?
    exact: bool = False


def bridge(words: str = LINE) -> Change:
    """The breaks on the path of the source are mended."""
    return Change(words, bridge=True, exact=True)


def opened(why: str) -> Change:
    """The breaks are mended in a way whose gradient is not the one across them."""
    return Change("the gradient let through here, one arrives", bridge=True, unknown_gradient=why)


def set_value(values: Mapping[Value, Any], words: str) -> Change:
    """These values are others."""
    return Change(words, values={v: _like(a, v) for v, a in values.items()})


def safe(value: Value, bad: Any, number: float) -> Change:
    """A number in the place of those that are bad."""
    array = np.asarray(value.array)
    where = bad if np.shape(bad) in (array.shape, ()) else True
    return set_value({value: np.where(where, number, array)}, f"{number:g} in their place")


def scale(value: Value, factor: float, words: str) -> Change:
    """A value is larger or smaller."""
    return set_value({value: np.asarray(value.array) * factor}, words)


def straight(events: Iterable[Event], words: str) -> Change:
    """These ops pass on what comes to them, as they do where they are not flat."""
    return Change(words, pulls={event: _through(event) for event in events})


def use_derivative(pulls: Mapping[Event, Pull], words: str = LINE) -> Change:
    """These ops have another derivative."""
    return Change(words, pulls=pulls, exact=True)


def widen(words: str) -> Change:
    """The gradient is computed in double precision."""
    return Change(words, wide=True)


def ask_for(*sources: Any) -> Change:
    """Other sources are asked for in the place of this one, or it is left out."""
    return Change("", sources=sources)


def step_size(test: Callable[[], bool | None], words: str) -> Change:
    """The steps before this one were of another size."""
    return Change(f"with {words} from there, the loss goes down", test=test)


def replayed(found: WouldBe | None, why: str = "", words: str = LINE) -> Change:
    """What came out of a replay that the rule made itself, of other shapes."""
    return Change(words, given=found, exact=True) if found is not None else unknown(why)


def unknown(why: str) -> Change:
    """Nothing that was recorded can be replayed to try it."""
    return Change(unknown=why)


def alike(case: Case, event: Event) -> list[Event]:
    """The events of one expression: a loop or a layer runs it again and again."""
    return [e for e in case.walk.events if e.kind == event.kind and e.place == event.place]


def _through(event: Event) -> Pull:
    own = event.pull

    def pull(gs: Any) -> list:
        parts = list(own(gs)) if own is not None else [None] * len(event.inputs)
        for k, (given, part) in enumerate(zip(event.inputs, parts, strict=False)):
            if part is not None and given.floating and not np.any(np.asarray(part)):
                parts[k] = gs[0] if np.shape(gs[0]) == given.shape else np.full(given.shape, 1.0)
        return parts

    return pull


def _like(array: Any, value: Value) -> Any:
    """In the value's own precision: a step that is replayed in another one has other numbers."""
    return np.asarray(array, np.asarray(value.array).dtype)


def seen(words: str) -> Change:
    """Nothing is to be replayed: what was seen leaves no other explanation."""
    return Change(words, test=lambda: True)


def louder(events: Iterable[Event], factor: float, words: str) -> Change:
    """These ops pass on so many times as much as they did."""
    return Change(words, pulls={event: _times(event, factor) for event in events})


def _times(event: Event, factor: float) -> Pull:
    def pull(gs: Any) -> list:
        parts = event.pull(gs) if event.pull is not None else []
        return [None if part is None else np.asarray(part) * factor for part in parts]

    return pull
