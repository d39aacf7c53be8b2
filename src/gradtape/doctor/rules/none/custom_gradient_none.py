"""GT132 custom-gradient-none: the user's own gradient function answers None."""

from __future__ import annotations

import ast
import inspect

from ...facts.case import Case
from ...source import flow
from ...source.place import Place, Written
from ...trace import Event
from ...trace.finding import Finding
from ..base import Rule


class CustomGradientNone(Rule):
    code, name, states = "GT132", "custom-gradient-none", frozenset({"none"})
    title = "the gradient function of a tf.custom_gradient returns None for this input"
    lesson = """\
A function with `@tf.custom_gradient` returns its result and a function that makes the gradients
of the inputs from the gradient of the result. Where that function returns None, or nothing at
all because its `return` is missing, the path ends, whatever the forward computation does."""
    failing = """\
@tf.custom_gradient
def squared(x):
    def grad(upstream):
        return None
    return x * x, grad

w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = squared(w) + 1.0
g = tape.gradient(loss, w)
"""
    cured = """\
@tf.custom_gradient
def squared(x):
    def grad(upstream):
        return upstream * 2.0 * x
    return x * x, grad

w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = squared(w) + 1.0
g = tape.gradient(loss, w)
"""
    ignore = "When this input is meant to have no gradient: an index, an option."

    def examine(self, case: Case) -> Finding | None:
        if case.path is None or case.path.cuts:
            return None
        steps = zip(case.path.events, case.path.values, strict=False)
        for event, given in steps:
            parts = case.walk.passed.get(event)
            if event.kind != "CustomGradient" or parts is None:
                continue
            number = event.inputs.index(given)
            if parts[number] is None:
                return self._found(case, event, number)
        return None

    def _found(self, case: Case, event: Event, number: int) -> Finding:
        place, written = returned(event)
        which = "" if len(event.inputs) == 1 else f" for {_parameter(event, number)}"
        how = "returns None" if written else "returns nothing (it has no `return` with a value)"
        return case.finding(
            self, place or event.place,
            f"the gradient function of `{event.name}` {how}{which}, so the path to "
            f"`{case.answer.name}` ends here.",
            "return the upstream gradient times the derivative with respect to this input",
            event=event, also=[(event.place, "called here")] if place is not None else [],
        )  # fmt: skip


def _parameter(event: Event, number: int) -> str:
    """An input of the function, by its name."""
    names = list(inspect.signature(event.attrs["function"]).parameters)
    if len(names) == len(event.inputs):
        return f"its input `{names[number]}`"
    return f"its input number {number + 1}"


def returned(event: Event) -> tuple[Place | None, bool]:
    """Where the gradient function of a custom gradient returns, and whether it says what."""
    code = getattr(event.attrs.get("grad"), "__code__", None)
    function = None if code is None else flow.function_of(code)
    if code is None or function is None:
        return None, True
    if isinstance(function, ast.Lambda):
        return Written(code, function.body), True
    inner = {
        s for node in ast.walk(function) if node is not function
        and isinstance(node, (ast.FunctionDef, ast.Lambda)) for s in ast.walk(node)
    }  # fmt: skip
    returns = [
        s for s in flow.statements(code)
        if isinstance(s, ast.Return) and s not in inner and s.value is not None
    ]  # fmt: skip
    if returns:
        return Written(code, returns[-1]), True
    return Written(code, function.body[-1]), False


RULE = CustomGradientNone()
