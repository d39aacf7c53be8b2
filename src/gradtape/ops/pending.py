"""The cotangent of a matrix that is used again and again, with products that are still to be made.

A recurrent cell multiplies by the same weights at each step, and every step adds `aᵀ g` to their
cotangent. Many small products are one large one: 49 of 64 x 32 by 32 x 256, each added to the sum,
take 0.9 ms one by one and 0.65 together; threads, too, share only what is large.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .linear import matmul_tn

# Rows of one product that are few enough to wait, and as many as are multiplied at once. They
# bound the memory, too: cotangents that wait live longer than they would.
_FEW, _ENOUGH = 128, 512


class Pending:
    """A sum, and pairs of which `aᵀ g` is to be added to it."""

    __slots__ = ("_a", "_g", "_own", "_rows", "_sum")
    __array_ufunc__ = None

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
            product = matmul_tn(np.concatenate(self._a), np.concatenate(self._g))
            self._sum = np.add(self._sum, product, out=self._sum if self._own else None)
            self._own, self._a, self._g, self._rows = True, [], [], 0
        return self._sum

    def __add__(self, other: Any) -> Any:
        return self.dense() + other


def postponed(old: Any, a: Any, g: Any) -> Pending | None:
    """A cotangent to which `aᵀ g` will be added; None if that is better done at once."""
    if a.ndim != 2 or g.ndim != 2 or len(a) > _FEW or a.dtype.char not in "fd":
        return None
    if old.__class__ is ndarray:
        old = Pending(old)
    elif old.__class__ is not Pending:
        return None
    old.append(a, g)
    return old
