"""GT207 float16-underflow: numbers too small for float16 became 0."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..finding import Finding
from .base import Rule

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
            event, given = death.event, event_operand(death)
            if np.asarray(given).dtype != np.float16 or event.pull is None:
                continue
            others = [np.asarray(v.array, np.float64) for k, v in enumerate(event.inputs)
                      if k != death.operand and v.array is not None]  # fmt: skip
            sizes = [float(np.abs(o).max()) for o in others if o.size and np.any(o)]
            g = float(np.abs(np.asarray(death.cotangent, np.float64)).max())
            exact = g * (sizes[0] if sizes else 1.0)
            if event.kind not in ("Mul", "RealDiv", "MatMul", "Cast", "Mean") or exact == 0:
                continue
            return case.finding(
                self, event.place,
                f"the gradient at `{event.place.text}` is about {exact:.1g}, below the smallest "
                "number of float16 (6e-8), and became 0.",
                "scale the loss up before tape.gradient and the gradient down after it, or compute "
                "in float32",
                event=event, mends=False,
            )  # fmt: skip
        return None


def event_operand(death: object) -> object:
    return death.event.inputs[death.operand].array  # type: ignore[attr-defined]


RULE = Float16Underflow()
