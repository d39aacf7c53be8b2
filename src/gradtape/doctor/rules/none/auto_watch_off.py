"""GT107 auto-watch-off: the tape was told not to watch variables by itself."""

from __future__ import annotations

from ...facts.case import Case
from ...trace.finding import Finding
from ..base import Rule


class AutoWatchOff(Rule):
    code, name, states = "GT107", "auto-watch-off", frozenset({"none"})
    title = "the tape has watch_accessed_variables=False and was not told to watch the variable"
    lesson = """\
`tf.GradientTape(watch_accessed_variables=False)` watches nothing by itself: every variable that is
to have a gradient must be given to `tape.watch`."""
    failing = """\
v = tf.Variable(3.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    y = v * v
grad = tape.gradient(y, v)
"""
    cured = """\
v = tf.Variable(3.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(v)
    y = v * v
grad = tape.gradient(y, v)
"""
    ignore = "When this variable is meant to stay fixed: leave it out of the sources."

    def examine(self, case: Case) -> Finding | None:
        if case.variable is None or case.tape.auto_watch or case.path is None or case.path.cuts:
            return None
        if case.tape.watched(case.variable):
            return None
        name, use = case.answer.name, case.path.events[:1]
        return case.finding(
            self, case.tape.place,
            f"this tape has `watch_accessed_variables=False` and was not told to watch `{name}`.",
            f"call `{case.tape_name}.watch({name})` first in this block, or drop "
            "`watch_accessed_variables=False`",
            event=use[0] if use else None, also=[(e.place, f"`{name}` is read here") for e in use],
        )  # fmt: skip


RULE = AutoWatchOff()
