"""What pickles call: one function, `gradtape._made`, whose address never moves."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..core.place import NAME


def made(name: str, *arguments: Any) -> Any:
    """Make a thing of gradtape's anew by what `recipe` told of it."""
    found: Any = import_module(NAME)
    for part in name.split("."):
        found = getattr(found, part)
    return found(*arguments)


made.__module__, made.__qualname__, made.__name__ = NAME, "_made", "_made"


def recipe(kind: type, arguments: tuple) -> tuple:
    """What `__reduce__` returns: of a public class only its name is told, not where it lives."""
    public = getattr(import_module(NAME), kind.__name__, None) is kind
    return (made, (kind.__name__, *arguments)) if public else (kind, arguments)
