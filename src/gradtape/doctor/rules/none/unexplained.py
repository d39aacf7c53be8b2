"""GT199 unexplained: the path was searched, and no rule knows why the gradient is as it is."""

from __future__ import annotations

from ...facts import changes
from ...facts.case import Case
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import Rule


class Unexplained(Rule):
    code, name, states = "GT199", "unexplained", frozenset({"none", "nan", "inf"})
    last_resort = True
    title = "the path was searched, and no rule knows the cause"
    lesson = """\
The doctor followed every computation from the source to the target, with the numbers that flowed
in both directions, and none of its rules fits. It says what it saw: the op at which the gradient
ended or stopped being finite. That op is the place to look at. A report of such a program is
welcome."""
    failing = """\
order = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = tf.math.polygamma(order, 1.5)
grad = tape.gradient(y, order)
"""
    cured = """\
x = tf.Variable(1.5)
with tf.GradientTape() as tape:
    y = tf.math.polygamma(2.0, x)
grad = tape.gradient(y, x)
"""
    ignore = "When the gradient is known to be so."

    def examine(self, case: Case) -> Finding | None:
        if not isinstance(case.source, Value) and case.variable is None:
            return None
        if case.answer.state == "none":
            return self._missing(case)
        return self._broken(case)

    def _missing(self, case: Case) -> Finding | None:
        path = case.path
        if path is None:
            return None
        event = path.cuts[0].event if path.cuts else _end(case)
        text = event.place.text.splitlines()[0] if event else ""
        where = f"comes to `{text}` and ends there" if event else "was never begun"
        return case.finding(
            self, event.place if event else case.query.place,
            f"a path leads from `{case.answer.name}` to `{case.query.target_name}`, but the "
            f"gradient {where}; no rule knows why.",
            "look at this op: does it have a derivative for this operand?",
            event=event,
            change=changes.seen("the gradient was followed op by op up to there"),
        )  # fmt: skip

    def _broken(self, case: Case) -> Finding | None:
        fault = case.fault
        if fault is None or case.inherited:
            return None
        event = fault.event
        place = event.place if event is not None else fault.value.place or case.query.place
        side = "the gradient" if fault.backward else "the value"
        return case.finding(
            self, place,
            f"{side} is first not finite in `{place.text.splitlines()[0]}`; no rule knows why.",
            "look at the numbers that go into this op", event=event,
            change=changes.seen("the gradient was followed op by op up to there"),
        )  # fmt: skip


def _end(case: Case) -> Event | None:
    """The last op, from the target up, that a gradient came to."""
    assert case.path is not None
    for event in case.path.events:
        if any(case.walk.cotangents.get(o) is not None for o in event.outputs):
            return event
    return None


RULE = Unexplained()
