"""GT401 unscaled-input: inputs or targets of thousands make gradients of millions."""

from __future__ import annotations

import ast

import numpy as np

from ...facts import changes, saturation
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.faults import descendants
from ...facts.layers import overflowed
from ...facts.names import arguments
from ...trace import Event, Value
from ...trace.finding import Finding
from ...trace.history import Line
from ..base import Rule

LARGE = 1e3  # a typical size of data that are not scaled
FEW, LEARNS = 5, 0.67  # steps at the beginning and the end, and what is left of the loss
EXPLAINS = 1e4  # what the gradient may be beside the share of the data


class UnscaledInput(Rule):
    code, name = "GT401", "unscaled-input"
    states = frozenset({"exploding", "inf", "nan", "zero", "vanishing", "ok"})
    # Which say where the number is made that is too large.
    gives_way_to = frozenset({"steep-derivative", "exp-overflow", "inf-mask", "clipped-value"})
    title = "inputs or targets of thousands and more make the gradient just as large"
    lesson = """\
The gradient of a weight is the error times the input. With inputs and targets in their raw units
(prices, pixels, metres, years) both are large, and so is their product; a learning rate for one
weight is then far too large for another. Bring every input and target to mean 0 and deviation 1
with the mean and the standard deviation of the training data.

Sigmoids and tanhs of a first layer that is given such numbers are at their ends for nearly every
example, where they are flat: that layer does not learn, whatever the rest does."""
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
        if case.answer.state in ("zero", "vanishing", "ok"):
            return self._flat(case)
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
        places = [value.place, value.maker.place if value.maker else None, *[e.place for e in uses]]
        place = next((p for p in places if p is not None and not p.foreign), None)
        tops: dict[str, float] = {}  # of a batch and its converted copy, one name
        for _, v in large:
            tops.setdefault(_called(case, v), _top(v))
        names = [name for name in tops if not name.startswith("a ")][:2] or list(tops)[:2]
        sizes = [f"{name} (up to {tops[name]:.3g})" for name in names]
        return case.finding(
            self, place,
            f"{' and '.join(sizes)} {'are' if _several(names) else 'is'} not scaled, and the "
            f"gradient of `{case.answer.name}` grows with that.",
            f"scale {' and '.join(names)} to about 1: subtract the mean and divide by the standard "
            "deviation of the training data",
            # A layer that takes them in is not at fault: its call is shown, not its making.
            event=uses[0] if uses and uses[0].layer is None else None, change=_scaled(large),
            also=[(e.place, "enters the computation here") for e in uses[:1] if e.place != place],
        )  # fmt: skip

    def _flat(self, case: Case) -> Finding | None:
        for found in saturation.saturations(case.question):
            event, data = found.event, found.data
            if event.inputs[0] not in case.below:
                continue  # behind the layer
            called = _called(case, data)
            called = "the inputs" if called.startswith("a ") else called
            state = case.answer.state
            layer = event.layer
            place = event.place
            what = f"`{layer.name}`" if layer is not None else "this layer"
            shares = (
                f"with each column at mean 0 and deviation 1, {100 * found.after:.0f} % of these "
                "outputs are flat"
            )
            return case.finding(
                self, place,
                f"{called} {'go' if _several([called]) else 'goes'} up to {_top(data):.3g}, so "
                f"{100 * found.share:.0f} % of the outputs of {what} are at the ends of its "
                f"{event.kind.lower()}, where it is flat: it hardly learns.",
                f"scale {called} to about 1: divide by the largest number, or subtract the mean "
                "and divide by the standard deviation of the training data",
                state="wrong" if state == "ok" else state,
                change=changes.seen(shares) if state != "zero"
                else changes.set_value({data: found.scaled}, "inputs scaled to about 1"),
                also=[(layer.made, "the layer")] if layer is not None and layer.made else [],
            )  # fmt: skip
        return None

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """A loss that goes down by a third is not held back."""
        if finding.state not in ("wrong", "vanishing") or len(targets) < 2 * FEW:
            return True
        first, last = np.mean(targets[:FEW]), np.mean(targets[-FEW:])
        return not last < LEARNS * first

    def final(self, finding: Finding) -> bool:
        return finding.state not in ("wrong", "vanishing")


def _scaled(large: list[tuple[float, Value]]) -> changes.Change:
    values = {v: np.asarray(v.array, np.float64) / size for size, v in large}
    return changes.set_value(values, "data scaled to about 1")


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
    uses = [event for event in value.users if event in case.walk.passed]
    for event in uses:
        if name := operand(event, value):
            return f"`{name}`"
    for event in uses:
        if (words := _given_to(case, event)) is not None:
            return words
    return f"a constant of shape {value.shape}"


def _given_to(case: Case, event: Event) -> str | None:
    """What a training of a library's was given that comes into one of its ops: the inputs of the
    first layer, or the labels of the loss, which belongs to no layer."""
    if event.place not in {t.place for t in case.trace.trainings if t.method != "loop"}:
        return None
    role, parameter = ("targets", "y") if event.layer is None else ("inputs", "x")
    node = dict(zip("xy", arguments(event.place, "x", "y"), strict=True))[parameter]
    return (
        f"`{ast.unparse(node)}`" if isinstance(node, (ast.Name, ast.Attribute)) else f"the {role}"
    )


def _several(names: list[str]) -> bool:
    return len(names) > 1 or names[0].startswith("the ")


def _data(value: Value) -> bool:
    """An array of numbers that came in, or was made of such; a lone factor is a choice."""
    return np.size(value.array) > 1


def _top(value: Value) -> float:
    return float(np.abs(np.asarray(value.array, np.float64)).max())


RULE = UnscaledInput()
