"""GT116 variable-rebound: the name of the variable now means a tensor."""

from __future__ import annotations

import ast

from .. import flow
from ..case import Case
from ..finding import Finding
from ..graph import ancestors
from ..trace import Value
from .base import Rule


class VariableRebound(Rule):
    code, name, states = "GT116", "variable-rebound", frozenset({"none"})
    title = "w = w - ... turned the variable into a tensor"
    lesson = """\
Arithmetic with a variable gives a tensor. `w = w - rate * g` does not change the variable: it gives
its name to a new tensor, which the next tape does not watch, so the next gradient is None.
`w.assign_sub(rate * g)` changes the variable itself."""
    failing = """\
w = tf.Variable(2.0)
for step in range(2):
    with tf.GradientTape() as tape:
        loss = w * w
    grad = tape.gradient(loss, w)
    if grad is not None:
        w = w - 0.1 * grad
"""
    cured = """\
w = tf.Variable(2.0)
for step in range(2):
    with tf.GradientTape() as tape:
        loss = w * w
    grad = tape.gradient(loss, w)
    w.assign_sub(0.1 * grad)
"""
    ignore = "Never in a training loop."

    def examine(self, case: Case) -> Finding | None:
        source = case.source
        if not isinstance(source, Value) or source.variable is not None or source.maker is None:
            return None
        if case.tape.watches_of(source):
            return None
        former = [v.variable for v in ancestors([source]) if v.variable is not None]
        rebinding = case.answer.name in flow.bound_at(source.maker.place)
        if not former or not rebinding:
            return None
        event, name = source.maker, case.answer.name
        return case.finding(
            self, event.place,
            f"this line made `{name}` a tensor: the variable it was is no longer updated, and a "
            "tape does not watch a tensor by itself.",
            self._fix(name, event.place.node), event=event,
            also=[(v.made, "the variable was made here") for v in former[:1] if v.made],
            edit=self._edit(name, event.place.node),
        )  # fmt: skip

    def _edit(self, name: str, node: ast.AST | None) -> str | None:
        methods = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
        if isinstance(node, ast.BinOp) and ast.unparse(node.left) == name:
            method = methods.get(type(node.op))
            if method is not None:
                return f"{name}.{method}({ast.unparse(node.right)})"
        return None

    def _fix(self, name: str, node: ast.AST | None) -> str:
        edit = self._edit(name, node) or f"{name}.assign(...)"
        return f"update the variable in place: `{edit}`"


RULE = VariableRebound()
