"""GT406 steep-derivative: one op multiplies the gradient by thousands, near a point without one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ....traits import HANDS_ON, Family
from ...facts import changes
from ...facts.case import Case
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import Rule
from ..counts import share

STEEP = 1e4  # what one op multiplies the gradient by
NEAR = 1e-3  # to 0
TRIED = 4  # ops of one gradient
PASSES_ON = HANDS_ON | Family.CLIPS  # also what keeps an inverse finite
ADVICE = {
    Family.ROOTS:
        "add more under the root, such as `tf.sqrt(x + 1e-6)`, or use the square itself",
    Family.LOGARITHMS: "keep the argument away from 0, or use a loss that takes logits",
    Family.POWERS: "keep the base away from 0, as with `tf.maximum(x, 1e-3)`",
}  # fmt: skip
EDGE = "keep the argument further away from the edge"
DIVISOR = (
    "divide by something that stays away from 0: a larger epsilon, `tf.maximum(x, 1e-3)`, or "
    "`tf.where` before the division"
)


class SteepDerivative(Rule):
    code, name, states = "GT406", "steep-derivative", frozenset({"exploding"})
    title = "one op near 0 (a quotient, a root, a logarithm) makes the gradient huge"
    lesson = """\
A little that is added to a divisor keeps the value finite, and leaves the derivative 1 / epsilon:
x / (n + 1e-8) has the derivative 1e8 where n is 0. The same holds for the norm of a vector that is
nearly 0, for sqrt(x + 1e-12) and for log(x + 1e-9). One such element is enough to throw all weights
behind it far off. Add an epsilon of the size that you can tell from 0 in your data (1e-3 rather
than 1e-12), or leave such elements out with `tf.where` before the division."""
    failing = """\
a = tf.Variable([1.0, 2.0])
count = tf.constant([3.0, 0.0])
with tf.GradientTape() as tape:
    share = a / (count + 1e-8)
    loss = tf.reduce_mean(share)
grad = tape.gradient(loss, a)
"""
    cured = """\
a = tf.Variable([1.0, 2.0])
count = tf.constant([3.0, 0.0])
with tf.GradientTape() as tape:
    share = a / tf.maximum(count, 1.0)
    loss = tf.reduce_mean(share)
grad = tape.gradient(loss, a)
"""
    ignore = "When the function is meant to be this steep there, and the step is clipped."

    def examine(self, case: Case) -> Iterable[Finding]:
        """One hypothesis for each such op, the steepest first: the trials show which it is."""
        if case.answer.array is None:
            return
        steep = [found for event in case.walk.events if (found := _steep(case, event))]
        for steps in sorted(steep, key=lambda found: -found.times)[:TRIED]:
            if steps.event.traits.divisor is not None and _units(case, steps.event):
                continue
            yield self._explain(case, steps)

    def _explain(self, case: Case, steep: Steep) -> Finding:
        event, at = steep.event, steep.at
        near = steep.near
        small = near <= max(10 * float(near.min()), 1e-300)
        divides = steep.divides
        what, number = "divides by" if divides else "is evaluated at", f"{float(near.min()):.2g}"
        edges = _edges(event)
        if edges != [0.0]:
            ends = " or ".join(f"{end:g}" for end in edges)
            what, number = "is evaluated at a number that is", f"{number} away from {ends}"
        finding = case.finding(
            self, at.place,
            f"`{at.place.text}` {what} {number}{share(small)}, so it multiplies "
            f"the gradient by up to {steep.times:.2g}.",
            DIVISOR if divides else _advice(event), event=at,
            change=changes.safe(steep.value, near < NEAR, 1.0 if divides else event.traits.safe),
        )  # fmt: skip
        if at.layer is None and finding.place != at.place:
            finding.fix = "choose another loss, or keep the numbers that it is given away from 0"
        return finding


def _advice(event: Event) -> str:
    return next((words for family, words in ADVICE.items() if event.is_a(family)), EDGE)


def _edges(event: Event) -> list[float]:
    """The points at which the op has no derivative, of the operand that decides it; the larger
    first."""
    regions = event.traits.poles_of(event.traits.guarded)
    return sorted({edge for region in regions for edge in region.edges} or {0.0}, reverse=True)


class Steep(NamedTuple):
    """An op that makes the gradient much larger, near a point without one."""

    event: Event
    at: Event  # what the user can change: of a product with an inverse, the inverse
    value: Value  # that is near to the point
    near: np.ndarray  # how near
    times: float

    @property
    def divides(self) -> bool:
        """Is it a quotient, or a product with an inverse?"""
        return self.at is not self.event or self.event.traits.divisor is not None


def _units(case: Case, event: Event) -> bool:
    """Is all of the source this small? Then these are its units, unless the quotient is one of it
    and its own size."""
    if all(v in case.below for v in event.inputs):
        return False
    return all(0 < _top(n.array) < NEAR for n in case.nodes)


def _steep(case: Case, event: Event) -> Steep | None:
    """An op near 0 that passes on much more to the source than came to it, and its operand."""
    given = [g for o in event.outputs if (g := case.walk.cotangents.get(o)) is not None]
    arrived = max((_top(g) for g in given), default=0.0)
    if not 0 < arrived < np.inf:
        return None
    at = _inverse(event) if event.kind == "Mul" else event
    value = None if at is None else _near_0(at, at is not event)
    if at is None or value is None:
        return None
    below = case.below
    passed = [
        _top(part) for given, part in zip(event.inputs, case.walk.passed[event], strict=False)
        if part is not None and given in below
    ]  # fmt: skip
    times = max(passed, default=0.0) / arrived
    if not np.isfinite(times) or times < STEEP:
        return None
    near = _distance(at, value)
    if at is not event and at.kind == "Rsqrt":
        near = np.sqrt(near)  # of a sum of squares, the length
    return Steep(event, at, value, near, times)


def _inverse(event: Event) -> Event | None:
    """The op that made a factor of a product an inverse: `x * tf.math.rsqrt(n)` is a quotient."""
    for value in event.inputs:
        maker = value.maker
        while maker is not None and maker.is_a(PASSES_ON) and maker.inputs:
            maker = max(maker.inputs, key=lambda v: _top(v.array) if v.floating else -1.0).maker
        if maker is None:
            continue
        negative = maker.kind == "Pow" and np.all(np.asarray(maker.inputs[1].array) < 0)
        if maker.is_a(Family.INVERTS) or maker.traits.divisor is not None or negative:
            return maker
    return None


def _near_0(event: Event, bounded: bool) -> Value | None:
    """What the op divides by, or takes a root or logarithm of, if that comes near to 0; to 0 itself
    only if its result was bounded before it came into anything."""
    if not event.traits.poles:
        return None
    value = event.inputs[event.traits.guarded]
    written = value.maker is None and value.variable is None and np.size(value.array) == 1
    if written and event.traits.divisor is not None:
        return None  # a number that was written there is a choice of units
    if not value.floating or not np.size(value.array):
        return None
    least = float(_distance(event, value).min())
    return value if least < NEAR and (least > 0 or bounded) else None


def _distance(event: Event, value: Value) -> np.ndarray:
    """From the point at which the op has no derivative."""
    array = np.asarray(value.array)
    return np.min([np.abs(array - point) for point in _edges(event)], axis=0)


def _top(array: Any) -> float:
    array = np.asarray(array)
    return float(np.abs(array).max()) if array.size else 0.0


RULE = SteepDerivative()
