"""GT123 inactive-branch: the source is used only in a branch that was not taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

from ...facts.case import Case
from ...source import flow, sources
from ...source.place import Written, full_name, tree
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import uses

CHOICES = (".cond", ".case", ".switch_case")


class InactiveBranch(Rule):
    code, name, states = "GT123", "inactive-branch", frozenset({"none"})
    title = "the source is used in a branch that was not taken"
    lesson = """\
Only what ran is on the tape. A variable that stands in the other branch of an `if`, a `tf.cond`
or a conditional expression was not read, and this loss does not depend on it: its gradient is
None, not 0. To train both branches with every example, compute both and choose with `tf.where`."""
    failing = """\
low, high = tf.Variable(2.0), tf.Variable(3.0)
x = tf.constant(0.4)
with tf.GradientTape() as tape:
    y = tf.cond(x > 0.5, lambda: high * x, lambda: low * x)
grads = tape.gradient(y, [low, high])
"""
    cured = """\
low, high = tf.Variable(2.0), tf.Variable(3.0)
x = tf.constant([0.4, 0.7])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.where(x > 0.5, high * x, low * x))
grads = tape.gradient(y, [low, high])
"""
    ignore = """\
When each example is meant to train one branch: skip the None, or ask with
unconnected_gradients="zero"."""

    def examine(self, case: Case) -> Finding | None:
        if case.variable is None or case.path is not None or uses(case):
            return None
        for code in _codes(case):
            for choice, use in _skipped(case, code):
                return self._found(case, code, choice, use)
        return None

    def _found(self, case: Case, code: CodeType, choice: ast.AST, use: ast.expr) -> Finding:
        call = isinstance(choice, ast.Call)
        where = choice if call else choice.test  # type: ignore[attr-defined]
        what = "`tf.cond`" if call else f"`if {ast.unparse(where)}`"
        name = case.answer.name
        return case.finding(
            self, Written(code, where),  # type: ignore[arg-type]
            f"`{name}` is used in line {use.lineno}, in the branch of {what} that was not taken.",
            "compute both branches and choose with `tf.where`, or skip the sources whose gradient "
            "is None",
            mends=False, also=[(Written(code, use), "did not run")],
        )  # fmt: skip


def _codes(case: Case) -> list[CodeType]:
    """The functions that computed something while the tape recorded."""
    found: dict[CodeType, None] = {}
    for event in case.trace.events:
        if case.tape.number in event.tapes and event.way == "op":
            for code in (event.place.code, *(c for c, _ in event.outer)):
                found[code] = None
    found[case.tape.place.code] = None
    return list(found)


def _skipped(case: Case, code: CodeType) -> Iterator[tuple[ast.AST, ast.expr]]:
    """The choices of a function with a branch that mentions the source and did not run."""
    lines, spans = _ran(case, sources.file_of(code))
    name = case.answer.name
    for statement in flow.statements(code):
        for node in ast.walk(statement):
            for branch in _branches(code, node):
                first, last = branch[0], branch[-1]
                use = next((u for part in branch for u in _mentions(part, name)), None)
                if use is None:
                    continue
                if isinstance(first, ast.stmt):
                    ran = any(first.lineno <= n <= (last.end_lineno or 0) for n in lines)
                else:
                    ran = any(_holds(first, span) for span in spans)
                if not ran:
                    yield node, use


def _ran(case: Case, file: str) -> tuple[set[int], set[tuple]]:
    events = [
        e for e in case.trace.events
        if case.tape.number in e.tapes and e.place.file == file
    ]  # fmt: skip
    return {e.place.line for e in events}, {e.place.span for e in events}


def _branches(code: CodeType, node: ast.AST) -> Iterator[list]:
    if isinstance(node, ast.If):
        yield from (part for part in (node.body, node.orelse) if part)
    elif isinstance(node, ast.IfExp):
        yield from ([node.body], [node.orelse])
    elif isinstance(node, ast.Call) and _name(code, node).endswith(CHOICES):
        for given in [*node.args, *(k.value for k in node.keywords)]:
            for part in ast.walk(given):
                if isinstance(part, ast.Lambda):
                    yield [part.body]
                elif isinstance(part, ast.Name):
                    yield from _defined(code, part.id)


def _defined(code: CodeType, name: str) -> Iterator[list[ast.stmt]]:
    whole = tree(sources.file_of(code))
    for node in ast.walk(whole) if whole is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            yield node.body


def _tail(name: str) -> str:
    """`w` of `model.w`, `experts[1]` of `self.experts[1]`."""
    bare, bracket, rest = name.partition("[")
    return bare.rpartition(".")[2] + bracket + rest


def _mentions(node: ast.AST, name: str) -> Iterator[ast.expr]:
    """Where a part of the program takes it: `w`, or `self.w` for what is `model.w` outside."""
    tail = _tail(name)
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and _tail(ast.unparse(part)) == tail:
            yield part
        if not isinstance(part, ast.Attribute if "." in name else ast.Name):
            continue
        called = part.attr if isinstance(part, ast.Attribute) else part.id
        if called == tail and isinstance(part.ctx, ast.Load):
            yield part


def _holds(node: ast.expr, span: tuple) -> bool:
    start, stop = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= span[:2] and span[2:] <= stop


def _name(code: CodeType, node: ast.Call) -> str:
    return full_name(sources.file_of(code), node.func)


RULE = InactiveBranch()
