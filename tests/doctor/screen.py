"""A terminal for the tests: what a reader sees of the bytes that were written to it."""

from __future__ import annotations

import os
import re

PIECES = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b([78DM])|([\r\n\b])|([^\x1b\r\n\b])", re.S)


class Screen:
    """Rows that scroll between margins, and all that has gone out at the top."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.gone: list[str] = []
        self.margins = 0, rows - 1
        self.row = self.column = 0
        self.saved = 0, 0
        self.full = False  # the last column was written: the next character wraps

    def feed(self, data: bytes) -> None:
        text = data.decode()
        at = 0
        while at < len(text):
            piece = PIECES.match(text, at)
            assert piece, f"what is {text[at : at + 20]!r}?"
            at = piece.end()
            numbers, final, escape, control, character = piece.groups()
            if final:
                self._sequence(final, [int(n or 0) for n in numbers.strip("?").split(";")])
            elif escape:
                self._escape(escape)
            elif control:
                self._control(control)
            else:
                self._put(character)

    @property
    def lines(self) -> list[str]:
        """All lines, those that are gone first."""
        return [*self.gone, *("".join(row).rstrip() for row in self.cells)]

    def _put(self, character: str) -> None:
        if self.full:
            self.column = 0
            self._down()
        self.cells[self.row][self.column] = character
        self.full = self.column == self.columns - 1
        self.column = min(self.column + 1, self.columns - 1)

    def _control(self, control: str) -> None:
        self.full = False
        if control == "\n":
            self._down()
        else:
            self.column = 0 if control == "\r" else max(self.column - 1, 0)

    def _down(self) -> None:
        self.full = False
        top, bottom = self.margins
        if self.row == bottom:
            gone = self.cells.pop(top)
            if top == 0:
                self.gone.append("".join(gone).rstrip())
            self.cells.insert(bottom, [" "] * self.columns)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def _escape(self, what: str) -> None:
        if what == "7":
            self.saved = self.row, self.column
        elif what == "8":
            self.row, self.column = self.saved
        else:
            assert what == "D"
            self._down()
        self.full = False

    def _sequence(self, final: str, numbers: list[int]) -> None:
        if final == "m":
            return
        self.full = False
        if final == "r":
            self.margins = (numbers[0] or 1) - 1, ([*numbers, 0][1] or self.rows) - 1
            self.row = self.column = 0
        elif final == "H":
            self.row, self.column = (numbers[0] or 1) - 1, ([*numbers, 1][1] or 1) - 1
        elif final == "A":
            self.row = max(self.row - (numbers[0] or 1), 0)
        else:
            assert final == "K"
            start = 0 if numbers[0] == 2 else self.column
            self.cells[self.row][start:] = [" "] * (self.columns - start)


def read(terminal: int) -> bytes:
    """All that is written to a terminal until its other end is closed."""
    parts = []
    try:
        while part := os.read(terminal, 65536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return b"".join(parts)
