"""Bounds on what one program may cost: memory for both libraries, and time."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from typing import Any

MEMORY = 2**30  # bytes beyond what the process has
SECONDS = 20


class Hang(Exception):
    """A program that took too long."""


def bound_memory() -> None:
    """Let huge arrays fail at once, instead of taking the machine down."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))


def unbind_memory() -> None:
    """Undo `bound_memory` in a process that is about to become TensorFlow, which has a bound of its
    own: in what is left of another one's, its kernels find no room for their code."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


@contextlib.contextmanager
def bound_time(seconds: int = SECONDS) -> Iterator[None]:
    """Raise Hang in whatever takes longer."""

    def stop(*_: Any) -> None:
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
