"""Compiling in the background, in pieces: nobody waits for what is not needed any more.

LLVM must not be at work when the process takes down its memory, and a fork must not find it there.
So whoever compiles asks before each piece whether to go on, and the end of Python and a fork wait
for one piece at most.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

from llvmlite.binding import ffi

from ...framework.lifetimes import new_thread
from ...ops.kernels.forks import before_forks, in_children, in_parents

lock = threading.RLock()  # LLVM's passes and its loader are one thread's at a time
_threads: set[threading.Thread] = set()
_ending = False


class Ended(BaseException):
    """Python ends, and what is compiled in the background will not be called."""


def go_on() -> None:
    """Begin another piece of work; not in the background of a process that ends."""
    if _ending and threading.current_thread() in _threads:
        raise Ended


class once:
    """`functools.cached_property` without the lock that it has before Python 3.12: all objects of a
    class would wait while one is compiled, and in a fork for ever."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return instance.__dict__.setdefault(self._name, self._compute(instance))


def start(work: Callable[[], None]) -> threading.Thread | None:
    """A thread that does the work; None if there is none to be had, as when Python ends."""

    def run() -> None:
        try:
            with suppress(Ended):
                work()
        finally:
            _threads.discard(thread)

    thread = new_thread(run, "gradtape compiler")
    _threads.add(thread)
    try:
        if _ending:
            raise RuntimeError
        thread.start()
    except RuntimeError:
        _threads.discard(thread)
        return None
    return thread


@atexit.register
def _end() -> None:
    global _ending
    _ending = True
    for thread in [*_threads]:
        thread.join()


# llvmlite has a lock of its own around each call, also where it gives memory back.
_inside: Any = getattr(ffi.lib, "_lock", None) or nullcontext()


@before_forks
def _wait() -> None:
    lock.acquire()
    _inside.__enter__()


@in_parents
def _resume() -> None:
    _inside.__exit__(None, None, None)
    lock.release()


@in_children
def _alone() -> None:
    _threads.clear()
    _resume()
