"""The parts of an expression in the user's words: what stands for an operand of an op."""

from __future__ import annotations

import ast

from ..trace import Event

LONG = 40


def operand(event: Event, k: int) -> str | None:
    """The text of an op's operand as written, if the expression shows it and it is short."""
    node = event.place.node
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        parts = list(node.args)
    if k >= len(parts):
        return None
    text = ast.unparse(parts[k])
    return text if len(text) <= LONG else None
