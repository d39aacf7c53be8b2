"""Finds the op that produced a fault first, apart from the many that only passed it on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..trace import Event, Value
from .backward import Walk
from .graph import Values, ancestors, first_use, makers


@dataclass(eq=False)
class Fault:
    """Where numbers stopped being finite."""

    event: Event | None  # None: the value came into the program as it is
    value: Value  # the first that is not finite, or the operand whose cotangent is not
    operand: int | None = None  # of a backward fault: which operand of the event
    backward: bool = False
    cotangent: Any = None  # of a backward fault: what came to the event, still finite


def finite(array: Any) -> bool:
    """Are all numbers finite? Whole numbers and texts are."""
    if array is None:
        return True
    array = np.asarray(array)
    if array.dtype.kind not in "fcV":
        return True
    return bool(np.isfinite(array.astype(np.float64) if array.dtype.kind == "V" else array).all())


def forward_fault(targets: list[Value]) -> Fault | None:
    """The first value on the way to the targets that is not finite, if it reached a target."""
    if all(finite(t.array) for t in targets):
        return None
    return masked_fault(targets)


def masked_fault(targets: list[Value]) -> Fault | None:
    """The first value on the way that is not finite, whether or not it reached a target."""
    above = ancestors(targets)
    given = [v for v in above if v.maker is None and not finite(v.array)]
    if given:  # the first that something was computed with
        return Fault(None, min(given, key=first_use))
    for event in makers(above):
        if all(finite(v.array) for v in event.inputs):
            for value in event.outputs:
                if not finite(value.array):
                    return Fault(event, value)
    return None


def backward_fault(walk: Walk, nodes: list[Value]) -> Fault | None:
    """The first op, from the target up, that made cotangents that are not finite of finite ones."""
    below = descendants(nodes)
    for event in walk.events:
        gs = [walk.cotangents.get(o) for o in event.outputs]
        if not all(finite(g) for g in gs):
            continue
        for k, part in enumerate(walk.passed[event]):
            if part is not None and not finite(part) and event.inputs[k] in below:
                given = next(g for g in gs if g is not None)
                return Fault(event, event.inputs[k], k, backward=True, cotangent=given)
    return None


def descendants(values: list[Value], without: Collection[str] = ()) -> Values:
    """All values that were computed from these, but not by the ways `without`."""
    seen, queue = dict.fromkeys(values), list(values)
    done: set[Event] = set()
    while queue:
        for event in queue.pop().users:
            if event in done or event.way in without:
                continue
            done.add(event)
            for made in event.outputs:
                if made not in seen:
                    seen[made] = None
                    queue.append(made)
    return seen
