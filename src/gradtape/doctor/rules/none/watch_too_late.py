"""GT102 watch-too-late: the tensor was used before the tape was told to watch it."""

from __future__ import annotations

from ...facts.case import Case
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule


class WatchTooLate(Rule):
    code, name, states = "GT102", "watch-too-late", frozenset({"none"})
    title = "tape.watch came after the tensor had been used"
    lesson = """\
A tape records an op if it follows one of its operands at that moment. What was computed from a
tensor before `tape.watch(x)` was computed from a constant, and stays so."""
    failing = """\
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
    tape.watch(x)
grad = tape.gradient(y, x)
"""
    cured = """\
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
grad = tape.gradient(y, x)
"""
    ignore = "Never: move the call of watch up."

    def examine(self, case: Case) -> Finding | None:
        source = case.source
        if not isinstance(source, Value) or case.path is None or case.path.cuts:
            return None
        watches, use = case.tape.watches_of(source), case.path.events[:1]
        if not watches or not use or watches[0].time < use[0].time:
            return None
        name = case.answer.name
        return case.finding(
            self, watches[0].place,
            f"`{name}` was already used when this call of watch came, so that use was not "
            "recorded.",
            f"move this call of watch before line {use[0].place.line}, where `{name}` is used",
            event=use[0], also=[(use[0].place, f"`{name}` is used here, before")],
        )  # fmt: skip


RULE = WatchTooLate()
