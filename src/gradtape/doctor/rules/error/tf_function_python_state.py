"""GT606 tf-function-python-state: a Python value was frozen when tf.function traced."""

from __future__ import annotations

from collections.abc import Iterable

from ...facts import branches, changes
from ...facts.case import Case
from ...facts.graph import Cut
from ...source.place import Place, Written
from ...trace.finding import Finding
from ..base import CutRule
from ..reaching import uses


class TfFunctionPythonState(CutRule):
    code, name, states = "GT606", "tf-function-python-state", frozenset({"none", "zero"})
    replaces = frozenset({"inactive-branch", "zero-mask"})
    title = "a Python value was frozen into a tf.function when it was traced"
    lesson = """\
`@tf.function` runs the Python code once for each kind of arguments and keeps the graph. Python
values that it reads on the way, numbers, flags, tensors in attributes and lists, are constants
in that graph: later changes are not seen. Pass what changes as an argument, or keep it in a
tf.Variable."""
    failing = """\
class Model:
    scale = tf.constant(1.0)

    @tf.function
    def __call__(self, x):
        return x * self.scale

model, w = Model(), tf.Variable(2.0)
model(tf.constant(1.0))
with tf.GradientTape() as tape:
    model.scale = w * 3.0
    loss = model(tf.constant(1.0))
grad = tape.gradient(loss, w)
"""
    cured = """\
@tf.function
def scaled(x, scale):
    return x * scale

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = scaled(tf.constant(1.0), w * 3.0)
grad = tape.gradient(loss, w)
"""
    cure = "pass it to the function as an argument, or keep it in a `tf.Variable`"
    ignore = "When the value is meant to be fixed."

    def examine(self, case: Case) -> Finding | Iterable[Finding] | None:
        if case.answer.state == "zero":
            return self._zero(case)
        found = super().examine(case)
        if found or case.variable is None or case.path is not None or uses(case):
            return found
        branch = branches.frozen(case)
        if branch is not None:
            return self.decided(case, branch)
        place = branches.exchanged(case)
        if place is not None:
            return self._exchanged(case, place)
        place = branches.shortened(case)
        return None if place is None else self._shortened(case, place)

    def _zero(self, case: Case) -> Finding | None:
        """A factor that was 0 when the function was traced, and no longer is."""
        for death in case.deaths:
            node = branches.zeroed(case, death)
            if node is None:
                continue
            place = Written(death.event.place.code, node)
            return case.finding(
                self, place,
                f"`{place.text}` was 0 when `{place.function}` was traced, and the graph keeps "
                "that: what it is set to later is not seen.",
                self.cure, event=death.event,
                change=changes.seen("it is another number now than the one in the graph"),
                why_not="it depends on the value that is put in its place",
            )  # fmt: skip
        return None

    def decided(self, case: Case, branch: branches.Skipped) -> Finding:
        """A condition of Python's, which was decided while the function was traced."""
        name, function = case.answer.name, branch.code.co_name
        return case.finding(
            self, branch.place,
            f"`{branch.place.text}` was decided when `{function}` was traced, and the graph keeps "
            f"the branch without `{name}`. Now it would be decided otherwise.",
            "pass the value that decides to the function as an argument, so that each value has a "
            "graph of its own",
            change=changes.seen("the condition, asked again now, is decided otherwise"),
            also=[(Written(branch.code, branch.use), "not in the graph")],
            why_not="it depends on the branch that was not traced",
        )  # fmt: skip

    def _exchanged(self, case: Case, place: Place) -> Finding:
        """What an attribute holds now is another variable than the one that was traced."""
        name = case.answer.name
        return case.finding(
            self, place,
            f"`{place.text}` was another variable when `{place.function}` was traced, and the "
            f"graph keeps that one. Now it is `{name}`, which the graph does not read.",
            "pass the variable to the function as an argument, or make the function anew",
            change=changes.seen("the graph reads another variable than the attribute holds now"),
            why_not="it depends on what is traced with this variable",
        )  # fmt: skip

    def _shortened(self, case: Case, place: Place) -> Finding:
        """A loop of Python's, whose length was decided while the function was traced."""
        return case.finding(
            self, place,
            f"the loop over `{place.text}` ran when `{place.function}` was traced, and the graph "
            f"keeps its steps of that time. Now it would come to `{case.answer.name}`.",
            "pass the length to the function as an argument, so that each has a graph of its own",
            change=changes.seen("the loop, asked again now, has more steps than the graph"),
            why_not="it depends on steps that were not traced",
        )  # fmt: skip

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` was read when the function was traced, and its value of "
            "that time is a constant in the graph."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return self.cure


RULE = TfFunctionPythonState()
