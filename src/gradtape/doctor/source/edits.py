"""The line of a culprit with one of its expressions written otherwise: what a fix looks like."""

from __future__ import annotations

import ast

from . import sources
from .place import Place, full_name, imports, parents, span_of

# What needs parentheses as a part of an operator, of an attribute or of an index.
_LOOSE = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda)
_BINDING = (*_LOOSE[:4], ast.Attribute, ast.Subscript, ast.Starred)


def replaced(place: Place, new: str | None, node: ast.AST | None = None) -> str | None:
    """The line of a place with its expression, or a part of that, replaced; one line only."""
    node = place.node if node is None else node
    if node is None or new is None:
        return None
    line, start, last, stop = span_of(place.file, node)
    if line != last or line != place.line or "\n" in new:
        return None
    text = sources.line(place.file, line).rstrip("\n")
    return (text[:start] + _fitting(new, node, place) + text[stop:]).strip()


def unwrapped(place: Place) -> str | None:
    """The line without the call at a place: with what it was given in its stead."""
    call = place.node
    given = argument(place)
    if not isinstance(call, ast.Call) or len(call.args) != 1 or given is None:
        return None
    return replaced(place, text(place, given))


def without(place: Place, keyword: str) -> str | None:
    """The line without an argument of the call at a place."""
    call = place.node
    named = {k.arg: k.value for k in call.keywords} if isinstance(call, ast.Call) else {}
    if not isinstance(call, ast.Call) or keyword not in named or None in named:
        return None
    given = [text(place, a) for a in call.args]
    given += [f"{name}={text(place, value)}" for name, value in named.items() if name != keyword]
    return replaced(place, f"{text(place, call.func)}({', '.join(given)})")


def called(place: Place, function: str, *given: str) -> str:
    """A call of a recorded function, by the name that the file has for its package."""
    return f"{package(place)}.{function}({', '.join(given)})"


def package(place: Place) -> str:
    """What the file calls the package with the recorded functions."""
    known = [name for name, of in imports(place.file).items() if of in ("tensorflow", "gradtape")]
    return known[0] if known else "tf"


def argument(place: Place, number: int = 0) -> ast.expr | None:
    """An argument of the call at a place, or a side of its operator."""
    node = place.node
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call):
        parts = [a for a in node.args if not isinstance(a, ast.Starred)]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    return parts[number] if number < len(parts) else None


def text(place: Place, node: ast.AST) -> str:
    """An expression as it stands in the file."""
    line, start, last, stop = span_of(place.file, node)
    if line != last:
        return ast.unparse(node)
    return sources.line(place.file, line)[start:stop]


def tight(place: Place, node: ast.expr) -> str:
    """An expression that something is to be added to, multiplied with or taken of."""
    words = text(place, node)
    return f"({words})" if isinstance(node, _LOOSE) else words


def is_call(place: Place, node: ast.AST | None, *names: str) -> bool:
    """Is it a call of one of these functions, by the last part of their names?"""
    return (
        isinstance(node, ast.Call) and full_name(place.file, node.func).rpartition(".")[2] in names
    )


def _fitting(new: str, node: ast.AST, place: Place) -> str:
    """In parentheses, where the expression stood inside another one that binds more tightly."""
    around = parents(place)[:1] if node is place.node else []
    loose = isinstance(ast.parse(new, mode="eval").body, _LOOSE)
    return f"({new})" if loose and around and isinstance(around[0], _BINDING) else new
