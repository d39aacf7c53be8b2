"""GT604 indexed-slices: arithmetic on the gradient of a gather, which is no tensor."""

from __future__ import annotations

import ast

from ....traits import Family
from ...facts.case import ErrorCase
from ...facts.graph import ancestors, makers
from ...source import flow, sources
from ...source.place import span_of
from ...trace import Answer, Event, Query
from ...trace.finding import Finding
from ..base import Rule


class IndexedSlices(Rule):
    code, name, states = "GT604", "indexed-slices", frozenset({"error"})
    title = "the gradient of a gather is IndexedSlices, and arithmetic on it fails"
    lesson = """\
The gradient of `tf.gather(table, rows)` and of an embedding lookup is zero except in the rows
that were taken. TensorFlow gives it as `tf.IndexedSlices`, rows and their numbers, to save
memory. Optimizers and `tf.convert_to_tensor` understand it; plain arithmetic and `.numpy()` do
not."""
    failing = """\
table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
with tf.GradientTape() as tape:
    rows = tf.gather(table, [0, 2])
    loss = tf.reduce_sum(rows * rows)
grad = tape.gradient(loss, table)
table.assign_sub(0.1 * grad)
"""
    cured = """\
table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
with tf.GradientTape() as tape:
    rows = tf.gather(table, [0, 2])
    loss = tf.reduce_sum(rows * rows)
grad = tape.gradient(loss, table)
table.assign_sub(0.1 * tf.convert_to_tensor(grad))
"""
    ignore = "Never: it is an error."

    def examine_error(self, case: ErrorCase) -> Finding | None:
        if "IndexedSlices" not in str(case.error):
            return None
        if not isinstance(case.error, (TypeError, ValueError, AttributeError, NotImplementedError)):
            return None
        found = _sparse(case)
        if found is None:
            return None
        query, answer, gather = found
        name = _name(case, query)
        where = f" in line {gather.place.line}" if gather is not None else ""
        return case.finding(
            self, case.place,
            f"the gradient of `{answer.name or 'the source'}` is IndexedSlices, because it was "
            f"taken by rows{where}, and this expression needs a tensor.",
            f"make it a tensor first: `tf.convert_to_tensor({name or 'gradient'})`",
            edit=_edit(case, name), source=answer.name, sources=[answer.name],
            target=query.target_name,
            also=[(gather.place, "the rows are taken here")] if gather is not None else [],
        )  # fmt: skip


def _sparse(case: ErrorCase) -> tuple[Query, Answer, Event | None] | None:
    """The last answer that was no tensor, and the op that made it so."""
    for query in reversed(case.trace.queries):
        for answer in query.answers:
            if answer.sparse:
                _named(case, query)
                values = ancestors([t for t in query.targets if hasattr(t, "maker")])
                gathers = [
                    e for e in makers(values) if e.is_a(Family.GATHERS) and e.inputs
                    and (e.inputs[0].variable or e.inputs[0]) is answer.source
                ]  # fmt: skip
                return query, answer, gathers[-1] if gathers else None
    return None


def _named(case: ErrorCase, query: Query) -> None:
    record = case.history.records.get(query.place)
    if record is not None:
        query.target_name = record.target
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name = line.name


def _name(case: ErrorCase, query: Query) -> str | None:
    """The name in the failing expression that holds the answer."""
    parts = [n for node in flow.operands(case.place) for n in ast.walk(node)]
    used = [n.id for n in parts if isinstance(n, ast.Name)]
    if query.place.code is not case.place.code:
        return used[0] if len(used) == 1 else None
    bound = flow.spread(query.place.code, flow.bound_at(query.place))
    return next((name for name in used if name in bound), None)


def _edit(case: ErrorCase, name: str | None) -> str | None:
    node = case.place.node
    if name is None or node is None or node.lineno != node.end_lineno:  # type: ignore[attr-defined]
        return None
    uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    if len(uses) != 1:
        return None
    text = sources.line(case.place.file, uses[0].lineno).rstrip("\n")
    _, start, _, stop = span_of(case.place.file, uses[0])
    return f"{text[:start]}tf.convert_to_tensor({name}){text[stop:]}".strip()


RULE = IndexedSlices()
