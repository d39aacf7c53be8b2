"""GT118 recreated-variable: the variable is made anew, and another one was used."""

from __future__ import annotations

from ...facts import changes
from ...facts.case import Case
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import reaching


class RecreatedVariable(Rule):
    code, name, states = "GT118", "recreated-variable", frozenset({"none"})
    title = "a new variable at every call: the one asked for is not the one that was used"
    lesson = """\
A `tf.Variable(...)` in the body of a function makes a new variable each time the function runs.
The loss was computed with one of them and the gradient asked for another: both come from the
same line and have nothing to do with each other. Make variables once, in `__init__` or before
the loop, and keep them."""
    failing = """\
def weights():
    return tf.Variable([1.0, 2.0])

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(weights() * 3.0)
grad = tape.gradient(loss, weights())
"""
    cured = """\
weights = tf.Variable([1.0, 2.0])

with tf.GradientTape() as tape:
    loss = tf.reduce_sum(weights * 3.0)
grad = tape.gradient(loss, weights)
"""
    ignore = "Never: a variable that is made anew forgets what it has learnt."

    def examine(self, case: Case) -> Finding | None:
        source = case.variable
        if source is None or source.made is None or case.path is not None:
            return None
        start = case.tape.spans[0][0] if case.tape.spans else 0
        twins = [
            v for v in reaching(case)
            if v.made == source.made and max(v.time, source.time) > start
        ]  # fmt: skip
        if not twins:
            return None
        made = sum(v.made == source.made for v in case.trace.variables)
        return case.finding(
            self, source.made,
            f"this line made {made} variables: `{case.query.target_name}` was computed with "
            f"a different one than the `{case.answer.name}` that is asked for.",
            "make the variable once, before the tape, and use that one every time",
            change=changes.ask_for(*twins),
            also=[(case.query.place, "asked for here")],
        )  # fmt: skip


RULE = RecreatedVariable()
