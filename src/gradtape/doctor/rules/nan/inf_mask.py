"""GT308 inf-mask: an infinity meets the 0 of a mask, or a constant that is infinite is a mask."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.faults import Fault, finite, masked_fault
from ...facts.replay import above
from ...source import edits
from ...source.place import Place
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import Rule
from ..counts import share

KEEPING = Family.ADDS | Family.SUBTRACTS | Family.MULTIPLIES | Family.POWERS | Family.RESHAPES
FAR = 5  # ops between the infinity and the mask


class InfMask(Rule):
    code, name, states = "GT308", "inf-mask", frozenset({"nan", "inf"})
    title = "an infinity is multiplied by the 0 of a mask, or a mask is made of -inf"
    lesson = """\
A mask of -inf works only where nothing multiplies it: 0 * inf is NaN, inf - inf is NaN, and a
softmax of a row of -inf alone is 0/0. Use a large finite number (-1e9 in float32), or `tf.where`
before the softmax.

A mask that multiplies hides no infinity either: `mask * tf.math.log(x)` is 0 * -inf = NaN where x
is 0, and in the backward pass the 0 of the mask meets the infinite derivative. Make the operand
safe first: `mask * tf.math.log(tf.where(mask > 0, x, 1.0))`."""
    failing = """\
w = tf.Variable([1.0, 2.0])
mask = tf.constant([0.0, 1.0])
with tf.GradientTape() as tape:
    scores = w + mask * float("-inf")
    loss = tf.reduce_sum(tf.nn.softmax(scores) * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([1.0, 2.0])
mask = tf.constant([0.0, 1.0])
with tf.GradientTape() as tape:
    scores = w + mask * -3.0
    loss = tf.reduce_sum(tf.nn.softmax(scores) * [1.0, 2.0])
grad = tape.gradient(loss, w)
"""
    ignore = "When the infinity is only compared with, never multiplied or subtracted."

    def examine(self, case: Case) -> Finding | None:
        fault = case.fault
        if fault is None:
            return None
        if fault.event is not None:
            hidden = _hidden(case, fault, fault.event)
            if hidden is None:
                return self._multiplied(case, fault, fault.event)
            fault = hidden
        bad = np.isinf(np.asarray(fault.value.array))
        if not bad.any():
            return None
        above = set(case.walk.events)
        uses = [e for e in fault.value.users if e in above] or fault.value.users
        place = uses[0].place if uses else fault.value.place
        text = "" if place is None else f"`{place.text}` "
        return case.finding(
            self, place,
            f"{text}computes with an infinite constant{share(bad)}: 0 times infinity and "
            "infinity minus infinity are NaN.",
            "use a large finite number instead, such as -1e9, or pick with `tf.where`",
            event=uses[0] if uses else None, change=_finite(fault.value),
            edit=None if place is None else _edit(place),
        )  # fmt: skip

    def _multiplied(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        """A mask that multiplies what is infinite just where the mask is 0."""
        if event.traits.finite_everywhere or _rounded_to_0(event):
            return None
        made = event.outputs[0]
        if fault.backward:
            bad, given = ~np.isfinite(case.walk.passed[event][fault.operand or 0]), fault.cotangent
            if bad.shape != np.shape(given) or np.any(np.asarray(given)[bad] != 0):
                return None
        else:
            bad = ~np.isfinite(np.asarray(made.array))
        product = _masked(made, bad, above(event.inputs))
        if product is None:
            return None
        k = event.traits.guarded
        words, mask = operand(event, k) or "x", operand(product[0], product[1]) or "mask"
        what = "has no finite derivative" if fault.backward else "is not finite"
        return case.finding(
            self, event.place,
            f"`{event.place.text}` {what} where the mask `{mask}` is 0{share(bad)}, and 0 times "
            "infinity is NaN: multiplying by a mask does not hide it.",
            f"make the operand safe first: `safe = tf.where({mask} != 0, {words}, "
            f"{event.traits.safe})`, and use `safe` here",
            event=event, change=changes.safe(event.inputs[k], bad, 0.5),
            also=[(product[0].place, "the mask multiplies here")]
            if product[0].place != event.place else [],
        )  # fmt: skip


def _hidden(case: Case, fault: Fault, event: Event) -> Fault | None:
    """The infinite constant that meets the gradient, where the values do not show it: a softmax
    makes 0 of -inf."""
    if not fault.backward or all(finite(v.array) for v in event.inputs):
        return None
    hidden = masked_fault(case.targets)
    return hidden if hidden is not None and hidden.event is None else None


def _rounded_to_0(event: Event) -> bool:
    """Is its operand a probability that underflowed? That needs another form of the loss."""
    makers, squashes = [event], False
    for _ in range(3):
        makers = [v.maker for e in makers for v in e.inputs if v.maker is not None]
        squashes |= any(e.traits.gives_probabilities or e.is_a(Family.EXPONENTIALS) for e in makers)
    return squashes


def _masked(value: Value, bad: Any, before: Collection[Value]) -> tuple[Event, int] | None:
    """The product with a mask that is 0 wherever `bad`, and which operand the mask is.

    What the infinity was itself computed from is no mask: p * log(p) needs another cure.
    """
    for _ in range(FAR):
        ahead = [e for e in value.users if e.way == "op" and e.outputs]
        for event in ahead:
            if not event.is_a(Family.MULTIPLIES) or len(event.inputs) != 2:
                continue
            k = 0 if event.inputs[1] is value else 1
            mask = event.inputs[k]
            if mask is value or mask.array is None or (mask in before and _counts(mask)):
                continue
            if np.shape(event.outputs[0].array) != bad.shape:
                continue
            zeros = np.broadcast_to(np.asarray(mask.array) == 0, bad.shape)
            if zeros[bad].all() and not zeros.all():
                return event, k
        if (
            len(ahead) != 1
            or not (ahead[0].is_a(KEEPING) or ahead[0].kind == "Abs")
            or ahead[0].outputs[0].shape != bad.shape
        ):
            return None
        value = ahead[0].outputs[0]
    return None


def _counts(mask: Value) -> bool:
    """Does it hold more than 0 and 1?"""
    return bool(np.any((np.asarray(mask.array) != 0) & (np.asarray(mask.array) != 1)))


def _finite(value: Value) -> changes.Change:
    array = np.asarray(value.array)
    most = min(1e9, float(np.finfo(array.dtype).max) / 8)
    return changes.set_value(
        {value: np.clip(array, -most, most)}, f"{most:g} in the place of infinity"
    )


def _edit(place: Place) -> str | None:
    """The line with a finite number for `np.inf`."""
    written = [
        n for n in ast.walk(place.node or ast.Pass())
        if (isinstance(n, ast.Attribute) and n.attr in ("inf", "infty")) or _parsed(n)
    ]  # fmt: skip
    return edits.replaced(place, "1e9", written[0]) if len(written) == 1 else None


def _parsed(node: ast.AST) -> bool:
    """`float("inf")`"""
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "float"
        and bool(node.args)
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).lower() in ("inf", "infinity")
    )


RULE = InfMask()
