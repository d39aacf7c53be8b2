"""GT124 stop-gradient: tf.stop_gradient stands on every path from the source to the target."""

from __future__ import annotations

from typing import Any

from .. import edits
from ..case import Case
from ..graph import Cut
from .base import CutRule


class StopGradient(CutRule):
    code, name, states = "GT124", "stop-gradient", frozenset({"none", "ok"})
    title = "tf.stop_gradient stands on every path from the source to the target"
    lesson = """\
`tf.stop_gradient(x)` has the value of `x` and is a constant to every tape. It belongs around the
part of a loss that must stay fixed: the target of a regression on one's own prediction, the weights
of a teacher. Around the part that is to be trained, it leaves nothing to train."""
    failing = """\
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    prediction = tf.stop_gradient(3.0 * w)
    loss = tf.square(prediction - 1.0)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    prediction = 3.0 * w
    loss = tf.square(prediction - 1.0)
grad = tape.gradient(loss, w)
"""
    ignore = """\
When the source is meant to stay fixed; then do not ask for its gradient."""

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`tf.stop_gradient` cuts every path from `{case.answer.name}` to "
            f"`{case.query.target_name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "take this `tf.stop_gradient` away, or put it around the part that must stay fixed"

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        found = case.would_be[0]
        whole = found is not None and not found.how  # nothing else stands in the way
        return {"edit": edits.unwrapped(cut.event.place) if whole else None}


RULE = StopGradient()
