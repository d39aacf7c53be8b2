"""Whole lines on a stream that the program writes to as well, and never into one of its own.

The program's stream is left as it is: what it has written is not known, nor what C code and child
processes have. A terminal is brought to the beginning of a line by its own wrapping; of a file the
last character is read. A line goes straight to the descriptor, before half a line that Python still
holds back.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import IO, Any


class Lines:
    """Where lines of the doctor's go to while the program runs."""

    def __init__(self, stream: IO[str] | None) -> None:
        self.stream = stream
        self.descriptor: int | None = None
        with contextlib.suppress(OSError, ValueError, AttributeError):
            self.descriptor = stream.fileno()  # type: ignore[union-attr]

    @property
    def terminal(self) -> bool:
        """Is it one that knows how to move its cursor?"""
        if self.descriptor is None or os.environ.get("TERM", "dumb") == "dumb":
            return False
        with contextlib.suppress(OSError):
            return os.isatty(self.descriptor)
        return False

    def say(self, words: str) -> None:
        """Write a line; a stream that is closed, or a pipe that nobody reads, is none."""
        with contextlib.suppress(OSError, ValueError, AttributeError):
            if self.descriptor is None:
                self.stream.write(f"{words}\n")  # type: ignore[union-attr]
            elif not self.stream.closed:  # type: ignore[union-attr]
                self.put(self._fresh() + encoded(f"{words}\n", self.stream))

    def put(self, data: bytes) -> None:
        """Write bytes, all at once if the stream takes them."""
        while data and self.descriptor is not None:
            data = data[os.write(self.descriptor, data) :]

    def _fresh(self) -> bytes:
        """What makes sure that a line begins where the next character goes."""
        assert self.descriptor is not None
        if self.terminal:
            # From the first column, as many spaces as there are columns stay on the line; from any
            # other they wrap, and the next line begins. Either way the cursor goes to its start.
            return b" " * (os.get_terminal_size(self.descriptor).columns or 80) + b"\r"
        if stat.S_ISREG(os.fstat(self.descriptor).st_mode):
            with contextlib.suppress(OSError):
                end = os.lseek(self.descriptor, 0, os.SEEK_CUR)
                with open(f"/proc/self/fd/{self.descriptor}", "rb", buffering=0) as file:
                    return b"" if not end or os.pread(file.fileno(), 1, end - 1) == b"\n" else b"\n"
        return b""


def encodable(words: str, stream: Any) -> str:
    """The words in characters that the stream has."""
    from ..report.text import ASCII

    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        return words.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return words


def encoded(words: str, stream: Any) -> bytes:
    return encodable(words, stream).encode(getattr(stream, "encoding", None) or "utf-8", "replace")
