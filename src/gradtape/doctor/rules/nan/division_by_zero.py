"""GT305 division-by-zero: a divisor is 0, or a mean is taken of nothing."""

from __future__ import annotations

import ast

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...source.place import full_name
from ...trace import Event
from ...trace.finding import Finding
from ..base import FaultRule
from ..counts import share


class DivisionByZero(FaultRule):
    code, name = "GT305", "division-by-zero"
    gives_way_to = frozenset({"where-nan-trap", "inf-mask", "exp-overflow"})
    title = "a divisor is 0, or a mean is taken of nothing"
    lesson = """\
x / 0 is infinite and 0 / 0 is NaN, forward and in the derivative. A mean over an empty selection is
0 / 0 too. Use `tf.math.divide_no_nan`, add a little to the divisor, or leave the empty batch
out."""
    failing = """\
w = tf.Variable(2.0)
mask = tf.constant([0.0, 0.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(mask * w) / tf.reduce_sum(mask)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(2.0)
mask = tf.constant([1.0, 0.0])
with tf.GradientTape() as tape:
    loss = tf.math.divide_no_nan(tf.reduce_sum(mask * w), tf.reduce_sum(mask))
grad = tape.gradient(loss, w)
"""
    ignore = "Never: the NaN reaches every weight behind it."

    def is_about(self, event: Event) -> bool:
        return event.traits.divisor is not None or event.kind == "Mean" or event.kind == "Pow"

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        text = event.place.text
        if event.kind == "Mean":
            if np.size(event.inputs[0].array):
                return None
            said = f"`{text}` is the mean of nothing: its operand has no elements."
            change = changes.set_value({event.outputs[0]: 0.0}, "0 in its place")
            fix = "skip the empty selection, or divide the sum with `tf.math.divide_no_nan`"
        else:
            divisor = event.inputs[event.traits.divisor or 0]
            zeros = np.asarray(divisor.array) == 0
            if not zeros.any() or (event.kind == "Pow" and not _negative(event)):
                return None
            said = f"`{text}` divides by 0{share(zeros)}."
            change = changes.safe(divisor, zeros, 1.0)
            fix = "divide with `tf.math.divide_no_nan`, or add a little to the divisor"
        edit = _edit(event)
        unit = _unit_vector(event)
        if unit is not None:  # divide_no_nan would leave it at 0 for ever
            fix = f"keep the length above 0: `{unit}`"
            edit = edits.replaced(event.place, unit)
        return case.finding(self, event.place, said, fix, event=event, change=change, edit=edit)


def _edit(event: Event) -> str | None:
    place, node = event.place, event.place.node
    if event.kind != "RealDiv" or not isinstance(node, ast.BinOp):
        return None
    sides = [edits.text(place, side) for side in (node.left, node.right)]
    return edits.replaced(place, edits.called(place, "math.divide_no_nan", *sides))


def _unit_vector(event: Event) -> str | None:
    """What to write for a vector that is divided by its own length."""
    place, node = event.place, event.place.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.right, ast.Call):
        return None
    length = node.right
    if full_name(place.file, length.func).rpartition(".")[2] != "norm" or not length.args:
        return None
    vector, given = edits.text(place, node.left), [edits.text(place, a) for a in length.args]
    named = {k.arg: edits.text(place, k.value) for k in length.keywords}
    if given[0] != vector or len(given) > 1 or not named.keys() <= {"axis", "keepdims"}:
        return None
    axis = [f"axis={named['axis']}"] if "axis" in named else []
    # With the epsilon it has by itself, 1e-12, the derivative at 0 is a million.
    return edits.called(place, "math.l2_normalize", vector, *axis, "epsilon=1e-6")


def _negative(event: Event) -> bool:
    return bool((np.asarray(event.inputs[1].array) < 0).any())


RULE = DivisionByZero()
