"""Work in pieces that threads take in turn, with products of matrices inside of the pieces.

A product alone is shared out by BLAS itself. When the matrices must be laid out first, it is
quicker to share the whole, piece by piece, and to let each thread multiply what it has in its
cache: convolving 64 images of 14 by 14 (5 by 5, 16 to 32 channels) takes 2.6 ms so, 3.2 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Condition, Lock, get_ident
from typing import Any

import numpy as np

from .forks import before_forks, in_children, in_parents
from .parallel import staff, threads

# How many products of matrices after this keep to one thread if they are small: see `product.py`.
COMPANY = 256
company = 0  # how many still do


class Effort:
    """Calls of `work` with an iterator over the jobs, in every thread with the same one.

    Other threads begin at once. `finish` takes part and waits for them, so that in between the
    caller may do what only one thread can. `products` says that the jobs multiply matrices.
    """

    def __init__(
        self, work: Callable[[Iterator], None], jobs: Sequence, products: bool = False
    ) -> None:
        global company
        helpers = min(threads(), len(jobs)) - 1
        if products and helpers > 0:
            if blas.found():
                work, company = _in_one_thread(work), COMPANY
            else:
                helpers = 0
        if products and helpers < 1:
            work = partial(blas.shared, work)
        self._work, self._todo = work, iter(jobs)
        self._lock = Lock()
        self._errors: list[BaseException] | None = None
        self._hands = [_Hand(work, self._todo) for _ in range(helpers)]
        if helpers > 0:
            tasks = staff(helpers)
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
        blas.enter()
        try:
            work(todo)
        finally:
            blas.leave()

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
    """NumPy's OpenBLAS, if that is what it has: keeps it to one thread while ours are at work."""

    NAMES = (
        "scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads",
        "openblas_{}_num_threads64_", "openblas_{}_num_threads",
    )  # fmt: skip

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = self._before = 0
        self._functions: Any = None
        self._gate = Condition()
        self._sharing: set[int] = set()  # the threads whose product OpenBLAS's own threads share
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

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                get, set_to = self._functions
                self._before = get()
                set_to(1)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._functions[1](self._before)

    def shared(self, function: Callable[..., Any], *operands: Any) -> Any:
        """Call what OpenBLAS may share among its threads, but not during a fork.

        It ends its threads before a fork, and waits for ever for one that is at work: a program
        that multiplies with NumPy alone in one thread and forks in another hangs.
        """
        me = get_ident()
        if me in self._sharing:
            return function(*operands)
        with self._gate:
            while self._forks:
                self._gate.wait()
            self._sharing.add(me)
        try:
            return function(*operands)
        finally:
            with self._gate:
                self._sharing.discard(me)
                if self._forks:
                    self._gate.notify_all()

    def close(self) -> None:
        """Before a fork: let products come to their end, and none begin."""
        with self._gate:
            self._forks += 1
            while self._sharing - {get_ident()}:
                self._gate.wait()

    def open(self) -> None:
        with self._gate:
            self._forks -= 1
            self._gate.notify_all()

    def renew(self) -> None:
        """In a child, where none of the threads that were inside lives on."""
        self._lock, self._gate = Lock(), Condition()
        self._sharing, self._forks = set(), 0
        if self._inside:
            self._inside = 0
            self._functions[1](self._before)


blas = _Blas()
before_forks(blas.close)
in_parents(blas.open)
in_children(blas.renew)
