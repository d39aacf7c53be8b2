"""GT306 exp-overflow: the exponential of a large number is infinite."""

from __future__ import annotations

import ast

import numpy as np

from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...source.place import Place, parents
from ...trace import Event
from ...trace.finding import Finding
from ..base import FaultRule


class ExpOverflow(FaultRule):
    code, name = "GT306", "exp-overflow"
    kinds = frozenset({"Exp", "Expm1", "Sinh", "Cosh"})
    title = "the exponential of a large number is infinite"
    lesson = """\
exp(89) does not fit into float32 (exp(710) not into float64, exp(11.1) not into float16), and an
infinity soon becomes NaN: inf / inf, inf - inf. The stable forms never form it: `tf.nn.softmax`,
`tf.reduce_logsumexp`, `tf.nn.softplus` for log(1 + exp(x)), `tf.sigmoid`."""
    failing = """\
w = tf.Variable([100.0, 1.0])
with tf.GradientTape() as tape:
    e = tf.exp(w)
    p = e / tf.reduce_sum(e)
    loss = -tf.reduce_sum(p * [0.0, 1.0])
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([3.0, 1.0])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(w)
    loss = -tf.reduce_sum(p * [0.0, 1.0])
grad = tape.gradient(loss, w)
"""
    ignore = "Never: the infinity becomes NaN."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        if fault.backward:
            return None
        largest = float(np.nanmax(np.abs(np.asarray(event.inputs[0].array, np.float64))))
        dtype = np.asarray(event.outputs[0].array).dtype.name
        return case.finding(
            self, event.place,
            f"`{event.place.text}` overflows: its argument goes up to {largest:.4g}, and the "
            f"result does not fit into {dtype}.",
            "use the stable form (`tf.nn.softmax`, `tf.reduce_logsumexp`, `tf.nn.softplus`), or "
            "subtract the largest value first",
            event=event, mends=False, edit=_softplus(event.place),
        )  # fmt: skip


def _softplus(place: Place) -> str | None:
    """`tf.nn.softplus(x)` for `tf.math.log(1 + tf.exp(x))`."""
    around, given = parents(place)[:2], edits.argument(place)
    if len(around) < 2 or given is None:
        return None
    total, log = around
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add):
        return edits.replaced(place, _of(place, given), total) if _logged(place, total) else None
    other = total.left if total.right is place.node else total.right
    one = isinstance(other, ast.Constant) and other.value == 1
    if not one or not edits.is_call(place, log, "log"):
        return None
    return edits.replaced(place, _of(place, given), log)


def _logged(place: Place, node: ast.AST) -> bool:
    return edits.is_call(place, node, "log1p")


def _of(place: Place, given: ast.expr) -> str:
    return edits.called(place, "nn.softplus", edits.text(place, given))


RULE = ExpOverflow()
