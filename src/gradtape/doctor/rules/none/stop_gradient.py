"""GT124 stop-gradient: tf.stop_gradient is on every path from the source to the target."""

from __future__ import annotations

import ast
from typing import Any

from ...facts import changes
from ...facts.case import Case
from ...facts.graph import Cut
from ...source import edits
from ...source.place import Place
from ..base import CutRule


class StopGradient(CutRule):
    code, name, states = "GT124", "stop-gradient", frozenset({"none", "ok"})
    title = "tf.stop_gradient is on every path from the source to the target"
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
        new = _straight(cut.event.place)
        if new is not None:
            return (
                f"stop only the difference, so that the gradient passes straight through: `{new}`"
            )
        return "remove this `tf.stop_gradient`, or put it around the part that must stay fixed"

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        found, place = case.would_be[0], cut.event.place
        if _straight(place) is not None:
            alone = "it is that of the part which is not stopped"
            return {
                "edit": edits.replaced(place, _straight(place)),
                "change": changes.opened(alone),
            }
        whole = found is not None and not found.how and found.norm > 0  # nothing else in the way
        return {"edit": edits.unwrapped(place) if whole else None}


def _straight(place: Place) -> str | None:
    """`x + tf.stop_gradient(y - x)` for `tf.stop_gradient(x + (y - x))`."""
    given = edits.argument(place)
    if not isinstance(given, ast.BinOp) or not isinstance(given.op, ast.Add):
        return None
    gap = given.right
    if not isinstance(gap, ast.BinOp) or not isinstance(gap.op, ast.Sub):
        return None
    if ast.unparse(gap.right) != ast.unparse(given.left) or not isinstance(place.node, ast.Call):
        return None
    stop = f"{edits.text(place, place.node.func)}({edits.text(place, gap)})"
    return f"{edits.text(place, given.left)} + {stop}"


RULE = StopGradient()
