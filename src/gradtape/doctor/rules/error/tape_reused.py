"""GT601 tape-reused: a tape that is not persistent was asked twice."""

from __future__ import annotations

from ...facts.case import Case
from ...trace.finding import Finding
from ..base import Rule


class TapeReused(Rule):
    code, name, states = "GT601", "tape-reused", frozenset({"error"})
    title = "a tape that is not persistent was asked for gradients twice"
    lesson = """\
A tape forgets what it recorded after one call of `gradient`, `jacobian` or `batch_jacobian`, to
give the memory back. Made with `persistent=True` it can be asked as often as wanted; often one
call with all sources, `tape.gradient(y, [a, b])`, is enough."""
    failing = """\
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
    z = y * y
dz = tape.gradient(z, x)
dy = tape.gradient(y, x)
"""
    cured = """\
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = y * y
dz = tape.gradient(z, x)
dy = tape.gradient(y, x)
"""
    ignore = "Never: it is an error."

    def examine(self, case: Case) -> Finding | None:
        tape = case.tape
        if not isinstance(case.query.error, RuntimeError) or tape.persistent or tape.queries < 2:
            return None
        earlier = [q for q in case.trace.queries if q.tape is tape and q is not case.query]
        return case.finding(
            self, case.query.place,
            f"`{case.tape_name}` was already asked for a gradient, and a tape that is not "
            "persistent answers only once.",
            f"make `{case.tape_name}` with `tf.GradientTape(persistent=True)`, or ask for all "
            "sources in one call",
            also=[(q.place, "its first answer") for q in earlier[:1]]
            + ([(tape.place, "made here")] if tape.spans else []),
        )  # fmt: skip


RULE = TapeReused()
