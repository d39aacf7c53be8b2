"""GT128 rounding-op: round, floor, ceil and their kind are staircases without a slope."""

from __future__ import annotations

from ..case import Case
from ..finding import Finding
from ..graph import Cut
from .base import CutRule


class RoundingOp(CutRule):
    code, name, states = "GT128", "rounding-op", frozenset({"none", "zero"})
    title = "a rounding op stands on every path: its slope is 0 wherever it exists"
    lesson = """\
`round`, `floor`, `ceil` and whole division are staircases: flat nearly everywhere, so TensorFlow
gives None for them (and zeros for `sign`). Train on the number before it is rounded, and round
where the result is used; or pass the gradient straight through on purpose:
`y = x + tf.stop_gradient(tf.round(x) - x)`."""
    failing = """\
w = tf.Variable(2.6)
with tf.GradientTape() as tape:
    boxes = tf.math.ceil(w * 3.0)
    loss = tf.square(boxes - 5.0)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(2.6)
with tf.GradientTape() as tape:
    boxes = w * 3.0
    boxes = boxes + tf.stop_gradient(tf.math.ceil(boxes) - boxes)
    loss = tf.square(boxes - 5.0)
grad = tape.gradient(loss, w)
"""
    ignore = "When only the rounded number is wanted, for a log or an index off the path."

    def examine(self, case: Case) -> Finding | None:
        signs = [d.event for d in case.deaths if d.event.kind == "Sign"] if _zero(case) else []
        if signs:
            cut = Cut(self.cause, signs[0], signs[0].inputs[0], signs[0].outputs[0])
            return case.finding(
                self, cut.event.place, self.message(case, cut), self.fix(case, cut),
                event=cut.event,
            )  # fmt: skip
        return None if _zero(case) else super().examine(case)

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` is a staircase: its slope is 0 wherever it exists, so no "
            f"gradient passes from `{case.query.target_name}` to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return (
            "compute the loss from the number before it is rounded, or pass the gradient straight "
            "through: x + tf.stop_gradient(rounded - x)"
        )


def _zero(case: Case) -> bool:
    return case.answer.state == "zero"


RULE = RoundingOp()
