"""GT131 sampling-op: a random draw without a derivative is on every path."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class SamplingOp(CutRule):
    code, name, states = "GT131", "sampling-op", frozenset({"none", "error"})
    title = "a random draw is on every path, and this kind of draw has no derivative"
    lesson = """\
A draw of a categorical or Poisson variable is an integer: its parameters have no gradient
through it. Use the score function (REINFORCE: `log_prob(sample) * reward`), a soft draw
(Gumbel-softmax), or the expectation itself; for a normal variable, `mean + std * noise`."""
    failing = """\
logits = tf.Variable([[0.2, 0.5, 0.3]])
with tf.GradientTape() as tape:
    action = tf.random.categorical(logits * 2.0, 1, seed=1)
    loss = tf.reduce_sum(tf.cast(action, tf.float32))
grad = tape.gradient(loss, logits)
"""
    cured = """\
logits = tf.Variable([[0.2, 0.5, 0.3]])
with tf.GradientTape() as tape:
    shares = tf.nn.softmax(logits * 2.0)
    loss = tf.reduce_sum(shares * tf.range(3.0))
grad = tape.gradient(loss, logits)
"""
    ignore = "When the draw is data, and the loss takes its log-probability."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` draws at random, and this kind of draw has no derivative "
            f"by `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return (
            "weight the log-probability of the draw (score function), or draw softly "
            "(Gumbel-softmax), or use the expectation"
        )


RULE = SamplingOp()
