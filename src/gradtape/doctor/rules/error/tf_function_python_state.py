"""GT606 tf-function-python-state: a Python value was frozen when tf.function traced."""

from __future__ import annotations

from collections.abc import Iterable

from ...facts import branches, changes, stale
from ...facts.case import Case
from ...facts.graph import Cut
from ...source.place import Place, Written
from ...trace import Event
from ...trace.finding import Finding
from ..base import CutRule
from ..reaching import uses

TURNED = "the condition, asked again now, is decided otherwise"


class TfFunctionPythonState(CutRule):
    code, name = "GT606", "tf-function-python-state"
    states = frozenset({"none", "zero", "nan", "inf", "ok"})
    root = True
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
        if case.answer.state == "none":
            found = list(super().examine(case) or ())  # type: ignore[arg-type]
            if found:
                return found
            if case.variable is not None and case.path is None and not uses(case):
                return self._unused(case)
        elif case.answer.state == "ok":
            return self._number(case, "wrong")
        return self._led_here(case) or self._number(case, case.answer.state)

    def _unused(self, case: Case) -> Finding | None:
        """The source is not in the graph at all."""
        branch = branches.frozen(case)
        if branch is not None:
            return self.decided(case, branch)
        place = branches.exchanged(case)
        if place is not None:
            return self._exchanged(case, place)
        loop = stale.left_out(case)
        return None if loop is None else self._shortened(case, loop[0])

    def _led_here(self, case: Case) -> Finding | None:
        """What ends the gradient stands where Python would not come to now."""
        culprits = _culprits(case)
        branch = stale.turned(case, culprits)
        if branch is not None:
            place, _ = branch
            return case.finding(
                self, place,
                f"`{place.text}` was decided when `{place.function}` was traced, and the graph "
                "keeps the branch taken then. Now it would be decided differently.",
                self.cure, change=changes.seen(TURNED), also=_at(culprits),
                why_not="it depends on the branch that was not traced",
            )  # fmt: skip
        one = stale.replaced(case, culprits)
        if one is None:
            return None
        place = one.place
        return case.finding(
            self, place,
            f"`{place.text}` was another function when `{place.function}` was traced, and the "
            "graph keeps what that one did.",
            "create the `tf.function` again when it changes", also=_at(culprits),
            change=changes.seen("it is another function now than the one in the graph"),
            why_not="it depends on the function that was not traced",
        )  # fmt: skip

    def _number(self, case: Case, state: str) -> Finding | None:
        """A number that was read when the function was traced, and is another one now."""
        found = stale.number(case)
        if found is None:
            return None
        one, event = found
        place, then = one.place, one.old.held
        if isinstance(then, (int, float)) and isinstance(one.now, (int, float)):
            words = (
                f"`{place.text}` was {then:g} when `{place.function}` was traced, and the graph "
                f"keeps that. Now it is {one.now:g}."
            )
        else:
            words = (
                f"`{place.text}` was read when `{place.function}` was traced, and the graph keeps "
                "the numbers it had then. Now they are different."
            )
        return case.finding(
            self, place, words, self.cure, state=state, event=event,
            change=changes.seen("the graph computes with another number than is there now"),
            why_not="it depends on the value that is put in its place",
        )  # fmt: skip

    def decided(self, case: Case, branch: branches.Skipped) -> Finding:
        """A condition of Python's, which was decided while the function was traced."""
        name, function = case.answer.name, branch.code.co_name
        return case.finding(
            self, branch.place,
            f"`{branch.place.text}` was decided when `{function}` was traced, and the graph keeps "
            f"the branch without `{name}`. Now it would be decided differently.",
            "pass the value that decides to the function as an argument, so that each value gets "
            "its own graph",
            change=changes.seen(TURNED),
            also=[(Written(branch.code, branch.use), "not in the graph")],
            why_not="it depends on the branch that was not traced",
        )  # fmt: skip

    def _exchanged(self, case: Case, place: Place) -> Finding:
        """What an attribute holds now is another variable than the one that was traced."""
        name = case.answer.name
        return case.finding(
            self, place,
            f"`{place.text}` was a different variable when `{place.function}` was traced, and the "
            f"graph keeps that one. Now it is `{name}`, which the graph does not read.",
            "pass the variable to the function as an argument, or create the function again",
            change=changes.seen("the graph reads another variable than the attribute holds now"),
            why_not="it depends on what is traced with this variable",
        )  # fmt: skip

    def _shortened(self, case: Case, place: Place) -> Finding:
        """A loop of Python's, whose length was decided while the function was traced."""
        return case.finding(
            self, place,
            f"the loop over `{place.text}` ran when `{place.function}` was traced, and the graph "
            f"keeps the steps it had then. Now it would reach `{case.answer.name}`.",
            "pass the length to the function as an argument, so that each gets its own graph",
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


def _culprits(case: Case) -> list[Event]:
    """The events that end the gradient, by the state that they leave."""
    if case.answer.state == "none":
        return [] if case.path is None else [cut.event for cut in case.path.cuts]
    if case.answer.state == "zero":
        return [death.event for death in case.deaths]
    return [case.fault.event] if case.fault is not None and case.fault.event is not None else []


def _at(culprits: list[Event]) -> list[tuple[Place, str]]:
    return [(culprits[0].place, "in the graph")]


RULE = TfFunctionPythonState()
