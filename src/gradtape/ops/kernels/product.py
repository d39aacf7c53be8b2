"""Products of matrices: whether BLAS may share them among its threads.

OpenBLAS's threads spin for 0.1 s after their part, and wait for each other at every step of a
product, so that next to other work 2,048 x 128 times 128 x 128 takes 20 ms on the average (0.35 at
best), and 7 of processor time. So BLAS computes in one thread, and large products are shared out
among threads of our own, which sleep when there is nothing to do: 2.2 ms next to the same work,
0.7 of processor time, and 0.35 at best. Which thread computes which rows decides no bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from . import jobs
from .parallel import threads

# Multiplications up to which OpenBLAS itself works in one thread.
ALONE = 1 << 18
# Those up to which one thread will do: 0.1 ms.
LITTLE = 1 << 22
# Those of a stack from which it is shared among threads of ours, matrix by matrix.
_MANY = 1 << 23


def product(a: Any, b: Any, out: Any = None) -> Any:
    """Of two matrices of floats that fit each other."""
    work = a.size * b.shape[1]
    if work <= ALONE:
        return a.dot(b, out)  # the same product as np.matmul's, 0.7 us faster
    if not jobs.blas.found():
        return jobs.blas.shared(a.dot, b, out)
    if work <= LITTLE or threads() == 1:
        with jobs.blas:
            return a.dot(b, out)
    rows, columns = len(a), b.shape[1]
    y = np.empty((rows, columns), np.result_type(a, b)) if out is None else out
    parts = [slice(p[0], p[-1] + 1) for p in jobs.portions(range(max(rows, columns)))]

    def multiply(todo: Iterator) -> None:
        for part in todo:
            if rows >= columns:
                np.matmul(a[part], b, out=y[part])
            else:
                np.matmul(a, b[:, part], out=y[:, part])

    jobs.spread(multiply, parts, products=True)
    return y


def by_size(function: Callable[..., Any], multiplications: int, *operands: Any) -> Any:
    """Call what computes matrix by matrix, each with so many multiplications: in one thread if they
    are few, or else as BLAS shares them."""
    if multiplications > LITTLE or not jobs.blas.found():
        return jobs.blas.shared(function, *operands)
    with jobs.blas:
        return function(*operands)


def product_of_stacks(a: Any, b: Any, out: Any = None) -> Any:
    """np.matmul of stacks of floats that fit each other. Small matrices are never shared by BLAS,
    whose threads would wait for each other at every one of them: 64 products of 200 x 32 by
    32 x 200 took 55 to 83 ms of processor time on a busy machine, and take 2."""
    each = a.shape[-2] * a.shape[-1] * b.shape[-1]
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    work = each * prod(stack)
    if work <= ALONE:
        return np.matmul(a, b, out)
    if each > LITTLE or work < _MANY or threads() == 1 or not jobs.blas.found():
        return by_size(np.matmul, each, a, b, out)
    y = np.empty((*stack, a.shape[-2], b.shape[-1]), a.dtype) if out is None else out
    axis = stack.index(max(stack))
    pieces = [k for k in jobs.portions(range(stack[axis])) if k]

    def some(x: Any, piece: range) -> Any:
        """Of an operand with fewer axes, or with one matrix for all, there is nothing to choose."""
        k = axis - (y.ndim - x.ndim)
        if k < 0 or x.shape[k] == 1:
            return x
        return x[(slice(None),) * k + (slice(piece.start, piece.stop),)]

    def multiply(pieces: Iterator) -> None:
        for piece in pieces:
            np.matmul(some(a, piece), some(b, piece), some(y, piece))

    jobs.spread(multiply, pieces, products=True)
    return y
