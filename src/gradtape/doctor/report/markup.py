"""HTML by construction: whatever is not made by `tag` is text, and text is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

MINUS, DASH, TIMES = "\N{MINUS SIGN}", "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"
_VOID = frozenset({"br", "circle", "line", "meta", "path", "polyline", "rect", "wbr"})


class Safe(str):
    """Markup that was made here."""

    __slots__ = ()


def tag(name: str, /, *parts: Any, **attrs: Any) -> Safe:
    """An element. `class_` is class, `data_for` is data-for; None and False leave one out."""
    written = "".join(_attribute(key, value) for key, value in attrs.items())
    if name in _VOID and not parts:
        return Safe(
            f"<{name}{written}>" if name in {"br", "meta", "wbr"} else f"<{name}{written}/>"
        )
    return Safe(f"<{name}{written}>{join(parts)}</{name}>")


def join(parts: Iterable[Any]) -> Safe:
    """One after the other; None is nothing, plain strings are escaped."""
    return Safe("".join(escape(part) for part in parts if part is not None))


def escape(part: Any) -> Safe:
    return part if isinstance(part, Safe) else Safe(html.escape(str(part)))


def opening(name: str, /, **attrs: Any) -> Safe:
    """The start of an element, for markup that is woven."""
    return Safe(f"<{name}{''.join(_attribute(k, v) for k, v in attrs.items())}>")


def prose(words: str) -> Safe:
    """A sentence, in which `backticks` mark code."""
    pieces = re.split(r"`([^`]*)`", words)
    return join(tag("code", p) if k % 2 else _breakable(p) for k, p in enumerate(pieces))


def number(value: float, digits: int = 4) -> str:
    """A few digits, with a minus sign that can be seen."""
    return f"{value + 0.0:.{digits}g}".replace("-", MINUS)  # -0.0 + 0.0 is 0.0


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'


def _breakable(words: str) -> Safe:
    """Long calls may break after a comma or an opening parenthesis."""
    return Safe(re.sub(r"([(,])(?=\S)", r"\1<wbr>", html.escape(words)))
