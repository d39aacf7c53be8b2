"""GT101 not-watched: the source is a plain tensor that this tape was never told to watch."""

from __future__ import annotations

from ...facts.case import Case
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule


class NotWatched(Rule):
    code, name, states = "GT101", "not-watched", frozenset({"none"})
    gives_way_to = frozenset({"variable-rebound"})
    title = "a plain tensor is a source, and nobody told the tape to watch it"
    lesson = """\
A tape watches trainable variables by itself. A plain tensor is a constant to it until
`tape.watch(x)` says otherwise, and each of several tapes must be told for itself."""
    failing = """\
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x))
"""
    cured = """\
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x))
"""
    ignore = "Never: a source that is not watched has no gradient."

    def examine(self, case: Case) -> Finding | None:
        source = case.source
        if not isinstance(source, Value) or source.variable is not None or not source.floating:
            return None
        if case.path is None or case.path.cuts or case.tape.watches_of(source):
            return None
        use = case.path.events[0]
        name = case.answer.name
        return case.finding(
            self, case.tape.place,
            f"`{name}` is a plain tensor and this tape was not told to watch it, so what was "
            "computed from it was not recorded.",
            f"call `{case.tape_name}.watch({name})` first in this block, or make `{name}` a "
            "`tf.Variable`",
            event=use, also=[(use.place, f"`{name}` is used here")],
        )  # fmt: skip


RULE = NotWatched()
