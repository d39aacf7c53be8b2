"""GT115 variable-assign: the value went into a variable and was read from it again."""

from __future__ import annotations

from typing import Any

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class VariableAssign(CutRule):
    code, name, states = "GT115", "variable-assign", frozenset({"none", "ok"})
    title = "the value was stored with assign and read back: assign is invisible to the tape"
    lesson = """\
`variable.assign(x)` stores numbers. The tape does not see it: what is read afterwards belongs to
the variable, not to `x`. Compute with `x` itself, and assign after the gradient has been taken."""
    failing = """\
store = tf.Variable(0.0)
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    store.assign(2.0 * x)
    loss = store * store
grad = tape.gradient(loss, x)
"""
    cured = """\
store = tf.Variable(0.0)
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    doubled = 2.0 * x
    loss = doubled * doubled
grad = tape.gradient(loss, x)
store.assign(doubled)
"""
    ignore = "When the variable is a running statistic and not a part of the loss."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` stores the value in a variable, which the tape does not "
            f"record: what is read from it is not connected to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "compute with the tensor itself, and assign it to the variable afterwards"

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        if case.path is None:
            return {}
        after = [e for e in case.path.events if e.time > cut.event.time]
        return {"also": [(e.place, "read back here") for e in after[:1]]}


RULE = VariableAssign()
