"""GT207 float16-underflow: numbers too small for float16 became 0."""

from __future__ import annotations

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.zeros import Death
from ...trace.finding import Finding
from ..base import Rule

SMALLEST = 6e-8


class Float16Underflow(Rule):
    code, name, states = "GT207", "float16-underflow", frozenset({"zero"})
    title = "numbers below 6e-8 are 0 in float16"
    lesson = """\
The smallest float16 above 0 is about 6e-8: products of small numbers vanish on the way back.
Scale the loss up before the gradient and the gradient down after it (loss scaling), or compute
in float32 and keep float16 for storage."""
    failing = """\
w = tf.Variable(tf.constant(0.001, tf.float16))
with tf.GradientTape() as tape:
    loss = w * tf.constant(1e-4, tf.float16) * tf.constant(1e-4, tf.float16)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(tf.constant(0.001, tf.float32))
with tf.GradientTape() as tape:
    loss = w * 1e-2 * 1e-2
grad = tape.gradient(loss, w)
"""
    ignore = "When the gradient is meant to be this small."

    def examine(self, case: Case) -> Finding | None:
        for death in case.deaths:
            event, exact = death.event, _exact(death)
            if not 0 < exact < SMALLEST:
                continue
            return case.finding(
                self, event.place,
                f"the gradient at `{event.place.text}` is about {exact:.1g}, below the smallest "
                "number of float16 (6e-8), and became 0.",
                "scale the loss up before tape.gradient and the gradient down after it, or compute "
                "in float32",
                event=event, change=changes.widen("double precision"),
            )  # fmt: skip
        return None


def _exact(death: Death) -> float:
    """The largest number that the op would have passed on in double precision."""
    event = death.event
    arrays = [v.array for v in event.inputs]
    if np.asarray(arrays[death.operand]).dtype != np.float16 or event.replay is None:
        return 0.0
    gs = [None if o.array is None else np.asarray(death.cotangent, np.float64)
          for o in event.outputs[:1]]  # fmt: skip
    try:
        part = event.replay(arrays)[1](gs)[death.operand]
    except Exception:  # an op that is not to be had on its own
        return 0.0
    return 0.0 if part is None or not np.size(part) else float(np.abs(part).max())


RULE = Float16Underflow()
