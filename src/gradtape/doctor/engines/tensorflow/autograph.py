"""Places in code that AutoGraph generated, as places in the source that the user wrote.

A `tf.function` runs a rewritten copy of its Python function. The rewriting keeps a map of lines;
the expression on the line is the one with the same text once AutoGraph's own calls are taken out of
it, and the instruction of the user's own function that computes it is the place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from ...source import sources
from ...source.place import Place, nodes, span_of

GENERATED = "__autograph_generated_file"
AG = "ag__"
MAPS: dict[str, tuple[Any, CodeType]] = {}  # of generated files: lines, and the original function


def original(code: CodeType, offset: int) -> tuple[CodeType, int]:
    """The user's own instruction for one of generated code; any other as it is."""
    return _found(code.co_filename, code, offset) if code.co_filename in MAPS else (code, offset)


# By file, too: to Python, equal code of two files is one.
@lru_cache(maxsize=8192)
def _found(file: str, code: CodeType, offset: int) -> tuple[CodeType, int]:
    lines, function = MAPS[file]
    written = Place(code, offset)
    origin = next(
        (to for at, to in lines.items() if at.lineno == written.line and _file(at, code)), None
    )
    if origin is None or (written.node is None and written.statement is None):
        return function, 0
    line = origin.loc.lineno
    found = _expression(function, line, written.node) or _header(function, line, written.statement)
    return _instruction(function, found) or (function, _of_line(function, line))


def told(message: str) -> tuple[CodeType, int] | None:
    """The innermost line of the user's that AutoGraph tells of in the message of an exception."""
    lines = re.findall(r'^ *File "(.+)", line (\d+), in .+  \*$', message, re.MULTILINE)
    if not lines:
        return None
    file, line = lines[-1][0], int(lines[-1][1])
    codes = [c for _, function in MAPS.values() for c in _codes(function) if c.co_filename == file]
    inside = [c for c in codes if any(position[0] == line for position in c.co_positions())]
    return (inside[-1], _of_line(inside[-1], line)) if inside else None


def _file(location: Any, code: CodeType) -> bool:
    return location.filename == code.co_filename


def _expression(function: CodeType, line: int, generated: Any) -> ast.AST | None:
    """The expression in the statement at a line that was rewritten to a generated one."""
    text = "" if generated is None else _text(generated)
    first, last = _lines(function, line)
    same = [
        n for n in nodes(sources.file_of(function))
        if isinstance(n, ast.expr) and first <= n.lineno <= last and ast.unparse(n) == text
    ]  # fmt: skip
    return min(same, key=lambda n: abs(n.lineno - line), default=None)


def _header(function: CodeType, line: int, generated: Any) -> ast.AST | None:
    """A block that begins at a line, when it is the head of one that was generated."""
    return next(
        (
            n for n in nodes(sources.file_of(function))
            if isinstance(n, ast.With) and n.lineno == line and isinstance(generated, ast.With)
        ),
        None,
    )  # fmt: skip


def _lines(function: CodeType, line: int) -> tuple[int, int]:
    """The first and last line of the statement at a line; of a block, those of its head."""
    found = line, line
    for node in nodes(sources.file_of(function)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno
            if line <= (end or line):
                found = node.lineno, end or line
    return found


def _text(generated: Any) -> str:
    try:
        return ast.unparse(_Plain().visit(ast.parse(ast.unparse(generated), mode="eval").body))
    except (SyntaxError, ValueError):
        return ""


class _Plain(ast.NodeTransformer):
    """Takes AutoGraph's own calls out of an expression."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = _own(node.func)
        if name == "ld" and node.args:
            return node.args[0]
        if name == "converted_call" and len(node.args) >= 3:
            args = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else []
            return ast.Call(node.args[0], list(args), _keywords(node.args[2]))
        return node


def _own(node: ast.AST) -> str:
    ours = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return node.attr if ours and node.value.id == AG else ""  # type: ignore[attr-defined]


def _keywords(node: ast.AST) -> list[ast.keyword]:
    if isinstance(node, ast.Call):  # dict(axis=1)
        return node.keywords
    return []


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _instruction(function: CodeType, node: ast.AST | None) -> tuple[CodeType, int] | None:
    """The last instruction of an expression: the one that computes it."""
    if node is None:
        return None
    span = span_of(sources.file_of(function), node)
    for code in _codes(function):
        found = None
        for k, (line, end_line, *_) in enumerate(code.co_positions()):
            near = (line, end_line) == (span[0], span[2])
            if near and Place(code, 2 * k).span == span:
                found = 2 * k
        if found is not None:
            return code, found
    return None


def _of_line(function: CodeType, line: int) -> int:
    """Some instruction of a line."""
    for k, position in enumerate(function.co_positions()):
        if position[0] == line:
            return 2 * k
    return 0
