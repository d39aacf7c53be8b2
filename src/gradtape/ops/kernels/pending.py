"""The cotangents of weights that are used again and again, with work that is still to be done.

A recurrent cell multiplies by the same matrix at each step, and every step adds `aᵀ g` to its
cotangent. Many small products are one large one: 49 of 64 x 32 by 32 x 256, each added to the sum,
take 0.9 ms one by one and 0.65 together; threads, too, share only what is large. The cotangent of
the cell's bias is a sum over all steps and rows: first over the steps, it takes a third less. And
what takes long, as a convolution's filter does, other threads compute while the sweep goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, local
from typing import Any
from weakref import ref

import numpy as np
from numpy import ndarray

from .forks import before_forks
from .jobs import Effort
from .product import product

# Rows of one product that are few enough to wait, and as many as are multiplied at once. They
# bound the memory, too: cotangents that wait live longer than they would.
_FEW, _ENOUGH = 128, 512


class Pending:
    """A cotangent that is not finished; `dense` gives the array."""

    __slots__ = ()
    __array_ufunc__ = None

    def dense(self) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self.dense() + other

    __radd__ = __add__


class Products(Pending):
    """A sum, and pairs of which `aᵀ g` is to be added to it."""

    __slots__ = ("_a", "_g", "_own", "_rows", "_sum")

    def __init__(self, sum_: Any) -> None:
        self._sum, self._own = sum_, False  # a cotangent that others may hold as well
        self._a: list = []
        self._g: list = []
        self._rows = 0

    def append(self, a: Any, g: Any) -> None:
        self._a.append(a)
        self._g.append(g)
        self._rows += len(a)
        if self._rows >= _ENOUGH:
            self.dense()

    def dense(self) -> Any:
        """The sum with everything in it."""
        if self._a:
            new = product(np.concatenate(self._a).T, np.concatenate(self._g))
            self._sum = np.add(self._sum, new, out=self._sum if self._own else None)
            self._own, self._a, self._g, self._rows = True, [], [], 0
        return self._sum


class Rows(Pending):
    """A sum, and an array whose rows are to be added to it."""

    __slots__ = ("_own", "_rows", "_sum")

    def __init__(self, sum_: Any, rows: Any) -> None:
        self._sum, self._rows, self._own = sum_, rows, False

    def append(self, rows: Any) -> None:
        self._rows = np.add(self._rows, rows, out=self._rows if self._own else None)
        self._own = True

    def dense(self) -> Any:
        return self._sum + np.add.reduce(self._rows, 0)


class Awaited(Pending):
    """What other threads compute while the sweep goes on; `result` is called when they are done.

    A thread that sweeps has one at a time: all of them together would keep the cotangents of all
    layers alive. It does not wait for those of other threads.
    """

    __slots__ = ("__weakref__", "_effort", "_lock", "_result", "_value")

    def __init__(self, effort: Effort, result: Callable[[], Any]) -> None:
        Awaited.complete_latest()
        self._effort, self._result, self._lock = effort, result, Lock()
        self._value: Any = None
        _here.latest = ref(self)

    def dense(self) -> Any:
        with self._lock:
            if self._value is None:
                self._effort.finish()
                self._value = self._result()
        return self._value

    @staticmethod
    def complete_latest() -> None:
        latest = _here.latest()
        if latest is not None:
            latest._effort.complete()


class _Here(local):
    """What the sweep of this thread awaits."""

    latest: Any = staticmethod(lambda: None)


_here = _Here()
# A sweep may fork (in a gradient of the user's own) and go on in the child. What other threads
# await, nobody does there.
before_forks(Awaited.complete_latest)


def product_later(old: Any, a: Any, g: Any) -> Pending | None:
    """A cotangent to which `aᵀ g` will be added; None if that is better done at once."""
    if a.ndim != 2 or g.ndim != 2 or len(a) > _FEW or a.dtype.char not in "fd":
        return None
    if old.__class__ is ndarray:
        old = Products(old)
    elif old.__class__ is not Products:
        return None
    old.append(a, g)
    return old


def rows_later(old: Any, g: Any) -> Pending | None:
    """A vector to which the rows of `g` will be added; None if that is better done at once."""
    if g.ndim != 2 or g.dtype.char not in "fd":
        return None
    if old.__class__ is Rows and old._rows.shape == g.shape:
        old.append(g)
        return old
    return Rows(old, g) if old.__class__ is ndarray and old.shape == g.shape[1:] else None
