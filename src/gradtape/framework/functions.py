"""Makes TensorFlow's functions out of ops where the two take the same arguments."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any

from ..core.op import Op


def unary(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """`name(x, name=None)`."""

    def function(x: Any, name: str | None = None) -> Any:
        return op.apply(x)

    return _named(function, name, doc)


def binary(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """`name(x, y, name=None)`."""

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return op.apply(x, y)

    return _named(function, name, doc)


def _named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = _getframe(2).f_globals["__name__"]  # where it is declared
    function.__doc__ = doc
    return function
