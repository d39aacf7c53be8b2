"""Every float32 there is, through the native functions of one argument.

`python -m tests.compile.native.exhaustive [--own] [name …]` prints for each function its largest
error in units in the last place and where that is. The true values are NumPy's and SciPy's in
float64, which takes 2 to 5 minutes for each of the 23; with `--own` our own in float64, in native
code altogether: 20 seconds, where `test_functions.py` has shown these to be right. That says
nothing of those that compute float32 in float64 (tan, sinh, cosh, asinh, acosh, atanh).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from gradtape.compile.native.functions import UNARY
from gradtape.compile.native.values import Value, where

from . import references
from .harness import looped

STEP = 1 << 16  # so that all fits into the cache
Errors = Callable[[Any], tuple[Any, Any]]  # of arguments: some of them, and the errors there


def by_numpy(name: str) -> Errors:
    function, exact = looped(UNARY[name], 1, np.float32, 8), references.UNARY[name]

    def errors(x: Any) -> tuple[Any, Any]:
        y, truth = function(x), exact(x.astype(np.float64))
        rounded = truth.astype(np.float32)
        # Only where the result is not the rounded true one, which is rare.
        other = (y.view(np.int32) != rounded.view(np.int32)) & ((y == y) | (rounded == rounded))
        return x[other], references.units(y[other], truth[other])

    return errors


def by_our_own(name: str) -> Errors:
    def emit(b: ir.IRBuilder, v: ir.Value) -> ir.Value:
        y = Value(b, UNARY[name](b, v))
        truth = Value(b, UNARY[name](b, Value(b, v).as_double().v))
        rounded = truth.as_float()
        power = (rounded.as_double().bits() & (0x7FF << 52)).as_real()  # the power of two below
        error = ((y.as_double() - truth).abs() / (power.at_least(2.0**-126) * 2.0**-23)).as_float()
        size, end = rounded.abs(), float(np.finfo(np.float32).max)
        apart = where(y.equals(rounded), y(0.0), y(math.inf))
        apart = where(y.is_nan() & rounded.is_nan(), y(0.0), apart)
        flipped = truth.equals(0.0) & ((y.bits() ^ rounded.bits()) < 0)
        error = where((size <= end) & (y.abs() <= end), error, apart)
        return where(flipped, y(math.inf), error).v

    function = looped(emit, 1, np.float32, 8)
    return lambda x: (x, function(x))


def worst(errors: Errors) -> tuple[float, float]:
    """The largest error, and the argument that has it."""
    most, at = 0.0, 0.0
    first = np.arange(STEP, dtype=np.uint32)
    for start in range(0, 1 << 32, STEP):
        x, error = errors((first | np.uint32(start)).view(np.float32))
        if error.size:
            k = int(np.argmax(error))
            if error[k] > most:
                most, at = float(error[k]), float(x[k])
    return most, at


def main(arguments: list[str]) -> None:
    names = [a for a in arguments if a != "--own"]
    compare = by_our_own if "--own" in arguments else by_numpy
    with np.errstate(all="ignore"):
        for name in names or UNARY:
            start = time.perf_counter()
            error, at = worst(compare(name))
            seconds = time.perf_counter() - start
            print(f"{name:12} {error:.3f} at {at!r} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
