"""GT108 second-order-outside: the first derivative was taken out of the outer tape's hearing."""

from __future__ import annotations

import ast
from typing import Any

from ...facts import changes
from ...facts.case import Case
from ...facts.graph import Cut
from ...facts.partial import is_derivative
from ...source.place import Place
from ...trace.finding import Finding
from ..base import CutRule, lost


class SecondOrderOutside(CutRule):
    code, name, states = "GT108", "second-order-outside", frozenset({"none", "ok", "zero"})
    gives_way_to = frozenset({"constant-derivative"})
    title = "the first derivative was taken outside the tape that is asked for the second"
    lesson = """\
A second derivative is the derivative of a gradient: the outer tape must record the call of
`inner.gradient(...)`. Called after the outer block has ended, its result is a constant. A penalty
on a gradient is such a case: taken before the block of the loss, it is in the loss as a number and
not in its gradient."""
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
        if case.answer.state in ("ok", "zero"):
            return self._term(case)
        cuts = [] if case.path is None else case.path.cuts
        mine = [cut for cut in cuts if is_derivative(case, cut)]
        if any(case.tape.recording(cut.event.time) for cut in mine):
            return None  # it was recorded, and depends on nothing that is followed
        # What ran before the outer tape belongs into it too: one move mends both.
        if not mine or any(cut.cause not in (self.cause, "outside-tape") for cut in cuts):
            return None
        cut = mine[0]
        return case.finding(
            self, cut.event.place, self.message(case, cut), self.fix(case, cut), event=cut.event,
            **self.more(case, cut),
        )  # fmt: skip

    def _term(self, case: Case) -> Finding | None:
        """Of what is added to the target: a penalty on a gradient."""
        cut = case.lost_term
        if cut is None or not is_derivative(case, cut):
            return None
        place = _seen(case, cut)
        also = self.more(case, cut)["also"]
        fix = self.fix(case, cut)
        if place != cut.event.place:
            also.append((cut.event.place, "the first derivative is taken here"))
            fix = f"move this call into the `with` block of line {case.tape.place.line}"
        return case.finding(
            self, place, lost(case, place), fix, event=cut.event, sure=False, also=also,
            state="zero" if case.answer.state == "zero" else "wrong",
            change=changes.unknown(
                "the first derivative was not recorded, so there is nothing to differentiate again"
            ),
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


def _seen(case: Case, cut: Cut) -> Place:
    """The call that takes the derivative, seen from the function that holds the block: by the ops
    that follow it in a function of its own."""
    own, codes = cut.event.place, (case.tape.place.code, case.query.place.code)
    if own.code in codes:
        return own
    for user in cut.output.users:
        seen = user.place_in(*codes)
        if user.place.code is own.code and seen.code in codes:
            return seen
    return cut.event.place_in(*codes)


RULE = SecondOrderOutside()
