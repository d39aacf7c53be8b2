"""Large arrays in parts: small enough for the cache, and shared among threads.

NumPy lets go of the interpreter's lock while it computes, so that threads do run at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from threading import Lock, Thread
from typing import Any

import numpy as np
from numpy import ndarray

from ...core.apply import QUIET, silence
from .forks import in_children

# A part of an array: 128 kB of float32, so that a few temporaries of it stay in the cache. Parts
# of a half of that take 1.5 times as long, as every call of NumPy's has its price.
BLOCK = 1 << 15
# Elements from which a second thread pays (30 us to wake it) for 1 ns an element or more.
MANY = 1 << 17
limit = 0  # the user's number of threads; 0 means one for each core
workers = 0  # threads of ours, waiting for work

_tasks: Any = None


def threads() -> int:
    """How many threads may share the work of one op."""
    if limit:
        return limit
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def share(task: Callable[[int, int], Any], size: int, row: int = 1) -> None:
    """Call `task(start, stop)` for parts of range(size), in this thread and in those that are free.

    What is counted are rows of so many elements. Whoever has finished a part takes the next one,
    so nobody waits for a thread that is held up elsewhere before it has begun.
    """
    helpers = threads() - 1
    if helpers < 1 or size * row < MANY:
        task(0, size)
        return
    block = max(BLOCK // row, 1)
    step = max(block, -(-size // (4 * (helpers + 1) * block)) * block)
    starts, total, finished = iter(range(0, size, step)), -(-size // step), count(1)
    failed: list[BaseException] = []
    last = Lock()
    last.acquire()

    def work() -> None:
        for start in starts:
            try:
                task(start, min(start + step, size))
            except BaseException as error:
                failed.append(error)
            if next(finished) == total:
                last.release()

    tasks = hire(helpers)
    for _ in range(min(helpers, total - 1)):
        tasks.put(work)
    work()
    last.acquire()
    if failed:
        raise failed[0]


def hire(helpers: int) -> Any:
    """The queue of tasks, and at least so many threads that take from it."""
    global _tasks, workers
    if _tasks is None:
        from queue import SimpleQueue

        _tasks = SimpleQueue()
    while workers < helpers:
        workers += 1
        Thread(target=_serve, args=(_tasks,), name="gradtape", daemon=True).start()
    return _tasks


def _serve(tasks: Any) -> None:
    silence[QUIET]
    while True:
        tasks.get()()


@in_children
def _forget() -> None:
    """Threads do not live on in a forked process."""
    global _tasks, workers
    _tasks, workers = None, 0


def shared(ufunc: Any) -> Callable[[Any], Any]:
    """A costly ufunc of one operand as a forward that shares large arrays among threads."""

    def forward(a: Any) -> Any:
        if a.__class__ is not ndarray or a.size < MANY or a.dtype.char not in "fdFD":
            return ufunc(a)
        if not a.flags.c_contiguous:
            return ufunc(a)
        y = np.empty(a.shape, a.dtype)
        source, target = a.reshape(-1), y.reshape(-1)
        share(lambda i, j: ufunc(source[i:j], out=target[i:j]), a.size)
        return y

    return forward


def in_blocks(kernel: Callable[..., None], spare: int, *arrays: Any) -> Any:
    """`kernel(*parts, out, *temporaries)` on parts of arrays of one shape and dtype.

    It fills `out`; the number of temporaries is `spare`.
    """
    first = arrays[0]
    y = np.empty(first.shape, first.dtype)
    sources, target = [a.reshape(-1) for a in arrays], y.reshape(-1)

    def task(start: int, stop: int) -> None:
        rooms = np.empty((spare, min(BLOCK, stop - start)), first.dtype)
        for i in range(start, stop, BLOCK):
            j = min(i + BLOCK, stop)
            kernel(*[s[i:j] for s in sources], target[i:j], *rooms[:, : j - i])

    share(task, y.size)
    return y


def in_rows(kernel: Callable[..., Any], *arrays: Any) -> Any:
    """`kernel(*parts, out)` on some rows, the last axes of contiguous arrays of one shape."""
    first = arrays[0]
    y = np.empty(first.shape, first.dtype)
    sources = [a.reshape(-1, a.shape[-1]) for a in (*arrays, y)]
    block = max(BLOCK // first.shape[-1], 1)

    def task(start: int, stop: int) -> None:
        for i in range(start, stop, block):
            kernel(*[s[i : min(i + block, stop)] for s in sources])

    share(task, *sources[0].shape)
    return y
