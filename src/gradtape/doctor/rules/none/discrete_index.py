"""GT125 discrete-index: a position (argmax, argsort, the indices of top_k) is on every path."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class DiscreteIndex(CutRule):
    code, name, states = "GT125", "discrete-index", frozenset({"none"})
    gives_way_to = frozenset({"constant-derivative"})
    title = "a position such as argmax is on every path: integers have no derivative"
    lesson = """\
`argmax`, `argsort` and the indices of `top_k` are integers: they jump and have no
derivative. Use the scores themselves (`reduce_max`, the values of `top_k`), or the soft form: the
sum of the positions weighted by `softmax`."""
    failing = """\
scores = tf.Variable([0.1, 0.9, 0.4])
with tf.GradientTape() as tape:
    best = tf.cast(tf.argmax(scores * 2.0), tf.float32)
    loss = tf.square(best - 2.0)
grad = tape.gradient(loss, scores)
"""
    cured = """\
scores = tf.Variable([0.1, 0.9, 0.4])
with tf.GradientTape() as tape:
    best = tf.reduce_sum(tf.nn.softmax(scores * 2.0) * tf.range(3.0))
    loss = tf.square(best - 2.0)
grad = tape.gradient(loss, scores)
"""
    ignore = "For accuracies and choices that are not differentiated."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` gives positions, which are integers without a derivative, "
            f"so no gradient passes through it from `{case.query.target_name}` to "
            f"`{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return (
            "use the scores themselves, or their soft form: positions weighted by `tf.nn.softmax`"
        )


RULE = DiscreteIndex()
