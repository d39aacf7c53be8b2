"""Sums whose rows threads share, called again and again beside their exact answers:
python -m tests.compile.native.stress [--calls 10000] [--threads 2 3 4].

Every program is called in float32 and float64, compiled by the automatic choice, at once, and by
`jit_compile=True`; by a crew that always works together and by one that decides for itself; alone
on the machine and beside a process that keeps all cores busy.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

import gradtape as tf
from gradtape.compile.backends import choice
from gradtape.compile.backends.llvm import CHANGE
from tests.compile.native.crews import crew_of

SHAPE = (16, 100, 64)
CALLS, THREADS = 10_000, (2, 3, 4)
MODES = "auto", "llvm", "jit_compile"
BUSY = "import sys\nsys.stdin.close()\nwhile True: pass"


def _about(reduce: Callable[..., Any]) -> Callable[[Any], Any]:
    def centred(x: Any) -> Any:
        y = tf.nn.relu(x)
        m = reduce(y, 1, keepdims=True)
        return y - m, m

    return centred


def _weights(x: Any) -> Any:
    e = tf.exp(x)
    s = tf.reduce_sum(e, 1, keepdims=True)
    return e / s, s


def _softmax(x: Any) -> Any:
    return tf.nn.softmax(x * 2.0, axis=1), tf.reduce_logsumexp(x, 1)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    **{
        name: _about(getattr(tf, name))
        for name in ("reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "reduce_prod")
    },
    "e / sum(e)": _weights,
    "softmax": _softmax,
}


def wrong_calls(
    name: str, dtype: str, mode: str, threads: int, forced: bool, calls: int
) -> tuple[int, int]:
    """How many of so many calls differ from the eager answer by more than roundings, and how many
    from the bits of the last one before."""
    x = tf.constant(np.random.RandomState(0).uniform(0, 1, SHAPE).astype(dtype))
    program = PROGRAMS[name]
    expected = [y.numpy() for y in program(x)]
    far = 1e-4 if dtype == "float32" else 1e-12
    before = choice.NAME
    choice.NAME = "llvm" if mode == "llvm" else "auto"
    try:
        with crew_of(threads, forced):
            step = tf.function(program, jit_compile=True if mode == "jit_compile" else None)
            wrong = other = 0
            last: list[bytes] = []
            for call in range(calls):
                found = [y.numpy() for y in step(x)]
                wrong += not all(
                    np.allclose(y, e, rtol=far, atol=0.0)
                    for y, e in zip(found, expected, strict=True)
                )
                bits = [y.tobytes() for y in found]
                # The automatic choice becomes machine code in its twelfth call.
                other += bits != last and bool(call) and (mode != "auto" or call != CHANGE - 1)
                last = bits
    finally:
        choice.NAME = before
    return wrong, other


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Beside as many processes as there are cores, which do nothing but count."""
    count = os.cpu_count() or 1
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.compile.native.stress")
    help = "of each program with each number of threads, idle and busy: shared among its ways"
    parser.add_argument("--calls", type=int, default=CALLS, help=help)
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=[*PROGRAMS])
    parser.add_argument("--only", choices=("idle", "busy"), help="without or with other processes")
    options = parser.parse_args(arguments)
    ways = [*product(("float32", "float64"), MODES, (True, False))]
    total = 0
    for load in ("idle", "busy"):
        if options.only not in (None, load):
            continue
        with busy() if load == "busy" else contextlib.nullcontext():
            for threads, name in product(options.threads, options.programs):
                calls = -(-options.calls // len(ways))
                wrong = other = 0
                for dtype, mode, forced in ways:
                    found = wrong_calls(name, dtype, mode, threads, forced, calls)
                    wrong, other = wrong + found[0], other + found[1]
                print(
                    f"{load}, {threads} threads, {name}: {wrong} of {calls * len(ways)} calls "
                    f"wrong, {other} with other bits",
                    flush=True,
                )
                total += wrong + other
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
