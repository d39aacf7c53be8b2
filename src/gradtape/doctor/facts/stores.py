"""Where a traced function stored what is used outside of it: read from the source.

A tensor of a graph that is used elsewhere was put into a list, an attribute, an entry or a global
name while the function was traced. The expression that uses it tells what it was put into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from types import CodeType

from ..source import flow, sources
from ..source.place import Place, Written, nodes, parents, tree
from ..trace import Trace

FILLS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft"})
DEEP = 3  # assignments that a name is followed through
Function = ast.FunctionDef | ast.AsyncFunctionDef
Key = tuple[str, bool]  # the last part of a name, and whether it is an attribute


def stored(trace: Trace, used: Place) -> Place | None:
    """The statement of a traced function that stored what is used at a place."""
    wanted = list(dict.fromkeys(_keys(used)))
    traced = sorted(_traced(trace), key=lambda pair: sources.file_of(pair[0]) != used.file)
    # A function that a library was given may have made no op, and nobody by its name calls it.
    others = [
        (used.code, node) for node in nodes(used.file)
        if isinstance(node, Function) and node.name != "__init__"
    ]  # fmt: skip
    for functions in (traced, others):
        for key in wanted:
            for code, function in functions:
                for statement in ast.walk(function):
                    if isinstance(statement, ast.stmt) and _fills(function, statement, key):
                        return Written(code, statement)
    return None


def _fills(function: Function, statement: ast.stmt, key: Key) -> bool:
    return any(
        key[1] == attribute and (name == key[0] or ("*" in name and fnmatchcase(key[0], name)))
        for name, attribute in _filled(function, statement)
    )


def _traced(trace: Trace) -> Iterator[tuple[CodeType, Function]]:
    """The functions that ran while one was traced: also those that made no op themselves."""
    if trace.sights is None:
        return
    called: dict[str, CodeType] = {}
    seen = set()
    for code in dict.fromkeys(sight.code for sight in trace.sights.everything()):
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
            if deep >= DEEP:
                continue
            if isinstance(part, ast.Name):
                queue += [(value, deep + 1) for value in _given(used, part.id)]
            queue += [(value, deep + 1) for value in _returned(used.file, key[0])]


def _given(used: Place, name: str) -> list[ast.AST]:
    """What a name of a function is bound to: by an assignment, by a loop."""
    found: list[ast.AST] = []
    statements = flow.statements(used.code)
    if not statements and used.statement is not None:  # in a comprehension
        statements = (used.statement,)
    for statement in statements:
        if isinstance(statement, ast.Assign) and name in flow.bound(statement):
            found.append(statement.value)
        elif isinstance(statement, ast.For) and name in _names(statement.target):
            found.append(statement.iter)
    parts = [part for statement in statements for part in ast.walk(statement)]
    parts += [part for outer in parents(used) for part in getattr(outer, "generators", [])]
    found += [
        part.iter for part in parts
        if isinstance(part, ast.comprehension) and name in _names(part.target)
    ]  # fmt: skip
    return found


def _returned(file: str, name: str) -> list[ast.AST]:
    """What a function or property of this name returns."""
    return [
        part.value for node in nodes(file) if isinstance(node, Function) and node.name == name
        for part in ast.walk(node) if isinstance(part, ast.Return) and part.value is not None
    ]  # fmt: skip


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
            elif isinstance(name, ast.JoinedStr):
                texts = [p.value if isinstance(p, ast.Constant) else "*" for p in name.values]
                found.add(("".join(map(str, texts)), True))
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
