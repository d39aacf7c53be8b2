"""GT130 integer-source: the source holds whole numbers."""

from __future__ import annotations

import ast

import numpy as np

from ....traits import Family
from ...facts.case import Case
from ...source import sources
from ...source.place import Place, span_of
from ...trace import Value
from ...trace.finding import Finding
from ..base import Rule


class IntegerSource(Rule):
    code, name, states = "GT130", "integer-source", frozenset({"none"})
    title = "the source is a tensor or variable of integers"
    lesson = """\
A gradient says what a small change does, and integers have no small changes: a tape does
not follow integers, also if the program casts them to floats later. `tf.Variable(3)` is int32;
write `tf.Variable(3.0)`. NumPy makes integers of `np.array([1, 2])` in the same way."""
    failing = """\
n = tf.Variable(3)
with tf.GradientTape() as tape:
    y = tf.cast(n, tf.float32) * 2.0
grad = tape.gradient(y, n)
"""
    cured = """\
n = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = n * 2.0
grad = tape.gradient(y, n)
"""
    ignore = "Never: take integers out of the sources."

    def examine(self, case: Case) -> Finding | None:
        values = [v for v in case.nodes if v.array is not None]
        if not values or values[0].floating or values[0].dtype.kind not in "iub":
            return None
        if case.path is None and case.targets:
            return None  # as a float it would have no gradient either
        name, kind = case.answer.name, values[0].dtype.name
        what = "truth values" if kind == "bool" else "integers"
        index = case.cut is not None and case.cut.cause == "gather-index"
        # Ids are whole numbers by nature: not they are to be changed, but what is asked for.
        place = _watched(case, values[0]) if index else _made(case, values[0])
        return case.finding(
            self, place or case.query.place,
            f"`{name}` is {kind}: {what} have no gradient.",
            _instead(case, name) if index
            else f"make `{name}` a float, such as `tf.float32`, where it is made",
            edit=None if index else _edit(place), also=[(case.query.place, "asked for here")],
        )  # fmt: skip


def _instead(case: Case, name: str) -> str:
    """What to ask for in the place of ids."""
    cut = case.cut
    if cut is not None and cut.event.is_a(Family.GATHERS) and np.ndim(cut.output.array) > 1:
        taken = f"`{cut.event.place.brief}`"
        if cut.event.layer is not None:
            taken = f"layer `{cut.event.layer.name}`"
        return (
            f"leave `{name}` out of the sources, or ask for the gradient by the vectors that "
            f"{taken} gives"
        )
    return (
        f"leave `{name}` out of the sources, or weight all entries with something smooth such as "
        "`tf.nn.softmax`"
    )


def _watched(case: Case, value: Value) -> Place | None:
    """Where the program itself had the tape watch it."""
    return next((w.place for w in case.tape.watches_of(value) if not w.automatic), None)


def _made(case: Case, value: Value) -> Place | None:
    if case.variable is not None:
        return case.variable.made
    return value.place or (value.maker.place if value.maker is not None else None)


def _edit(place: Place | None) -> str | None:
    """The line with its whole numbers as floats: `tf.Variable(3.0)` of `tf.Variable(3)`."""
    node = place.node if place is not None else None
    if place is None or not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    if node.lineno != node.end_lineno:
        return None
    parts = [n for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant)]
    numbers = [n for n in parts if type(n.value) is int]
    shapes = (ast.Constant, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
    if (
        not numbers
        or numbers != parts
        or not all(isinstance(n, shapes) for n in ast.walk(node.args[0]))
    ):
        return None
    text = sources.line(place.file, node.lineno).rstrip("\n")
    for number in sorted(numbers, key=lambda n: n.col_offset, reverse=True):
        stop = span_of(place.file, number)[3]
        text = f"{text[:stop]}.0{text[stop:]}"
    return text.strip()


RULE = IntegerSource()
