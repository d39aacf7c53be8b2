"""Every float32 there is, through the native functions of one argument.

`python -m tests.compile.native.exhaustive [name …]` prints for each function its largest error in
units in the last place and where that is: some minutes for each of the 23.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from gradtape.compile.native.functions import UNARY

from . import references
from .harness import looped

STEP = 1 << 17  # so that all fits into the cache


def worst(name: str) -> tuple[float, float]:
    """The largest error, and the argument that has it."""
    function, exact = looped(UNARY[name], 1, np.float32, 8), references.UNARY[name]
    most, at = 0.0, 0.0
    for start in range(0, 1 << 32, STEP):
        x = np.arange(start, start + STEP, dtype=np.uint32).view(np.float32)
        y, truth = function(x), exact(x.astype(np.float64))
        # Only where the result is not the rounded true one, which is rare: 4 times as quick.
        other = np.flatnonzero(y.view(np.int32) != truth.astype(np.float32).view(np.int32))
        if not other.size:
            continue
        error = references.units(y[other], truth[other])
        k = int(np.argmax(error))
        if error[k] > most:
            most, at = float(error[k]), float(x[other[k]])
    return most, at


def main(names: list[str]) -> None:
    with np.errstate(all="ignore"):
        for name in names or UNARY:
            start = time.perf_counter()
            error, at = worst(name)
            seconds = time.perf_counter() - start
            print(f"{name:12} {error:.3f} at {at!r} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
