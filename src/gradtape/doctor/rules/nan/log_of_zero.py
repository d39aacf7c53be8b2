"""GT304 log-of-zero: a probability underflowed to 0 and its logarithm was taken."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ....traits import Family
from ...facts import changes, counterfactual
from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...source.place import Place
from ...trace import Event
from ...trace.finding import CONFIRMED, Finding
from ..base import FaultRule
from ..counts import share

LITTLE = (1e-7, 1e-3)  # what may be added to the argument, the least that calms it first


class LogOfZero(FaultRule):
    code, name = "GT304", "log-of-zero"
    gives_way_to = frozenset({"where-nan-trap", "inf-mask", "exp-overflow"})
    families = Family.LOGARITHMS
    title = "the logarithm of 0 was taken: minus infinity, and NaN after it"
    lesson = """\
A sigmoid or softmax of a large number is exactly 0 or 1 in float32, and `log(0)` is minus infinity.
Its derivative 1/0 meets a factor 0 and becomes NaN. The losses that take logits
(`sigmoid_cross_entropy_with_logits`, `softmax_cross_entropy_with_logits`, `log_softmax`) never form
the probability and stay finite."""
    failing = """\
w = tf.Variable(200.0)
with tf.GradientTape() as tape:
    p = tf.sigmoid(-w)
    loss = -tf.math.log(p)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(200.0)
with tf.GradientTape() as tape:
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=1.0, logits=-w)
grad = tape.gradient(loss, w)
"""
    ignore = "Never: a NaN in a gradient spoils the weights for good."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        operand = event.inputs[-1]
        zeros = np.asarray(operand.array) == 0
        if not zeros.any():
            return None
        edit, little = None, 1e-7
        above = _above(event)
        squashed = [e for e in above if e.traits.gives_probabilities and _rounded(e, zeros)]
        if squashed:
            loss = "softmax" if squashed[0].is_a(Family.SOFTMAXES) else "sigmoid"
            fix = f"use `tf.nn.{loss}_cross_entropy_with_logits` on the value before the {loss}"
        elif any(e.kind == "Exp" and _rounded(e, zeros) for e in above):
            fix = "use `tf.reduce_logsumexp` on the exponents, which cannot underflow"
        else:
            little = next((n for n in LITTLE if _calm(case, changes.safe(operand, zeros, n))), 1e-7)
            new = _instead(event.place, f"{little:g}".replace("e-0", "e-"))
            fix = f"keep the argument above 0: `{new or 'tf.math.log(x + 1e-7)'}`"
            edit = edits.replaced(event.place, new)
        return case.finding(
            self, event.place,
            f"`{event.place.text}` takes the logarithm of 0{share(zeros)}, which is minus "
            "infinity.",
            fix, event=event, change=changes.safe(operand, zeros, little), edit=edit,
            also=[(e.place, f"this {e.name} is exactly 0 or 1 there") for e in squashed[:1]],
        )  # fmt: skip


def _rounded(event: Event, zeros: Any) -> bool:
    """Are its results 0 or 1 where the logarithm met a 0?"""
    made = np.asarray(event.outputs[0].array)
    ends = (made == 0) | (made == 1)
    return bool((ends & zeros).any() if ends.shape == zeros.shape else ends.any())


def _calm(case: Case, change: changes.Change) -> bool:
    """Is the gradient neither lost nor huge with it? The derivative of log(1e-7) is 1e7."""
    return counterfactual.verdict(case, change, "exploding").kind == CONFIRMED


def _instead(place: Place, little: str) -> str | None:
    """The logarithm of something that is never 0, in the user's words."""
    given, node = edits.argument(place), place.node
    if given is None or not isinstance(node, ast.Call) or not edits.is_call(place, node, "log"):
        return None
    return f"{edits.text(place, node.func)}({edits.text(place, given)} + {little})"


def _above(event: Event, far: int = 4) -> list[Event]:
    """The ops that made the operands, a few steps up."""
    found: list[Event] = []
    layer = [event]
    for _ in range(far):
        layer = [v.maker for e in layer for v in e.inputs if v.maker is not None]
        found += layer
    return found


RULE = LogOfZero()
