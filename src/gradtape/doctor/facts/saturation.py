"""First layers whose sigmoids or tanhs are nearly all at their ends, because of what comes in.

A layer far out on its activation passes on next to nothing. That the data are the cause is shown by
a replay with each column at mean 0 and size 1: the numbers are then where the function bends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...traits import Family
from ..trace import Event, Value
from .faults import descendants
from .replay import flows_in, replay

if TYPE_CHECKING:
    from .case import Question

LARGE = 30.0  # a size of data in raw units: ages, pixels, prices
ROWS = 8  # examples; of fewer, the size is no property of the data
ENDS = 0.01  # of the steepest derivative, what is left where it counts as flat
MOST, FEWER = 0.9, 0.5  # shares of the numbers of a layer: at fault, and when it is not


class Saturation(NamedTuple):
    """An activation of a first layer, the data it is given, and the shares that are flat."""

    event: Event
    data: Value
    scaled: np.ndarray
    share: float
    after: float  # with the data scaled


def saturations(question: Question) -> list[Saturation]:
    """The first layers of a step that are held at their ends by the size of the data."""
    return question.once(saturations, lambda: _found(question))


def _found(question: Question) -> list[Saturation]:
    events = [e for e in question.passed if _is_sigmoid(e)]
    return [found for e in events if (found := _judged(question, e)) is not None]


def _judged(question: Question, event: Event) -> Saturation | None:
    share = flat_share(event, event.outputs[0].array)
    product = _product(event.inputs[0]) if share >= MOST else None
    if product is None:
        return None
    own = question.once(
        descendants, lambda: descendants([v for v in question.trace.values if v.variable])
    )
    data = [v for v in product.inputs if v not in own and v.floating and np.size(v.array) > 1]
    if len(data) != 1 or len(data[0].array) < ROWS or _size(data[0]) < LARGE:
        return None
    array = np.asarray(data[0].array, np.float64)
    rows = tuple(range(array.ndim - 1))
    spread = array.std(rows)
    scaled = (array - array.mean(rows)) / np.where(spread > 0, spread, 1.0)
    run = replay(
        [event.outputs[0]],
        {data[0]: scaled},
        flows_in(question.query.tape, question.walk.cotangents),
    )
    if run.failed:
        return None
    after = flat_share(event, run[event.outputs[0]])
    return Saturation(event, data[0], scaled, share, after) if after <= FEWER * share else None


def _is_sigmoid(event: Event) -> bool:
    """Does it squash each number by itself, as sigmoid and tanh do?"""
    return event.is_a(Family.SQUASHES) and event.is_a(Family.ELEMENTWISE)


def flat_share(event: Event, array: object) -> float:
    """How many of the results of a sigmoid or tanh lie where it is flat."""
    y = np.asarray(array, np.float64)
    if not y.size or not np.isfinite(y).all():
        return 0.0
    low, high = event.traits.ends or (-1.0, 1.0)
    scaled = (2.0 * y - low - high) / (high - low)  # between -1 and 1
    steep = 1.0 - scaled * scaled
    return float((steep < ENDS).mean())


def _product(value: Value) -> Event | None:
    """The product of weights and data that an activation is given, with or without a bias."""
    maker = value.maker
    if maker is not None and maker.is_a(Family.ADDS):
        maker = next(
            (v.maker for v in maker.inputs if v.maker and v.maker.is_a(Family.CONTRACTS)), None
        )
    return maker if maker is not None and maker.is_a(Family.CONTRACTS) else None


def _size(value: Value) -> float:
    return float(np.sqrt(np.mean(np.asarray(value.array, np.float64) ** 2)))
