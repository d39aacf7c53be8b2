"""Spots: the expressions between a source and a target, with what flowed through them in numbers.

A spot is taken while the arrays are at hand and keeps statistics only, so that a report made after
the run can say what an expression held.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..source.place import Place
from ..trace import Event, Value, Variable, states
from .graph import Path, ancestors, makers

if TYPE_CHECKING:
    from .case import Case

MOST = 200  # spots kept a finding
STEPS = frozenset({"assign", "gradient", "dataset"})  # ways that lead from one step to the next
BUDGET = 50_000_000  # numbers looked at a finding; beyond it, spots have no statistics


@dataclass(frozen=True)
class Stats:
    """An array in numbers; of complex ones, of their absolute values."""

    size: int
    low: float  # these three of the finite numbers only
    high: float
    mean: float
    norm: float
    zeros: int
    broken: int  # numbers that are NaN or infinite


@dataclass(frozen=True)
class Spot:
    """One op on the way, and the numbers that passed it in both directions."""

    place: Place
    name: str  # of the op; of the source, as the user calls it
    shape: tuple[int, ...]
    dtype: str
    value: Stats | None
    gradient: Stats | None  # that arrived here; None when none did
    would_be: Stats | None  # that would arrive if the break were mended
    flows: bool  # a sound gradient arrived here
    breaks: bool = False  # here is the fault
    on_path: bool = True  # on the path that the report draws
    time: float = -1  # of the trace; the source is there before everything


@dataclass(frozen=True)
class Part:
    """One array at the op: an "operand", a "result", or the gradient that "arrives" at a result or
    that "leaves" for an operand."""

    role: str
    name: str  # in the user's words; empty when there are none
    shape: tuple[int, ...]
    dtype: str
    stats: Stats | None


@dataclass(frozen=True)
class Onset:
    """Where it began: in the values, or else on the way back."""

    place: Place
    name: str  # of the op
    backward: bool
    parts: tuple[Part, ...]


def survey(case: Case, culprit: Event | None, bridged: bool) -> list[Spot]:
    """The spots of an answer: those of the path in its order, then those beside it."""
    path = case.through(culprit and case.meeting(culprit))
    if path is None:
        return []
    purse = _Purse()
    chosen = [_source(case, path, bridged, purse)]
    chosen += [
        _spot(case, event, made, bridged, purse, event is culprit, True)
        for event, made in _thinned(path, culprit)
    ]
    on_path = set(path.events)
    chosen += [
        _spot(case, event, made, bridged, purse, event is culprit, False)
        for event, made in _between(case)
        if event not in on_path
    ][: max(MOST - len(chosen), 0)]
    return [spot for spot in chosen if spot is not None]


def stats(array: Any) -> Stats | None:
    """The statistics of an array of numbers, None of anything else."""
    numbers = np.asarray(array)
    if not numbers.size or numbers.dtype.kind in "OSUMm":
        return None
    with np.errstate(all="ignore"):
        wide = np.abs(numbers) if numbers.dtype.kind == "c" else numbers
        wide = wide.astype(np.float64, copy=False)
        sound = wide[np.isfinite(wide)]
        low, high, mean = (
            (float(sound.min()), float(sound.max()), float(sound.mean()))
            if sound.size
            else (np.nan,) * 3
        )
        norm = float(np.sqrt(np.vdot(wide, wide)))
    zeros, broken = int((wide == 0).sum()), int(wide.size - sound.size)
    return Stats(wide.size, low, high, mean, norm, zeros, broken)


class _Purse:
    """Statistics as long as the budget lasts."""

    def __init__(self) -> None:
        self.left = BUDGET

    def stats(self, array: Any) -> Stats | None:
        if array is None or np.size(array) > self.left:
            return None
        self.left -= np.size(array)
        return stats(array)


def _source(case: Case, path: Path, bridged: bool, purse: _Purse) -> Spot | None:
    """Where the source was made, with the sum of the gradients of all its reads."""
    value, owner = path.values[0], case.source
    place = owner.made if isinstance(owner, Variable) else value.place
    if place is None and value.maker is not None:
        place = value.maker.place
    if place is None:
        return None
    arrived = case.answer.array
    wanted = case.would_be[0] if bridged else None
    return Spot(
        place, case.answer.name, value.shape, str(value.dtype or ""), purse.stats(value.array),
        purse.stats(arrived), None if wanted is None else purse.stats(wanted.array),
        _sound(arrived),
    )  # fmt: skip


def _spot(
    case: Case, event: Event, made: Value, bridged: bool, purse: _Purse, breaks: bool, on_path: bool
) -> Spot:
    arrived = case.walk.cotangents.get(made)
    wanted = case.bridged.cotangents.get(made) if bridged else None
    return Spot(
        event.place, event.name, made.shape, str(made.dtype or ""), purse.stats(made.array),
        purse.stats(arrived), purse.stats(wanted), _sound(arrived), breaks, on_path, event.time,
    )  # fmt: skip


def _sound(gradient: Any) -> bool:
    return gradient is not None and states.state(np.asarray(gradient)) == "ok"


def _thinned(path: Path, culprit: Event | None) -> list[tuple[Event, Value]]:
    """The steps of a path; of a long one each place's first, the culprit, and an even choice."""
    steps = list(zip(path.events, path.values[1:], strict=True))
    if len(steps) < MOST:
        return steps
    seen: set[Place] = set()
    keep = {k for k, (event, _) in enumerate(steps) if event is culprit}
    for k, (event, _) in enumerate(steps):
        if event.place not in seen and len(keep) < MOST // 2:
            seen.add(event.place)
            keep.add(k)
    keep |= set(range(0, len(steps), 2 * len(steps) // MOST + 1))
    return [steps[k] for k in sorted(keep)]


def _between(case: Case) -> Iterable[tuple[Event, Value]]:
    """Every op that leads from the source to the target, oldest first, with its output.

    What a variable was assigned belongs to the step before, unless the path itself goes by it.
    """
    behind = ancestors(case.targets, STEPS)
    ahead: set[Value] = behind.keys() & case.nodes
    for event in makers(behind):
        if not ahead.isdisjoint(event.inputs):
            for made in event.outputs:
                if made in behind:
                    ahead.add(made)
                    yield event, made
