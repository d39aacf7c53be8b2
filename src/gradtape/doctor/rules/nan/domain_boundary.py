"""GT307 domain-boundary: an argument at or beyond the edge of where a function has a derivative."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ....traits import Family, Region
from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...trace import Event
from ...trace.finding import Finding
from ..base import FaultRule
from ..counts import share

# How to stay away from the edge.
ADVICE = {
    Family.ROOTS: "keep the argument above 0: `tf.maximum(x, 1e-12)`",
    Family.LOGARITHMS: "keep the argument above 0: `tf.maximum(x, 1e-7)`",
    Family.POWERS: "add a little to the base, `(x + 1e-6) ** p`, or keep it above 0",
}
ORIGIN = "keep the point away from the origin: add a little to one coordinate"
CLIP = "clip the argument a little inside the domain first: `tf.clip_by_value(x, low, high)`"


class DomainBoundary(FaultRule):
    code, name = "GT307", "domain-boundary"
    gives_way_to = frozenset(
        {
            "learning-rate-divergence",
            "where-nan-trap",
            "inf-mask",
            "exp-overflow",
            "log-of-zero",
            "sqrt-at-zero",
            "norm-at-zero",
            "division-by-zero",
        }
    )
    title = "an argument at the edge of the domain: the derivative is infinite or does not exist"
    lesson = """\
`acos` and `asin` have infinite derivatives at 1 and -1, `x ** 0.5` at 0, and `atan2(0, 0)` has none
at all. Rounding brings a cosine of 1.0000001 there. Clip the argument a little inside the domain
before the function."""
    failing = """\
a = tf.Variable([1.0, 0.0])
b = tf.constant([1.0, 0.0])
with tf.GradientTape() as tape:
    angle = tf.acos(tf.reduce_sum(a * b))
grad = tape.gradient(angle, a)
"""
    cured = """\
a = tf.Variable([0.8, 0.6])
b = tf.constant([1.0, 0.0])
with tf.GradientTape() as tape:
    cosine = tf.clip_by_value(tf.reduce_sum(a * b), -0.999999, 0.999999)
    angle = tf.acos(cosine)
grad = tape.gradient(angle, a)
"""
    ignore = "Never, if the edge can be reached in training."

    def is_about(self, event: Event) -> bool:
        return bool(event.traits.poles)

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        for region in event.traits.poles:
            operand = event.inputs[region.operand]
            if operand.array is None:
                continue
            with np.errstate(all="ignore"):
                beyond = region.contains(np.asarray(operand.array, np.float64))
            if np.any(beyond):
                return self._beyond(case, event, region, beyond)
        return None

    def _beyond(self, case: Case, event: Event, region: Region, beyond: Any) -> Finding:
        which = "argument" if region.operand == 0 else "second argument"
        return case.finding(
            self, event.place,
            f"the {which} of `{event.place.text}` is {region.words}{share(beyond)}, where the "
            "function has no finite derivative.",
            _advice(event), event=event, change=_inside(event, region, beyond),
            edit=None if np.all(beyond) else _edit(event),
        )  # fmt: skip


def _advice(event: Event) -> str:
    if event.kind == "Atan2":
        return ORIGIN
    return next((words for family, words in ADVICE.items() if event.is_a(family)), CLIP)


def _inside(event: Event, region: Region, beyond: Any) -> changes.Change:
    """The argument inside of the domain."""
    for number in (0.5, 1.5):
        if not any(r.contains(np.asarray(number)) for r in event.traits.poles_of(region.operand)):
            return changes.safe(event.inputs[region.operand], beyond, number)
    return changes.unknown("where it is finite is not known")


def _edit(event: Event) -> str | None:
    place, given = event.place, edits.argument(event.place)
    if given is None:
        return None
    if event.kind == "Pow" and np.min(np.asarray(event.inputs[0].array)) == 0:
        return edits.replaced(place, f"({edits.text(place, given)} + 1e-6)", given)
    if event.traits.poles[0].edges != (-1.0, 1.0):
        return None
    if edits.is_call(place, given, "clip_by_value") and isinstance(given, ast.Call) and given.args:
        given, whole = given.args[0], given
    else:
        whole = given
    inside = edits.called(place, "clip_by_value", edits.text(place, given), "-0.999999", "0.999999")
    return edits.replaced(place, inside, whole)


RULE = DomainBoundary()
