"""Threads of a pipeline: those that compute elements ahead, and those that share a map's calls.

Every thread works for one pass. When nobody holds the pass any more, Python closes its generator,
and the thread ends after the element that it is at. What a thread raises is raised again where the
element is asked for, with the traceback that leads to the user's line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from threading import Condition, Thread
from time import perf_counter
from typing import Any

FEW = 8  # elements after which it is known how long a function takes
LATE = 4  # elements that took long, one after the other or nearly so
SLOW = 2e-4  # seconds that are worth a thread: handing an element over takes some 30 us


class _Ahead:
    """What a thread has made and nobody has taken yet."""

    def __init__(self, elements: Iterator[Any], size: int) -> None:
        self._elements: Iterator[Any] | None = elements
        self._size = size
        self._found: deque[Any] = deque()
        self._changed = Condition()
        self._stopped = self._ended = False
        self._error: BaseException | None = None

    def work(self) -> None:
        """The thread's own part."""
        elements, self._elements = self._elements, None
        try:
            for element in elements or ():
                with self._changed:
                    while len(self._found) >= self._size and not self._stopped:
                        self._changed.wait()
                    if self._stopped:
                        return
                    self._found.append(element)
                    self._changed.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            del elements  # what works for it ends, too
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def take(self) -> Iterator[Any]:
        while True:
            with self._changed:
                while not self._found and not self._ended:
                    self._changed.wait()
                if not self._found:
                    break
                element = self._found.popleft()
                self._changed.notify_all()
            yield element
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._found.clear()
            self._changed.notify_all()


def ahead(elements: Iterator[Any], size: int) -> Iterator[Any]:
    """The elements of a pass that a thread goes through, at most so many before they are asked
    for."""
    shared = _Ahead(elements, size)
    del elements  # they end with the thread
    Thread(target=shared.work, name="gradtape-prefetch", daemon=True).start()
    try:
        yield from shared.take()
    finally:
        shared.stop()


def ahead_when_slow(elements: Iterator[Any], size: int) -> Iterator[Any]:
    """The same, by a thread as soon as several elements took long to make.

    Elements that are made in less time than a thread takes to hand them over cost twice with one:
    a step of `fit` on arrays takes 380 us with it and 260 without.
    """
    late = 0
    begin = perf_counter()
    for element in elements:
        late = late + 1 if perf_counter() - begin > SLOW else max(late - 1, 0)
        yield element
        if late == LATE:
            break
        begin = perf_counter()
    else:
        return
    yield from ahead(elements, size)


def in_threads(
    function: Callable[[Any], Any], elements: Iterator[Any], count: int, ordered: bool
) -> Iterator[Any]:
    """The results of a function, of which so many calls are under way at a time."""
    pool = ThreadPoolExecutor(count, "gradtape-map")
    pending: deque[Any] = deque()
    try:
        for element in elements:
            pending.append(pool.submit(function, element))
            if len(pending) >= count:
                yield _first(pending, ordered)
        while pending:
            yield _first(pending, ordered)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _first(pending: deque[Any], ordered: bool) -> Any:
    """The result of the oldest call, or of one that is done."""
    if ordered:
        return pending.popleft().result()
    done = wait(pending, return_when=FIRST_COMPLETED).done
    future = next(one for one in pending if one in done)
    pending.remove(future)
    return future.result()


def when_slow(
    function: Callable[[Any], Any], elements: Iterator[Any], count: int, ordered: bool
) -> Iterator[Any]:
    """The results of a function, by threads if one call takes long enough."""
    times = []
    for element in elements:
        start = perf_counter()
        found = function(element)
        times.append(perf_counter() - start)
        yield found
        if len(times) == FEW:
            break
    if count > 1 and sorted(times)[len(times) // 2 :][:1] > [SLOW]:
        yield from in_threads(function, elements, count, ordered)
    else:
        yield from map(function, elements)
