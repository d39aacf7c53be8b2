"""Store a sample of programs that use every expression: python -m tests.tensorflow.fuzz.sample.

With --shaped, the expressions whose operands have shapes of their own, in a program each.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.tensorflow.fuzz import compare, interpret, shaped, store
from tests.tensorflow.fuzz.draw import Draw
from tests.tensorflow.fuzz.generate import generate
from tests.tensorflow.fuzz.worker import TensorFlow

BATCH = 50
LARGEST = 4800  # characters of a program with its answer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tensorflow.fuzz.sample")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tensorflow", metavar="PYTHON", default=sys.executable)
    parser.add_argument("--shaped", action="store_true")
    options = parser.parse_args(arguments)
    import gradtape as tf

    logging.getLogger("gradtape").setLevel(logging.ERROR)
    worker = TensorFlow(options.tensorflow)
    if options.shaped:
        programs = list(each_shaped(options.seed))
        answers = zip(programs, worker.answers(programs), strict=True)
        same = {
            program["id"]: (program, answer)
            for program, answer in answers
            if not compare.differences(program, answer, interpret.answer(program, tf))
            and compare.steady(program, answer, worker)
        }
        store.write("shaped", worker.version, same)
        worker.close()
        print(f"{len(same)} of {len(programs)} programs")
        return 0
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


def each_shaped(seed: int) -> Iterator[Any]:
    """A program with one step for each of the shaped expressions."""
    tables = (name for name in vars(shaped) if name.isupper())
    for table in tables:
        for i, (op, of, to) in enumerate(shaped.listed(getattr(shaped, table))):
            draw = Draw(Random(f"{seed}-{table}-{i}"))
            dtype = "complex128" if table == "LINEAR" and i % 2 else "float32"
            names = [draw.input(shape, dtype) for shape in of]
            target = draw.step(op, names, to, dtype)
            query = {"targets": [target], "sources": names, "weighted": True}
            watch = [[0, name] for name in names]
            yield {
                "id": f"shaped-{table.lower()}-{i}",
                "inputs": [{**given, "kind": "constant"} for given in draw.inputs],
                "steps": draw.steps,
                "scenario": {"kind": "gradient", "watch": watch, "queries": [query]},
            }


def uses(program: Any) -> set[tuple[str, str]]:
    """The expressions of a program, each with the scenario that it meets."""
    return {(step["op"], program["scenario"]["kind"]) for step in program["steps"]}


def new(program: Any, seen: set[tuple[str, str]]) -> bool:
    """Whether a quarter of a program has not been met."""
    own = uses(program)
    return len(own - seen) * 4 >= len(own)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
