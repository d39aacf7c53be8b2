"""GT138 nontrainable-sources: moving statistics and seeds are among what the gradient is asked for.

A variable that the user names in the call is left to GT106.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

from ...facts import changes, names
from ...facts.case import Case
from ...source import edits, flow
from ...source.place import Place, Written, nodes, span_of
from ...trace import Variable
from ...trace.finding import Finding
from ..base import Rule

NEVER = {
    "non_trainable_variables": "trainable_variables",
    "non_trainable_weights": "trainable_weights",
}
KINDS = {"variables": "trainable_variables", "weights": "trainable_weights", **NEVER}
PARAMETERS = ("target", "sources")
LATER = ("target", "source")  # as `jacobian` has them


class NontrainableSources(Rule):
    code, name, states = "GT138", "nontrainable-sources", frozenset({"none"})
    cause, needs = "nontrainable-variable", "keras"
    title = "the gradient is asked for all variables of a model, also for those that never train"
    lesson = """\
`model.variables` and `model.weights` hold everything that a model keeps: its weights, and beside
them the moving mean and variance of batch normalisation, the state of random seeds, counters.
These are updated by the layers themselves, and no tape watches them: their gradient is None.
`model.trainable_variables` leaves them out."""
    failing = """\
bn = tf.keras.layers.BatchNormalization()
x = tf.constant([[0.5, 1.0], [1.5, -1.0], [0.2, 0.4]])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sin(bn(x, training=True)))
grads = tape.gradient(loss, bn.variables)
"""
    cured = """\
bn = tf.keras.layers.BatchNormalization()
x = tf.constant([[0.5, 1.0], [1.5, -1.0], [0.2, 0.4]])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sin(bn(x, training=True)))
grads = tape.gradient(loss, bn.trainable_variables)
"""
    ignore = "When the None are skipped: then nothing is lost."

    def examine(self, case: Case) -> Finding | None:
        variable = case.variable
        if variable is None or variable.trainable or case.tape.watched(variable):
            return None
        found = case.question.once(self, lambda: _asked(case))
        if found is None:
            return None
        place, node, also = found
        whole = ast.unparse(node)
        better = f"{ast.unparse(node.value)}.{KINDS[node.attr]}"
        return case.finding(
            self, place,
            f"`{whole}` also holds `{case.answer.name}`, which is not trainable, so no tape "
            "watches it.",
            f"ask for `{better}`", also=also,
            change=changes.seen("a tape watches by itself only what is trainable"),
            why_not="no gradient trains it",
            edit=None if also else _everywhere(place),
        )  # fmt: skip


def _asked(case: Case) -> tuple[Place, ast.Attribute, list[tuple[Place, str]]] | None:
    """The call, the attribute of a model that gave the sources, and the line that took it, if that
    is another one."""
    node, place = _sources(case), case.query.place
    sources = [a.source for a in case.query.answers if isinstance(a.source, Variable)]
    if not any(v.trainable for v in sources) and not _attributes(node, NEVER):
        return None  # all are kept out of training on purpose, and meant
    written = _attributes(node, KINDS)
    if written:
        return place, written[0], []
    for part in () if node is None else ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute)):
            for statement, code in _bindings(place, ast.unparse(part)):
                written = _attributes(statement.value, KINDS)
                if written:
                    return place, written[0], [(Written(code, statement), "they come from here")]
    return None


def _sources(case: Case) -> ast.expr | None:
    for parameters in (PARAMETERS, LATER):
        _, sources = names.arguments(case.query.place, *parameters)
        if sources is not None:
            return sources
    return None


def _attributes(node: ast.AST | None, known: dict[str, str]) -> list[ast.Attribute]:
    """`model.variables` and its like in an expression."""
    parts = () if node is None else ast.walk(node)
    return [part for part in parts if isinstance(part, ast.Attribute) and part.attr in known]


Gives = ast.Assign | ast.AugAssign | ast.Expr | ast.Return


def _bindings(place: Place, name: str) -> Iterator[tuple[Gives, CodeType]]:
    """The statements that fill a name in the function that asks, else in its file: of an attribute,
    in the method that sets it, or in the one that returns it."""
    own = flow.statements(place.code)
    for statement in (*own, *nodes(place.file)):
        gives = isinstance(statement, (ast.Assign, ast.AugAssign, ast.Expr))
        if gives and name in flow.bound(statement):
            yield statement, place.code  # type: ignore[misc]
    for function in nodes(place.file):
        if isinstance(function, ast.FunctionDef) and function.name == name.rpartition(".")[2]:
            for part in ast.walk(function):
                if isinstance(part, ast.Return) and part.value is not None:
                    yield part, place.code


def _everywhere(place: Place) -> str | None:
    """The line of the call with all such attributes exchanged."""
    call = place.node
    if call is None:
        return None
    line, start, last, _ = span_of(place.file, call)
    if line != last:
        return None
    text = edits.text(place, call)
    for part in sorted(_attributes(call, KINDS), key=lambda n: n.end_col_offset or 0, reverse=True):
        stop = span_of(place.file, part)[3] - start
        text = text[: stop - len(part.attr)] + KINDS[part.attr] + text[stop:]
    return edits.replaced(place, text)


RULE = NontrainableSources()
