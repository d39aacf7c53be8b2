"""Programs put into a function: what a program does with tapes, as the body of `main`."""

from __future__ import annotations

import ast

CALLS = 2


def wrapped(text: str, decorator: str) -> str | None:
    """The program with all from its first tape on in a function that is called twice; definitions
    and variables stay outside. None where there is nothing to put into it."""
    outside, inside = [], list[ast.stmt]()
    for node in ast.parse(text).body:
        defines = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))
        tape, variable = _mentions(node, "GradientTape"), _mentions(node, "Variable")
        if defines or (not tape and (not inside or variable)):
            outside.append(node)
        else:
            inside.append(node)
    if not inside or any(_mentions(node, "Variable") for node in inside):
        return None
    names = {
        part.id for node in inside for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }  # fmt: skip
    lines = [_text(text, node) for node in outside]
    lines += [decorator, "def main():"]
    lines += [f" global {', '.join(sorted(names))}"] if names else []
    # Every line, also those inside of brackets and texts.
    lines += [f" {line}" for node in inside for line in _text(text, node).splitlines()]
    return "\n".join([*lines, *["main()"] * CALLS, ""])


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(node))


def _text(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
