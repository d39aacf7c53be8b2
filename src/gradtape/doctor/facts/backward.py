"""The backward walk: cotangents op by op through the trace, with the breaks or across them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..trace import Event, Query, Tape, Trace, Value
from . import bridges
from .budget import Spent, current
from .graph import ancestors, in_order, makers, why
from .pulling import Pull, pull_back

if TYPE_CHECKING:
    from .replay import Replay


FEW = 4_096  # numbers of a constant whose cotangent is kept

# What is shown of an event: itself, what arrived there, what it passed on, its pull.
Look = Callable[[Event, Sequence[Any], list[Any], Pull], None]


@dataclass(eq=False)
class Walk:
    """The cotangent of every value that was reached, and of what each event passed on."""

    cotangents: dict[Value, Any]
    events: list[Event]  # newest first
    passed: dict[Event, list[Any]]  # cotangents of the inputs of an event, one each
    # The substitutes that were made, by event: recomputing may name more of them when it runs.
    bridged: dict[Event, list[str]] = field(default_factory=dict)
    failed: str | None = None  # why it stopped short
    stuck: list[Event] = field(default_factory=list)  # where it did
    proven: set[Event] = field(default_factory=set)  # detours that, computed again, came back
    bytes: int = 0  # of what the events passed on


def walk(
    trace: Trace,
    query: Query,
    tape: Tape | None = None,
    mended: frozenset[str] = frozenset(),
    *,
    run: Replay | None = None,
    pulls: Mapping[Event, Pull] | None = None,
    wide: bool = False,
    look: Look | None = None,
    since: float | None = None,
) -> Walk:
    """Walk back from the targets of a query.

    Given its tape, the walk ends where the tape's gradient ended, but goes on across the breaks of
    the causes that are `mended`; without one, it goes on across all of them. With a `run`, it is
    the walk of a step that was replayed with other numbers; `pulls` stand in for those of some
    events, and a `wide` one is done in double precision. With a `look`, which is shown every event
    with what arrived there and what it passed on, nothing is kept; the walk ends at the time
    `since`.
    """
    others = {**(run.pulls if run is not None else {}), **(pulls or {})}
    cotangents: dict[Value, Any] = {}
    targets = [t for t in query.targets if isinstance(t, Value) and t.array is not None]
    seeds = query.seeds or [None] * len(targets)
    for target, seed in zip(targets, seeds, strict=False):
        whole = None if target.floating else np.float64  # in case a bridge takes it for a float
        ones = np.ones_like(np.asarray(target.array), whole) if seed is None else np.asarray(seed)
        cotangents[target] = ones.astype(np.float64) if wide else ones
    result = Walk(cotangents, [], {})
    inside = ancestors(targets)
    sources = {id(answer.source) for answer in query.answers}
    events = [event for event in makers(inside) if not _update(event, query, sources)]
    if since is not None:
        events = [event for event in events if event.time >= since]
    across = tape is None or bool(mended)
    closed: dict[Event, list[bool]] = {}  # of each operand: whether nothing comes to it

    def pull_of(event: Event) -> Pull | None:
        ends = [False] * len(event.inputs) if tape is None else _closed(event, tape, mended)
        closed[event] = ends
        if across and ends and all(ends):
            return None
        if look is not None:
            for made in event.outputs:
                cotangents.pop(made, None)
        return _pull(event, result, across, query.scope, others.get(event), look, leads_on)

    def leads_on(given: Value) -> bool:
        """Is a cotangent of it of use? Each of 500 slices of one array would keep one like it."""
        fixed = given.maker is None and given.variable is None and id(given) not in sources
        return not fixed or tape is None or tape.watched(given) or math.prod(given.shape) < FEW

    def reaches(event: Event, k: int, given: Value) -> bool:
        return (
            leads_on(given)
            and given.array is not None
            and not closed[event][k]
            and (across or given.floating)
        )

    def arrive(given: Value, part: Any) -> tuple[Value, Any]:
        return given, _fitted(part, given)

    with np.errstate(all="ignore"):
        pull_back(reversed(events), cotangents, pull_of, reaches, arrive)
    return result


def passed(query: Query) -> dict[Event, None]:
    """The events that the tape's gradient passes, newest first, by their structure: no number is
    looked at."""
    tape, found = query.tape, set[Event]()
    sources = {id(answer.source) for answer in query.answers}
    queue = [t for t in query.targets if isinstance(t, Value)]
    seen = set(queue)
    while queue:
        event = queue.pop().maker
        if event is None or event in found or event.pull is None:
            continue
        if _update(event, query, sources):
            continue
        found.add(event)
        for given, ends in zip(event.inputs, _closed(event, tape, frozenset()), strict=True):
            if not ends and given.floating and given not in seen:
                seen.add(given)
                queue.append(given)
    return dict.fromkeys(reversed(in_order(found)))


def _update(event: Event, query: Query, sources: set[int]) -> bool:
    """Did a step before change a source here? Its gradient is that by its value of now."""
    if event.way != "assign" or not query.tape.spans or event.time >= query.tape.spans[0][0]:
        return False
    return any(id(o.variable) in sources for o in event.outputs if o.variable is not None)


def _pull(
    event: Event, result: Walk, across: bool, scope: dict[str, Any], other: Pull | None,
    look: Look | None, leads_on: Callable[[Value], bool],
) -> Pull | None:  # fmt: skip
    """The event's pull or a bridge's, which notes what it passes on, or why it cannot."""
    own: Pull | None = other or event.pull
    if across and other is None:
        bridge = bridges.pull(event, result.bridged.setdefault(event, []), scope)
        if bridge is not None and event.way in ("numpy", "python"):
            result.proven.add(event)  # the source, computed again, gave what had come back
        own = bridge or own
        if own is None:
            result.failed = result.failed or bridges.why_not(event)
            result.stuck.append(event)
    if own is None:
        return None
    rule = own

    def pull(gs: Any) -> list:
        try:
            parts = rule(gs)
        except Spent:
            raise
        except Exception as error:  # a rule that cannot: the walk ends here, and says so
            result.failed = f"{event.name} raised {type(error).__name__}: {error}"
            return []
        if look is not None:
            look(event, gs, parts, rule)
            return parts
        result.events.append(event)
        kept = [
            part if part is None or leads_on(value) else None
            for value, part in zip(event.inputs, parts, strict=False)
        ]
        result.passed[event] = kept
        result.bytes += sum(int(getattr(part, "nbytes", 0)) for part in kept if part is not None)
        if (budget := current()) is not None:
            budget.fits(result.bytes)
        if across and all(part is None for part in parts):
            result.failed = result.failed or bridges.why_not(event)
        return parts

    return pull


def _closed(event: Event, tape: Tape, mended: frozenset[str]) -> list[bool]:
    """Of each operand: does nothing come to it, from whatever the event made?"""
    if event.way != "op":  # whatever the operand
        return [why(event, 0, event.outputs[0], tape) not in mended] * len(event.inputs)
    first = {v: k for k, v in reversed(list(enumerate(event.inputs)))}
    causes = [[why(event, first[v], made, tape) for made in event.outputs] for v in event.inputs]
    return [all(c is not None and c not in mended for c in found) for found in causes]


def _fitted(part: Any, given: Value) -> Any:
    """Sum over what broadcasting added, where a bridge did not."""
    part = np.asarray(part)
    shape = given.shape
    if part.shape == shape:
        return part
    while part.ndim > len(shape):
        part = part.sum(0)
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and part.shape[k] != 1)
    part = part.sum(axes, keepdims=True) if axes else part
    return part if part.shape == shape else np.broadcast_to(part, shape)
