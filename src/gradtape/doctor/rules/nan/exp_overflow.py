"""GT306 exp-overflow: the exponential of a large number is infinite."""

from __future__ import annotations

import ast

import numpy as np

from ....traits import HANDS_ON, LINEAR, Family
from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault, finite, masked_fault
from ...source import edits
from ...source.place import Place, parents
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import FaultRule
from ..counts import share

SCALING = Family.MULTIPLIES | Family.RESHAPES | Family.POWERS
# What a decoder does with a large number, on its way to the op that overflows.
GROWING = SCALING | HANDS_ON | LINEAR | Family.CONTRACTS | Family.PIECEWISE
FAR = 4  # ops between the exponential and what divides by it
LAYERS = 24  # ops between the exponential and what overflows: some layers
HUGE = 1e15


class ExpOverflow(FaultRule):
    code, name = "GT306", "exp-overflow"
    gives_way_to = frozenset({"learning-rate-divergence", "where-nan-trap", "inf-mask"})
    families = Family.EXPONENTIALS
    title = "the exponential of a large number is infinite"
    lesson = """\
exp(89) does not fit into float32 (exp(710) not into float64, exp(11.1) not into float16), and an
infinity soon becomes NaN: inf / inf, inf - inf. The stable forms never form it: `tf.nn.softmax`,
`tf.reduce_logsumexp`, `tf.nn.softplus` for log(1 + exp(x)), `tf.sigmoid`. At the other end,
exp(-104) is 0 in float32, and a variance of exp(log_var) that is 0 cannot be divided by: bound the
argument."""
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

    def examine(self, case: Case) -> Finding | None:
        return super().examine(case) or self._behind(case)

    def _behind(self, case: Case) -> Finding | None:
        """Where the exponential is not the first op whose result is not finite, but the reason:
        it is 0 and divided by, or so large that the next op overflows."""
        fault = case.fault
        if fault is None or fault.event is None or self.is_about(fault.event):
            return None
        event = fault.event
        if fault.backward:
            if all(finite(v.array) for v in event.inputs):
                return None
            hidden = masked_fault(case.targets)  # the infinity that the value does not show
            made = None if hidden is None else hidden.event
            if hidden is None or made is None or not self.is_about(made):
                return None
            return self.explain(case, hidden, made)
        if event.traits.at_zero is not None:
            return self._underflow(case, event)
        for value in event.inputs:
            made = _exponential(value, GROWING, LAYERS)
            if made is not None and float(np.max(made.outputs[0].array)) > HUGE:
                return self._overflow(case, made, event)
        return None

    def _underflow(self, case: Case, event: Event) -> Finding | None:
        region = event.traits.at_zero
        made = None if region is None else _exponential(event.inputs[region.operand], SCALING)
        if made is None:
            return None
        zeros = np.asarray(made.outputs[0].array) == 0
        if not zeros.any():
            return None
        least = float(np.min(np.asarray(made.inputs[0].array, np.float64)))
        return case.finding(
            self, made.place,
            f"`{made.place.text}` underflows to 0{share(zeros)}: its argument goes down to "
            f"{least:.4g}, and `{event.place.text}` needs more than 0.",
            "bound the argument first, as with `tf.clip_by_value(x, -10.0, 10.0)`, or use "
            "`tf.nn.softplus(x) + 1e-6` for what must be above 0",
            event=made, change=_bounded(made),
            also=[(event.place, "not finite from here on")],
        )  # fmt: skip

    def _overflow(self, case: Case, made: Event, event: Event) -> Finding:
        largest = float(np.max(np.asarray(made.inputs[0].array, np.float64)))
        top = float(np.max(np.asarray(made.outputs[0].array, np.float64)))
        return case.finding(
            self, made.place,
            f"`{made.place.text}` is as large as {top:.2g}, since its argument goes up to "
            f"{largest:.4g}, and `{event.place.text}` overflows with it.",
            "bound the argument first, as with `tf.clip_by_value(x, -10.0, 10.0)`, or compute with "
            "the logarithm",
            event=made, change=_bounded(made), also=[(event.place, "overflows here")],
        )  # fmt: skip

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
            event=event, change=_bounded(event), edit=_softplus(event.place),
        )  # fmt: skip


def _bounded(event: Event) -> changes.Change:
    given = event.inputs[0]
    array = np.asarray(given.array)
    return changes.set_value({given: np.clip(array, -9.0, 9.0)}, "arguments up to 9")


def _exponential(value: Value, passing: Family, far: int = FAR) -> Event | None:
    """The exponential that a value is, or is a multiple of."""
    for _ in range(far):
        event = value.maker
        if event is None or not event.inputs or event.way != "op":
            return None
        if event.kind == "Exp":
            return event
        if not event.is_a(passing) or event.is_a(Family.BOUNDED):
            return None
        value = max(event.inputs, key=_computed)
    return None


def _computed(value: Value) -> float:
    """When it was computed, if it was."""
    return value.maker.time if value.maker is not None and value.maker.way == "op" else 0.0


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
