"""GT203 clipped-value: all values lie outside the bounds of a clip."""

from __future__ import annotations

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.zeros import Death
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import DeathRule


class ClippedValue(DeathRule):
    code, name = "GT203", "clipped-value"
    gives_way_to = DeathRule.gives_way_to | {"dead-relu"}
    families = Family.CLIPS
    title = "all values were clipped: outside of the bounds the derivative is 0"
    lesson = """\
`tf.clip_by_value`, `tf.minimum` and `tf.maximum` with a constant are flat outside of their
bounds. When every value lies there, nothing passes. A probability that is clipped before its
logarithm is the usual place: the loss that takes logits needs no clip."""
    failing = """\
w = tf.Variable([30.0, 45.0])
with tf.GradientTape() as tape:
    kept = tf.clip_by_value(w * 2.0, 0.0, 10.0)
    loss = tf.reduce_sum(kept * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([3.0, 4.5])
with tf.GradientTape() as tape:
    kept = tf.clip_by_value(w * 2.0, 0.0, 10.0)
    loss = tf.reduce_sum(kept * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    ignore = "When the bound is meant as a hard limit and the values are meant to stay there."

    def explain(self, case: Case, death: Death) -> Finding | None:
        event = death.event
        given = np.asarray(_entering(event, event.inputs[death.operand]).array)
        low, high = float(given.min()), float(given.max())
        count = {1: "the value", 2: "both values"}.get(given.size, f"all {given.size} values")
        return case.finding(
            self, event.place,
            f"`{event.place.text}` clips {count} (they lie between {low:.4g} and {high:.4g}), and "
            "a clipped value has derivative 0.",
            "widen the bounds or scale what comes in; for probabilities, use the loss that takes "
            "logits",
            event=event,
            change=changes.straight(changes.alike(case, event), "bounds that let it pass"),
        )  # fmt: skip


def _entering(event: Event, value: Value) -> Value:
    """What came to the expression: a clip may be two ops, of which the first has done its part."""
    while value.maker is not None and value.maker.place == event.place:
        inner = [v for v in value.maker.inputs if v.shape == value.shape and v.maker is not None]
        inner = inner or [v for v in value.maker.inputs if v.shape == value.shape]
        if not inner:
            break
        value = inner[0]
    return value


RULE = ClippedValue()
