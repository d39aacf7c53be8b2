"""Products of two matrices: whether BLAS may share them among its threads.

OpenBLAS's threads spin for 0.1 s after their part. That is quickest when products follow each
other, but it takes a core away from threads of our own: of a training step of a small convolutional
network, 36 of 90 ms of processor time. So small products next to convolutions stay in one thread:
up to so many products later, by count and not by time, and each thread of the user's for itself,
so that a program computes the same bits in every run.
"""

from __future__ import annotations

import os
from typing import Any

from . import jobs
from .parallel import threads

# Multiplications up to which OpenBLAS itself works in one thread.
ALONE = 1 << 18
# A second one gains 3 us up to twice as many, but next to other work it is waited for: 32 x 64
# times 64 x 256 took 2,200 us on the average (12 at best) with it, 17 (16 at best) without.
_ONE = 2 * ALONE if threads() > 1 and os.environ.get("OPENBLAS_NUM_THREADS") != "1" else 0
# Those up to which one thread will do next to convolutions: 0.1 ms.
LITTLE = 1 << 22


def product(a: Any, b: Any, out: Any = None) -> Any:
    """Of two matrices of floats that fit each other."""
    work = a.size * b.shape[1]
    if work > ALONE:
        if jobs.here.in_one_thread:
            jobs.here.in_one_thread -= 1
            if work <= LITTLE:
                return _alone(a, b, out)
        if work <= _ONE and jobs.blas.found():
            return _alone(a, b, out)
        return jobs.blas.shared(a.dot, b, out)
    return a.dot(b, out)  # the same product as np.matmul's, 0.7 us faster


def _alone(a: Any, b: Any, out: Any) -> Any:
    with jobs.blas:
        return a.dot(b, out)
