"""GT309 nan-input: the data contain NaN."""

from __future__ import annotations

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.faults import Fault, masked_fault
from ...trace.finding import Finding
from ..base import Rule
from ..counts import share


class NanInput(Rule):
    code, name, states = "GT309", "nan-input", frozenset({"nan", "inf"})
    title = "the data already contain NaN"
    lesson = """\
One NaN in a batch makes the loss NaN, and the loss makes every weight NaN. Look for it where data
come in: missing values in a table, a division in the preprocessing, a corrupt file."""
    failing = """\
w = tf.Variable(2.0)
x = tf.constant([1.0, float("nan"), 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(w * x)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(2.0)
x = tf.constant([1.0, float("nan"), 3.0])
x = tf.where(tf.math.is_nan(x), 0.0, x)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(w * x)
grad = tape.gradient(loss, w)
"""
    ignore = "Never."

    def examine(self, case: Case) -> Finding | None:
        fault = _came_in(case)
        if fault is None or fault.event is not None or case.inherited:
            return None
        bad = np.isnan(np.asarray(fault.value.array))
        if not bad.any():
            return None
        uses = [e for e in fault.value.users if e in set(case.walk.events)]
        place = fault.value.place or (uses[0].place if uses else case.query.place)
        what = "data that come in here contain"
        if fault.value.variable is not None:
            what = "variable that is read here contains"
        return case.finding(
            self, place,
            f"the {what} NaN{share(bad)}, before anything was computed.",
            "clean the data first: drop these rows, or fill them with "
            "`tf.where(tf.math.is_nan(x), 0.0, x)`",
            # A layer that takes them in is not at fault: its call is shown, not its making.
            event=uses[0] if uses and uses[0].layer is None else None,
            change=_filled(case),
            also=[(e.place, "enters the computation here") for e in uses[:1] if e.place != place],
        )  # fmt: skip


def _filled(case: Case) -> changes.Change:
    """0 for NaN in whatever came into the step: a variable may be made of the number at fault."""
    values = {}
    for value in case.question.above(*case.targets):
        came = value.floating and (value.maker is None or value.maker.way != "op")
        if came and np.isnan(np.asarray(value.array, np.complex128)).any():
            values[value] = np.nan_to_num(np.asarray(value.array))
    return changes.set_value(values, "0 in their place")


def _came_in(case: Case) -> Fault | None:
    """The first number that is not finite; it need not have come to the target."""
    fault = case.fault
    if fault is not None and fault.backward and fault.event is not None:
        return masked_fault([v for v in fault.event.inputs if v is not fault.value])
    return fault


RULE = NanInput()
