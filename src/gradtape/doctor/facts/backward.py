"""The backward walk: cotangents op by op through the trace, with the breaks or across them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..trace import Event, Query, Tape, Trace, Value
from . import bridges
from .graph import ancestors, makers, why


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


def walk(
    trace: Trace, query: Query, tape: Tape | None = None, mended: frozenset[str] = frozenset()
) -> Walk:
    """Walk back from the targets of a query.

    Given its tape, the walk ends where the tape's gradient ended, but goes on across the breaks of
    the causes that are `mended`; without one, it goes on across all of them.
    """
    cotangents: dict[Value, Any] = {}
    targets = [t for t in query.targets if isinstance(t, Value) and t.array is not None]
    seeds = query.seeds or [None] * len(targets)
    for target, seed in zip(targets, seeds, strict=False):
        whole = None if target.floating else np.float64  # in case a bridge takes it for a float
        ones = np.ones_like(np.asarray(target.array), whole) if seed is None else np.asarray(seed)
        cotangents[target] = ones
    result = Walk(cotangents, [], {})
    inside = ancestors(targets)
    sources = {id(answer.source) for answer in query.answers}
    events = [event for event in makers(inside) if not _update(event, query, sources)]
    with np.errstate(all="ignore"):
        for event in reversed(events):
            _step(event, result, tape, mended, query.scope)
    return result


def _update(event: Event, query: Query, sources: set[int]) -> bool:
    """Did a step before change a source here? Its gradient is that by its value of now."""
    if event.way != "assign" or not query.tape.spans or event.time >= query.tape.spans[0][0]:
        return False
    return any(id(o.variable) in sources for o in event.outputs if o.variable is not None)


def _step(
    event: Event, result: Walk, tape: Tape | None, mended: frozenset[str], scope: dict[str, Any]
) -> None:
    gs = [result.cotangents.get(output) for output in event.outputs]
    if all(g is None for g in gs):
        return
    closed = [False] * len(event.inputs) if tape is None else _closed(event, tape, mended)
    across = tape is None or bool(mended)
    if across and closed and all(closed):
        return
    pull: Callable[..., Any] | None = event.pull
    if across:
        pull = bridges.pull(event, result.bridged.setdefault(event, []), scope) or pull
    if pull is None:
        if across:
            result.failed = result.failed or bridges.why_not(event)
            result.stuck.append(event)
        return
    try:
        parts = pull(gs)
    except Exception as error:  # a rule that cannot: the walk ends here, and says so
        result.failed = f"{event.name} raised {type(error).__name__}: {error}"
        return
    result.events.append(event)
    result.passed[event] = parts
    if across and all(part is None for part in parts):
        result.failed = result.failed or bridges.why_not(event)
    for given, part, ended in zip(event.inputs, parts, closed, strict=False):
        if part is None or given.array is None or ended or (not across and not given.floating):
            continue
        part = _fitted(part, given)
        old = result.cotangents.get(given)
        result.cotangents[given] = part if old is None else old + part


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
