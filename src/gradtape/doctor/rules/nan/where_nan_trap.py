"""GT301 where-nan-trap: the branch that tf.where did not take made the gradient NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.faults import backward_fault, descendants, finite, masked_fault
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule
from ..counts import share


class WhereNanTrap(Rule):
    code, name, states = "GT301", "where-nan-trap", frozenset({"nan", "inf"})
    title = "the branch that tf.where did not take has an infinite derivative"
    lesson = """\
`tf.where(c, a, b)` computes both branches and picks. In the backward pass the branch that was
not picked gets the gradient 0, and 0 times an infinite derivative is NaN: `tf.where(x > 0,
tf.math.log(x), 0)` is NaN at 0. Make the operand safe before the dangerous op, not its result
after it: `safe = tf.where(x > 0, x, 1.0)`, then `tf.where(x > 0, tf.math.log(safe), 0.0)`."""
    failing = """\
x = tf.Variable([0.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.where(x > 0.0, tf.math.log(x), 0.0)
    loss = tf.reduce_sum(y)
grad = tape.gradient(loss, x)
"""
    cured = """\
x = tf.Variable([0.0, 2.0])
with tf.GradientTape() as tape:
    safe = tf.where(x > 0.0, x, 1.0)
    y = tf.where(x > 0.0, tf.math.log(safe), 0.0)
    loss = tf.reduce_sum(y)
grad = tape.gradient(loss, x)
"""
    ignore = "Never: the NaN reaches every weight behind it."

    def examine(self, case: Case) -> Finding | None:
        if not all(finite(t.array) for t in case.targets):
            return None
        fault = backward_fault(case.walk, case.nodes)
        if fault is None or fault.event is None or fault.operand is None:
            return None
        event = fault.event
        hidden = None if all(finite(v.array) for v in event.inputs) else masked_fault(case.targets)
        if hidden is not None and hidden.event is not None:
            # The derivative is finite but for a factor, and that one is what is not taken.
            event, what = hidden.event, "it"
            bad = ~np.isfinite(np.asarray(hidden.value.array))
        else:
            part, what = np.asarray(case.walk.passed[event][fault.operand]), "its derivative"
            bad, g = ~np.isfinite(part), np.asarray(fault.cotangent)
            if g.shape == bad.shape and np.any(g[bad] != 0):
                return None
        below = descendants(event.outputs)
        selects = [e for e in case.walk.events if e.is_a(Family.CHOOSES)]
        picks = [e for e in selects if not below.keys().isdisjoint(e.inputs[1:])]
        if not picks:
            return None
        pick = picks[-1]
        guarded = event.traits.guarded
        words = operand(event, guarded) or "x"
        return case.finding(
            self, event.place,
            f"`{event.place.text}` is also computed where `tf.where` does not take it; {what} "
            f"is not finite there{share(bad)}, and 0 times that is NaN.",
            f"make the operand safe first: `safe = tf.where(condition, {words}, 1.0)`, use `safe` "
            "here, and keep the outer `tf.where`",
            event=event, change=_made_safe(event.inputs[guarded], bad),
            also=[(pick.place, "this `tf.where` picks the other branch")],
        )  # fmt: skip


def _made_safe(value: Value, bad: Any) -> changes.Change:
    array = np.asarray(value.array)
    return changes.safe(value, bad if np.shape(bad) == array.shape else True, 1.0)


RULE = WhereNanTrap()
