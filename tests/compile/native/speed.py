"""How long a number takes: `python -m tests.compile.native.speed [name …]`.

In nanoseconds, on one core, of arrays of 8,192 numbers from 0.1 to 0.9: native in vectors of 32 and
of 64 bytes, then NumPy or SciPy in the same type. The best of many runs.
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

SIZE = 8192
PLAIN: dict[str, Any] = {"erf": special.erf, "erfc": special.erfc}
PLAIN |= {"gelu": lambda x: 0.5 * x * special.erfc(x * x.dtype.type(-0.7071067811865476))}


def nanoseconds(run: Callable[[], Any], times: int) -> float:
    best = 1.0
    for _ in range(times):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / SIZE * 1e9


def measured(name: str, dtype: Any) -> list[float]:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 0.9, SIZE).astype(dtype) for _ in range(1 if name in UNARY else 2)]
    out = np.empty_like(arrays[0])
    addresses = [a.ctypes.data for a in (*arrays, out)]
    emit = UNARY.get(name) or BINARY[name]
    wide = 32 // np.dtype(dtype).itemsize
    loops = [looped(emit, len(arrays), dtype, width) for width in (wide, 2 * wide)]
    found = [nanoseconds(lambda f=f: f.call(SIZE, *addresses), 2000) for f in loops]  # type: ignore
    numpy = PLAIN.get(name) or references.UNARY.get(name) or references.BINARY.get(name)
    if name != "gelu_grad":
        found.append(nanoseconds(lambda: numpy(*arrays), 100))
    return found


def main(names: list[str]) -> None:
    for name in names or [*UNARY, *BINARY]:
        parts = [f"{np.dtype(d).name} " + " ".join(f"{t:6.2f}" for t in measured(name, d))
                 for d in (np.float32, np.float64)]  # fmt: skip
        print(f"{name:12}", "   ".join(parts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
