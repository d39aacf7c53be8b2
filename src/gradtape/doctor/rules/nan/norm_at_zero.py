"""GT303 norm-at-zero: the norm of a zero vector has no derivative."""

from __future__ import annotations

import ast

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

SAFE = "tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-12)"


class NormAtZero(FaultRule):
    code, name = "GT303", "norm-at-zero"
    gives_way_to = frozenset({"inf-mask", "exp-overflow", "where-nan-trap"})
    families = Family.ROOTS | Family.NORMS
    title = "the norm of a zero vector: it has no derivative there"
    lesson = """\
The gradient of a norm is the vector divided by its norm: 0/0 for the zero vector, hence NaN. Take
`tf.sqrt(tf.reduce_sum(x * x) + 1e-12)`, or compare squared norms, which need no root."""
    failing = """\
x = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    length = tf.norm(x)
grad = tape.gradient(length, x)
"""
    cured = """\
x = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    length = tf.sqrt(tf.reduce_sum(tf.square(x - 1.0)) + 1e-12)
grad = tape.gradient(length, x)
"""
    ignore = "Never, if the vector can be zero in training."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        text = event.place.text
        named = any(word in text for word in ("norm(", "l2_normalize", "euclidean"))
        if not (named or event.kind == "EuclideanNorm"):
            return None
        if not (np.asarray(event.outputs[0].array) == 0).any() and event.kind != "Rsqrt":
            return None
        return case.finding(
            self, event.place,
            f"`{text}` is the norm of a zero vector, whose gradient is 0/0.",
            f"add a little under the root: `{_instead(event.place) or SAFE}`, or use the squared "
            "norm",
            event=event, change=_above_zero(event),
            edit=edits.replaced(event.place, _instead(event.place)),
        )  # fmt: skip


def _above_zero(event: Event) -> changes.Change:
    given = event.inputs[0]
    return changes.safe(given, np.asarray(given.array) == 0, 1e-6)


def _instead(place: Place) -> str | None:
    """The norm with a little added, in the user's words."""
    node, given = place.node, edits.argument(place)
    if not isinstance(node, ast.Call) or not edits.is_call(place, node, "norm") or given is None:
        return None
    more = [f"{k.arg}={edits.text(place, k.value)}" for k in node.keywords]
    if len(node.args) > 1 or any(k.arg not in ("axis", "keepdims", "name") for k in node.keywords):
        return None
    square = edits.called(place, "square", edits.text(place, given))
    total = edits.called(place, "reduce_sum", square, *more)
    return edits.called(place, "sqrt", f"{total} + 1e-12")


RULE = NormAtZero()
