"""GT602 no-gradient-registered: an op on the path has no derivative at all."""

from __future__ import annotations

import re

from ...facts import changes
from ...facts.case import Case
from ...facts.graph import ancestors, makers
from ...trace.finding import Finding
from ..base import Rule


class NoGradientRegistered(Rule):
    code, name, states = "GT602", "no-gradient-registered", frozenset({"error"})
    title = "LookupError: an op on the path has no derivative"
    lesson = """\
For most ops without a derivative the gradient is None. For some, TensorFlow knows no derivative and
says so with `LookupError: gradient registry has no entry for: ...`, which names the op and not
the line. Keep the op off the path, stop the gradient before it, or wrap it in a
`tf.custom_gradient` with a derivative of your own."""
    failing = """\
w = tf.Variable([2.0, 3.0])
with tf.GradientTape() as tape:
    rest = tf.truncatemod(w, 1.5)
    loss = tf.reduce_sum(rest)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([2.0, 3.0])
with tf.GradientTape() as tape:
    rest = tf.math.floormod(w, 1.5)
    loss = tf.reduce_sum(rest)
grad = tape.gradient(loss, w)
"""
    ignore = "Never: it is an error."

    def examine(self, case: Case) -> Finding | None:
        found = re.search(r"no entry for: (\w+)", str(case.query.error))
        if not isinstance(case.query.error, LookupError) or found is None:
            return None
        culprits = [e for e in makers(ancestors(case.targets)) if e.kind == found.group(1)]
        if not culprits:
            return None
        event = culprits[-1]
        text = event.place.text.splitlines()[0]
        return case.finding(
            self, event.place,
            f"`{text}` is a {event.kind} op, for which no derivative is known.",
            "compute this with ops that have a derivative, keep it off the path with "
            "`tf.stop_gradient`, or wrap it in a `tf.custom_gradient`",
            event=event, change=changes.seen("the exception says so"),
        )  # fmt: skip


RULE = NoGradientRegistered()
