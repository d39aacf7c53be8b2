"""The real TensorFlow in a process of its own, and the verdict on two answers to one program."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.tensorflow import harness
from tests.tensorflow.fuzz import interpret

Program = dict[str, Any]

# What a TensorFlow without a kernel for a dtype or a derivative says; gradtape may well have one.
NO_KERNEL = (
    "Could not find device",
    "OpKernel",
    "not supported",
    "only supports",
    "not implemented",
    "not yet implemented",
    "has invalid type",
    "gradient registry has no entry",
    "No gradient defined for operation",
    "'IndexedSlices'",
)
# Verdicts that ask for nothing: `unstable` programs magnify roundings, those that differ by
# `rounding` agree in double precision, `dense` is a tensor where TensorFlow has slices or reversed.
FINE = ("same", "no kernel", "crash", "unstable", "rounding", "dense")
CRASHED = {"crashed": True}


class TensorFlow:
    """A worker that is started again when TensorFlow takes it down."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.version = ""
        self.process: subprocess.Popen[str] | None = None

    def answers(self, programs: Sequence[Program]) -> list[Any]:
        found: list[Any] = []
        while len(found) < len(programs):
            process = self._running()
            assert process.stdin
            process.stdin.write(json.dumps(programs[len(found) :]) + "\n")
            process.stdin.flush()
            found += [json.loads(line) for line in self._lines(len(programs) - len(found))]
            if len(found) < len(programs):
                found.append(CRASHED)
                self.close()
        return found

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
        self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            command = [self.python, "-m", "tests.tensorflow.fuzz.interpret"]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.process = subprocess.Popen(
                command, **pipes, stderr=subprocess.DEVNULL, text=True, bufsize=1
            )
            greeting = next(self._lines(1), None)
            if greeting is None:
                self.close()
                raise SystemExit(f"{self.python} cannot run TensorFlow's worker")
            self.version = json.loads(greeting)["tensorflow"]
        return self.process

    def _lines(self, count: int) -> Iterator[str]:
        assert self.process
        assert self.process.stdout
        for _ in range(count):
            line = self.process.stdout.readline()
            if not line:
                return
            yield line


def tolerance(program: Program) -> float:
    """Relative: that of the coarsest dtype in the program, more for many steps."""
    dtypes = {part["dtype"] for part in [*program["inputs"], *program["steps"]]}
    widest = max(harness.TOLERANCE.get(dtype, (1e-9,))[0] for dtype in dtypes)
    return widest * (1.0 + len(program["steps"]) / 4)


def verdict(
    program: Program, expected: Any, got: Any, tf: Any, worker: TensorFlow
) -> tuple[str, str]:
    """A kind (one of FINE, or how the answers differ) and the words for it."""
    if expected == CRASHED:
        return "crash", "TensorFlow crashed"
    difference = mismatch(program, expected, got)
    if difference is None:
        return "same", ""
    said = _raised(expected)
    if said and (
        said["raises"] in ("NotFoundError", "UnimplementedError")
        or any(words in said["message"] for words in NO_KERNEL)
    ):
        return "no kernel", said["message"]
    if mismatch(program, expected, got, told=False) is None:
        return "dense", difference
    if unstable(program, got, tf):
        return "unstable", difference
    kind = _kind(expected, got, difference)
    wide = doubled(program) if kind == "value" else None
    if wide and mismatch(wide, worker.answers([wide])[0], interpret.answer(wide, tf)) is None:
        return "rounding", difference
    return kind, difference


def mismatch(program: Program, expected: Any, got: Any, told: bool = True) -> str | None:
    """The harness's judgement, with the program's tolerance and rows in any order.

    `told`: slices and tensors are told apart, except as tangents. Those are always dense here;
    TensorFlow may give slices, because it pulls twice.
    """
    told = told and program["scenario"]["kind"] not in ("jvp", "forward_over_back")
    return harness.mismatch(_dense(expected, told), _dense(got, told), tolerance(program))


def unstable(program: Program, got: Any, tf: Any) -> bool:
    """Whether a few roundings change gradtape's own answer as much as a mismatch."""
    relative = tolerance(program) / 2
    return any(
        harness.mismatch(_dense(got), _dense(interpret.nudged_answer(program, tf, seed)), relative)
        for seed in range(6)
    )


def doubled(program: Program) -> Program | None:
    """The program in double precision, if it is not there already."""
    text = json.dumps(program)
    wide = text.replace('"float32"', '"float64"').replace('"complex64"', '"complex128"')
    return None if wide == text else json.loads(wide)


def _kind(expected: Any, got: Any, difference: str) -> str:
    if _raised(expected) or _raised(got):
        pair = [_raised(side)["raises"] if _raised(side) else "answer" for side in (expected, got)]
        return f"{pair[0]} expected, got {pair[1]}"
    for word in (".dtype", ".shape"):
        if word + ":" in difference:
            return word[1:]
    return "None" if "null" in difference else "value"


def _raised(answer: Any) -> Any:
    return answer if isinstance(answer, dict) and "raises" in answer else None


def _dense(answer: Any, told: bool = True) -> Any:
    """The answer with the rows of slices summed up, still told apart from tensors or not."""
    if isinstance(answer, list):
        return [_dense(item, told) for item in answer]
    if not isinstance(answer, dict):
        return answer
    if "tuple" in answer:
        return {"tuple": [_dense(item, told) for item in answer["tuple"]]}
    if "slices" in answer and answer["slices"]["dense_shape"]:
        values, indices, shape = (answer["slices"][k] for k in ("values", "indices", "dense_shape"))
        if not all("value" in part for part in (values, indices, shape)):
            return answer
        given = _numbers(values["value"])
        # A complex number is a pair.
        pairs = given.shape[len(values["shape"]) :] if given.size else ()
        given = np.reshape(given, (*values["shape"], *pairs))
        rows = np.zeros((*shape["value"], *pairs))
        np.add.at(rows, np.array(indices["value"], dtype=np.int64), given)
        summed = {**values, "shape": shape["value"], "value": _plain(rows)}
        return {"tuple": ["slices", summed]} if told else summed
    return answer


def _numbers(value: Any) -> Any:
    return np.array(value, dtype=np.float64)


def _plain(rows: Any) -> Any:
    return [_plain(row) for row in rows] if rows.ndim else str(float(rows))
