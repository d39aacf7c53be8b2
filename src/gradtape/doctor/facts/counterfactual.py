"""Tries a change: replays the recorded step with it, walks back again, and says whether it helped.

Confirmed: the bad state is gone for this source, no other source is worse, and the same replay
without the change gives the recorded numbers. Refuted: it is not gone. Likely: it cannot be tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...traits import KINKS, Family
from ..trace import Event, Value
from ..trace.finding import CONFIRMED, LIKELY, REFUTED, Verdict, WouldBe
from ..trace.states import norm, state
from . import backward, changes, graph, zeros
from .changes import Change
from .faults import finite
from .pulling import Pull
from .replay import TOLERANCES, Replay, above, flows_in, replay, wide

if TYPE_CHECKING:
    from .case import Case

OPEN = ("op", "gradient", "dataset")  # ways that certainly lead on, with or without a derivative
DEEP = 32  # ops behind each other that are looked through
# Ops that are flat somewhere and not elsewhere: behind one there may be another.
FLAT = KINKS | Family.SQUASHES | Family.SOFTMAXES | Family.CHOOSES | Family.FLATTENS


def verdict(case: Case, change: Change, state: str) -> Verdict:
    """What becomes of a state of this answer with a change; an exception speaks for itself."""
    found = _tried(case, change, state)
    if state == "error" and found.kind == LIKELY:
        return Verdict(CONFIRMED, "the exception says so", why=found.why)
    return found


def _tried(case: Case, change: Change, state: str) -> Verdict:
    if change.unknown:
        return Verdict(LIKELY, why=change.unknown)
    if change.sources is not None:
        return _asked(case, change.sources)
    if change.test is not None:
        helped = change.test()
        if helped is None:
            return Verdict(LIKELY, why="the steps before this one are no longer recorded")
        return Verdict(CONFIRMED if helped else REFUTED, change.words)
    if change.given is not None:
        return _given(case, change)
    if change.bridge:
        return _across(case, change)
    return _replayed(case, change, state)


# --- across a break -------------------------------------------------------------------------------
def _across(case: Case, change: Change) -> Verdict:
    found, why = case.would_be[0], case.would_be[1] or ""
    if found is None:
        if _passes(case):
            arrives = "with something smooth in its place, a gradient arrives"
            return Verdict(CONFIRMED, arrives, why=why)
        return Verdict(LIKELY, why=why)
    if not finite(found.array):
        return Verdict(LIKELY, why="across the break the gradient is not finite either")
    if _others_worse(case, case.bridged):
        return Verdict(REFUTED)
    if change.unknown_gradient:
        return Verdict(CONFIRMED, f"with {change.words}", why=change.unknown_gradient)
    return Verdict(CONFIRMED, f"with {_places(case, change)}", found)


def _places(case: Case, change: Change) -> str:
    """All lines that must be changed, where a path has several breaks."""
    lines = [c.place.line for c in case.path.cuts] if case.path is not None else []
    lines = sorted(set(lines))
    if change.words != changes.LINE or len(lines) < 2:
        return change.words
    return f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]} changed"


def _passes(case: Case) -> bool:
    """Is this path, with stand-ins for what has no derivative at all, open to the source?"""
    if case.path is None or not case.path.cuts:
        return False
    causes = frozenset(c.cause for c in case.path.cuts)
    ends = {c.event for c in case.path.cuts}
    pulls = {
        e: _stand_in(e, given, made) for e, given, made in case.path.joints
        if (e in ends and (e.way in OPEN or case.came_back(e))) or e.pull is None
    }  # fmt: skip
    if any(v.array is None for v in case.path.values):  # a dataset, which has no numbers
        return ends <= pulls.keys()
    walk = backward.walk(case.trace, case.query, case.tape, causes, pulls=pulls)
    found = _total(walk, case.nodes)
    return found is not None and finite(found) and bool(np.any(found))


def _stand_in(event: Event, given: Value, made: Value) -> Pull:
    """As if the result were the mean of the operand, times its own size."""
    k, into = event.inputs.index(given), event.outputs.index(made)

    def pull(gs: Any) -> list:
        parts: list[Any] = [None] * len(event.inputs)
        if gs[into] is not None:
            parts[k] = np.full(given.shape, float(np.sum(np.abs(gs[into]))) or 1.0)
        return parts

    return pull


def _given(case: Case, change: Change) -> Verdict:
    found = change.given
    assert found is not None
    if not finite(found.array):
        return Verdict(LIKELY, why="with other shapes the gradient is not finite either")
    return Verdict(CONFIRMED, f"with {change.words}", found)


# --- other sources --------------------------------------------------------------------------------
def _asked(case: Case, sources: tuple[Any, ...]) -> Verdict:
    """Another source has a gradient; or nothing leads from this one to the target."""
    if not sources:
        if case.path is not None and not case.path.cuts:
            return Verdict(REFUTED)
        return Verdict(CONFIRMED, f"without `{case.answer.name}` nothing else changes")
    reached = case.walk.cotangents
    own = {id(v) for v in sources}
    found = [v for v in reached if id(v) in own or id(v.variable) in own]
    if not found or not all(finite(reached[v]) for v in found):
        return Verdict(LIKELY, why="the gradient that is meant was not computed in this step")
    why = "it is asked of what the target was not computed with"
    return Verdict(CONFIRMED, "the gradient gets to what is meant", why=why)


# --- other numbers --------------------------------------------------------------------------------
def _replayed(case: Case, change: Change, bad: str) -> Verdict:
    """With the change, and with what else stands in the way behind it: the change is confirmed if
    it is needed, and counts as larger with everything that is."""
    world, beside = change, Change("what else is in the way")
    joined: set[Any] = set()
    for _ in range(DEEP):
        run, walk, why = _world(case, world)
        if walk is None:
            return Verdict(LIKELY, why=why)
        found = _total(walk, case.nodes)
        if gone(bad, found):
            break
        if found is None and bad != "none":
            return Verdict(LIKELY, why="the numbers of this step are not known")
        further = _further(case, bad, world, run, walk)
        if further is None:
            return Verdict(REFUTED)
        events, more = further
        joined |= {event.place for event in events}
        world, beside = _both(world, more), _both(beside, more)
    else:
        return Verdict(REFUTED)
    if _others_worse(case, walk):
        return Verdict(REFUTED)
    words = f"with {change.words}"
    if joined:
        _, alone, _ = _world(case, beside)
        if alone is not None and gone(bad, _total(alone, case.nodes)):
            return Verdict(REFUTED)  # the others do it without
        count = "another op" if len(joined) == 1 else f"{len(joined)} other ops"
        words += f", and {count} mended that {'is' if len(joined) == 1 else 'are'} at fault too"
    return Verdict(CONFIRMED, words, WouldBe(found, norm(found) or 0.0), more=len(joined))


def _both(one: Change, other: Change) -> Change:
    return replace(one, values={**other.values, **one.values}, pulls={**other.pulls, **one.pulls})


def _world(case: Case, change: Change) -> tuple[Replay | None, backward.Walk | None, str]:
    """The step with a change, and the walk back from its end; or why there is none.

    One change is tried for many sources, and one walk is that of them all: of 20 layers, 0.2 s
    instead of 1.7.
    """
    key = (change.words, change.wide, *change.values)
    run, why = case.question.once((_run, key), partial(_run, case, change))
    if why:
        return None, None, why
    walk = case.question.once(
        (backward.walk, key, *change.pulls),
        partial(
            backward.walk, case.trace, case.query, case.tape,
            run=run, pulls=change.pulls, wide=change.wide,
        ),
    )  # fmt: skip
    return run, walk, ""


def _further(
    case: Case, bad: str, world: Change, run: Replay | None, walk: backward.Walk
) -> tuple[list[Event], Change] | None:
    """What else is in the way of this gradient, and how it would be out of it."""
    if bad == "zero":
        flat = [event for event in _flat(walk, case) if event not in world.pulls]
        return (flat, changes.straight(flat, "")) if flat else None
    if bad in ("nan", "inf"):
        return _other_fault(case, world, run, walk)
    return None


def _other_fault(
    case: Case, world: Change, run: Replay | None, walk: backward.Walk
) -> tuple[list[Event], Change] | None:
    """The next op that makes numbers that are not finite of finite ones, made harmless."""

    def now(value: Value) -> Any:
        return value.array if run is None else run[value]

    for event in graph.makers(above(case.targets)):
        made = [o for o in event.outputs if not finite(now(o))]
        known = any(o in world.values for o in event.outputs)
        if made and not known and all(finite(now(v)) for v in event.inputs):
            arrays = {o: np.nan_to_num(now(o), posinf=0.0, neginf=0.0) for o in made}
            return [event], Change(values=arrays, pulls={event: _finite_pull(event, run)})
    for event in walk.events:
        came = all(finite(walk.cotangents.get(o)) for o in event.outputs)
        if came and event not in world.pulls and not all(map(finite, walk.passed[event])):
            # A loop runs an expression again and again: all of them at once, or each costs a walk.
            same = [
                e for e in case.question.makers
                if _alike(e, event) and e not in world.pulls
                and (e is event or not any(v in world.values for v in e.inputs))
            ]  # fmt: skip
            return same, Change(pulls={e: _finite_pull(e, run) for e in same})
    return None


def _alike(one: Event, other: Event) -> bool:
    return one is other or (one.kind == other.kind and one.place == other.place)


def _finite_pull(event: Event, run: Replay | None) -> Pull:
    own = (run.pulls.get(event) if run is not None else None) or event.pull

    def pull(gs: Any) -> list:
        parts = own(gs) if own is not None else []
        return [None if p is None else np.nan_to_num(p, posinf=0.0, neginf=0.0) for p in parts]

    return pull


def _run(case: Case, change: Change) -> tuple[Replay | None, str]:
    """The step with other values, or why there is none."""
    if change.wide:
        return _in_double(case)
    if not change.values:
        return None, ""
    if any(v.array is None for v in (*change.values, *case.targets)):
        return None, "the numbers of this step are not known"
    values = above(case.targets)
    own = flows_in(case.tape, values)
    watched = case.tape

    def flows(event: Event) -> bool:  # also what runs before the tape, or beside it
        return own(event) or (event.way == "op" and not event.is_a(Family.DRAWS) and bool(watched))

    changed = {**_other_reads(change.values, values), **change.values}
    as_it_was = {v: np.asarray(v.array) for v in changed}
    same = replay(case.targets, as_it_was, flows, narrow=True)
    if same.failed or not all(_same(same[t], t) for t in case.targets):
        return None, f"the step cannot be replayed: {same.failed or 'its numbers differ'}"
    run = replay(case.targets, changed, flows, narrow=True)
    if run.failed:
        return None, f"the step cannot be replayed: {run.failed}"
    return run, ""


def _other_reads(values: Mapping[Value, Any], among: Iterable[Value]) -> dict[Value, Any]:
    """What a variable is in one read, it is in all reads that gave the same."""
    found = {}
    for value, array in values.items():
        for other in among if value.variable is not None else ():
            if other.variable is value.variable and _equal(other.array, value.array):
                found[other] = array
    return found


def _equal(a: Any, b: Any) -> bool:
    floats = np.asarray(b).dtype.kind in "fc"
    return a is b or (a is not None and np.array_equal(a, b, equal_nan=floats))


def _in_double(case: Case) -> tuple[Replay | None, str]:
    """The step in double precision, from whatever came into it."""
    values = above(case.targets)
    given = {
        v: wide(v.array) for v in values
        if v.floating and (v.maker is None or v.maker.way != "op")
    }  # fmt: skip
    run = replay(case.targets, given, flows_in(case.tape, values))
    return (None, f"the step cannot be replayed: {run.failed}") if run.failed else (run, "")


def _same(array: Any, target: Value) -> bool:
    if target.array is None or array is None:
        return False
    tolerance = TOLERANCES.get(np.asarray(target.array).dtype.itemsize, 1e-2)
    return bool(
        np.allclose(
            np.asarray(array, np.complex128 if np.iscomplexobj(array) else np.float64),
            np.asarray(target.array),
            rtol=tolerance, atol=tolerance * 1e-3, equal_nan=True,
        )
    )  # fmt: skip


def _total(walk: backward.Walk, nodes: list[Value]) -> Any:
    found = [walk.cotangents[n] for n in nodes if n in walk.cotangents]
    return sum(found[1:], found[0]) if found else None


def gone(bad: str, gradient: Any) -> bool:
    """Is a gradient in this state no longer, and in none that is as bad?"""
    if gradient is None:
        return False
    now = state(np.asarray(gradient))
    if bad in ("none", "nan", "inf"):
        return now not in ("nan", "inf")
    if bad == "zero":
        return now in ("ok", "vanishing", "exploding")
    if bad in ("vanishing", "exploding"):
        return now not in (bad, "nan", "inf", "zero")
    return now not in ("nan", "inf")


def _flat(walk: backward.Walk, case: Case) -> list[Event]:
    """The ops at which the gradient ends now, if all that ends it is flat just here."""
    ends = zeros.deaths(walk, case.nodes)
    return [death.event for death in ends if death.event.is_a(FLAT)]


def _others_worse(case: Case, walk: backward.Walk) -> bool:
    """Did another source that has a finite gradient lose it?"""
    for answer in case.query.answers:
        if answer.source is case.source or answer.array is None or not finite(answer.array):
            continue
        nodes = case.question.nodes_of(answer)
        found = _total(walk, nodes)
        if found is not None and not finite(found):
            return True
    return False
