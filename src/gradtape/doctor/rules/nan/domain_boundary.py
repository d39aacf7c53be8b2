"""GT307 domain-boundary: an argument at or beyond the edge of where a function has a derivative."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault
from ...source import edits
from ...trace import Event
from ...trace.finding import Finding
from ..base import FaultRule
from ..counts import share

# Where the function or its derivative is not finite, and how to stay away.
EDGES = {
    "Asin": (lambda x: np.abs(x) >= 1, "not strictly between -1 and 1"),
    "Acos": (lambda x: np.abs(x) >= 1, "not strictly between -1 and 1"),
    "Atanh": (lambda x: np.abs(x) >= 1, "not strictly between -1 and 1"),
    "Acosh": (lambda x: x <= 1, "at or below 1"),
    "Log": (lambda x: x < 0, "below 0"),
    "Log1p": (lambda x: x <= -1, "at or below -1"),
    "Sqrt": (lambda x: x < 0, "below 0"),
    "Rsqrt": (lambda x: x <= 0, "at or below 0"),
    "Pow": (lambda x: x <= 0, "at or below 0"),
    "Atan2": (lambda x: x == 0, "0, and so is the other"),
    "Erfinv": (lambda x: np.abs(x) >= 1, "not strictly between -1 and 1"),
    "Ndtri": (lambda x: (x <= 0) | (x >= 1), "not strictly between 0 and 1"),
    "Lgamma": (lambda x: x <= 0, "at or below 0"),
    "Digamma": (lambda x: x <= 0, "at or below 0"),
}
FIXES = {
    "Pow": "add a little to the base, `(x + 1e-6) ** p`, or keep it above 0",
    "Atan2": "keep the point away from the origin: add a little to one coordinate",
    "Log": "keep the argument above 0: `tf.maximum(x, 1e-7)`",
    "Sqrt": "keep the argument above 0: `tf.maximum(x, 1e-12)`",
}


class DomainBoundary(FaultRule):
    code, name = "GT307", "domain-boundary"
    gives_way_to = frozenset(
        {"learning-rate-divergence", "where-nan-trap", "inf-mask", "exp-overflow"}
    )
    kinds = frozenset(EDGES)
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

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        beyond, words = EDGES[event.kind]
        with np.errstate(all="ignore"):
            outside = beyond(np.asarray(event.inputs[0].array, np.float64))
        if not np.any(outside):
            return None
        fix = FIXES.get(event.kind, "clip the argument a little inside the domain first: "
                        "`tf.clip_by_value(x, low, high)`")  # fmt: skip
        return case.finding(
            self, event.place,
            f"the argument of `{event.place.text}` is {words}{share(outside)}, where the "
            "function has no finite derivative.",
            fix, event=event, change=_inside(event, beyond, outside),
            edit=None if np.all(outside) else _edit(event),
        )  # fmt: skip


def _inside(event: Event, beyond: Any, outside: Any) -> changes.Change:
    """The argument inside of the domain."""
    for number in (0.5, 1.5):
        if not np.any(beyond(np.asarray(number))):
            return changes.safe(event.inputs[0], outside, number)
    return changes.unknown("where it is finite is not known")


def _edit(event: Event) -> str | None:
    place, given = event.place, edits.argument(event.place)
    if given is None:
        return None
    if event.kind == "Pow" and np.min(np.asarray(event.inputs[0].array)) == 0:
        return edits.replaced(place, f"({edits.text(place, given)} + 1e-6)", given)
    if event.kind not in ("Acos", "Asin"):
        return None
    if edits.is_call(place, given, "clip_by_value") and isinstance(given, ast.Call) and given.args:
        given, whole = given.args[0], given
    else:
        whole = given
    inside = edits.called(place, "clip_by_value", edits.text(place, given), "-0.999999", "0.999999")
    return edits.replaced(place, inside, whole)


RULE = DomainBoundary()
