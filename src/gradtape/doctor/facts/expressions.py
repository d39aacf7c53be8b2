"""The parts of an expression in the user's words: what stands for an operand of an op."""

from __future__ import annotations

import ast

from ..source.place import full_name
from ..trace import Event, Value

LONG = 60
RECORDED = ("tensorflow", "gradtape")
KERAS = ".keras."  # whose functions compute several ops of what they are given


def operand(event: Event, which: int | Value) -> str | None:
    """The text of an op's operand as written, if the expression shows it and it is short.

    What is computed inside of a layer, of `fit` or of any other function is not given by the
    arguments of the call in the user's program, so nothing is known of its text.
    """
    k = which if isinstance(which, int) else event.inputs.index(which)
    value = event.inputs[k] if k < len(event.inputs) else None
    if event.layer is not None or event.place.foreign:
        return None
    if value is not None and _inside(event, value):
        return None
    node = event.place.node
    parts: list[ast.expr] = []
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call) and _is_op(event, node):
        parts = list(node.args)
    if k >= len(parts) or (k and len(parts) < len(event.inputs)):
        return None
    text = ast.unparse(parts[k])
    return text if len(text) <= LONG else None


def _inside(event: Event, value: Value) -> bool:
    """Was a value computed in the same expression, and so is none of its operands?"""
    return value.maker is not None and value.maker.place == event.place


def _is_op(event: Event, call: ast.Call) -> bool:
    """Is it a call of the op itself, or of a function of TensorFlow's with the same operands?"""
    name = full_name(event.place.file, call.func)
    last = name.rpartition(".")[2].replace("_", "").lower()
    same = last in (event.kind.lower(), event.name.replace("_", "").lower())
    return same or (name.partition(".")[0] in RECORDED and KERAS not in name)
