"""Products of large matrices: whose threads share them.

OpenBLAS's threads spin for 0.1 s after their part. That is quickest when products follow each
other, but takes a core away from all else that is shared: of a training step of a small
convolutional network, 36 of 90 ms of processor time. So ours do it, which sleep, while anything
else is shared as well: up to so many products later, by count and not by time, so that the same
program computes the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from . import parallel
from .jobs import blas, spread
from .parallel import threads

# Multiplications up to which OpenBLAS works in one thread by itself, and up to which it had better:
# 0.05 ms. On a busy machine its second thread is waited for: 32 x 64 times 64 x 256 took 2,200 us
# on the average, 19 at best.
ALONE, LITTLE = 1 << 18, 1 << 21
# Those from which on a second thread of ours pays, and those of a part.
SHARED, PART = 1 << 22, 1 << 21
# Rows or columns of a part: 128 x 512 x 128 takes 0.20 ms, in halves 0.21, in quarters 0.24.
LEAST = 64


def product(a: Any, b: Any) -> Any:
    """Of two matrices of floats that fit each other."""
    (m, k), n = a.shape, b.shape[1]
    work = m * k * n
    if work <= ALONE or not _ours(work):
        return a.dot(b)  # the same product as np.matmul's, 0.7 us sooner
    if work < SHARED or max(m, n) < 2 * LEAST or threads() == 1:
        return _lone(np.dot, a, b)
    y = np.empty((m, n), a.dtype)
    # Every part lays out the whole of one operand for itself: the smaller one.
    if m >= n:
        return _in_parts(lambda i, j: np.matmul(a[i:j], b, out=y[i:j]), y, m // LEAST, m, work)
    return _in_parts(lambda i, j: np.matmul(a, b[:, i:j], out=y[:, i:j]), y, n // LEAST, n, work)


def products(a: Any, b: Any) -> Any:
    """Of two stacks of matrices, or of a stack and a matrix, that fit each other."""
    m, n = a.shape[-2], b.shape[-1]
    work = max(a.size * n, b.size * m)
    if work <= ALONE or not _ours(work):
        return np.matmul(a, b)
    if a.ndim == b.ndim and len(a) == len(b) == 1:
        return (products if a.ndim > 3 else product)(a[0], b[0])[None]
    y = np.empty((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), m, n), a.dtype)
    work = y.size * a.shape[-1]
    if work < SHARED or threads() == 1 or len(y) == 1:
        return _lone(np.matmul, a, b, y)

    def some(c: Any, i: int, j: int) -> Any:
        return c[i:j] if c.ndim == y.ndim and len(c) > 1 else c

    def task(i: int, j: int) -> None:
        np.matmul(some(a, i, j), some(b, i, j), out=y[i:j])

    return _in_parts(task, y, len(y), len(y), work)


def _ours(work: int) -> bool:
    """Whether OpenBLAS is to keep to one thread."""
    if not blas.found():
        return False
    if parallel.company and work >= LITTLE:
        parallel.company -= 1
        return True
    return work < LITTLE or parallel.limit == 1


def _lone(call: Any, *arrays: Any) -> Any:
    blas.enter()
    try:
        return call(*arrays)
    finally:
        blas.leave()


def _in_parts(task: Any, y: Any, most: int, size: int, work: int) -> Any:
    """Call task(start, stop) for at most so many parts of range(size), cut by sizes alone."""
    count = max(min(work // PART, 2 * threads(), most), 1)
    cuts = [size * k // count for k in range(count + 1)]

    def run(parts: Iterator) -> None:
        for start, stop in parts:
            task(start, stop)

    company = parallel.company
    spread(run, list(pairwise(cuts)), products=True)
    parallel.company = company  # products are not what they keep company with
    return y
