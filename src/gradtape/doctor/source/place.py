"""Places in the user's program: an exact expression, resolved from (code, offset) when needed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import islice
from types import CodeType
from typing import Any, TypeVar

from . import sources
from .users import in_library

Kept = TypeVar("Kept")
BRIEF = 60  # characters of an expression of several lines


class Place:
    """An expression in the user's source: file, line, columns, its text and its syntax tree."""

    def __init__(self, code: CodeType, offset: int) -> None:
        self.code, self.offset = code, offset

    @cached_property
    def span(self) -> tuple[int, int, int, int]:
        """First line, column, last line, last column (lines from 1, columns from 0)."""
        found = next(islice(self.code.co_positions(), self.offset // 2, None), None)
        line, end_line, column, end_column = found or (None,) * 4
        first = line or self.code.co_firstlineno
        if end_line is None or column is None or end_column is None:
            text = sources.line(self.file, first)
            return first, len(text) - len(text.lstrip()), first, len(text.rstrip())
        # Positions count bytes; people and editors count characters.
        return (
            first,
            _characters(self.file, first, column),
            end_line,
            _characters(self.file, end_line, end_column),
        )

    @cached_property
    def file(self) -> str:
        return sources.file_of(self.code)

    @property
    def foreign(self) -> bool:
        """Is it in a library, and not in the user's program?"""
        return in_library(self.file)

    @property
    def line(self) -> int:
        return self.span[0]

    @property
    def function(self) -> str:
        return self.code.co_name

    @property
    def text(self) -> str:
        """The expression as written; without a source, its line."""
        line, column, end_line, end_column = self.span
        lines = [sources.line(self.file, n).rstrip("\n") for n in range(line, end_line + 1)]
        if len(lines) > 1:
            found = "\n".join([lines[0][column:], *lines[1:-1], lines[-1][:end_column]])
        else:
            found = lines[0][column:end_column] if lines else ""
        return found if found.strip() else f"line {line}"

    @property
    def brief(self) -> str:
        """The expression on one line, shortened when it is written over several."""
        if "\n" not in self.text:
            return self.text
        line = " ".join(self.text.split()).replace("( ", "(").replace("[ ", "[")
        line = line.replace(", )", ")").replace(" )", ")").replace(", ]", "]").replace(" ]", "]")
        return line if len(line) <= BRIEF else line[: BRIEF - 3].rstrip(" ,([") + "..."

    @cached_property
    def node(self) -> ast.AST | None:
        """The expression's node in the file's syntax tree, if the source is to be had."""
        return _by_span(self.file).get(self.span)

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The innermost statement around it."""
        line, _, end_line, _ = self.span
        best: Any = None
        for node in nodes(self.file):
            if isinstance(node, ast.stmt) and node.lineno <= line and end_line <= node.end_lineno:  # type: ignore[operator]
                best = node
        return best

    def contains(self, other: Place) -> bool:
        """Is the other expression a part of this one?"""
        return self.file == other.file and _within(other.span, self.span)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and self.file == other.file and self.span == other.span

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.file, self.span))

    def __repr__(self) -> str:
        return f"<{self.file}:{self.line} {self.text!r}>"


class Written(Place):
    """A piece of source that was found by reading it: no instruction of it need have run."""

    def __init__(self, code: CodeType, node: ast.expr | ast.stmt) -> None:
        super().__init__(code, 0)
        self.span = span_of(self.file, node)


def by_code(maxsize: int) -> Callable[[Callable[..., Kept]], Callable[..., Kept]]:
    """A cache of what a function says of some code. By the code's file, too: to Python, equal code
    of two files is one, and so is a cell of a notebook that is run again."""

    def decorate(function: Callable[..., Kept]) -> Callable[..., Kept]:
        kept = lru_cache(maxsize)(lambda file, code, *more: function(code, *more))
        return lambda code, *more: kept(code.co_filename, code, *more)

    return decorate


@by_code(8192)
def at(code: CodeType, offset: int) -> Place:
    """The place of an instruction; one object each, because finding the expression takes time."""
    return Place(code, offset)


def _within(inner: tuple, outer: tuple) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _characters(file: str, line: int, column: int) -> int:
    return len(sources.line(file, line).encode()[:column].decode(errors="replace"))


def span_of(file: str, node: ast.AST) -> tuple[int, int, int, int]:
    """The span of a node, in characters."""
    line, end_line = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    column, end_column = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0) or 0
    return line, _characters(file, line, column), end_line, _characters(file, end_line, end_column)


@lru_cache(maxsize=64)
def tree(file: str) -> ast.Module | None:
    """The syntax tree of a file of the user's, or None when there is no source."""
    text = "".join(sources.lines(file))
    return sources.read(text, ast.PyCF_ONLY_AST) if text else None


@lru_cache(maxsize=64)
def _by_span(file: str) -> dict[tuple[int, int, int, int], ast.AST]:
    """The nodes of a file by their spans; of several with one span, the innermost."""
    return {span_of(file, node): node for node in nodes(file) if isinstance(node, ast.expr)}


@lru_cache(maxsize=64)
def nodes(file: str) -> tuple[ast.AST, ...]:
    """All expressions and statements of a file, outer before inner."""
    found = tree(file)
    if found is None:
        return ()
    return tuple(n for n in ast.walk(found) if isinstance(n, (ast.expr, ast.stmt)))


def parents(place: Place) -> list[ast.AST]:
    """The nodes around the expression at a place, the innermost first."""
    above, node = _above(place.file), place.node
    found: list[ast.AST] = []
    while node is not None and (node := above.get(node)) is not None:
        found.append(node)
    return found


@lru_cache(maxsize=64)
def _above(file: str) -> dict[ast.AST, ast.AST]:
    found = tree(file)
    if found is None:
        return {}
    return {child: node for node in ast.walk(found) for child in ast.iter_child_nodes(node)}


@lru_cache(maxsize=64)
def imports(file: str) -> dict[str, str]:
    """What the names that a file imports stand for: `np` for numpy, `exp` for math.exp."""
    found: dict[str, str] = {}
    for node in nodes(file):
        if isinstance(node, ast.Import):
            for name in node.names:
                found[name.asname or name.name.partition(".")[0]] = (
                    name.name if name.asname else name.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                found[name.asname or name.name] = f"{node.module}.{name.name}"
    return found


def full_name(file: str, node: ast.AST | None) -> str:
    """A dotted name with what its first part was imported as: `numpy.mean` of `np.mean`."""
    if isinstance(node, ast.Attribute):
        base = full_name(file, node.value)
        return f"{base}.{node.attr}" if base else ""
    return imports(file).get(node.id, node.id) if isinstance(node, ast.Name) else ""
