"""Threads of a pipeline: those that compute elements ahead, and those that share a map's calls.

Every thread works for one pass, and ends after the element that it is at when nobody holds the
generator of the pass any more. It learns that by calls of C code at the generator's death: a
`finally` would run in Python then, and Python drops a Ctrl-C that arrives there. What a thread
raises is raised again where the element is asked for, with the traceback that leads to the user's
line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from ..framework.lifetimes import Death, at_death, new_thread

FEW = 8  # elements after which it is known how long a function takes
LATE = 4  # elements that took long, one after the other or nearly so
SLOW = 2e-4  # seconds that are worth a thread: handing an element over takes some 30 us
_END = object()
_Answer = tuple[Any, BaseException | None]  # the result of a call, or what it raised


class _Ahead:
    """What a thread has made and nobody has taken yet."""

    def __init__(self, elements: Iterator[Any], size: int) -> None:
        self._elements: Iterator[Any] | None = elements
        self.found: SimpleQueue[Any] = SimpleQueue()
        self.room: SimpleQueue[Any] = SimpleQueue()  # one item for each element that may wait
        for _ in range(size):
            self.room.put(None)
        self.stopped: list[bool] = []  # not empty when nobody takes elements any more
        self.error: BaseException | None = None
        self.death: Death | None = None

    def work(self) -> None:
        """The thread's own part."""
        elements, self._elements = self._elements, None
        try:
            for element in elements or ():
                self.room.get()
                if self.stopped:
                    return
                self.found.put(element)
        except BaseException as error:
            self.error = error
        finally:
            del elements  # what works for it ends, too
            self.found.put(_END)


def _taken(shared: _Ahead) -> Generator[Any, None, None]:
    new_thread(shared.work, "gradtape-prefetch").start()
    while (element := shared.found.get()) is not _END:
        shared.room.put(None)
        yield element
    if shared.error is not None:
        raise shared.error


def ahead(elements: Iterator[Any], size: int) -> Iterator[Any]:
    """The elements of a pass that a thread goes through, at most so many before they are asked
    for; it begins with the first."""
    shared = _Ahead(elements, size)
    taken = _taken(shared)
    stop = [partial(shared.stopped.append, True), partial(shared.room.put, None)]
    shared.death = at_death(taken, stop)
    return taken


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


class _Calls:
    """Calls of a function that threads share."""

    def __init__(self, function: Callable[[Any], Any], count: int) -> None:
        self._function, self._count = function, count
        self.asked: SimpleQueue[tuple[SimpleQueue, Any] | None] = SimpleQueue()
        self.stopped: list[bool] = []
        self.death: Death | None = None
        self._threads = 0

    def begin(self, element: Any, answers: SimpleQueue[_Answer]) -> None:
        """Ask for one more call, whose answer is put there."""
        if self._threads < self._count:
            self._threads += 1
            new_thread(self._work, f"gradtape-map_{self._threads - 1}").start()
        self.asked.put((answers, element))

    def _work(self) -> None:
        while (call := self.asked.get()) is not None and not self.stopped:
            answers, element = call
            try:
                answers.put((self._function(element), None))
            except BaseException as error:
                answers.put((None, error))
            del call, answers, element
        self.asked.put(None)  # for the next thread


def in_threads(
    function: Callable[[Any], Any], elements: Iterator[Any], count: int, ordered: bool
) -> Iterator[Any]:
    """The results of a function, of which so many calls are under way at a time."""
    calls = _Calls(function, count)
    results = _results(calls, elements, count, ordered)
    stop = [partial(calls.stopped.append, True), partial(calls.asked.put, None)]
    calls.death = at_death(results, stop)
    return results


def _results(
    calls: _Calls, elements: Iterator[Any], count: int, ordered: bool
) -> Generator[Any, None, None]:
    # Each answer is taken from the oldest queue: its own, or the one of all.
    pending: deque[SimpleQueue[_Answer]] = deque()
    first: SimpleQueue[_Answer] = SimpleQueue()
    for element in elements:
        pending.append(SimpleQueue() if ordered else first)
        calls.begin(element, pending[-1])
        if len(pending) >= count:
            yield _result(pending.popleft().get())
    while pending:
        yield _result(pending.popleft().get())
    calls.asked.put(None)


def _result(answer: _Answer) -> Any:
    value, error = answer
    if error is not None:
        raise error
    return value


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
