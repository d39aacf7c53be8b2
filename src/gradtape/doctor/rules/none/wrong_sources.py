"""GT121 wrong-sources: the gradient was asked for other variables than those that were used."""

from __future__ import annotations

import ast

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.graph import ancestors, first_use, path
from ...trace import Answer, Value, Variable
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import called, reaching


class WrongSources(Rule):
    code, name, states = "GT121", "wrong-sources", frozenset({"none"})
    gives_way_to = frozenset({"recreated-variable"})
    title = "the gradient is asked for another model's variables, or for another call's tensor"
    lesson = """\
Two networks of one class, a copy kept for later, a tensor that is computed once more: the loss
was computed with one and the gradient is asked for the other. All of its sources come back None,
while the variables that the loss does depend on were not asked for."""
    failing = """\
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([0.3, -0.2])

student, teacher = Net(), Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(student.w - 1.0))
grads = tape.gradient(loss, teacher.trainable_variables)
"""
    cured = """\
class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([0.3, -0.2])

student, teacher = Net(), Net()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(student.w - 1.0))
grads = tape.gradient(loss, student.trainable_variables)
"""
    ignore = "Never: nothing can be learnt from it."

    def examine(self, case: Case) -> Finding | None:
        if not case.targets or (case.path is not None and not case.mistaken):
            return None
        if isinstance(case.source, Value) and case.source.variable is None:
            return self._another_tensor(case, case.source)
        answers = case.query.answers
        lost = case.mistaken or case.question.once(
            self, lambda: all(_lost(case, answer) for answer in answers)
        )
        if case.variable is None or not lost:
            return None
        others = reaching(case)
        made = {a.source.made for a in case.query.answers if isinstance(a.source, Variable)}
        twins = [v for v in others if v.made is not None and v.made in made]
        if not others or (len(case.query.answers) == 1 and not twins):
            return None
        known = [name for v in twins or others if (name := called(case, v)) is not None]
        found = ", ".join(f"`{name}`" for name in known[:3]) or "other variables"
        found += ", ..." if len(known) > 3 else ""
        sources = ", ".join(f"`{a.name}`" for a in case.query.answers[:3])
        return case.finding(
            self, case.query.place,
            f"`{case.query.target_name}` was computed with {found}, and the gradient is asked for "
            f"{sources}.",
            f"ask for the gradient of {found}", change=changes.ask_for(*(twins or others)),
            also=[(v.made, "used for the target") for v in others[:1] if v.made and not twins],
        )  # fmt: skip

    def _another_tensor(self, case: Case, source: Value) -> Finding | None:
        parent = _made_of(case, source)
        if parent is not None:
            return case.finding(
                self, case.query.place,
                f"`{case.answer.name}` makes a new tensor where the gradient is asked for, and "
                f"`{case.query.target_name}` was computed from `{parent}` without it.",
                f"ask for the gradient of `{parent}`, and index the result",
                change=changes.ask_for(),
            )  # fmt: skip
        twin = _twin(case, source)
        if twin is None or any(case.tape.number in e.tapes for e in source.users):
            return None
        place = twin.maker.place if twin.maker is not None else twin.place
        if place is None and twin.users:
            place = twin.users[0].place
        name = case.answer.name
        return case.finding(
            self, case.query.place,
            f"`{name}` is not what `{case.query.target_name}` was computed from: that was another "
            "tensor with the same numbers.",
            f"compute `{case.query.target_name}` from `{name}` itself", change=changes.ask_for(),
            also=[(place, "the tensor that was used")] if place is not None else [],
        )  # fmt: skip


def _made_of(case: Case, source: Value) -> str | None:
    """What a source was made of in the call for its gradient, if the target depends on that."""
    maker, call = source.maker, case.query.place
    if maker is None or source.users or not call.contains(maker.place) or not maker.inputs:
        return None
    given = maker.inputs[0]
    nodes = case.trace.reads(given.variable) if given.variable is not None else [given]
    if path(nodes, case.targets, case.tape) is None:
        return None
    node = maker.place.node
    node = node.value if isinstance(node, ast.Subscript) else None
    return operand(maker, given) if node is None else ast.unparse(node)


def _lost(case: Case, answer: Answer) -> bool:
    """No computation at all leads from this source to the target."""
    source = answer.source
    nodes = case.trace.reads(source) if isinstance(source, Variable) else [source]
    return answer.state == "none" and case.question.search.start(nodes) is None


def _twin(case: Case, source: Value) -> Value | None:
    """Another value with the same numbers that the target was computed from."""
    if source.array is None or np.size(source.array) < 2 or not source.floating:
        return None
    found = [
        value for value in ancestors(case.targets)
        if value.shape == source.shape and value.floating and value.array is not None
        and value is not source and value.variable is None
        and np.array_equal(value.array, source.array) and np.ptp(source.array)
    ]  # fmt: skip
    return min(found, key=first_use, default=None)


RULE = WrongSources()
