"""GT128 rounding-op: round, floor, ceil and their kind are staircases without a derivative."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from ...facts.bridges import THROUGH
from ...facts.case import Case
from ...facts.graph import Cut
from ...source import edits
from ...source.place import Place
from ...trace.finding import Finding
from ..base import CutRule

LONG = 40  # characters of a call that is written twice


class RoundingOp(CutRule):
    code, name, states = "GT128", "rounding-op", frozenset({"none", "zero"})
    gives_way_to = frozenset({"gather-index", "constant-derivative"})
    title = "a rounding op is on every path: its derivative is 0 wherever it exists"
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

    def examine(self, case: Case) -> Finding | Iterable[Finding] | None:
        signs = [d.event for d in case.deaths if d.event.kind == "Sign"] if _zero(case) else []
        if signs:
            cut = Cut(self.cause, signs[0], signs[0].inputs[0], signs[0].outputs[0])
            return case.finding(
                self, cut.event.place, self.message(case, cut), self.fix(case, cut),
                event=cut.event, **self.more(case, cut),
            )  # fmt: skip
        return None if _zero(case) else super().examine(case)

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` is a staircase: its derivative is 0 wherever it exists, "
            "so no "
            f"gradient passes from `{case.query.target_name}` to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        new = _straight(cut.event.place) or "x + tf.stop_gradient(rounded - x)"
        return (
            "compute the loss from the number before it is rounded, or pass the gradient straight "
            f"through: `{new}`"
        )

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        found, place = case.would_be[0], cut.event.place
        alone = found is not None and found.how == THROUGH.format(cut.event.name)
        return {"edit": edits.replaced(place, _straight(place)) if alone else None}


def _straight(place: Place) -> str | None:
    """The rounded number with the derivative of the number before, in the user's words."""
    given = edits.argument(place)
    if given is None or not isinstance(place.node, ast.Call) or len(place.text) > LONG:
        return None
    if len(place.node.args) + len(place.node.keywords) > 1:
        return None
    x = edits.tight(place, given)
    stopped = edits.called(place, "stop_gradient", f"{place.text} - {x}")
    return f"{edits.text(place, given)} + {stopped}"


def _zero(case: Case) -> bool:
    return case.answer.state == "zero"


RULE = RoundingOp()
