"""Branches of the user's that did not run and mention a source, and how they would be decided now.

In a function that was traced, a Python condition was decided at that time, for all later calls.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any

from ..source import flow, sources
from ..source.place import Written, full_name, nodes, tree
from ..source.users import is_users
from .holding import holds

if TYPE_CHECKING:
    from .case import Case

CHOICES = (".cond", ".case", ".switch_case")
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(eq=False)
class Skipped:
    """A branch that did not run."""

    code: CodeType
    choice: ast.AST  # an `if`, a conditional expression, or a call of `tf.cond`
    use: ast.expr  # of the source, in the branch
    wanted: bool | None  # what the condition must be for it; None of a call

    @property
    def test(self) -> ast.expr:
        """The condition, or the call."""
        return self.choice if self.wanted is None else self.choice.test  # type: ignore

    @property
    def place(self) -> Written:
        return Written(self.code, self.test)


def skipped(case: Case) -> Iterator[Skipped]:
    """The branches that mention the source and did not run while the tape recorded."""
    for code in _codes(case):
        yield from _skipped(case, code)


def frozen(case: Case) -> Skipped | None:
    """A branch that was left out when its function was traced, and would be taken now."""
    for branch in skipped(case):
        if branch.wanted is not None and _now(case, branch) is branch.wanted:
            return branch
    return None


def exchanged(case: Case) -> Written | None:
    """An expression of a traced function that is the source now, and was another variable then."""
    sights = case.trace.sights
    owner = None if case.variable is None else case.variable.owner
    if sights is None or owner is None:
        return None
    around = outside(case)
    for event in case.trace.events:
        node = event.place.node
        if case.tape.number not in event.tapes or event.way != "op":
            continue
        for sight in sights.of(event.place.code):
            for part in _operands(node):
                if _is(sight, part, owner, around):
                    return Written(event.place.code, part)
    return None


def _operands(node: ast.AST | None) -> list[ast.expr]:
    """The names, attributes and entries that an expression takes at once."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Call):
        parts = [*node.args, *(k.value for k in node.keywords)]
    return [p for p in parts if isinstance(p, (ast.Name, ast.Attribute, ast.Subscript))]


def turning(case: Case, branch: Skipped) -> Callable[[], bool] | None:
    """Tells later whether a branch would be taken then, and holds nothing of the trace."""
    sights = _own(case, branch)
    if branch.wanted is None or not sights:
        return None
    return lambda: _decision(branch.test, sights, {}) is branch.wanted


def _now(case: Case, branch: Skipped) -> bool | None:
    """How the condition of a branch would be decided now; None when that cannot be said."""
    return _decision(branch.test, _own(case, branch), outside(case))


def _own(case: Case, branch: Skipped) -> list[Any]:
    """What the function of a branch could see when it was traced, for this source."""
    if case.trace.sights is None:
        return []
    every = case.trace.sights
    sights = every.of(branch.code) or [s for s in every.everything() if s.code is branch.code]
    sights = sights or list(_called(every, branch))
    owner, around = case.variable and case.variable.owner, outside(case)
    return [s for s in sights if _is(s, branch.use, owner, around)] or sights


def _decision(test: ast.expr, sights: list[Any], around: dict[str, Any]) -> bool | None:
    found = set()
    for sight in sights:
        try:
            found.add(sight.truth(test, around))
        except Exception:  # whatever stands there
            return None
    return found.pop() if len(found) == 1 else None


def _called(sights: Any, branch: Skipped) -> Iterator[Any]:
    """What a function could see of its module that computed nothing itself, and that one which was
    traced calls by its name."""
    file = sources.file_of(branch.code)
    inside = [
        node for node in nodes(file) if isinstance(node, ast.FunctionDef)
        and any(part is branch.test for part in ast.walk(node))
    ]  # fmt: skip
    if not inside:
        return
    function = inside[-1]
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    own |= {name for part in function.body for name in flow.bound(part)}
    for code in sights.codes():
        if function.name in code.co_names and sources.file_of(code) == file:
            for sight in sights.of(code):
                yield sight.of_module(own)


def _is(sight: Any, node: ast.expr, owner: Any, around: dict[str, Any]) -> bool:
    try:
        return owner is not None and sight.value(node, around) is owner
    except Exception:  # whatever stands there
        return False


def outside(case: Case) -> dict[str, Any]:
    """Names of the functions that run just now which those inside of them see."""
    found: dict[str, Any] = case.question.once(outside, lambda: _running(case))
    return found


def _running(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = {}
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_cellvars and is_users(frame.f_globals.get("__name__")):
            held = {
                name: frame.f_locals[name] for name in code.co_cellvars if name in frame.f_locals
            }
            found = {**held, **found}
        frame = frame.f_back  # type: ignore[assignment]
    code, scope = case.query.place.code, case.query.scope
    return {**found, **{name: scope[name] for name in code.co_cellvars if name in scope}}


def _codes(case: Case) -> list[CodeType]:
    """The functions that computed something while the tape recorded."""
    found: dict[CodeType, None] = {}
    for event in case.trace.events:
        if case.tape.number in event.tapes and event.way == "op":
            for code in (event.place.code, *(c for c, _ in event.outer)):
                found[code] = None
    found[case.tape.place.code] = None
    if case.trace.sights is not None:  # and those that they call, which may compute nothing
        for sight in case.trace.sights.everything():
            if sight.by in found:
                found[sight.code] = None
    return list(found)


def _skipped(case: Case, code: CodeType) -> Iterator[Skipped]:
    lines, spans = _ran(case, sources.file_of(code))
    called = [case.answer.name, *case.answer.aliases]
    for statement in flow.statements(code):
        for node in ast.walk(statement):
            for branch, wanted in _branches(code, node):
                first, last = branch[0], branch[-1]
                use = next(
                    (u for part in branch for name in called for u in _mentions(part, name)), None
                )
                use = use or next((u for part in branch for u in _holders(case, code, part)), None)
                if use is None:
                    continue
                if isinstance(first, ast.stmt):
                    ran = any(first.lineno <= n <= (last.end_lineno or 0) for n in lines)
                else:
                    ran = any(_holds(first, span) for span in spans)
                if not ran:
                    yield Skipped(code, node, use, wanted)


def _ran(case: Case, file: str) -> tuple[set[int], set[tuple]]:
    events = [
        e for e in case.trace.events
        if case.tape.number in e.tapes and e.place.file == file
    ]  # fmt: skip
    return {e.place.line for e in events}, {e.place.span for e in events}


def _branches(code: CodeType, node: ast.AST) -> Iterator[tuple[list, bool | None]]:
    if isinstance(node, ast.If):
        if node.body:
            yield node.body, True
        if node.orelse:
            yield node.orelse, False
        elif isinstance(node.body[-1], ENDS) and (rest := _after(code, node)):
            yield rest, False
    elif isinstance(node, ast.IfExp):
        yield [node.body], True
        yield [node.orelse], False
    elif isinstance(node, ast.Call) and _name(code, node).endswith(CHOICES):
        for given in [*node.args, *(k.value for k in node.keywords)]:
            for part in ast.walk(given):
                if isinstance(part, ast.Lambda):
                    yield [part.body], None
                elif isinstance(part, ast.Name):
                    for body in _defined(code, part.id):
                        yield body, None


def _after(code: CodeType, node: ast.If) -> list[ast.stmt]:
    """The statements that follow an `if` in its own block: they run when its body does not end."""
    function = flow.function_of(code)
    for outer in () if function is None else ast.walk(function):
        for block in (getattr(outer, "body", None), getattr(outer, "orelse", None)):
            if isinstance(block, list) and node in block:
                return block[block.index(node) + 1 :]
    return []


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
    """Where a part of the program takes it: `w`, or `self.w` for what is `model.w` outside; of
    `model.head.kernel` also `self.head`, the layer."""
    yield from _taken(node, name)
    owner = name.rpartition(".")[0]
    if "." in owner:
        yield from _taken(node, owner)


def _holders(case: Case, code: CodeType, node: ast.AST) -> Iterator[ast.expr]:
    """Where a part of a traced function takes an object that holds the source, as a layer does."""
    owner = None if case.variable is None else case.variable.owner
    if case.trace.sights is None or owner is None:
        return
    sights = [s for s in case.trace.sights.everything() if s.code is code]
    for part in ast.walk(node) if sights else ():
        if not isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        for sight in sights:
            try:
                if holds(sight.value(part, outside(case)), owner):
                    yield part
                    break
            except Exception:  # whatever stands there
                continue


def _taken(node: ast.AST, name: str) -> Iterator[ast.expr]:
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
