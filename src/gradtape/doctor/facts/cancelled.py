"""Gradients that are zero by construction: a later operation removes what their source adds.

The mean that a batch normalisation subtracts contains every bias before it, and a softmax over the
keys is the same when each score of a row grows alike. Terms of normal size arrive at such a source,
and their sum is rounding noise. It is measured, whatever the layers are called: where the terms are
added up, and by moving the source and looking for the operation behind which nothing has moved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..trace import Answer, Event, Value
from ..trace.history import NOTHING
from ..trace.states import VANISHING
from . import backward, graph
from .budget import Spent, pay
from .case import Question
from .pulling import Pull
from .replay import wide

# A sum of rounding errors, as a multiple of the machine's precision times the root of the number of
# terms times what the sum would be if the terms had random signs; terms are sums of larger ones
# themselves, which cancel in part. Never more than a small share of that sum.
ROUNDING, SHARE = 256.0, 1e-2
SAME = 1e-3  # of the largest number, by which what is the same may differ in single precision
ELEMENTS = 200_000_000  # numbers computed again for one source, beyond which it stays unexplained
NEAR = 2  # operations behind a source by whose numbers it is moved
FAR = 8  # operations that leave a source's size as it is, and are gone through


@dataclass(eq=False)
class _Sum:
    """What arrived at a source in one stage of its way: the sum, and the size of its terms."""

    total: Any = 0.0
    squares: Any = 0.0  # of sums with random signs
    terms: int = 0

    def add(self, part: Any, mixed: Any, terms: int) -> None:
        self.total = self.total + wide(part)
        self.squares = self.squares + np.square(wide(mixed))
        self.terms += terms

    def cancels(self, precision: float) -> bool:
        """Are there terms of normal size, and is their sum nothing but rounding?"""
        if not self.terms:
            return False
        largest, size = float(np.max(np.abs(self.total))), float(np.max(self.squares)) ** 0.5
        bound = min(ROUNDING * precision * self.terms**0.5, SHARE) * size
        return bool(np.isfinite(size) and size >= VANISHING and largest <= bound)


@dataclass(eq=False)
class _Suspect:
    """A source with next to no gradient that is used in one place only."""

    answer: Answer
    nodes: list[Value]
    uses: list[Event]  # the first operations that join the source with something else
    stages: dict[Event, int]  # these and others near the source, by their distance
    sums: dict[int, _Sum] = field(default_factory=dict)

    @property
    def precision(self) -> float:
        kinds = [v.dtype for e in self.stages for v in e.outputs if v.floating]
        return max(float(np.finfo(k).eps) if k.kind == "f" else 1e-2 for k in kinds)


def cancelled(question: Question) -> dict[Answer, Event]:
    """The answers that are zero by construction, with the operation that removes each source."""
    query = question.query
    if query.method != "gradient" or query.error is not None:
        return {}
    learning = {
        node for answer in query.answers if answer.state == "ok"
        for node in question.nodes_of(answer)
    }  # fmt: skip
    # What made the targets in this step: not what updated a variable before it.
    inside = graph.ancestors(question.targets, {"assign"}) if learning else {}
    found = [
        suspect for answer in query.answers
        if answer.state in NOTHING and learning
        and (suspect := _suspect(question, answer, inside, learning)) is not None
    ]  # fmt: skip
    _measure(question, found)
    known: dict[Answer, Event] = {}
    for suspect in found:
        if any(stage.cancels(suspect.precision) for stage in suspect.sums.values()):
            remover = _remover(question, suspect, inside)
            if remover is not None:
                known[suspect.answer] = remover
    return known


def _suspect(
    question: Question, answer: Answer, inside: graph.Values, learning: set[Value]
) -> _Suspect | None:
    """Uses in several places that cancel each other are a mistake, and so is what is removed
    together with everything that could learn beside it."""
    nodes = [n for n in question.nodes_of(answer) if n in inside and n.floating]
    size = max((math.prod(n.shape) for n in nodes), default=0)
    stages: dict[Event, int] = {}
    uses: list[Event] = []
    joined: set[Value] = set()  # with something else
    values = nodes
    for depth in range(FAR):
        users = [
            [e for e in value.users if any(o in inside for o in e.outputs)] for value in values
        ]
        every = list(dict.fromkeys(e for own in users for e in own))
        stages.update(dict.fromkeys(every, depth))
        single, values = all(len(own) == 1 for own in users), []
        for event in every:
            alone = sum(v.floating for v in event.inputs) == 1
            before = not joined.isdisjoint(event.inputs)
            if not alone and not before:
                uses.append(event)
            # The offset of a normalisation meets a mean first, and the numbers after that.
            alike = single and all(math.prod(o.shape) == size for o in event.outputs)
            if alone or alike:
                values += [o for o in event.outputs if o.floating]
                joined.update(event.outputs if before or not alone else ())
    places = {e.place if e.layer is None else (e.layer.name, e.layer.made) for e in uses}
    if len(places) != 1 or any(e.pull is None for e in stages):
        return None
    beside = [v for e in uses for v in e.inputs if v not in nodes and v.maker not in stages]
    if not _any_above(beside, learning):
        return None
    return _Suspect(answer, nodes, uses, stages)


def _any_above(values: Iterable[Value], wanted: set[Value]) -> bool:
    """Was any of these computed from one that is wanted?"""
    queue, seen = list(values), set()
    while queue:
        value = queue.pop()
        if value in wanted:
            return True
        if value not in seen and value.maker is not None:
            seen.add(value)
            queue += value.maker.inputs
    return False


def _measure(question: Question, suspects: Sequence[_Suspect]) -> None:
    """One walk back, which keeps nothing: at each stage of each suspect, add up what arrives."""
    concerned: dict[Event, list[_Suspect]] = {}
    for suspect in suspects:
        for event in suspect.stages:
            concerned.setdefault(event, []).append(suspect)
    if not concerned:
        return
    rng = np.random.default_rng(0)

    def look(event: Event, arrived: Sequence[Any], parts: list[Any], pull: Pull) -> None:
        own = concerned.get(event)
        if own is None:
            return
        signs = [None if g is None else g * rng.choice((-1.0, 1.0), np.shape(g)).astype(
            np.asarray(g).dtype) for g in arrived]  # fmt: skip
        pay(signs)
        try:
            mixed = pull(signs)
        except Spent:
            raise
        except Exception:  # a gradient function of the user's that can be called once only
            return
        terms = sum(int(np.size(g)) for g in arrived if g is not None)
        for suspect in own:
            for value, part, other in zip(event.inputs, parts, mixed, strict=False):
                belongs = value in suspect.nodes or value.maker in suspect.stages
                if belongs and part is not None and other is not None:
                    stage = suspect.sums.setdefault(suspect.stages[event], _Sum())
                    stage.add(part, other, terms)

    first = min(event.time for event in concerned)
    backward.walk(question.trace, question.query, question.query.tape, look=look, since=first)


def _remover(question: Question, suspect: _Suspect, inside: graph.Values) -> Event | None:
    """The operation whose result stays the same when the source is moved. None if a target moves,
    as it does at a minimum, or if that cannot be computed."""
    rng, touched = np.random.default_rng(0), 0
    size = _scale(suspect, inside)
    moved: dict[Value, Any] = {}  # None when nobody needs it any more
    for node in suspect.nodes:
        array = wide(node.array)
        step = max(size, float(np.mean(np.abs(array))), 0.1)
        move = 1.0 + np.abs(rng.normal(size=array.shape))  # no entry stays where it was
        moved[node] = array + step * move * rng.choice((-1.0, 1.0), array.shape)

    def users(value: Value) -> set[Event]:
        return {e for e in value.users if any(o in inside for o in e.outputs)}

    waiting = {e for node in moved for e in users(node)}
    removers: list[Event] = []
    while waiting:
        event = min(waiting, key=lambda e: e.time)
        waiting.discard(event)
        given = [moved.get(v, v.array) for v in event.inputs]
        touched += sum(int(np.size(g)) for g in given)
        if event.replay is None or any(g is None for g in given) or touched > ELEMENTS:
            return None
        pay(given)
        try:
            outputs, _ = event.replay(given)
        except Exception:  # an operation that does not take these numbers
            return None
        changed = [
            (made, array) for made, array in zip(event.outputs, outputs, strict=True)
            if not _same(made, array)
        ]  # fmt: skip
        if any(made in question.targets for made, _ in changed):
            return None
        if not changed:
            removers.append(event)
        for made, array in changed:
            moved[made] = array
            waiting |= users(made)
        for value in event.inputs:
            if value in moved and waiting.isdisjoint(value.users):
                moved[value] = None
    if not removers:
        return None
    # A normalisation removes it from the variance first, and then from what it hands on; of several
    # layers that do so, the nearest is named.
    layer = removers[0].layer
    return [e for e in removers if e.layer is layer][-1]


def _scale(suspect: _Suspect, inside: graph.Values) -> float:
    """The size of the numbers that the source meets: by so much it is to be moved. At a minimum,
    less would change a square too little to be seen."""
    largest, events = 0.0, suspect.uses
    for _ in range(NEAR):
        made = [o for e in events for o in e.outputs if o in inside and o.floating]
        known = [wide(v.array) for v in made if v.array is not None and np.size(v.array)]
        largest = max([largest, *(float(np.mean(np.abs(a))) for a in known)])
        events = list(dict.fromkeys(e for v in made for e in v.users))
    return largest if math.isfinite(largest) else 0.0


def _same(value: Value, array: Any) -> bool:
    if not value.floating or value.array is None:
        return bool(np.array_equal(np.asarray(value.array), array))
    before = wide(value.array)
    largest = float(np.max(np.abs(before), initial=0.0))
    return bool(np.max(np.abs(before - array), initial=0.0) <= SAME * largest)


def reason(remover: Event, file: str) -> str:
    """Why there is no gradient, for the table."""
    if remover.layer is not None:
        made = remover.layer.made
        where = f", line {made.line}" if made is not None else ""
        return f"no effect: removed by layer `{remover.layer.name}`{where}"
    place = remover.place
    other = "" if place.file == file else f" of {place.file}"
    return f"no effect: removed by `{place.brief}`, line {place.line}{other}"
