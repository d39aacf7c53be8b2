"""GT117 metric-as-loss: a Keras metric stands in the place of a loss."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class MetricAsLoss(CutRule):
    code, name, states, needs = "GT117", "metric-as-loss", frozenset({"none"}), "keras"
    title = "a Keras metric object is used as the loss"
    lesson = """\
A metric keeps running totals in variables: its value is read from them after `assign_add`, which
no tape follows. Use the loss of the same name: `tf.keras.losses.MeanSquaredError()` instead of
`tf.keras.metrics.MeanSquaredError()`."""
    failing = """\
w = tf.Variable([[0.5]])
measure = tf.keras.metrics.MeanSquaredError()
with tf.GradientTape() as tape:
    loss = measure([[1.0]], w * 2.0)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([[0.5]])
measure = tf.keras.losses.MeanSquaredError()
with tf.GradientTape() as tape:
    loss = measure([[1.0]], w * 2.0)
grad = tape.gradient(loss, w)
"""
    ignore = "When the metric is only shown."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` is a metric: its value is read from running totals, which "
            "the tape does not follow."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "use the loss of the same name from `tf.keras.losses`"


RULE = MetricAsLoss()
