"""The audit: is a gradient that looks fine the derivative of what was computed?

The recorded ops run again from slightly moved sources, in double precision. The change of the
target along a random direction must be what the gradient says. Where it is not, every op on the way
is tried on its own, and the one whose rule is not its derivative is the finding; where none
is found, rounding is to blame, and nothing is said. Kinks are left alone: there the derivative is a
convention.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...traits import Family
from ..trace import Event, Query, Trace, Value, kinds
from ..trace.history import History
from .case import Case
from .faults import finite
from .pulling import pull_back
from .replay import TOLERANCES, Flows, above, between, flows_in, replay, twin, wide

STEP = 1e-6  # of the moves, relative to the size of what is moved
TRIES = 3


@dataclass
class Difference:
    """A derivative by differences, and as the gradient that was given claims it."""

    measured: float
    claimed: float


@dataclass
class Suspect:
    """An op on the way whose rule is not its derivative, in an answer that differences refute."""

    case: Case
    event: Event
    total: Difference  # of the target
    local: Difference  # of the op's own results


def suspects(trace: Trace, query: Query, history: History) -> list[Suspect]:
    """Of the answers of one query."""
    if query.error is not None or query.method not in ("gradient", "jacobian"):
        return []
    cases = [Case(trace, query, answer, history) for answer in query.answers]
    return [suspect for case in cases if (suspect := _examine(case)) is not None]


def _examine(case: Case) -> Suspect | None:
    total = check(case)
    if total is None:
        return None
    for event in _on_the_way(case):
        if event.kind == "CustomGradient" and "pass_through" in event.place.text:
            return None  # tf.grad_pass_through says what it does
        arrived = [case.walk.cotangents.get(o) for o in event.outputs]
        local = check_event(event, arrived) or check_event(event)
        if local is not None:
            return Suspect(case, event, total, local)
    return None


def passes_values(event: Event) -> bool:
    """Values pass as they are: only the gradient is meant to change."""
    return len(event.outputs) == 1 and any(
        v.shape == event.outputs[0].shape and np.array_equal(v.array, event.outputs[0].array)
        for v in event.inputs
    )


def _on_the_way(case: Case) -> list[Event]:
    below = case.below
    return [
        e for e in case.walk.events
        if any(v in below for v in e.inputs) and any(o in below for o in e.outputs)
    ]  # fmt: skip


# --- the whole ------------------------------------------------------------------------------------
def check(case: Case) -> Difference | None:
    """A difference between the gradient and the derivative of the target, if there is one."""
    nodes = [n for n in case.nodes if n in above(case.targets) and n.floating]
    gradient = _claimed(case, nodes)
    real = all(v.array is not None and v.array.dtype.kind in "fV" for v in (*nodes, *case.targets))
    if gradient is None or not real or not case.targets:
        return None
    values = {v for v in case.walk.cotangents if v.floating}
    flows = flows_in(case.tape, above(case.targets))

    def along(move: Any) -> float | None:
        changed = {n: wide(n.array) + move for n in nodes}
        run = replay(case.targets, changed, flows)
        if run.failed:
            return None
        seeds = case.query.seeds or [None] * len(case.targets)
        parts = [
            np.sum(wide(run[t]) * (1.0 if s is None else wide(s)))
            for t, s in zip(case.targets, seeds, strict=False)
        ]
        return float(np.sum(parts))

    before = float(sum(np.sum(wide(t.array)) for t in case.targets))
    if case.query.seeds is None and not _near(along(0.0), before, _coarsest(values)):
        return None
    return _differ(along, wide(gradient), wide(nodes[0].array), _coarsest(values))


def _claimed(case: Case, nodes: list[Value]) -> Any:
    """The gradient that was answered; of one that is sparse, what the walk gives."""
    array = case.answer.array
    if not nodes or array is None or not np.size(array) or not finite(array):
        return None
    if case.answer.state in ("zero", "vanishing"):
        return None  # what is left of larger numbers is rounding
    if case.query.method == "jacobian":
        array = np.asarray(array).reshape(-1, *nodes[0].shape).sum(0)
    if np.shape(array) == nodes[0].shape and not case.answer.sparse:
        return array
    found = [case.walk.cotangents[n] for n in nodes if n in case.walk.cotangents]
    return sum(found[1:], found[0]) if found else None


def _coarsest(values: Any) -> float:
    sizes = [v.array.dtype.itemsize for v in values if v.array.dtype.kind in "fV"]
    return TOLERANCES.get(min(sizes, default=8), 1e-2)


def _near(value: float | None, other: float, tolerance: float) -> bool:
    """Does the replay give what was recorded? Else something in it has a will of its own."""
    if value is None or not np.isfinite(value) or not np.isfinite(other):
        return False
    return abs(value - other) <= tolerance * max(abs(value), abs(other), 1e-3)


def _differ(
    along: Callable[[Any], float | None], gradient: Any, at: Any, tolerance: float
) -> Difference | None:
    """The derivatives of a function along random directions, against its gradient."""
    rng = np.random.default_rng(0)
    start = along(0.0)
    if start is None or not gradient.size:
        return None
    step = STEP * max(float(np.sqrt(np.mean(at**2))) if at.size else 1.0, 1e-3)
    found = []
    for _ in range(TRIES):
        direction = rng.normal(size=gradient.shape)
        ahead, back = along(step * direction), along(-step * direction)
        if ahead is None or back is None or not np.isfinite([ahead, back]).all():
            return None
        measured, claimed = (ahead - back) / (2 * step), float(np.sum(gradient * direction))
        off = abs(measured - claimed)
        typical = float(np.sqrt(np.sum(gradient**2)))
        rounding = 1e-13 * max(abs(start), abs(ahead)) / step
        if off <= tolerance * max(abs(measured), abs(claimed), typical) + rounding:
            return None
        kink = abs((ahead - start) - (start - back)) / step
        near, behind = along(step / 2 * direction), along(-step / 2 * direction)
        if near is None or behind is None:
            return None
        jump = abs((near - behind) / step - measured)
        if max(kink, jump) > 0.05 * off:
            return None
        found.append(Difference(measured, claimed))
    return found[0]


# --- one op ---------------------------------------------------------------------------------------
def check_event(event: Event, arrived: list | None = None) -> Difference | None:
    """A difference between the pull of one op and its derivative, None when there is none.

    The cotangents are those that arrived, or random ones.
    """
    inputs = [v for v in event.inputs if v.floating]
    arrays = [v.array for v in (*event.inputs, *event.outputs)]
    if event.pull is None or any(a is None for a in arrays) or not all(map(finite, arrays)):
        return None
    if any(a.dtype.kind == "c" for a in arrays) or not _computed(event):
        return None
    rng = np.random.default_rng(1)
    gs = arrived or [
        rng.normal(size=o.shape).astype(o.array.dtype)[()] if o.floating else None
        for o in event.outputs
    ]
    if not all(map(finite, gs)):
        return None
    try:
        parts = event.pull(gs)
    except Exception:  # not to be had on its own
        return None
    wanted: dict[Value, Any] = {}
    for v, p in zip(event.inputs, parts, strict=False):
        if p is not None and v.floating and np.shape(p) == v.shape and finite(p):
            wanted[v] = wanted.get(v, 0.0) + wide(p)  # an operand may come twice
    flows = _flows_of(event)
    order = list(wanted)
    sizes = [int(np.size(wanted[v])) for v in order]

    def along(move: Any) -> float | None:
        moves = np.split(np.broadcast_to(move, sum(sizes)), np.cumsum(sizes)[:-1])
        changed = {v: wide(v.array) for v in inputs}
        changed |= {
            v: wide(v.array) + m.reshape(v.shape) for v, m in zip(order, moves, strict=True)
        }
        run = replay(event.outputs, changed, flows)
        if run.failed:
            return None
        pairs = [(o, g) for o, g in zip(event.outputs, gs, strict=True) if g is not None]
        return float(sum(np.sum(wide(run[o]) * wide(g)) for o, g in pairs))

    before = sum(
        np.sum(wide(o.array) * wide(g))
        for o, g in zip(event.outputs, gs, strict=True) if g is not None
    )  # fmt: skip
    tolerance = _coarsest([*inputs, *event.outputs])
    if not order or not _near(along(0.0), float(before), tolerance):
        return None
    gradient = np.concatenate([wanted[v].ravel() for v in order])
    at = np.concatenate([wide(v.array).ravel() for v in order])
    return _differ(along, gradient, at, tolerance)


def _computed(event: Event) -> bool:
    """Do recorded ops lead from the arguments to the results? Draws and NumPy inside a function
    with a custom gradient stay as they are in a replay, and its 0 says nothing."""
    if event.kind != "CustomGradient":
        return True
    inside: list[Value] = event.attrs.get("inside", [])
    steps = [step for step in between(event.inputs, inside) if step is not event]
    read = {*inside, *(v for step in steps for v in step.inputs)}
    known = any(v in event.inputs or twin(v, event.inputs) is not None for v in read)
    return known and all(step.way == "op" and not step.is_a(Family.DRAWS) for step in steps)


def _flows_of(event: Event) -> Flows:
    own = {event}
    if event.kind == "CustomGradient":
        own |= set(between(event.inputs, event.attrs.get("inside", [])))
    return lambda e: e in own and e.way == "op"


def _goes_on(event: Event, k: int, given: Value) -> bool:
    return given.floating and kinds.cause(event, k, event.outputs[0]) is None


def reference(event: Event) -> Callable[[Any], list] | None:
    """The pull of the ops that ran inside a function with a custom gradient, if all have one."""
    inside: list[Value] = event.attrs.get("inside", [])
    if len(inside) != len(event.outputs):
        return None
    steps = between(event.inputs, inside)
    if any(e.way != "op" or e.pull is None for e in steps):
        return None

    def pull(gs: Any) -> list:
        cotangents: dict[Value, Any] = {}
        for made, g in zip(inside, gs, strict=True):
            if g is not None:
                cotangents[made] = cotangents[made] + g if made in cotangents else g
        pull_back(reversed(steps), cotangents, lambda step: step.pull, _goes_on)
        for value in list(cotangents):
            known = twin(value, event.inputs)
            if known is not None and value not in event.inputs:
                g = cotangents[value]
                cotangents[known] = cotangents[known] + g if known in cotangents else g
        return [cotangents.get(v) for v in event.inputs]

    return pull
