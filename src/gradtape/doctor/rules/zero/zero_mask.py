"""GT205 zero-mask: the loss is multiplied by a constant that is all 0."""

from __future__ import annotations

import numpy as np

from ....traits import PRODUCTS, Family
from ...facts import changes
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.zeros import Death, nothing
from ...trace import Event, Value
from ...trace.finding import Finding
from ...trace.history import Line
from ..base import DeathRule


class ZeroMask(DeathRule):
    code, name = "GT205", "zero-mask"
    gives_way_to = DeathRule.gives_way_to | {"tf-function-python-state"}
    families = PRODUCTS | Family.CHOOSES
    title = "a factor of the loss is a constant 0: a mask or weight that lets nothing through"
    lesson = """\
A loss that is multiplied by a mask of zeros is 0, and so is its gradient. Masks are all zero
when their condition never holds, when integers were divided, or when the wrong axis was
compared.

A recurrent layer begins with a state of zeros. Given sequences of one step, such as inputs of the
shape (examples, 1, features), it never multiplies its recurrent weights with anything else."""
    failing = """\
w = tf.Variable([1.0, 2.0])
lengths = tf.constant([0, 0])
with tf.GradientTape() as tape:
    mask = tf.cast(lengths > 0, tf.float32)
    loss = tf.reduce_sum(mask * tf.square(w))
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([1.0, 2.0])
lengths = tf.constant([3, 0])
with tf.GradientTape() as tape:
    mask = tf.cast(lengths > 0, tf.float32)
    loss = tf.reduce_sum(mask * tf.square(w))
grad = tape.gradient(loss, w)
"""
    ignore = "For a batch that is all padding."

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """A weight that starts at 0 and grows, a batch without a single entry: these are meant."""
        zeros = min(line.states.get("zero", 0) / sum(line.states.values()) for line in lines)
        often = zeros >= 0.5 and any(line.state == "zero" for line in lines)
        return often and super().stands(finding, lines, targets)

    def explain(self, case: Case, death: Death) -> Finding | None:
        event = death.event
        if event.is_a(Family.CHOOSES):
            return self._never_taken(case, death)
        below = set(case.nodes)
        for k, other in enumerate(event.inputs):
            if k == death.operand or not nothing(other.array) or other.array is None:
                continue
            if any(v in below or v.variable for v in _smooth(other)):
                continue
            if _is_recurrent_weight(case, event):
                return self._first_state(case, event, other)
            maker = other.maker
            words = operand(event, k)
            what = f"`{words}`" if words else "a factor"
            return case.finding(
                self, event.place,
                f"{what} in `{event.place.text}` is all 0, so nothing of the loss is left.",
                "look at how this mask or weight is made: it lets nothing through",
                event=event, change=_lets_all_through(case, other),
                also=[(maker.place, "all 0")] if maker is not None else [],
            )  # fmt: skip
        return None

    def _first_state(self, case: Case, event: Event, state: Value) -> Finding:
        layer, name = event.layer, case.answer.name
        assert layer is not None
        return case.finding(
            self, event.place,
            f"the state that layer `{layer.name}` begins with is all 0, and no later one is used: "
            f"in sequences of one step there is nothing for `{name}` to do.",
            "give it sequences of several steps (the second axis is the time), or use a Dense "
            "layer for inputs without one",
            event=event, change=_lets_all_through(case, state),
        )  # fmt: skip

    def _never_taken(self, case: Case, death: Death) -> Finding:
        event = death.event
        return case.finding(
            self, event.place,
            f"`{event.place.text}` never takes the branch that `{case.answer.name}` is in: its "
            "condition is the same everywhere.",
            "look at the condition: it chooses the other branch for every element",
            change=changes.straight(changes.alike(case, event), "the other branch"),
            event=event, also=[(event.inputs[0].maker.place, "the condition")]
            if event.inputs[0].maker is not None else [],
        )  # fmt: skip


def _is_recurrent_weight(case: Case, event: Event) -> bool:
    """Is the source what a recurrent layer of Keras multiplies its last state with?"""
    own = (case.variable.name or "") if case.variable is not None else ""
    return event.layer is not None and "recurrent" in own.rpartition("/")[2]


def _lets_all_through(case: Case, mask: Value) -> changes.Change:
    """The mask of all calls of one expression, with 1 everywhere."""
    masks = [mask]
    if mask.maker is not None:
        same = [e.outputs[0] for e in case.question.makers if e.place == mask.maker.place]
        masks += [v for v in same if v.shape == mask.shape and nothing(v.array)]
    ones = {v: np.ones_like(np.asarray(v.array)) for v in masks}
    return changes.set_value(ones, "1 in the place of these zeros")


def _smooth(value: Value) -> set[Value]:
    """What it depends on by way of numbers: a mask that was decided by a weight is still a mask."""
    seen, queue = {value}, [value]
    while queue:
        maker = queue.pop().maker
        if maker is None or maker.is_a(Family.COMPARES):
            continue
        queue += [v for v in maker.inputs if v not in seen]
        seen |= set(maker.inputs)
    return seen


RULE = ZeroMask()
