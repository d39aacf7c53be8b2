"""GT106 nontrainable-variable: a variable made with trainable=False is not watched by itself."""

from __future__ import annotations

from ...facts.case import Case
from ...source import edits
from ...trace.finding import Finding
from ..base import Rule


class NontrainableVariable(Rule):
    code, name, states = "GT106", "nontrainable-variable", frozenset({"none"})
    gives_way_to = frozenset({"nontrainable-sources"})
    title = "the variable has trainable=False, and nobody told the tape to watch it"
    lesson = """\
Tapes watch trainable variables by themselves when they are read. A variable made with
`trainable=False` (a counter, a moving average, a frozen weight) is a constant to them, unless
`tape.watch(v)` is called."""
    failing = """\
v = tf.Variable(3.0, trainable=False)
with tf.GradientTape() as tape:
    y = v * v
grad = tape.gradient(y, v)
"""
    cured = """\
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * v
grad = tape.gradient(y, v)
"""
    ignore = "When the variable is meant to stay as it is: leave it out of the sources."

    def examine(self, case: Case) -> Finding | None:
        variable = case.variable
        if variable is None or variable.trainable or case.path is None or case.path.cuts:
            return None
        name, use = case.answer.name, case.path.events[:1]
        made = variable.made
        return case.finding(
            self, made or case.tape.place,
            f"`{name}` was made with `trainable=False`, so no tape watches it by itself.",
            f"drop `trainable=False`, or call `{case.tape_name}.watch({name})` first in the block",
            event=use[0] if use else None, also=[(e.place, f"`{name}` is read here") for e in use],
            edit=None if made is None else edits.without(made, "trainable"),
        )  # fmt: skip


RULE = NontrainableVariable()
