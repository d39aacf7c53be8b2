"""GT206 constant-function: the target does not depend on the source, though a path is there."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..finding import Finding
from ..zeros import cancellations
from .base import Rule


class ConstantFunction(Rule):
    code, name, states = "GT206", "constant-function", frozenset({"zero"})
    title = "the target is the same for every value of the source"
    lesson = """\
A softmax over an axis of size 1 is always 1. The mean of something minus its own mean is always
0. The log-probability of a reparameterised sample under its own distribution does not depend on
the mean. The path is there, but the contributions cancel: the gradient is rightly 0, and the
loss says nothing about the source."""
    failing = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(x @ w)
    loss = -tf.reduce_mean(tf.math.log(p) * [[1.0], [0.0]])
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    p = tf.sigmoid(x @ w)
    loss = -tf.reduce_mean(tf.math.log(p) * [[1.0], [0.0]])
grad = tape.gradient(loss, w)
"""
    ignore = "When the symmetry is meant."

    def examine(self, case: Case) -> Finding | None:
        for death in case.deaths:
            event = death.event
            if event.kind in ("Softmax", "LogSoftmax") and np.shape(event.outputs[0].array)[
                -1:
            ] == (1,):
                return case.finding(
                    self, event.place,
                    f"`{event.place.text}` is a softmax over an axis of size 1: it is 1 whatever "
                    "comes in.",
                    "use tf.sigmoid for one unit, or give the softmax an axis with several classes",
                    event=event, mends=False,
                )  # fmt: skip
        for _, senders in cancellations(case.walk, case.nodes):
            if len(senders) < 2:
                continue
            last = max(senders, key=lambda event: event.time)
            others = [e.place for e in senders if e.place != last.place]
            return case.finding(
                self, last.place,
                f"what the {len(senders)} uses of it send back cancels exactly: "
                f"`{case.query.target_name}` is the same for every value of `{case.answer.name}`.",
                "look at the loss: it does not depend on this source",
                event=last, mends=False, also=[(place, "used here too") for place in others[:3]],
            )  # fmt: skip
        return None


RULE = ConstantFunction()
