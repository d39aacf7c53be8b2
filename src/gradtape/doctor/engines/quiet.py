"""Silence for one thread: what the doctor computes again prints nothing, and others go on printing.

`contextlib.redirect_stdout` would take the words of every thread, and two threads that leave it in
another order than they came would leave the program without its output for good.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any


class _Filter:
    """A stream that passes on what all threads write but those that are silent."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.silent: list[int] = []  # a thread stands here as often as it asked

    def write(self, text: str) -> int:
        return len(text) if get_ident() in self.silent else self.stream.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_lock = Lock()


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing that this thread prints in here reaches standard output."""
    thread = get_ident()
    with _lock:
        stream: Any = sys.stdout
        held = stream if isinstance(stream, _Filter) else _Filter(stream)
        sys.stdout = held
        held.silent.append(thread)
    try:
        yield
    finally:
        with _lock:
            held.silent.remove(thread)
            if not held.silent and sys.stdout is held:
                sys.stdout = held.stream
