"""GT204 zero-init: weights that are all 0 multiply each other's gradient."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ....traits import PRODUCTS, Family
from ...facts import changes
from ...facts.case import Case
from ...facts.zeros import Death, nothing
from ...source import edits
from ...source.place import Place
from ...trace import Value, Variable
from ...trace.finding import Finding
from ...trace.history import Line
from ..base import DeathRule


class ZeroInit(DeathRule):
    code, name = "GT204", "zero-init"
    families = PRODUCTS
    title = "the other factor of a product is a weight that is 0"
    lesson = """\
The gradient of one factor of a product is the other. When two layers start with zero weights, each
waits for the other: both gradients are 0 for ever. Start all but the last layer with small random
numbers (`tf.random.normal(shape, stddev=0.1)` or an initializer). One factor alone that starts at 0
learns from the first step on, and is not reported."""
    failing = """\
x = tf.constant([[1.0, 2.0]])
first = tf.Variable(tf.zeros([2, 3]))
second = tf.Variable(tf.zeros([3, 1]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(tf.tanh(x @ first) @ second - 1.0))
grads = tape.gradient(loss, [first, second])
"""
    cured = """\
x = tf.constant([[1.0, 2.0]])
first = tf.Variable(tf.constant([[0.1, -0.2, 0.3], [0.2, 0.1, -0.1]]))
second = tf.Variable(tf.constant([[0.3], [0.1], [-0.2]]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(tf.tanh(x @ first) @ second - 1.0))
grads = tape.gradient(loss, [first, second])
"""
    ignore = "When what is 0 is set to something else later on."

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """Where the zeros moved away by themselves, they were meant: the others learn from then."""
        return any(line.stuck for line in lines)

    def explain(self, case: Case, death: Death) -> Finding | None:
        others = [v for k, v in enumerate(death.event.inputs) if k != death.operand]
        weights = [w for v in others if nothing(v.array) for w in _weights(v)]
        weights = [w for w in weights if w.variable is not case.variable]
        if not weights or not self._waits(case, death, weights):
            return None
        weight, event = weights[0], death.event
        assert weight.variable is not None
        made = weight.variable.made
        what = f"`{made.text}`" if made is not None and len(made.text) < 60 else "a variable"
        return case.finding(
            self, made or event.place,
            f"{what} starts with nothing but zeros, and the gradient of `{case.answer.name}` is "
            f"multiplied by it in `{event.place.text}`.",
            "start these weights with small random numbers", edit=made and _random(made),
            event=event, change=_started(case), also=[(event.place, "the product with zeros")],
        )  # fmt: skip

    def _waits(self, case: Case, death: Death, weights: list[Value]) -> bool:
        """Do the zeros stay? One factor that is 0 learns from the other, and then both do: a scale
        of a residual branch, the second matrix of LoRA, a last layer. It stays 0 where the other
        factor is made of zeros as well, or where nobody asks for its gradient."""
        own = death.event.inputs[death.operand]
        if nothing(own.array) and _weights(own):
            return True
        asked = [answer.source for query in case.trace.queries for answer in query.answers]
        return all(w.variable not in asked and w.variable.trainable for w in weights if w.variable)


def _started(case: Case) -> changes.Change:
    """All weights that are zeros, with small random numbers."""
    rng = np.random.default_rng(0)
    reads = [v for v in case.question.above(*case.targets) if v.variable is not None and v.floating]
    arrays: dict[Variable, Any] = {}
    for value in reads:
        variable = value.variable
        assert variable is not None
        if nothing(value.array) and variable not in arrays:
            arrays[variable] = 0.1 * rng.normal(size=value.shape)
    values = {v: arrays[v.variable] for v in reads if v.variable in arrays}
    return changes.set_value(values, "small random numbers in these weights")


def _random(made: Place) -> str | None:
    """The line with random numbers for `tf.zeros`."""
    given = edits.argument(made)
    if not isinstance(given, ast.Call) or not edits.is_call(made, given, "zeros"):
        return None
    root = edits.text(made, given.func).partition(".")[0]
    if root != edits.package(made) or len(given.args) != 1 or given.keywords:
        return None
    shape = edits.text(made, given.args[0])
    return edits.replaced(made, edits.called(made, "random.normal", shape, "stddev=0.1"), given)


def _weights(value: Value) -> list[Value]:
    """Variables that are all 0 and made this value 0: zeros lead to them all the way."""
    found, seen, queue = [], {value}, [value]
    while queue:
        value = queue.pop()
        if value.variable is not None and np.size(value.array):
            found.append(value)
        maker = value.maker
        zeros = [v for v in maker.inputs if nothing(v.array)] if maker and maker.way == "op" else []
        if (
            maker is not None
            and maker.is_a(Family.ADDS | Family.SUBTRACTS)
            and len(zeros) < len(maker.inputs)
        ):
            continue  # its terms cancelled
        queue += [v for v in zeros if v not in seen]
        seen |= set(zeros)
    return sorted(found, key=lambda v: v.variable.number if v.variable else 0)


RULE = ZeroInit()
