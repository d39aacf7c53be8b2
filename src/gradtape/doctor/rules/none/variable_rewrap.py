"""GT114 variable-rewrap: a tensor on the path became the initial value of a new variable."""

from __future__ import annotations

from typing import Any

from ...facts.case import Case
from ...facts.graph import Cut
from ...source import edits
from ..base import CutRule


class VariableRewrap(CutRule):
    code, name, states = "GT114", "variable-rewrap", frozenset({"none"})
    title = "tf.Variable(tensor) copies the numbers: the new variable has no history"
    lesson = """\
A new variable copies its initial value and nothing else: `tf.Variable(x)` in the
middle of a computation starts a new source. Use the tensor as it is; make variables once,
outside of the computation."""
    failing = """\
w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    hidden = tf.Variable(w * 2.0)
    loss = hidden * hidden
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    hidden = w * 2.0
    loss = hidden * hidden
grad = tape.gradient(loss, w)
"""
    ignore = "When a copy that is trained on its own is wanted."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` makes a new variable with a copy of the value, which is "
            f"not connected to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "use the tensor as it is, without `tf.Variable` around it"

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        return {"edit": edits.unwrapped(cut.event.place)}


RULE = VariableRewrap()
