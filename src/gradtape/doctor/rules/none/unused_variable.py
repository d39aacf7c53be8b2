"""GT120 unused-variable: nothing leads from the source to the target."""

from __future__ import annotations

from ...facts import changes
from ...facts.case import Case
from ...source import flow
from ...source.place import Place
from ...trace import Event, Value, Variable
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import uses
from .comparison_op import RULE as COMPARISON


class UnusedVariable(Rule):
    code, name, states = "GT120", "unused-variable", frozenset({"none"})
    gives_way_to = frozenset({
        "inactive-branch", "wrong-sources", "recreated-variable", "constant-derivative",
        "python-scalar", "left-the-tape", "tf-function-python-state", "nontrainable-sources",
    })  # fmt: skip
    title = "the source is never read, or what was computed from it is dropped"
    lesson = """\
The gradient of something that the target does not depend on is None. A bias that `__call__`
forgets to add, a layer that is made and not called, an intermediate result that is computed and
then not used: the variable is there, and no computation leads from it to the loss."""
    failing = """\
w = tf.Variable(2.0)
b = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = tf.square(3.0 * w - 1.0)
dw, db = tape.gradient(loss, [w, b])
"""
    cured = """\
w = tf.Variable(2.0)
b = tf.Variable(1.0)
with tf.GradientTape() as tape:
    loss = tf.square(3.0 * w + b - 1.0)
dw, db = tape.gradient(loss, [w, b])
"""
    ignore = "When this loss is not meant to train it; then leave it out of the sources."

    def examine(self, case: Case) -> Finding | None:
        source = case.source
        if case.variable is None and not isinstance(source, Value):
            return None
        if case.path is not None or not case.targets:
            return None
        steps = uses(case)
        decided = [
            e for e in case.trace.exits if e.how == "bool()" and e.value in set(_made(steps))
        ]
        if decided:
            return self._decision(case, decided[-1].place)
        return self._dropped(case, steps) if steps else self._unread(case)

    def _unread(self, case: Case) -> Finding:
        name, target = case.answer.name, case.query.target_name
        variable = case.variable
        place = variable.made if variable is not None else None
        if place is None and isinstance(case.source, Value):
            maker = case.source.maker
            place = case.source.place or (maker.place if maker is not None else None)
        beside = _sibling(case)
        verb = "read" if variable is not None else "used"
        return case.finding(
            self, place or case.query.place,
            f"`{name}` is never {verb} while `{case.tape_name}` records, so `{target}` does not "
            "depend on it.",
            f"use `{name}` in the computation of `{target}`, or leave it out of the sources",
            change=changes.ask_for(),
            also=[(e.place, f"`{other}` is used here, without `{name}`") for other, e in beside],
        )  # fmt: skip

    def _decision(self, case: Case, place: Place) -> Finding:
        """All that it does is to choose a branch: what is known about comparisons holds."""
        return case.finding(
            COMPARISON, place,
            f"`{case.answer.name}` only decides here which branch runs: nothing on the way to "
            f"`{case.query.target_name}` is computed from it.",
            "let the number itself enter, or weight both branches with something smooth such as "
            "`tf.sigmoid(k * (x - threshold))`",
            change=changes.ask_for(),
        )  # fmt: skip

    def _dropped(self, case: Case, steps: list[Event]) -> Finding:
        last, name, target = steps[-1], case.answer.name, case.query.target_name
        if case.variable is not None and _updates(case.variable, last):
            return case.finding(
                self, last.place,
                f"`{name}` is only updated here: nothing on the way to `{target}` is computed from "
                "it.",
                f"leave `{name}` out of the sources, as `trainable_variables` does with what is "
                "not to be learned",
                change=changes.ask_for(),
            )  # fmt: skip
        bound = sorted(flow.bound_at(last.place))
        what = f"`{bound[0]}`" if len(bound) == 1 else f"the result of `{last.place.text}`"
        if any(event.place == last.place for event in case.question.makers):
            # Other ops of this expression are used: a layer's, a function's of a library.
            layer = "" if last.layer is None else f" in layer `{last.layer.name}`"
            what = f"the result of `{last.name}`{layer}"
        return case.finding(
            self, last.place,
            f"what is computed from `{name}` ends here: {what} is not used on the way to "
            f"`{target}`.",
            f"use {what} in the computation of `{target}`, or leave `{name}` out of the sources",
            change=changes.ask_for(),
        )  # fmt: skip


def _updates(variable: Variable, event: Event) -> bool:
    """Is what an event made stored in the variable itself, and used for nothing else?"""
    users = [user for made in event.outputs for user in made.users]
    return bool(users) and all(
        user.way == "assign" and any(o.variable is variable for o in user.outputs) for user in users
    )


def _made(steps: list[Event]) -> list[Value]:
    return [made for event in steps for made in event.outputs]


def _sibling(case: Case) -> list[tuple[str, Event]]:
    """A source of the same query that is used: where this one may be missing."""
    owner = case.answer.name.rpartition(".")[0]
    for answer in case.query.answers:
        if answer.state == "ok" and answer.name.rpartition(".")[0] == owner:
            values = [v for v in case.walk.cotangents if v is answer.source or (
                v.variable is not None and v.variable is answer.source)]  # fmt: skip
            first = [e for v in values for e in v.users if case.tape.number in e.tapes]
            if first:
                return [(answer.name, first[0])]
    return []


RULE = UnusedVariable()
