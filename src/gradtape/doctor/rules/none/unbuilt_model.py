"""GT122 unbuilt-model: there were no variables yet when the sources were listed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...facts import names
from ...facts.case import Case
from ...source import flow
from ...source.place import Place, Written, nodes
from ...trace import Answer
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import called, reaching


class UnbuiltModel(Rule):
    code, name, states = "GT122", "unbuilt-model", frozenset({"none"})
    title = "the list of sources is empty: it was read before the variables were made"
    lesson = """\
Layers that make their variables at the first call have none before it:
`model.trainable_variables` read too early is an empty list, and stays one. The gradient of
nothing is an empty list, and an optimizer says "No gradients provided". Read the list after the
first call, best where the gradient is asked for."""
    failing = """\
class Scale(tf.Module):
    w = None
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.ones(x.shape[-1]))
        return x * self.w

net = Scale()
weights = net.trainable_variables
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(net(tf.constant([[1.0, 2.0]])))
grads = tape.gradient(loss, weights)
"""
    cured = """\
class Scale(tf.Module):
    w = None
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(tf.ones(x.shape[-1]))
        return x * self.w

net = Scale()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(net(tf.constant([[1.0, 2.0]])))
grads = tape.gradient(loss, net.trainable_variables)
"""
    ignore = "When there is nothing to train, and an empty list is right."

    def examine_query(self, case: Case) -> Iterable[Finding]:
        if case.query.answers or case.query.error is not None:
            return
        made = reaching(case)
        if not made:
            return
        text, place = _sources(case.query.place)
        found = ", ".join(f"`{name}`" for v in made[:3] if (name := called(case, v)))
        answer = Answer(made[0], text, None, state="none")
        own = Case(case.trace, case.query, answer, case.history)
        later = [v.made for v in made[:1] if v.made is not None and v.time >= 0]
        yield own.finding(
            self, place or case.query.place,
            f"`{text}` was empty when it was read, and `{case.query.target_name}` was computed "
            f"with {found or 'variables that were made later'}.",
            f"read `{text if place is None else place.text}` after "
            "the first call, where the gradient is asked for",
            also=[(p, "the variable is made here") for p in later],
        )  # fmt: skip


def _sources(call: Place) -> tuple[str, Place | None]:
    """The text of the sources, and where a name for them was given its value."""
    (_, node) = names.arguments(call, "target", "sources")
    if node is None:
        return "the list of sources", None
    text = ast.unparse(node)
    given = [s for s in nodes(call.file) if isinstance(s, ast.Assign) and _means(s, node)]
    return text, Written(call.code, given[0].value) if len(given) == 1 else None


def _means(statement: ast.Assign, node: ast.expr) -> bool:
    """Does an assignment give this name its value, or this attribute of some object?"""
    if isinstance(node, ast.Attribute):
        return any(isinstance(t, ast.Attribute) and t.attr == node.attr for t in statement.targets)
    return ast.unparse(node) in set(flow.bound(statement))


RULE = UnbuiltModel()
