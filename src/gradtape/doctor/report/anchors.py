"""The few characters that stand for an expression: the name of a call, the sign of an operator.

Expressions lie inside one another (`tf.reduce_mean(tf.square(x @ w))`), so whole ones cannot be
told apart by colour; their anchors can.
"""

from __future__ import annotations

import ast

from ..source import sources
from ..source.place import Place, span_of

Piece = tuple[int, int, int]  # line, first column, the column after the last


def anchor(place: Place) -> Piece:
    """Where an expression is pointed at."""
    node = place.node
    if isinstance(node, ast.Call):
        return _call(place, node)
    if isinstance(node, ast.BinOp):
        return _sign(place, node.left, node.right)
    if isinstance(node, ast.Compare):
        return _sign(place, node.left, node.comparators[0])
    if isinstance(node, ast.UnaryOp):
        line, column, _, _ = place.span
        return line, column, column + (3 if isinstance(node.op, ast.Not) else 1)
    if isinstance(node, ast.Subscript):
        _, _, line, column = span_of(place.file, node.value)
        return _clipped(place, line, column)
    statement = place.statement
    if node is None and isinstance(statement, ast.AugAssign):
        return _sign(place, statement.target, statement.value)
    return pieces(place)[0]


def pieces(place: Place) -> list[Piece]:
    """An expression line by line, without the spaces in front; of a block, what opens it."""
    line, column, end_line, end_column = _head(place) or place.span
    found = []
    for number in range(line, end_line + 1):
        text = sources.line(place.file, number).rstrip("\r\n")
        start = column if number == line else len(text) - len(text.lstrip())
        end = end_column if number == end_line else len(text.rstrip())
        if start < end:
            found.append((number, start, end))
    return found or [(line, column, column + 1)]


def _head(place: Place) -> tuple[int, int, int, int] | None:
    """`tf.GradientTape()` of a `with` block, of whose other lines none is meant."""
    statement = place.statement
    if not isinstance(statement, (ast.With, ast.AsyncWith)) or place.node is not None:
        return None
    whole, item = span_of(place.file, statement), statement.items[0].context_expr
    return span_of(place.file, item) if whole == place.span else None


def _call(place: Place, node: ast.Call) -> Piece:
    line, column, end_line, end_column = span_of(place.file, node.func)
    if isinstance(node.func, ast.Attribute) and (line != end_line or not _dotted(node.func)):
        return end_line, end_column - len(node.func.attr), end_column
    return (line, column, end_column) if line == end_line else pieces(place)[0]


def _dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _sign(place: Place, left: ast.AST, right: ast.AST) -> Piece:
    """The operator between two operands; parentheses and comments around them are not it."""
    _, _, line, column = span_of(place.file, left)
    last, stop, _, _ = span_of(place.file, right)
    for number in range(line, last + 1):
        text = sources.line(place.file, number).rstrip("\r\n")
        end = stop if number == last else len(text)
        for k in range(column if number == line else 0, end):
            if text[k] in "#\\":
                break
            if not text[k].isspace() and text[k] not in "()":
                word = text[k:end].split("#")[0].rstrip(" \t(\\")
                return number, k, k + len(word)
    return pieces(place)[0]


def _clipped(place: Place, line: int, column: int) -> Piece:
    _, _, end_line, end_column = place.span
    if line == end_line and column < end_column:
        return line, column, end_column
    return pieces(place)[0]
