"""Tensors that a function took from Python when it was traced, and has kept since.

`self.scale` in a `tf.function` is read once. What the user stores there later never reaches the
function. Where such a tensor came from is noted, so that one can look what is there now.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from ..source.place import at


@dataclass(eq=False)
class Frozen:
    """A tensor of Python's in a function, and the expression that it was read from."""

    tensor: Any
    code: CodeType
    node: ast.expr
    names: dict[str, Any]  # where the expression begins: an object of the function, or its module

    def now(self) -> Any:
        """What one would read there now; None when that cannot be said."""
        try:
            return _evaluated(self.node, self.names)
        except Exception:  # whatever is there now
            return None


def found(tensor: Any, frame: FrameType, code: CodeType, offset: int) -> Frozen | None:
    """The expression that gave a tensor, among those of the instruction of a frame that took it;
    the source of that instruction is at a place of its own."""
    place = at(code, offset)
    for node in _readings(place.node or place.statement):
        base = _base(node)
        # A name of the function itself is bound anew in every call.
        inner = not isinstance(node, ast.Name) and base in frame.f_locals
        names = {base: frame.f_locals[base]} if inner else frame.f_globals
        if base not in names:
            continue
        try:
            same = _evaluated(node, names) is tensor
        except Exception:  # whatever the expression does
            continue
        if same:
            return Frozen(tensor, code, node, names)
    return None


@lru_cache(maxsize=1024)
def _readings(node: ast.AST | None) -> list[ast.expr]:
    """Names, attributes and entries, as `self.parts["scale"]`."""
    return [
        part for part in (() if node is None else ast.walk(node))
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and _base(part)
    ]  # fmt: skip


def _base(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return ""
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _evaluated(node: ast.expr, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Attribute):
        # No property of the user's runs.
        return inspect.getattr_static(_evaluated(node.value, names), node.attr)
    if isinstance(node, ast.Subscript):
        holder = _evaluated(node.value, names)
        return holder[node.slice.value] if isinstance(holder, (list, tuple, dict)) else None  # type: ignore[attr-defined]
    return names[node.id]  # type: ignore[attr-defined]
