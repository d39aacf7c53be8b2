"""GT406 steep-derivative: one op multiplies the gradient by thousands, near a point without one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...trace import Event, Value
from ...trace.finding import Finding
from ...trace.states import EXPLODING
from ..base import Rule
from ..counts import share

STEEP = 1e4  # what one op multiplies the gradient by
NEAR = 1e-3  # to 0
DIVIDES = {"RealDiv": 1, "Reciprocal": 0, "Inv": 0, "Xdivy": 1}
ROOTS = frozenset({"Sqrt", "Rsqrt", "Log", "Pow"})
INVERSES = frozenset({"Rsqrt", "Reciprocal", "Inv"})
FIXES = {
    "Sqrt": "add more under the root, such as `tf.sqrt(x + 1e-6)`, or use the square itself",
    "Log": "keep the argument away from 0, or use a loss that takes logits",
    "Pow": "keep the base away from 0, as with `tf.maximum(x, 1e-3)`",
}


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

    def examine(self, case: Case) -> Finding | None:
        if case.answer.array is None:
            return None
        steep = [found for event in case.walk.events if (found := _steep(case, event))]
        if not steep:
            return None
        total = float(np.prod([times for _, _, times in steep]))
        if _top(case.answer.array) / total > EXPLODING:
            return None  # something else makes it large as well
        event, value, times = steep[0]
        if event.kind in DIVIDES and all(_top(n.array) < NEAR for n in case.nodes):
            return None  # all of the source is this small: these are its units
        near = np.abs(np.asarray(value.array))
        if event.kind == "Mul" and any(e.kind == "Rsqrt" for e in value.users):
            near = np.sqrt(near)  # of a sum of squares, the length
        small = near <= max(10 * float(near.min()), 1e-300)
        kind = "Sqrt" if event.kind == "Rsqrt" else event.kind
        divides = kind not in FIXES
        what = "divides by" if divides else "is taken of"
        return case.finding(
            self, event.place,
            f"`{event.place.text}` {what} {float(near.min()):.2g}{share(small)}, so it multiplies "
            f"the gradient by up to {times:.2g}.",
            FIXES.get(kind, "divide by something that stays away from 0: a larger epsilon, "
                      "`tf.maximum(x, 1e-3)`, or `tf.where` before the division"),
            event=event, change=changes.safe(value, small, 1.0),
        )  # fmt: skip


def _steep(case: Case, event: Event) -> tuple[Event, Value, float] | None:
    """An op near 0 that passes on much more to the source than came to it, and its operand."""
    given = [g for o in event.outputs if (g := case.walk.cotangents.get(o)) is not None]
    arrived = max((_top(g) for g in given), default=0.0)
    if not 0 < arrived < np.inf:
        return None
    near = _near_0(event)
    if near is None:
        return None
    below = case.below
    passed = [
        _top(part) for value, part in zip(event.inputs, case.walk.passed[event], strict=False)
        if part is not None and value in below
    ]  # fmt: skip
    times = max(passed, default=0.0) / arrived
    return (event, near, times) if np.isfinite(times) and times >= STEEP else None


def _near_0(event: Event) -> Value | None:
    """What the op divides by, or takes a root or logarithm of, if that comes near to 0."""
    value: Value | None = None
    if event.kind in DIVIDES:
        value = event.inputs[DIVIDES[event.kind]]
        if value.maker is None and value.variable is None and np.size(value.array) == 1:
            return None  # a number that was written there is a choice of units
    elif event.kind in ROOTS:
        value = event.inputs[0]
    elif event.kind == "Mul":  # a quotient by way of its inverse, as in l2_normalize
        makers = [v.maker for v in event.inputs if v.maker is not None]
        value = next((m.inputs[0] for m in makers if m.kind in INVERSES), None)
        if value is not None and _held(value):
            return None
    if value is None or not value.floating or not np.size(value.array):
        return None
    least = float(np.abs(np.asarray(value.array)).min())
    return value if 0 < least < NEAR else None


def _held(value: Value) -> bool:
    """Is it 0, and held above it by a maximum? So `l2_normalize` keeps padding rows at 0."""
    maker = value.maker
    if maker is None or maker.kind != "Maximum":
        return False
    squares = np.asarray(maker.inputs[0].array)
    held = squares < np.asarray(value.array)
    return bool(held.any() and not squares[held].any())


def _top(array: Any) -> float:
    array = np.asarray(array)
    return float(np.abs(array).max()) if array.size else 0.0


RULE = SteepDerivative()
