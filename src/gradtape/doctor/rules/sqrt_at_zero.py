"""GT302 sqrt-at-zero: the slope of a square root at 0 is infinite."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..faults import Fault
from ..finding import Finding
from ..trace import Event
from .base import FaultRule
from .counts import share


class SqrtAtZero(FaultRule):
    code, name = "GT302", "sqrt-at-zero"
    kinds = frozenset({"Sqrt", "Rsqrt"})
    title = "the square root of 0: its slope is infinite"
    lesson = """\
The slope of `sqrt(x)` is 1 / (2 sqrt(x)), which is infinite at 0; times a zero further up it is
NaN. Standard deviations of a constant channel meet this too. Add a little before the root:
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
    ignore = "Never: the infinite slope becomes NaN at the next product with 0."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        zeros = np.asarray(event.inputs[0].array) == 0
        if not zeros.any():
            return None
        text = event.place.text
        return case.finding(
            self, event.place,
            f"`{text}` takes the square root of 0{share(zeros)}, where its slope is infinite.",
            _fix(text), event=event, mends=False,
        )  # fmt: skip


def _fix(text: str) -> str:
    if "reduce_std" in text:
        inner = text.replace("reduce_std", "reduce_variance")
        return f"add a little before the root: tf.sqrt({inner} + 1e-6)"
    return "add a little before the root: tf.sqrt(x + 1e-12)"


RULE = SqrtAtZero()
