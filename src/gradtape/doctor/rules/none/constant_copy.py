"""GT112 constant-copy: tf.constant took the number out of a variable."""

from __future__ import annotations

from typing import Any

from ...facts.case import Case
from ...facts.graph import Cut
from ...source import edits
from ..base import CutRule


class ConstantCopy(CutRule):
    code, name, states = "GT112", "constant-copy", frozenset({"none", "ok"})
    title = "tf.constant(variable) copies the value, and the copy is a constant"
    lesson = """\
`tf.constant(variable)` copies the current value: the result is not connected to the variable.
`tf.convert_to_tensor(variable)`, `tf.identity(variable)` and the variable itself keep it."""
    failing = """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    copy = tf.constant(w)
    loss = tf.reduce_sum(copy * copy)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    copy = tf.convert_to_tensor(w)
    loss = tf.reduce_sum(copy * copy)
grad = tape.gradient(loss, w)
"""
    ignore = "When a snapshot is wanted, such as the old weights of a target network."

    def message(self, case: Case, cut: Cut) -> str:
        return f"`{cut.event.place.text}` copies `{case.answer.name}` into a constant."

    def fix(self, case: Case, cut: Cut) -> str:
        return f"use `{case.answer.name}` itself, or `tf.convert_to_tensor({case.answer.name})`"

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        place = cut.event.place
        given = edits.argument(place)
        if given is None or not edits.is_call(place, place.node, "constant"):
            return {}
        new = edits.called(place, "convert_to_tensor", edits.text(place, given))
        return {"edit": edits.replaced(place, new)}


RULE = ConstantCopy()
