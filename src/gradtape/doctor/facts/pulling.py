"""The one loop that pulls cotangents back through events; who calls it says what passes where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..trace import Event, Value
from .budget import pay

Pull = Callable[[Any], Any]


def pull_back(
    events: Iterable[Event],  # newest first
    cotangents: dict[Value, Any],
    pull_of: Callable[[Event], Pull | None],
    reaches: Callable[[Event, int, Value], bool] = lambda event, k, given: given.floating,
    arrive: Callable[[Value, Any], tuple[Value, Any]] = lambda given, part: (given, part),
) -> None:
    """Add to `cotangents` what the outputs of each event pass on to its inputs.

    An event without a pull ends the way; so does an operand that nothing `reaches`. `arrive` may
    say that a value is another one's twin, or fit a cotangent to its value.
    """
    for event in events:
        arrived = [cotangents.get(output) for output in event.outputs]
        if all(g is None for g in arrived):
            continue
        pull = pull_of(event)
        if pull is None:
            continue
        pay(arrived)
        for k, (given, part) in enumerate(zip(event.inputs, pull(arrived), strict=False)):
            if part is not None and reaches(event, k, given):
                value, g = arrive(given, part)
                old = cotangents.get(value)
                cotangents[value] = g if old is None else old + g
