"""What a stream is: how wide, and whether it wants colours."""

from __future__ import annotations

import contextlib
import os
from typing import IO

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
