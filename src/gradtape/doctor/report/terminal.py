"""What a stream is (how wide, whether it wants colours), and which characters it may have."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from typing import IO, Any

WIDEST = 100  # longer lines are harder to read


def width(stream: IO[str] | None) -> int:
    """The columns of a stream, as the environment or the terminal says."""
    try:
        given = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        given = 0
    if given <= 0 and stream is not None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            given = os.get_terminal_size(stream.fileno()).columns
    return min(given, WIDEST) if given > 0 else WIDEST


def colored(stream: IO[str] | None) -> bool:
    """Does a stream want colours?"""
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    with contextlib.suppress(ValueError, AttributeError):
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    return False


# What a terminal obeys instead of showing it (control characters of both kinds, but not the ends of
# lines), and what changes the order in which it shows the rest or breaks lines.
_OBEYED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)"
)


def visible(words: str) -> str:
    """Words of the program's (names, lines of source) as a terminal may have them: what it would
    obey is written as Python writes it, `\\x1b`."""
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), words)


def console(**options: Any) -> Any:
    """A console of rich's, which is the only one to write escapes: those of its colours."""
    from rich.console import Console
    from rich.segment import Segment

    class Visible(Console):
        def render(self, *arguments: Any, **named: Any) -> Iterator[Any]:
            for part in super().render(*arguments, **named):
                plain = part.control or part.text.isprintable()
                yield part if plain else Segment(visible(part.text), part.style)

    return Visible(**options)
