"""GT201 dead-relu: all inputs of a ReLU are negative."""

from __future__ import annotations

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.zeros import Death
from ...trace import Event
from ...trace.finding import Finding
from ..base import DeathRule


class DeadRelu(DeathRule):
    code, name = "GT201", "dead-relu"
    supersedes = frozenset({"target-out-of-reach"})  # an output that gives nothing at all
    families = Family.RECTIFIES
    title = "all inputs of a ReLU are negative: its derivative is 0 there"
    lesson = """\
Left of 0 a ReLU is flat, so where all its inputs are negative nothing can learn any more. It
happens with a ReLU as the last layer of a regression, after a step that was too large, or with a
large negative bias. Use a linear output, a smaller learning rate, or `tf.nn.leaky_relu`."""
    failing = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[-1.5]])
with tf.GradientTape() as tape:
    out = tf.nn.relu(x @ w)
    loss = tf.reduce_mean(tf.square(out - 1.0))
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[-1.5]])
with tf.GradientTape() as tape:
    out = tf.nn.leaky_relu(x @ w)
    loss = tf.reduce_mean(tf.square(out - 1.0))
grad = tape.gradient(loss, w)
"""
    ignore = "When only a few units of many are dead: that is usual (and not reported)."

    def accounts_for(self, finding: Finding, other: Finding) -> bool:
        return other.place == finding.place

    def explain(self, case: Case, death: Death) -> Finding | None:
        event = death.event
        given = np.asarray(event.inputs[death.operand].array)
        if event.kind == "Maximum":
            other = event.inputs[1 - death.operand]
            if np.any(np.asarray(other.array)) or other.maker is not None:
                return None
        elif not (given <= 0).all():
            return None
        count = "both" if given.size == 2 else f"all {given.size}"
        return case.finding(
            self, event.place,
            f"{count} inputs of `{event.place.text}` are negative or 0 (the largest is "
            f"{given.max():.3g}), and a ReLU is flat there."
            if given.size > 1
            else f"the input of `{event.place.text}` is {given.max():.3g}, and a ReLU is flat "
            "below 0.",
            "remove the ReLU from the last layer, or use `tf.nn.leaky_relu`, or start from "
            "smaller weights and steps",
            event=event, change=_alive(case, event, death.operand),
        )  # fmt: skip


def _alive(case: Case, event: Event, operand: int) -> changes.Change:
    """With the inputs of this ReLU above 0, wherever it is called."""
    calls = changes.alike(case, event)
    change = changes.straight(calls, "inputs above 0")
    given = [e.inputs[operand] for e in calls]
    change.values = {v: np.abs(np.asarray(v.array)) + v.dtype.type(0.1) for v in given}
    return change


RULE = DeadRelu()
