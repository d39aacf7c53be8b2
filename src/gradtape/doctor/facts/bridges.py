"""Substitutes for what cut a path: how the gradient would have passed there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...traits import Family
from ..trace import Event, kinds
from . import recompute
from .pulling import Pull, pull_back
from .replay import between, twin

Bridge = Callable[[Event, list[str]], Pull | None]
THROUGH = "{} passed straight through"


def pull(event: Event, notes: list[str], scope: dict[str, Any]) -> Pull | None:
    """How a cotangent passes an event that a tape does not differentiate, if it can be said."""
    if event.way in ("numpy", "python"):
        return recompute.numpy_pull(event, notes, scope)
    if event.is_a(Family.RUNS_PYTHON):
        return recompute.function_pull(event, notes)
    bridge = _bridge(event)
    return None if bridge is None else bridge(event, notes)


def _bridge(event: Event) -> Bridge | None:
    if event.way != "op":
        return _WAYS.get(event.way)
    if event.kind in _OPS:
        return _OPS[event.kind]
    for families, bridge in _FAMILIES.items():
        if event.is_a(families):
            return bridge
    return _as_real if _whole(event) else None


def why_not(event: Event) -> str:
    """Why there is no gradient across this event."""
    if event.way in ("numpy", "python"):
        return f"what {event.name} and the lines after it did could not be computed again"
    if event.way == "gradient":
        return "the first derivative was not recorded, so there is nothing to differentiate again"
    if event.is_a(Family.FINDS) or event.kind == "TopKV2" or event.kind == "OneHot":
        return f"{event.name} gives positions, and nothing smooth stands in for a position"
    if event.is_a(Family.SAMPLES):
        return f"{event.name} draws at random, and a draw has no derivative"
    return f"{event.name} has no derivative that could stand in for it"


def _same(event: Event, notes: list[str]) -> Pull:
    """The output is the input: so is the cotangent."""
    return lambda gs: [_like(_total(gs), given) for given in event.inputs[:1]]


def _kept(event: Event, notes: list[str]) -> Pull:
    """As the output, but the numbers after it are those of a value that was kept."""
    notes.append(f"with the old value of {event.name}")
    return _same(event, notes)


def _assign(event: Event, notes: list[str]) -> Pull:
    sign = -1.0 if event.kind == "assign_sub" else 1.0

    def pull(gs: Any) -> list:
        g = _total(gs)
        return [sign * g, g][: len(event.inputs)]

    return pull


def _straight(event: Event, notes: list[str]) -> Pull:
    notes.append(THROUGH.format(event.name))
    return lambda gs: [gs[0] for _ in event.inputs]


def _whole(event: Event) -> bool:
    """Is it arithmetic with whole numbers?"""
    numbers = [v.dtype.kind in "iu" for v in (*event.inputs, *event.outputs) if v.dtype is not None]
    pairs = [(k, made) for k in range(len(event.inputs)) for made in event.outputs]
    plain = any(kinds.cause(event, k, made) is None for k, made in pairs)
    return plain and bool(numbers) and all(numbers)


def _as_real(event: Event, notes: list[str]) -> Pull | None:
    """Whole numbers as if they were real ones: what a float in their place would have."""
    if event.replay is None or any(v.array is None for v in event.inputs):
        return None
    try:
        pull: Pull = event.replay([v.array for v in event.inputs], True)[1]
    except Exception:  # an op that there is for whole numbers only
        return None
    return lambda gs: pull([None if g is None else np.asarray(g, np.float64) for g in gs])


def _cast(event: Event, notes: list[str]) -> Pull | None:
    """Between floating dtypes a cast has its own pull; to and from others, it passes all."""
    if event.inputs[0].floating and event.outputs[0].floating:
        return None
    if event.inputs[0].floating:
        notes.append("the cast to integers passed straight through")
    return lambda gs: [gs[0]]


def _soft(event: Event, notes: list[str]) -> Pull | None:
    """a > b, softened to sigmoid(a - b)."""
    if len(event.inputs) != 2 or any(v.array is None for v in event.inputs):
        return None
    sign = -1.0 if event.kind.startswith("Less") else 1.0
    notes.append(f"{event.name} softened to a sigmoid of the difference")

    def pull(gs: Any) -> list:
        a, b = (np.asarray(v.array, np.float64) for v in event.inputs)
        s = 1.0 / (1.0 + np.exp(-np.clip(a - b, -60.0, 60.0)))
        g = sign * gs[0] * s * (1.0 - s)
        return [g, -g]

    return pull


def _choice(event: Event, notes: list[str]) -> Pull | None:
    """tf.where also by its condition, as if it were a weight between the branches."""
    own = event.pull
    if own is None or any(v.array is None for v in event.inputs[1:]):
        return None

    def pull(gs: Any) -> list:
        _, x, y = own(gs)
        a, b = (np.asarray(v.array, np.float64) for v in event.inputs[1:])
        return [gs[0] * (a - b), x, y]

    return pull


def _own_grads(event: Event, notes: list[str]) -> Pull | None:
    """A custom gradient that answers None: the derivatives of the ops that ran inside instead."""
    own, inside = event.pull, event.attrs.get("inside")
    if own is None or not inside:
        return None

    def pull(gs: Any) -> list:
        parts = own(gs)
        if all(part is not None for part in parts):
            return parts
        notes.append(f"with the derivatives of what ran inside {event.name}")
        found: dict[Any, Any] = {v: g for v, g in zip(inside, gs, strict=False) if g is not None}
        pull_back(
            reversed(between(event.inputs, inside)), found, lambda step: step.pull,
            arrive=lambda given, part: (twin(given, event.inputs) or given, part),
        )  # fmt: skip
        pairs = zip(event.inputs, parts, strict=True)
        return [found.get(v) if p is None else p for v, p in pairs]

    return pull


def _total(gs: Any) -> Any:
    """What came to all outputs, which are one value."""
    given = [g for g in gs if g is not None]
    return sum(given[1:], given[0])


def _like(g: Any, given: Any) -> Any:
    return np.asarray(g).reshape(given.shape) if np.size(g) == np.prod(given.shape) else g


_WAYS: dict[str, Bridge] = {
    "copy": _same, "rewrap": _same, "array": _same, "assign": _assign, "metric": _assign,
    "frozen": _kept,
}  # fmt: skip
_OPS: dict[str, Bridge] = {"StopGradient": _same, "CustomGradient": _own_grads, "Cast": _cast}
_FAMILIES: dict[Family, Bridge] = {
    Family.CHOOSES: _choice, Family.ROUNDS: _straight, Family.ORDERS: _soft,
}  # fmt: skip
