"""How long a number takes: `python -m tests.compile.native.speed [name …]`.

In nanoseconds, on one core, of arrays of 2,048 numbers from 0.1 to 0.9, which the first cache
holds: native in vectors of 32 and of 64 bytes, then NumPy or SciPy in the same type. The best of
many runs, less that of the call with 16 numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from gradtape.compile.native.functions import BINARY, UNARY

from . import references
from .harness import looped

SIZE, FEW = 2048, 16
PLAIN: dict[str, Any] = {"erf": special.erf, "erfc": special.erfc}
PLAIN |= {"gelu": lambda x: 0.5 * x * special.erfc(x * x.dtype.type(-0.7071067811865476))}


def nanoseconds(run: Callable[[int], Any], times: int) -> float:
    """A number's time, of a run of as many as it is told."""
    best = {SIZE: 1.0, FEW: 1.0}
    for size in best:
        for _ in range(times):
            start = time.perf_counter()
            run(size)
            best[size] = min(best[size], time.perf_counter() - start)
    return (best[SIZE] - best[FEW]) / (SIZE - FEW) * 1e9


def measured(name: str, dtype: Any) -> list[float]:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 0.9, SIZE).astype(dtype) for _ in range(1 if name in UNARY else 2)]
    out = np.empty_like(arrays[0])
    addresses = [a.ctypes.data for a in (*arrays, out)]
    emit = UNARY.get(name) or BINARY[name]
    wide = 32 // np.dtype(dtype).itemsize
    loops = [looped(emit, len(arrays), dtype, width) for width in (wide, 2 * wide)]
    found = [nanoseconds(lambda n, f=f: f.call(n, *addresses), 3000) for f in loops]  # type: ignore
    numpy = PLAIN.get(name) or references.UNARY.get(name) or references.BINARY.get(name)
    if name != "gelu_grad":
        found.append(nanoseconds(lambda n: numpy(*[a[:n] for a in arrays]), 300))
    return found


def main(names: list[str]) -> None:
    for name in names or [*UNARY, *BINARY]:
        parts = [f"{np.dtype(d).name} " + " ".join(f"{t:6.2f}" for t in measured(name, d))
                 for d in (np.float32, np.float64)]  # fmt: skip
        print(f"{name:12}", "   ".join(parts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
