"""GT116 variable-rebound: the name of the variable now means a tensor."""

from __future__ import annotations

import ast
from collections import deque
from itertools import pairwise
from types import CodeType

from ...facts.case import Case, ErrorCase
from ...facts.graph import ancestors
from ...source import flow
from ...source.place import Place, at, parents
from ...trace import Event, Value, Variable
from ...trace.finding import Finding
from ..base import Rule

METHODS = ("assign", "assign_add", "assign_sub")
STEPS = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
_LOOPS = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)


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
        event, name = source.maker, case.answer.name
        called = _called(case, event)
        place = self._place(event, called)
        former = None if place is None else _former(case, source, called)
        if place is None or former is None:
            return None
        also = [(former.made, "the variable was made here")] if former.made else []
        if case.query.place.code in [code for code, _ in _frames(event)[: _depth(event, place)]]:
            # Made by the very function that asks for the gradient: there it is to be mended.
            also.insert(0, (place, f"`{called[-1]}` gets it here"))
            place = event.place
        return case.finding(
            self, place,
            f"this line made `{name}` a tensor: the variable it was is no longer updated, and a "
            "tape does not watch a tensor by itself.",
            self._fix(name, place), event=event, also=also, edit=self._edit(place),
        )  # fmt: skip

    def examine_error(self, case: ErrorCase) -> Finding | None:
        statement = case.place.statement
        if isinstance(case.error, RuntimeError) and isinstance(statement, ast.AugAssign):
            return self._in_place(case, statement) if "tf.Variable" in str(case.error) else None
        method = getattr(case.error, "name", None)
        if not isinstance(case.error, AttributeError) or method not in METHODS:
            return None
        it = case.error.obj
        it = getattr(it, "_twin", it)  # what the log of gradtape's engine has of a tensor
        made = [v.maker for v in case.trace.values if v.thing is it]
        if not made or made[-1] is None:
            return None
        event, call = made[-1], case.place.node
        call = call.func if isinstance(call, ast.Call) else call
        name = ast.unparse(call.value) if isinstance(call, ast.Attribute) else "it"
        former = [v.variable for v in ancestors(event.outputs) if v.variable is not None]
        former = [v for v in former if v.made and v.made.file == event.place.file]
        if not former:
            return None
        return case.finding(
            self, event.place,
            f"this line made a tensor of the variable, and a tensor has no `{method}`.",
            f"keep `{name}` a variable: assign to it, or give the tensor another name",
            edit=self._edit(event.place), source=name, sources=[name],
            also=[(case.place, f"`{name}` is a tensor by now")],
        )  # fmt: skip

    def _in_place(self, case: ErrorCase, statement: ast.AugAssign) -> Finding:
        name, method = ast.unparse(statement.target), STEPS.get(type(statement.op))
        given = ast.unparse(statement.value)
        if method is None:
            sign = ast.unparse(ast.BinOp(ast.Name("a"), statement.op, ast.Name("b")))[1:-1].strip()
            edit = f"{name}.assign({name} {sign} ({given}))"
        else:
            edit = f"{name}.{method}({given})"
        return case.finding(
            self, case.place,
            f"this line would make `{name}` a new tensor instead of updating the variable, and "
            "TensorFlow refuses it.",
            f"update the variable in place: `{edit}`", edit=edit, source=name, sources=[name],
        )  # fmt: skip

    def _place(self, event: Event, called: list[str]) -> Place | None:
        """Where the name got the new value: there, or at the call of what computed it."""
        for frame in _frames(event):
            place = at(*frame)
            if any(_same(bound, name) for bound in flow.bound_at(place) for name in called):
                return place
        return None

    def _edit(self, place: Place) -> str | None:
        node, statement = place.node, place.statement
        if not isinstance(statement, ast.Assign) or statement.value is not node:
            return None
        if len(statement.targets) > 1 or isinstance(statement.targets[0], (ast.Tuple, ast.List)):
            return None
        target = ast.unparse(statement.targets[0])
        if isinstance(node, ast.BinOp) and ast.unparse(node.left) == target:
            method = STEPS.get(type(node.op))
            if method is not None:
                return f"{target}.{method}({ast.unparse(node.right)})"
        return f"{target}.assign({ast.unparse(statement.value)})"

    def _fix(self, name: str, place: Place) -> str:
        edit, node = self._edit(place), place.node
        if edit is None and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            kept = f"{ast.unparse(node.left)}.assign_sub({ast.unparse(node.right)})"
            if any(isinstance(n, _LOOPS) for n in parents(place)):
                return f"keep the variables and update them in a loop: `{kept}`"
        return f"update the variable in place: `{edit or f'{name}.assign(...)'}`"


def _same(bound: str, name: str) -> bool:
    """Does a statement that binds this name give that one another value?"""
    if "." in bound:  # `self.w` in a method is `model.w` elsewhere
        return bound.rpartition(".")[2] == _plain(name).rpartition(".")[2] and "." in name
    return bound == _plain(name) or bound == _plain(name).partition(".")[0]


def _plain(name: str) -> str:
    """`params` of `params[0]`."""
    return name.partition("[")[0]


def _frames(event: Event) -> list[tuple[CodeType, int]]:
    return [(event.place.code, event.place.offset), *event.outer]


def _depth(event: Event, place: Place) -> int:
    """How many functions deep a tensor was made, seen from where its name stands."""
    return next(k for k, frame in enumerate(_frames(event)) if at(*frame) == place)


def _called(case: Case, event: Event) -> list[str]:
    """The name of the source, and what it is where a parameter of that name is given: `weights`
    of `step(weights)`, if the source is `ws` in `def step(ws)`."""
    name, code = case.answer.name, case.query.place.code
    calls = [at(*outer) for inner, outer in pairwise(_frames(event)) if inner[0] is code]
    given = [flow.arguments(call, code).get(_plain(name).partition(".")[0]) for call in calls]
    return [name, *(ast.unparse(node) for node in given if node is not None)]


def _former(case: Case, source: Value, called: list[str]) -> Variable | None:
    """The variable that the name stood for: when it was asked for before, or where it was made."""
    number = case.query.answers.index(case.answer)
    asked = [
        query.answers[number].source
        for query in case.trace.queries
        if query.place == case.query.place and len(query.answers) > number
    ]
    for variable in sorted(_above(source), key=lambda v: v not in asked):
        made = [] if variable.made is None else flow.names_of(variable.made)
        if variable in asked or any(_same(bound, name) for bound in made for name in called):
            return variable
    return None


def _above(source: Value) -> list[Variable]:
    """The variables that a tensor was computed from, the nearest first: of `w - 0.1 * grad` that is
    `w`, and what the gradient was computed from comes last."""
    found: dict[Variable, None] = {}
    later: list[Value] = []
    seen, queue = {source}, deque([source])
    while queue or later:
        value = queue.popleft() if queue else later.pop(0)
        if value.variable is not None:
            found[value.variable] = None
        maker = value.maker
        for given in maker.inputs if maker is not None else ():
            if given not in seen:
                seen.add(given)
                (later if maker is not None and maker.way == "gradient" else queue).append(given)
    return list(found)


RULE = VariableRebound()
