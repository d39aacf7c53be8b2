"""GT108 second-order-outside: the first derivative was taken out of the outer tape's hearing."""

from __future__ import annotations

import ast
from typing import Any

from ...facts.case import Case
from ...facts.graph import Cut
from ...trace.finding import Finding
from ..base import CutRule


class SecondOrderOutside(CutRule):
    code, name, states = "GT108", "second-order-outside", frozenset({"none"})
    title = "the first derivative was taken outside the tape that is asked for the second"
    lesson = """\
A second derivative is the derivative of a gradient: the outer tape must record the call of
`inner.gradient(...)`. Called after the outer block has ended, its result is a constant."""
    failing = """\
x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x ** 3
dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
"""
    cured = """\
x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x ** 3
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
"""
    ignore = "Never, if the second derivative is wanted."

    def examine(self, case: Case) -> Finding | None:
        cuts = [] if case.path is None else case.path.cuts
        mine = [cut for cut in cuts if cut.cause == self.cause or _answered(case, cut)]
        # What ran before the outer tape belongs into it too: one move mends both.
        if not mine or any(cut.cause not in (self.cause, "outside-tape") for cut in cuts):
            return None
        cut = mine[0]
        return case.finding(
            self, cut.event.place, self.message(case, cut), self.fix(case, cut), event=cut.event,
            **self.more(case, cut),
        )  # fmt: skip

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` ran while `{case.tape_name}` was not recording, so its "
            "result is a constant to that tape."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        call = cut.event.place.node
        function = call.func if isinstance(call, ast.Call) else None
        inner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
        if inner == case.tape_name:
            return (
                "nest two tapes: take the first derivative from an inner tape, inside the block of "
                "the outer one"
            )
        return (
            f"move this call into the block of `{case.tape_name}` (line {case.tape.place.line}), "
            "after the inner block"
        )

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        return {"also": [(case.tape.place, "the outer tape records from here")]}


def _answered(case: Case, cut: Cut) -> bool:
    """Did another tape record what computed the first derivative, but not this one?"""
    return cut.cause == "outside-tape" and any(
        query.place == cut.event.place for query in case.trace.queries if query is not case.query
    )


RULE = SecondOrderOutside()
