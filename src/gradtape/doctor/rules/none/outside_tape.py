"""GT105 outside-tape: a part of the path was computed while the tape was not recording."""

from __future__ import annotations

import ast
import sys
from types import CodeType, FrameType
from typing import Any

from ...facts import changes
from ...facts.case import OPEN, Case
from ...facts.graph import Cut, ancestors, makers
from ...facts.partial import alone
from ...facts.replay import above
from ...source.place import Place, at
from ...source.users import is_users
from ...trace import Event
from ...trace.finding import Finding
from ..base import CutRule, lost

CARRIED = ("assign", "gradient")  # ways by which a step depends on the steps before


class OutsideTape(CutRule):
    code, name, states = "GT105", "outside-tape", frozenset({"none", "ok", "zero"})
    gives_way_to = frozenset({"second-order-outside"})
    title = "a part of the computation ran while the tape was not recording"
    lesson = """\
A tape knows what ran inside its `with` block and nothing else. What was computed before it, after
it, in a `tape.stop_recording()` block or in another thread is a constant to it, even a last minus
sign or a last mean."""
    failing = """\
w = tf.Variable(3.0)
y = w * w
with tf.GradientTape() as tape:
    loss = y + 1.0
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = w * w
    loss = y + 1.0
grad = tape.gradient(loss, w)
"""
    ignore = "When the part outside is meant as a constant: then do not ask for its gradient."

    def examine(self, case: Case) -> Finding | None:
        if case.answer.state in ("ok", "zero"):
            return self._term(case)
        cut = case.cut_by("outside-tape")
        if cut is None or case.path is None:
            return None
        place = self._place(case, cut)
        return case.finding(
            self, place, self._message(case, cut, place), self.fix(case, cut),
            event=cut.event, also=[(case.tape.place, "the tape records from here")],
        )  # fmt: skip

    def _term(self, case: Case) -> Finding | None:
        """Of what is added to the target, where it can be moved into the block."""
        cut = case.lost_term
        if cut is None or cut.cause != self.cause:
            return None
        place = self._place(case, cut)
        also = [(case.tape.place, "the tape records from here")]
        if place != cut.event.place:
            also.append((cut.event.place, "computed here"))
        zero = case.answer.state == "zero"  # the term that is lost is all that there was
        return case.finding(
            self, place, lost(case, place), self.fix(case, cut), event=cut.event,
            state="zero" if zero else "wrong", sure=zero, also=also,
            change=None if alone(case, cut.event) else changes.unknown(OPEN["wrong"]),
        )  # fmt: skip

    def _place(self, case: Case, cut: Cut) -> Place:
        """Seen from the function that holds the block: that is where the line can be moved. What
        is kept in an attribute on the way there is computed anew instead."""
        codes = case.question.once(OutsideTape, lambda: _around(case))
        for code, offset in [(cut.event.place.code, cut.event.place.offset), *cut.event.outer]:
            if code in codes or _keeps(at(code, offset)):
                return at(code, offset)
        return cut.event.place

    def _when(self, case: Case, event: Event) -> str:
        spans: list[Any] = case.tape.spans
        if not spans or event.time < spans[0][0]:
            return "before"
        return "after" if event.time >= spans[-1][1] else "between"

    def _lines(self, case: Case, cut: Cut) -> str:
        """All lines that have to be moved with the one where the path ends."""
        place, when = self._place(case, cut), self._when(case, cut.event)
        below = case.below if when == "before" else None
        moved = {place.line}
        term = case.answer.state in ("ok", "zero")
        values = ancestors(cut.event.outputs, CARRIED) if term else above(case.targets)
        for event in makers(values):
            if self._when(case, event) == when and (
                below is None or any(v in below for v in event.inputs)
            ):
                seen = event.place_in(case.tape.place.code, case.query.place.code)
                if seen.code is place.code:
                    moved.add(seen.line)
        *first, last = map(str, sorted(moved))
        return f"lines {', '.join(first)} and {last}" if first else "this line"

    def _message(self, case: Case, cut: Cut, place: Place) -> str:
        text = place.text.splitlines()[0]
        if self._forgotten(case, cut):
            assert case.tape.reset is not None
            return (
                f"`{text}` ran before `{case.tape.reset.text}`, which makes the tape forget what "
                "it has recorded."
            )
        when = {
            "before": "before the tape began to record",
            "after": "after the tape had stopped recording",
            "between": "while the tape was not recording",
        }[self._when(case, cut.event)]
        return f"`{text}` ran {when}, so the tape did not record it."

    @staticmethod
    def _forgotten(case: Case, cut: Cut) -> bool:
        """Did the tape know it until it was reset?"""
        return any(start <= cut.event.time < stop for start, stop in case.tape.forgotten)

    def _of_a_step_before(self, case: Case, cut: Cut) -> bool:
        """Is it carried over: recorded by another tape, or written after the call that asks?"""
        if case.answer.state == "none" or self._when(case, cut.event) != "before":
            return False
        place, asks = self._place(case, cut), case.query.place
        return bool(cut.event.tapes) or (place.code is asks.code and place.line > asks.line)

    def fix(self, case: Case, cut: Cut) -> str:
        if self._forgotten(case, cut):
            assert case.tape.reset is not None
            return f"ask for the gradient before line {case.tape.reset.line}, or leave it out"
        if self._when(case, cut.event) == "between":
            return "take this line out of the block that stops the recording"
        if self._of_a_step_before(case, cut):
            return (
                f"compute it again in every step, inside of the `with` block of line "
                f"{case.tape.place.line}"
            )
        where = "end" if self._when(case, cut.event) == "after" else "start"
        line = case.tape.place.line
        return f"move {self._lines(case, cut)} into the `with` block of line {line}, at its {where}"


def _around(case: Case) -> set[CodeType]:
    """The functions that run while the gradient is asked for, and those of the block."""
    found = {case.tape.place.code, case.query.place.code}
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_users(frame.f_globals.get("__name__")):
            found.add(frame.f_code)
        frame = frame.f_back
    return found


def _keeps(place: Place) -> bool:
    """Is what is computed here stored in an attribute or an entry?"""
    statement = place.statement
    if not isinstance(statement, ast.Assign) or place.node is None:
        return False
    return any(isinstance(t, (ast.Attribute, ast.Subscript)) for t in statement.targets)


RULE = OutsideTape()
