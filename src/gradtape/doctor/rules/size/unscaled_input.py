"""GT401 unscaled-input: inputs or targets of thousands make gradients of millions."""

from __future__ import annotations

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.faults import descendants
from ...facts.layers import overflowed
from ...facts.names import operand
from ...source.place import Place
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule

LARGE = 1e3  # a typical size of data that are not scaled
EXPLAINS = 1e4  # what the gradient may be beside the share of the data


class UnscaledInput(Rule):
    code, name = "GT401", "unscaled-input"
    states = frozenset({"exploding", "inf", "nan"})
    gives_way_to = frozenset({"exp-overflow", "inf-mask"})  # which say where the infinity is made
    title = "inputs or targets of thousands and more make the gradient just as large"
    lesson = """\
The gradient of a weight is the error times the input. With inputs and targets in their raw units
(prices, pixels, metres, years) both are large, and so is their product; a learning rate for one
weight is then far too large for another. Bring every input and target to mean 0 and size 1 with the
mean and the standard deviation of the training data."""
    failing = """\
area = tf.constant([[8000.0], [12000.0], [15000.0]])
price = tf.constant([[310000.0], [450000.0], [520000.0]])
w = tf.Variable([[1.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(area @ w - price))
grad = tape.gradient(loss, w)
"""
    cured = """\
area = tf.constant([[8000.0], [12000.0], [15000.0]]) / 10000.0
price = tf.constant([[310000.0], [450000.0], [520000.0]]) / 400000.0
w = tf.Variable([[1.1]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(area @ w - price))
grad = tape.gradient(loss, w)
"""
    ignore = "When the derivative is wanted in these very units, as in physics or finance."

    def examine(self, case: Case) -> Finding | None:
        if case.variable is None:
            return None
        if case.answer.state in ("inf", "nan") and not overflowed(case):
            return None
        large = case.question.once(self, lambda: _large(case))
        if not large:
            return None
        scale, value = large[0]
        if case.answer.state == "exploding":
            share = float(np.prod([s for s, _ in large[:2]])) * scale
            if float(np.abs(np.asarray(case.answer.array, np.float64)).max()) / share > EXPLAINS:
                return None
        uses = [e for e in value.users if e in case.walk.passed]
        place: Place | None = value.place or (value.maker.place if value.maker else None)
        place = place or (uses[0].place if uses else None)
        names = [_called(case, v) for _, v in large[:2]]
        sizes = [
            f"{name} (up to {_top(v):.3g})" for name, (_, v) in zip(names, large, strict=False)
        ]
        return case.finding(
            self, place,
            f"{' and '.join(sizes)} {'are' if len(sizes) > 1 else 'is'} not scaled, and the "
            f"gradient of `{case.answer.name}` is multiplied by that.",
            f"bring {' and '.join(names)} to size 1: subtract the mean and divide by the standard "
            "deviation of the training data",
            event=uses[0] if uses else None, change=_scaled(large),
            also=[(e.place, "enters the computation here") for e in uses[:1] if e.place != place],
        )  # fmt: skip


def _scaled(large: list[tuple[float, Value]]) -> changes.Change:
    values = {v: np.asarray(v.array, np.float64) / size for size, v in large}
    return changes.set_value(values, "data of size 1")


def _large(case: Case) -> list[tuple[float, Value]]:
    """Data (no weight, and nothing made of one) of large size that meet the gradient."""
    found = {}
    weights = descendants([v for v in case.trace.values if v.variable is not None])
    seen: set[Value] = set()
    for event in case.walk.passed:
        for value in event.inputs:
            if value in seen or value in weights or not value.floating or not np.size(value.array):
                continue
            seen.add(value)
            size = float(np.sqrt(np.mean(np.abs(np.asarray(value.array, np.float64)) ** 2)))
            if np.isfinite(size) and size >= LARGE and _data(value):
                found[value] = size
    return sorted(((s, v) for v, s in found.items()), key=lambda pair: -pair[0])


def _called(case: Case, value: Value) -> str:
    """The data as the user calls them where they meet the gradient."""
    for event in value.users:
        if event in case.walk.passed and (name := operand(event, value)):
            return f"`{name}`"
    return f"a constant of shape {value.shape}"


def _data(value: Value) -> bool:
    """An array of numbers that came in, or was made of such; a lone factor is a choice."""
    return np.size(value.array) > 1


def _top(value: Value) -> float:
    return float(np.abs(np.asarray(value.array, np.float64)).max())


RULE = UnscaledInput()
