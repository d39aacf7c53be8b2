"""Work in pieces that threads take in turn, with products of matrices inside of the pieces.

When matrices must be laid out first, it is quicker to share the whole, piece by piece, and to let
each thread multiply what it has in its cache, than to share each product: convolving 64 images of
14 by 14 (5 by 5, 16 to 32 channels) takes 2.6 ms so, 3.2 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Condition, Lock, get_ident
from typing import Any

import numpy as np

from .forks import before_forks, in_children, in_parents
from .parallel import hire, threads

_ALONE, _SHARED = 0, 1  # two ways to compute with BLAS


class Effort:
    """Calls of `work` with an iterator over the jobs, in every thread with the same one.

    Other threads begin at once. `finish` takes part and waits for them, so that in between the
    caller may do what only one thread can. `products` says that the jobs multiply matrices.
    """

    def __init__(
        self, work: Callable[[Iterator], None], jobs: Sequence, products: bool = False
    ) -> None:
        helpers = min(threads(), len(jobs)) - 1
        if products and helpers > 0:
            if blas.found():
                work = _in_one_thread(work)
            else:
                helpers = 0
        if products and helpers < 1:
            work = partial(blas.shared, work)
        self._work, self._todo = work, iter(jobs)
        self._lock = Lock()
        self._errors: list[BaseException] | None = None
        self._hands = [_Hand(work, self._todo) for _ in range(helpers)]
        if helpers > 0:
            tasks = hire(helpers)
            for hand in self._hands:
                tasks.put(hand.answer)

    def complete(self) -> None:
        """Do what is left, and keep what went wrong for `finish`."""
        if self._errors is not None:
            return
        with self._lock:
            if self._errors is None:
                own = _Hand(self._work, self._todo)
                own.answer()
                self._errors = [e for hand in (own, *self._hands) if (e := hand.finish())]

    def finish(self) -> None:
        self.complete()
        if self._errors:
            raise self._errors[0]


def spread(work: Callable[[Iterator], None], jobs: Sequence, products: bool = False) -> None:
    """An effort from beginning to end. It pays from about 0.2 ms of work."""
    Effort(work, jobs, products).finish()


def _in_one_thread(work: Callable[[Iterator], None]) -> Callable[[Iterator], None]:
    """With BLAS kept to the thread that calls it."""

    def run(todo: Iterator) -> None:
        with blas:
            work(blas.giving_way(todo))

    return run


def portions(jobs: Sequence, each: int = 1) -> list[Sequence]:
    """The jobs in as many parts as there are threads, or `each` times as many. A sum with one
    summand for each part does not depend on who is quicker, as one that threads add to in turn
    would."""
    parts = threads() * each
    cuts = [len(jobs) * k // parts for k in range(parts + 1)]
    return [jobs[i:j] for i, j in pairwise(cuts) if i < j]


class _Hand:
    """A call for one more thread; whoever claims it first either answers it or takes it back."""

    def __init__(self, work: Callable[[Iterator], None], todo: Iterator) -> None:
        self.work, self.todo = work, todo
        self.error: BaseException | None = None
        self.claim, self.busy = Lock(), Lock()
        self.busy.acquire()

    def answer(self) -> None:
        if not self.claim.acquire(blocking=False):
            return
        try:
            self.work(self.todo)
        except BaseException as error:
            self.error = error
        finally:
            self.busy.release()

    def finish(self) -> BaseException | None:
        if not self.claim.acquire(blocking=False):
            self.busy.acquire()
        return self.error


class _Blas:
    """NumPy's OpenBLAS, if that is what it has: whether it may share its work among threads.

    The number of its threads is one for the whole process, and decides the last bits of a product.
    So at any time there are either products that keep to one thread (`with blas:`, as many as there
    are threads of ours), or one that is shared (`blas.shared`; OpenBLAS itself lets a second one
    wait). Who wants the other kind waits for the piece of work that is under way, no longer.
    """

    NAMES = (
        "scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads",
        "openblas_{}_num_threads64_", "openblas_{}_num_threads",
    )  # fmt: skip

    def __init__(self) -> None:
        self._functions: Any = None
        self._before = 0  # how many threads it had
        self._begin([], [])

    def _begin(self, alone: list[int], sharing: list[int]) -> None:
        self._lock = Lock()
        self._gate = Condition(self._lock)
        # The threads that compute with one thread of OpenBLAS's, and those that share a product.
        self._inside = alone, sharing
        self._waiting = [0, 0]  # those who would like to
        self._turn: int | None = None  # whose it is, until none of them waits
        self._forks = 0  # those that wait or are under way

    def found(self) -> bool:
        if self._functions is None:
            import ctypes  # NumPy has loaded it already

            # Symbols are looked for in the libraries that this one needs as well. The calls take
            # no time, so they keep the interpreter's lock: 1.2 us for both instead of 1.9.
            library = ctypes.PyDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
            names = [name for name in self.NAMES if hasattr(library, name.format("set"))]
            self._functions = (
                [getattr(library, names[0].format(w)) for w in ("get", "set")] if names else ()
            )
        return bool(self._functions)

    def __enter__(self) -> None:
        """Keep it to the thread that calls it."""
        me = get_ident()
        with self._lock:
            if self._inside[_SHARED] or self._waiting[_SHARED]:
                if me in self._inside[_SHARED]:
                    return
                self._wait(_ALONE)
            self._inside[_ALONE].append(me)
            if len(self._inside[_ALONE]) == 1:
                get, set_to = self._functions
                self._before = get()
                set_to(1)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._go(_ALONE)

    def giving_way(self, jobs: Iterator) -> Iterator:
        """The jobs, between which those who want to share a product get their turn."""
        for job in jobs:
            if self._waiting[_SHARED]:
                self.__exit__()
                self.__enter__()
            yield job

    def shared(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Call what OpenBLAS may share among its threads, but not during a fork.

        It ends its threads before a fork, and waits for ever for one that is at work: a program
        that multiplies with NumPy alone in one thread and forks in another hangs.
        """
        me = get_ident()
        if me in self._inside[_SHARED] or me in self._inside[_ALONE]:
            return function(*operands)
        with self._lock:
            if any(self._inside) or any(self._waiting) or self._forks:
                self._wait(_SHARED)
            self._inside[_SHARED].append(me)
        try:
            return function(*operands)
        finally:
            with self._lock:
                self._go(_SHARED)

    def _wait(self, kind: int) -> None:
        other = 1 - kind
        self._waiting[kind] += 1
        try:
            while (
                self._inside[other]
                or self._turn == other
                or (kind == _SHARED and (self._inside[_SHARED] or self._forks))
            ):
                self._gate.wait()
        finally:
            self._waiting[kind] -= 1
            if not self._waiting[kind] and self._turn == kind:
                self._turn = None
                self._gate.notify_all()

    def _go(self, kind: int) -> None:
        inside, me = self._inside[kind], get_ident()
        if me not in inside:  # interrupted when it gave way, or part of a shared product
            return
        inside.remove(me)
        if kind == _ALONE and not inside:
            self._functions[1](self._before)
        if self._waiting[1 - kind]:
            self._turn = 1 - kind
        if self._forks or any(self._waiting):
            self._gate.notify_all()

    def close(self) -> None:
        """Before a fork: let products come to their end, and none begin."""
        me = get_ident()
        with self._lock:
            self._forks += 1
            while any(other != me for other in self._inside[_SHARED]):
                self._gate.wait()

    def open(self) -> None:
        with self._lock:
            self._forks -= 1
            self._gate.notify_all()

    def renew(self) -> None:
        """In a child, where none of the other threads that were inside lives on."""
        me = get_ident()
        alone, sharing = ([t for t in inside if t == me] for inside in self._inside)
        if self._inside[_ALONE] and not alone:
            self._functions[1](self._before)
        self._begin(alone, sharing)


blas = _Blas()
before_forks(blas.close)
in_parents(blas.open)
in_children(blas.renew)
