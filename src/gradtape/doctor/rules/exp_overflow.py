"""GT306 exp-overflow: the exponential of a large number is infinite."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..faults import Fault
from ..finding import Finding
from ..trace import Event
from .base import FaultRule


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
            "use the stable form (tf.nn.softmax, tf.reduce_logsumexp, tf.nn.softplus), or subtract "
            "the largest value first",
            event=event, mends=False,
        )  # fmt: skip


RULE = ExpOverflow()
