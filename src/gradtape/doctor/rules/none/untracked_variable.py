"""GT119 untracked-variable: used and held by the model, but not among its variables."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...facts import names
from ...facts.case import Case
from ...trace import Answer, Variable
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import reaching

# Properties and methods that promise all variables of an object.
ALL = frozenset({
    "trainable_variables", "trainable_weights", "variables", "weights", "parameters", "params",
    "get_params", "get_variables", "all_variables",
})  # fmt: skip


class UntrackedVariable(Rule):
    code, name, states = "GT119", "untracked-variable", frozenset({"none"})
    title = "a variable of the model is used, but missing in its trainable_variables"
    lesson = """\
`tf.Module` finds variables in its attributes: directly, in lists, tuples and dictionaries, and
in other modules. It does not look into objects of other classes, sets, or functions. A variable
that is kept there works in the forward pass and never gets a gradient, because nobody asks for
one. Make the class that holds it a tf.Module, or keep the variable in an attribute of its own."""
    failing = """\
class Head:
    def __init__(self):
        self.bias = tf.Variable(0.5)

class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(2.0)
        self.head = Head()

    def __call__(self, x):
        return self.w * x + self.head.bias

net = Net()
with tf.GradientTape() as tape:
    loss = tf.square(net(3.0) - 1.0)
grads = tape.gradient(loss, net.trainable_variables)
"""
    cured = failing.replace(
        "class Head:\n    def __init__(self):\n",
        "class Head(tf.Module):\n    def __init__(self):\n        super().__init__()\n",
    )
    ignore = """\
When the variable is hidden on purpose, because another loss trains it; then make it
trainable=False or stop its gradient, to say so."""

    def examine_query(self, case: Case) -> Iterable[Finding]:
        if not case.query.answers or case.query.error is not None:
            return
        holder = _holder(case)
        if holder is None:
            return
        text, thing, own = holder
        for variable in reaching(case):
            name = names.holds(thing, variable.owner, text)
            if name is None:
                continue
            yield self._found(case, variable, name, text, sure=not own)

    def _found(self, case: Case, variable: Variable, name: str, text: str, sure: bool) -> Finding:
        (_, node) = names.arguments(case.query.place, "target", "sources")
        asked = ast.unparse(node) if node is not None else "the sources"
        answer = Answer(variable, name, None, state="none")
        own = Case(case.trace, case.query, answer, case.history)
        inner = name.rpartition(".")[0]
        fix = (
            f"make the class of `{inner}` a `tf.Module`"
            if inner != text
            else (f"add `{name}` to what `{asked}` returns")
        )
        return own.finding(
            self, variable.made or case.query.place,
            f"`{case.query.target_name}` depends on `{name}`, but `{asked}` does not include it, "
            "so nobody asks for its gradient.",
            f"{fix}, or ask for it: `[*{asked}, {name}]`",
            sure=sure, also=[(case.query.place, "asked for without it")],
        )  # fmt: skip


def _holder(case: Case) -> tuple[str, object, bool] | None:
    """The object all of whose variables were asked for, and whether its own code lists them."""
    (_, node) = names.arguments(case.query.place, "target", "sources")
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        node = node.func
    if not isinstance(node, ast.Attribute) or node.attr not in ALL:
        return None
    text = ast.unparse(node.value)
    thing: object = case.query.scope.get(text.partition(".")[0])
    for part in text.split(".")[1:]:
        thing = getattr(thing, part, None) if part.isidentifier() else None
    if thing is None:
        return None
    # A class that says itself which variables it has may leave some out on purpose.
    module = getattr(_origin(type(thing), node.attr), "__module__", "")
    library = module.partition(".")[0] in ("gradtape", "tensorflow", "keras")
    if not library and node.attr in ("trainable_variables", "trainable_weights"):
        return None
    return text, thing, not library


def _origin(cls: type, name: str) -> type | None:
    return next((c for c in cls.__mro__ if name in vars(c)), None)


RULE = UntrackedVariable()
