"""The op at which numbers stop being finite: what goes into it and what comes out, both ways.

As with spots, only statistics are kept, so that a report made after the run can say them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..trace import Event
from .expressions import operand
from .spots import Onset, Part, stats

if TYPE_CHECKING:
    from .case import Case

STATES = frozenset({"nan", "inf"})
MOST = 4  # operands and results that are told
BUDGET = 8_000_000  # numbers of an array that is counted


def onset(case: Case, state: str) -> Onset | None:
    """What is known of the op that made the first number that is not finite of finite ones."""
    fault = case.fault if state in STATES else None
    if fault is None or fault.event is None:
        return None
    parts = tuple(_parts(case, fault.event))
    return Onset(fault.event.place, fault.event.name, fault.backward, parts)


def _parts(case: Case, event: Event) -> Iterator[Part]:
    cotangents, passed = case.walk.cotangents, case.walk.passed.get(event, [])
    called = [operand(event, value) or "" for value in event.inputs]
    for value, name in list(zip(event.inputs, called, strict=True))[:MOST]:
        yield _part("operand", name, value.array)
    for made in event.outputs[:MOST]:
        yield _part("result", "", made.array)
    for made in event.outputs[:MOST]:
        if made in cotangents:
            yield _part("arrives", "", cotangents[made])
    for part, name in list(zip(passed, called, strict=False))[:MOST]:
        if part is not None:
            yield _part("leaves", name, part)


def _part(role: str, name: str, array: Any) -> Part:
    small = array is not None and array.size <= BUDGET
    counted = stats(array) if small else None
    shape = () if array is None else tuple(array.shape)
    return Part(role, name, shape, "" if array is None else str(array.dtype), counted)
