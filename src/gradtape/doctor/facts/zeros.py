"""Finds where a gradient became zero: the op that was given something and passed on nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..trace import Event, Value
from .backward import Walk
from .faults import descendants


@dataclass(eq=False)
class Death:
    """An op on the way to the source that passed on only zeros."""

    event: Event
    operand: int
    cotangent: Any  # what came to it


def nothing(array: Any) -> bool:
    """Is there no number in it but 0?"""
    return array is None or not np.any(np.asarray(array))


def deaths(walk: Walk, nodes: list[Value]) -> list[Death]:
    """All ops that ended a way to the source, from the target up."""
    below = descendants(nodes)
    found = []
    for event in walk.events:
        gs = [walk.cotangents.get(o) for o in event.outputs]
        if all(nothing(g) for g in gs):
            continue
        for k, part in enumerate(walk.passed[event]):
            if event.inputs[k] in below and part is not None and nothing(part):
                g = next(g for g in gs if not nothing(g))
                found.append(Death(event, k, g))
    return found


def cancellations(walk: Walk, nodes: list[Value]) -> list[tuple[Value, list[Event]]]:
    """Values whose cotangent is zero though several ops sent something: their sum is nothing."""
    below = descendants(nodes)
    found = []
    for value, total in walk.cotangents.items():
        if value not in below or not nothing(total):
            continue
        senders = [
            event
            for event in value.users
            if event in walk.passed
            and any(
                v is value and not nothing(p)
                for v, p in zip(event.inputs, walk.passed[event], strict=False)
            )
        ]
        if senders:
            found.append((value, senders))
    return found
