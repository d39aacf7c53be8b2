"""GT127 comparison-op: a truth value is on every path."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class ComparisonOp(CutRule):
    code, name, states = "GT127", "comparison-op", frozenset({"none"})
    gives_way_to = frozenset({"constant-derivative"})
    title = "a comparison is on every path: true and false have no derivative"
    lesson = """\
`x > 0.5` is true or false; nothing lies between, so no gradient passes it, nor what is made of it:
`tf.where(x > 0, 1.0, 0.0)`, `tf.cast(x > 0, tf.float32)`, a count of hits. Use the number itself
(a probability instead of a decision) or a smooth stand-in such as `tf.sigmoid(k * (x - 0.5))`."""
    failing = """\
w = tf.Variable(0.7)
with tf.GradientTape() as tape:
    hit = tf.cast(w * 2.0 > 1.0, tf.float32)
    loss = 1.0 - hit
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(0.7)
with tf.GradientTape() as tape:
    hit = tf.sigmoid(4.0 * (w * 2.0 - 1.0))
    loss = 1.0 - hit
grad = tape.gradient(loss, w)
"""
    ignore = "For accuracies and other numbers that are only shown, not differentiated."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` is true or false, with nothing in between, so no "
            f"gradient passes through it from `{case.query.target_name}` to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return (
            "use the number itself instead of the decision, or a smooth stand-in such as "
            "`tf.sigmoid(k * (x - threshold))`"
        )


RULE = ComparisonOp()
