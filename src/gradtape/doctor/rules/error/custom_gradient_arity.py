"""GT603 custom-gradient-arity: the user's own gradient function returns too many or too few."""

from __future__ import annotations

import ast
import re

from ...facts import changes
from ...facts.case import Case
from ...facts.graph import ancestors, makers
from ...source.place import Place
from ...trace import Event
from ...trace.finding import Finding
from ..base import Rule
from ..none.custom_gradient_none import returned


class CustomGradientArity(Rule):
    code, name, states = "GT603", "custom-gradient-arity", frozenset({"error"})
    title = "a custom gradient returns another number of gradients than the function has inputs"
    lesson = """\
The gradient function of a `@tf.custom_gradient` must return one gradient for each input of the
function, in their order: a single one for a single input, a tuple for several, None for those
without. Captured Python values do not count. When the function uses variables, it must also take
`variables=` and return their gradients as a second value."""
    failing = """\
@tf.custom_gradient
def flip(x):
    def grad(upstream):
        return -upstream, None
    return tf.identity(x), grad

w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = tf.square(flip(w))
g = tape.gradient(loss, w)
"""
    cured = """\
@tf.custom_gradient
def flip(x):
    def grad(upstream):
        return -upstream
    return tf.identity(x), grad

w = tf.Variable(3.0)
with tf.GradientTape() as tape:
    loss = tf.square(flip(w))
g = tape.gradient(loss, w)
"""
    ignore = "Never: it is an error."

    def examine(self, case: Case) -> Finding | None:
        text = str(case.query.error)
        numbers = [int(n) for n in re.findall(r"\b\d+\b", text)]
        if re.search(r"returned too (few|many) gradients", text):
            numbers = _mismatch(case)  # those of the text count more than the user's values
        elif not isinstance(case.query.error, ValueError) or "custom_gradient" not in text:
            return None
        if len(numbers) < 2 or "return" not in text:
            return None
        culprit = _culprit(case, numbers[0], numbers[1])
        if culprit is None:
            return None
        event, place = culprit
        inputs, given = numbers[:2]
        return case.finding(
            self, place or event.place,
            f"the gradient function of `{event.name}` returns {_count(given, 'value')}, and "
            f"`{event.name}` has {_count(inputs, 'input')}.",
            f"return exactly {_count(inputs, 'gradient')} here"
            + (", one for each input in their order" if inputs > 1 else ""),
            event=event, change=changes.seen("the exception says so"), edit=_edit(place, inputs),
            also=[(event.place, "called here")] if place is not None else [],
        )  # fmt: skip


def _culprit(case: Case, inputs: int, given: int) -> tuple[Event, Place | None] | None:
    """The custom gradient on the way to the target that fits the numbers, the last one first."""
    customs = [e for e in makers(ancestors(case.targets)) if e.kind == "CustomGradient"]
    customs.sort(key=lambda e: (_written(e) == given, len(e.inputs) == inputs, e.time))
    return (customs[-1], returned(customs[-1])[0]) if customs else None


def _mismatch(case: Case) -> list[int]:
    """The inputs of a custom gradient, and how many values it returns, where they differ."""
    events = makers(ancestors(case.targets))
    pairs = [(len(e.inputs), _written(e)) for e in events if e.kind == "CustomGradient"]
    return next(([a, b] for a, b in pairs if b is not None and a != b), [])


def _edit(place: Place | None, inputs: int) -> str | None:
    """The `return` without the values of None that are too many."""
    statement = place.statement if place is not None else None
    value = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(value, ast.Tuple) or not 0 < inputs < len(value.elts):
        return None
    kept, rest = value.elts[:inputs], value.elts[inputs:]
    if not all(isinstance(part, ast.Constant) and part.value is None for part in rest):
        return None
    return "return " + ", ".join(ast.unparse(part) for part in kept)


def _written(event: Event) -> int | None:
    """How many values its gradient function returns, by the source."""
    place = returned(event)[0]
    node = place.node if place is not None else None
    if place is not None and node is None and isinstance(place.statement, ast.Return):
        node = place.statement.value
    if isinstance(node, (ast.Tuple, ast.List)):
        return len(node.elts)
    return None if node is None else 1


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


RULE = CustomGradientArity()
