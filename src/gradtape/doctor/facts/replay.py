"""Runs recorded ops again with other numbers: what would have been computed, and its derivative.

What no tape differentiates (conversions, stopped gradients, draws, positions) keeps the value that
it had, so a replay is the function that the tape knows, in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..trace import Event, Query, Tape, Value, kinds
from .budget import pay
from .graph import Values, in_order, makers
from .pulling import pull_back

BYTES = 24 << 20  # that a run may hold; rules compare several
TOLERANCES = {8: 1e-4, 4: 1e-2, 2: 1e-1}  # of what is computed again, by the bytes of a number
Flows = Callable[[Event], bool]


@dataclass(eq=False)
class Replay:
    """The values that came out otherwise, and the pulls of the ops that made them."""

    values: dict[Value, Any]
    pulls: dict[Event, Any] = field(default_factory=dict)
    failed: str | None = None  # an op that could not be run again

    def __getitem__(self, value: Value) -> Any:
        found = self.values.get(value)
        return value.array if found is None else found


def above(targets: Iterable[Value]) -> Values:
    """All values that the targets were computed from, also inside of custom gradients."""
    seen = dict.fromkeys(targets)
    queue = list(seen)
    done: set[Event] = set()
    while queue:
        maker = queue.pop().maker
        if maker is None or maker in done:
            continue
        done.add(maker)
        for given in (*maker.inputs, *maker.attrs.get("inside", ())):
            if isinstance(given, Value) and given not in seen:
                seen[given] = None
                queue.append(given)
    return seen


def flows_in(tape: Tape, values: Iterable[Value]) -> Flows:
    """Which ops the function of a tape consists of: what it recorded, and what ran inside of
    functions with a gradient of their own."""
    inner: set[Event] = set()
    for value in values:
        maker = value.maker
        if maker is not None and maker.kind == "CustomGradient":
            inner |= set(between(maker.inputs, maker.attrs.get("inside", [])))

    def flows(event: Event) -> bool:
        return event.way == "op" and (tape.number in event.tapes or event in inner)

    return flows


def between(given: list[Value], made: list[Value]) -> list[Event]:
    """The events that lead from some values to others, oldest first."""
    found: list[Event] = []
    queue, seen = list(made), set(given)
    while queue:
        value = queue.pop()
        if value in seen or value.maker is None or twin(value, given) is not None:
            continue
        seen.add(value)
        found.append(value.maker)
        queue += value.maker.inputs
    return in_order(found)


def twin(value: Value, among: Iterable[Value]) -> Value | None:
    """Another read of the same variable, with the same numbers, among some values."""
    if value.variable is None:
        return None
    for other in among:
        if other.variable is value.variable and other.array is value.array:
            return other
    return None


def replay(
    targets: Iterable[Value], changed: dict[Value, Any], flows: Flows, *, narrow: bool = False
) -> Replay:
    """Run what leads from the changed values to the targets; a `narrow` run rounds every result to
    the precision that it was recorded in."""
    values = above(targets)
    twins = {v: changed[other] for v in values if (other := twin(v, changed)) is not None}
    changed = {**twins, **changed}
    run = Replay(dict(changed))
    with np.errstate(all="ignore"):
        held = 0
        for event in makers(values):
            if event.kind == "CustomGradient":
                _inside(run, event, changed)
            elif flows(event) and any(v in run.values for v in event.inputs):
                held += sum(8 * math.prod(v.shape) for v in event.outputs)
                if held > BYTES:
                    run.failed = run.failed or "it is too large to be run again"
                    break
                _again(run, event, changed, narrow)
    return run


def _inside(run: Replay, event: Event, changed: dict[Value, Any]) -> None:
    inside = event.attrs.get("inside")
    if inside is None and any(v in run.values for v in event.inputs):
        run.failed = run.failed or event.name
    for made, inner in zip(event.outputs, inside or (), strict=False):
        if inner in run.values and made not in changed:
            run.values[made] = run.values[inner]
    if any(made in run.values for made in event.outputs):
        run.pulls[event] = event.pull


def _again(run: Replay, event: Event, changed: dict[Value, Any], narrow: bool) -> None:
    if event.replay is None or any(run[v] is None for v in event.inputs):
        run.failed = run.failed or event.name
        return
    given = [run[v] for v in event.inputs]
    pay(given)
    try:
        outputs, pull = event.replay(given)
    except Exception as error:  # an op that does not take these numbers: it stays as it was
        run.failed = run.failed or f"{event.name} ({type(error).__name__}: {error})"
        return
    run.pulls[event] = pull
    for made, array in zip(event.outputs, outputs, strict=True):
        joined = any(
            v in run.values and kinds.cause(event, i, made) is None
            for i, v in enumerate(event.inputs)
        )
        if made.floating and joined and made not in changed:
            run.values[made] = np.asarray(array, made.dtype) if narrow else array


def gradient(run: Replay, query: Query, nodes: list[Value], targets: list[Value]) -> Any:
    """The gradient at the replayed point; of ops that did not run again, at the recorded one."""
    cotangents: dict[Value, Any] = {}
    seeds = query.seeds or [None] * len(targets)
    for target, seed in zip(targets, seeds, strict=False):
        cotangents[target] = np.ones_like(run[target]) if seed is None else np.asarray(seed)
    with np.errstate(all="ignore"):
        pull_back(
            reversed(makers(above(targets))), cotangents, run.pulls.get,
            arrive=lambda given, part: (given, np.asarray(part)),
        )  # fmt: skip
    found = [cotangents[n] for n in nodes if n in cotangents]
    return sum(found[1:], found[0]) if found else None


def wide(array: Any) -> Any:
    """In double precision."""
    return np.asarray(array).astype(np.float64)
