"""GT302 sqrt-at-zero: the derivative of a square root at 0 is infinite."""

from __future__ import annotations

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...source.place import Place
from ...trace import Event
from ...trace.finding import Finding
from ..base import FaultRule
from ..counts import share


class SqrtAtZero(FaultRule):
    code, name = "GT302", "sqrt-at-zero"
    gives_way_to = frozenset({"norm-at-zero", "inf-mask", "exp-overflow", "where-nan-trap"})
    families = Family.ROOTS
    title = "the square root of 0: its derivative is infinite"
    lesson = """\
The derivative of `sqrt(x)` is 1 / (2 sqrt(x)), which is infinite at 0; times a zero further up it
is NaN. Standard deviations of a constant channel meet this too. Add a little before the root:
`tf.sqrt(x + 1e-12)`."""
    failing = """\
x = tf.Variable([1.0, 1.0, 1.0])
with tf.GradientTape() as tape:
    spread = tf.math.reduce_std(x)
grad = tape.gradient(spread, x)
"""
    cured = """\
x = tf.Variable([1.0, 1.0, 1.0])
with tf.GradientTape() as tape:
    spread = tf.sqrt(tf.math.reduce_variance(x) + 1e-6)
    loss = spread + tf.reduce_sum(x)
grad = tape.gradient(loss, x)
"""
    ignore = "Never: the infinite derivative becomes NaN at the next product with 0."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        zeros = np.asarray(event.inputs[0].array) == 0
        if not zeros.any():
            return None
        text = event.place.text
        return case.finding(
            self, event.place,
            f"`{text}` takes the square root of 0{share(zeros)}, where its derivative is infinite.",
            f"add a little before the root: `{_instead(event.place) or 'tf.sqrt(x + 1e-12)'}`",
            event=event, change=changes.safe(event.inputs[0], zeros, 1e-6),
            edit=edits.replaced(event.place, _instead(event.place)),
        )  # fmt: skip


def _instead(place: Place) -> str | None:
    """The root of something that is never 0, in the user's words."""
    given, node = edits.argument(place), place.node
    if edits.is_call(place, node, "reduce_std"):
        inner = place.text.replace("reduce_std", "reduce_variance")
        return edits.called(place, "sqrt", f"{inner} + 1e-6")
    if given is None or not edits.is_call(place, node, "sqrt"):
        return None
    return edits.called(place, "sqrt", f"{edits.text(place, given)} + 1e-12")


RULE = SqrtAtZero()
