"""Where a traced function stored what is used outside of it: read from the source.

A tensor of a graph that is used elsewhere was put into a list, an attribute, an entry or a global
name while the function was traced. The expression that uses it tells what it was put into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType

from ..source import flow, sources
from ..source.place import Place, Written, tree
from ..trace import Trace

FILLS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft"})
DEEP = 3  # assignments that a name is followed through
Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, bool]  # the last part of a name, and whether it is an attribute


def stored(trace: Trace, used: Place) -> Place | None:
    """The statement of a traced function that stored what is used at a place."""
    wanted = list(dict.fromkeys(_keys(used)))
    functions = list(_traced(trace))
    for key in wanted:
        for code, function in functions:
            for statement in ast.walk(function):
                if isinstance(statement, ast.stmt) and key in _filled(function, statement):
                    return Written(code, statement)
    return None


def _traced(trace: Trace) -> Iterator[tuple[CodeType, Function]]:
    """The functions that ran while one was traced: also those that made no op themselves."""
    if trace.sights is None:
        return
    called: dict[str, CodeType] = {}
    seen = set()
    for code in trace.sights.codes():
        function = flow.function_of(code)
        if isinstance(function, Function):
            seen.add(function)
            yield code, function
        called.update(dict.fromkeys(code.co_names, code))
    for file in dict.fromkeys(sources.file_of(code) for code in called.values()):
        whole = tree(file)
        for node in () if whole is None else ast.walk(whole):
            if isinstance(node, Function) and node.name in called and node not in seen:
                code = called[node.name]
                if sources.file_of(code) == file:
                    yield code, node


def _keys(used: Place) -> Iterator[Key]:
    """What an expression reads, by the last part of its name: `("loss", True)` of `trainer.loss`,
    `("kept", False)` of `kept[0]`; names of a function are followed to what they were given."""
    queue: list[tuple[ast.AST, int]] = [(used.node or used.statement, 0)]  # type: ignore[list-item]
    while queue:
        node, deep = queue.pop(0)
        for part in () if node is None else ast.walk(node):
            key = _key(part)
            if key is None or not isinstance(getattr(part, "ctx", None), ast.Load):
                continue
            yield key
            if isinstance(part, ast.Name) and deep < DEEP:
                queue += [(value, deep + 1) for value in _given(used.code, part.id)]


def _given(code: CodeType, name: str) -> list[ast.AST]:
    """What a name of a function is bound to: by an assignment, by a loop."""
    found: list[ast.AST] = []
    for statement in flow.statements(code):
        if isinstance(statement, ast.Assign) and name in flow.bound(statement):
            found.append(statement.value)
        elif isinstance(statement, ast.For) and name in _names(statement.target):
            found.append(statement.iter)
    parts = (part for statement in flow.statements(code) for part in ast.walk(statement))
    found += [
        part.iter for part in parts
        if isinstance(part, ast.comprehension) and name in _names(part.target)
    ]  # fmt: skip
    return found


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _key(node: ast.AST) -> Key | None:
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr, True
    return (node.id, False) if isinstance(node, ast.Name) else None


def _filled(function: Function, statement: ast.stmt) -> set[Key]:
    """What a statement of a function puts something into that outlives the call."""
    found: set[Key | None] = set()
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target]
    outer = _outer_names(function)
    for target in targets:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if not isinstance(part, ast.Name) or part.id in outer:
                found.add(_key(part))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr in FILLS:
            found.add(_key(call.func.value))
        elif isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) > 1:
            name = call.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.add((name.value, True))
    own = {name for part in function.body for name in _bound(part)} - outer
    return {key for key in found if key is not None and (key[1] or key[0] not in own)}


def _outer_names(function: Function) -> set[str]:
    """The names that a function declares to be those of a function or module around it."""
    declared = (n for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)))
    return {name for node in declared for name in node.names}


def _bound(statement: ast.stmt) -> set[str]:
    """The plain names that a statement binds: what is put into them ends with the call."""
    return {
        part.id for part in ast.walk(statement)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }  # fmt: skip
