"""GT202 saturated-activation: a sigmoid, tanh or softmax is exactly at its bound."""

from __future__ import annotations

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.softmaxes import softmaxes
from ...facts.zeros import Death
from ...trace import Event
from ...trace.finding import Finding
from ..base import DeathRule


class SaturatedActivation(DeathRule):
    code, name = "GT202", "saturated-activation"
    gives_way_to = frozenset({"unscaled-input"})
    families = Family.SQUASHES | Family.SOFTMAXES
    title = "a sigmoid, tanh or softmax is exactly at its bound: its derivative is 0 there"
    lesson = """\
Far from 0 these functions are so close to their bounds that float32 rounds them to 0, 1 or -1; the
derivative is then exactly 0. Scale the inputs and the first weights so that arguments stay within a
few units of 0, or use the losses that take logits, whose gradient does not saturate."""
    failing = """\
x = tf.constant([[80.0], [95.0]])
w = tf.Variable([[1.0]])
with tf.GradientTape() as tape:
    p = tf.sigmoid(x @ w)
    loss = tf.reduce_mean(tf.square(p))
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[0.8], [0.95]])
w = tf.Variable([[1.0]])
with tf.GradientTape() as tape:
    p = tf.sigmoid(x @ w)
    loss = tf.reduce_mean(tf.square(p))
grad = tape.gradient(loss, w)
"""
    ignore = "When the model is right and sure of it, at the end of training."

    def explain(self, case: Case, death: Death) -> Finding | None:
        event = death.event
        result = np.asarray(event.outputs[0].array)
        if any(found.size == 1 for found in softmaxes([event])):
            return None  # a constant function
        if not _at_bounds(event, result):
            return None
        size = float(np.abs(np.asarray(event.inputs[0].array, np.float64)).max())
        bounds = " and ".join(f"{b:g}" for b in np.unique(result)[:3])
        return case.finding(
            self, event.place,
            f"`{event.place.text}` is exactly at its bounds ({bounds}): its arguments go up to "
            f"{size:.3g}, and its derivative there rounds to 0.",
            "scale the inputs or the first weights down, or use a loss that takes logits",
            event=event,
            change=changes.straight(
                changes.alike(case, event), "arguments that are not at its bounds"
            ),
        )  # fmt: skip


def _at_bounds(event: Event, result: np.ndarray) -> bool:
    """Is each number where the derivative rounds to nothing?"""
    y = result.astype(np.float64)
    near = float(np.finfo(result.dtype).eps) if result.dtype.kind == "f" else 1e-6
    if event.traits.ends is None:  # the logarithm of a softmax
        y = np.exp(y)
    low, high = event.traits.ends or (0.0, 1.0)
    return bool((np.minimum(y - low, high - y) <= 2 * near).all())


RULE = SaturatedActivation()
