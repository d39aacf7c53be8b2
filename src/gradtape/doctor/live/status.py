"""A status on the last row of a terminal, below everything that the program writes.

Whoever writes to the terminal (the program, C code, a child process) writes into the rows above:
the last one is taken out of what scrolls. So nothing has to be known of these writes, and nothing
can mix. Every draw is one write, which leaves the cursor where it was.
"""

from __future__ import annotations

import contextlib
import os

from ..report.terminal import visible
from .lines import Lines, encoded

SAVE, RESTORE = "\x1b7", "\x1b8"
ROOM = "\x1bD\x1b[A"  # a row below the cursor, which stays in its own
FEWEST = 4  # rows of a terminal that has one to spare


class Status:
    """The last row, from the first `show` to `erase`."""

    def __init__(self, lines: Lines, plain: bool) -> None:
        self.lines = lines
        self.style = "" if plain else "\x1b[2m"
        self.size: tuple[int, int] | None = None  # of the terminal, while the row is taken

    def show(self, words: str) -> None:
        """Draw the status, if the terminal is ours just now."""
        descriptor = self.lines.descriptor
        if descriptor is None or not self.lines.terminal or _behind(descriptor):
            return
        with contextlib.suppress(OSError, ValueError):
            columns, rows = os.get_terminal_size(descriptor)
            if rows < FEWEST:
                return
            begin = ""
            if self.size != (columns, rows):
                self.size = columns, rows
                begin = f"{ROOM}{SAVE}\x1b[1;{rows - 1}r{RESTORE}"
            words = visible(words).replace("\n", " ")
            words = words if len(words) < columns else f"{words[: columns - 2]}…"
            row = f"{SAVE}\x1b[{rows};1H\x1b[0m{self.style}{words}\x1b[0m\x1b[K{RESTORE}"
            self.lines.put(encoded(begin + row, self.lines.stream))

    def erase(self) -> None:
        """Give the row back."""
        if self.size is not None:
            rows, self.size = self.size[1], None
            with contextlib.suppress(OSError):
                self.lines.put(f"{SAVE}\x1b[r\x1b[{rows};1H\x1b[2K{RESTORE}".encode())


def _behind(descriptor: int) -> bool:
    """Does another job have the terminal?"""
    with contextlib.suppress(OSError, AttributeError):
        return os.tcgetpgrp(descriptor) != os.getpgrp()
    return False
