"""Store a sample of programs that use every expression: python -m tests.tensorflow.fuzz.sample."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from typing import Any

from tests.tensorflow.fuzz import compare, interpret, store
from tests.tensorflow.fuzz.generate import generate
from tests.tensorflow.fuzz.worker import TensorFlow

BATCH = 50
LARGEST = 4800  # characters of a program with its answer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tensorflow.fuzz.sample")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tensorflow", metavar="PYTHON", default=sys.executable)
    options = parser.parse_args(arguments)
    import gradtape as tf

    logging.getLogger("gradtape").setLevel(logging.ERROR)
    worker = TensorFlow(options.tensorflow)
    chosen: dict[str, tuple[Any, Any]] = {}
    seen: set[tuple[str, str]] = set()
    start = 0
    while len(chosen) < options.count and start < options.count * 20:
        programs = [generate(options.seed, i) for i in range(start, start + BATCH)]
        start += BATCH
        programs = [program for program in programs if new(program, seen)]
        for program, answer in zip(programs, worker.answers(programs), strict=True):
            small = len(json.dumps([program, answer])) < LARGEST
            if not small or not new(program, seen) or len(chosen) == options.count:
                continue
            got = interpret.answer(program, tf)
            # What hangs on the last bit would hang on the machine.
            if compare.differences(program, answer, got) or not compare.steady(
                program, answer, worker
            ):
                continue
            seen |= uses(program)
            chosen[program["id"]] = program, answer
        store.write("sample", worker.version, chosen)
    worker.close()
    print(f"{len(chosen)} programs, {len(seen)} pairs of expression and scenario")
    return 0


def uses(program: Any) -> set[tuple[str, str]]:
    """The expressions of a program, each with the scenario that it meets."""
    return {(step["op"], program["scenario"]["kind"]) for step in program["steps"]}


def new(program: Any, seen: set[tuple[str, str]]) -> bool:
    """Whether a quarter of a program has not been met."""
    own = uses(program)
    return len(own - seen) * 4 >= len(own)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
