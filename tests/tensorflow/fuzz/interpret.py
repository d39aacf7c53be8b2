"""Run programs on a module; as a script, the worker that answers with the real TensorFlow."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import math
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tensorflow import harness
from tests.tensorflow.fuzz import limits, render

# The distance from 1 to the next number.
STEP = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}


def answer(program: dict[str, Any], tf: Any, nudge: Callable[[Any], Any] | None = None) -> Any:
    """The encoded answer of the module, or its exception."""
    space: dict[str, Any] = {"nudge": nudge, "np": np}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(render.source(program, nudge is not None), space)
        try:
            with limits.bound_time():
                return harness.encode(space["program"](tf), tf)
        except Exception as error:
            return harness.encode(error, tf)


def nudged_answer(program: dict[str, Any], tf: Any, seed: int) -> Any:
    """The answer when inputs and every result are off by a few roundings.

    Numbers at kinks, that is multiples of a half, stay where they are, and so do ties.
    """
    rng = random.Random(seed)

    def nudge(x: Any) -> Any:
        dtype = getattr(getattr(x, "dtype", None), "name", "")
        if dtype.startswith(("float", "bfloat", "complex")):
            return x * (1.0 + rng.choice([-1, 1, 2]) * STEP.get(dtype, 2.0**-52))
        return x

    program = copy.deepcopy(program)
    for given in program["inputs"]:
        by = 1.0 + rng.choice([-1, 1]) * STEP.get(given["dtype"], 2.0**-52)
        if given["dtype"].startswith(("float", "bfloat", "complex")):
            given["values"] = [_nudged(v, by) for v in given["values"]]
    return answer(program, tf, nudge)


def values(program: dict[str, Any], tf: Any) -> dict[str, Any]:
    """What each input and step of the program holds, as far as it runs; of real floats, and
    the results of complex ones."""
    found: dict[str, Any] = {}
    for given in program["inputs"]:
        if given["dtype"].startswith(("float", "bfloat")):
            found[given["name"]] = np.array(given["values"], np.float64)
    for name, value in results(program, tf).items():
        numeric = value.dtype.name in ("float16", "float32", "float64", "complex64", "complex128")
        found[name] = value if numeric else np.zeros(0)
    return found


def results(program: dict[str, Any], tf: Any) -> dict[str, Any]:
    """What each step of the program gives, as an array, as far as it runs."""
    found: dict[str, Any] = {}
    names = iter([step["to"] for step in program["steps"]])

    def look(x: Any) -> Any:
        name = next(names, "")
        with contextlib.suppress(Exception):  # a nest of several, something sparse
            found[name] = np.asarray(x.numpy() if hasattr(x, "numpy") else x)
        return x

    answer(program, tf, look)
    return found


def overflows(program: dict[str, Any], tf: Any) -> bool:
    """Whether some step has a finite result from which a product with another may overflow."""
    for value in values(program, tf).values():
        finite = np.abs(value[np.isfinite(value)])
        if finite.size and finite.max() > float(np.finfo(value.dtype).max) ** 0.75:
            return True
    return False


def _nudged(value: Any, by: float) -> Any:
    if isinstance(value, list):  # a complex number, whose parts may cancel each other
        return [_nudged(value[0], by), _nudged(value[1], 2.0 - by)]
    return value if not math.isfinite(value) or value * 2 == round(value * 2) else value * by


def serve() -> int:
    """Answer each line, a list of programs, with one line for each program."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    replies = os.fdopen(os.dup(1), "w")
    import tensorflow as tf  # type: ignore[import-untyped, unused-ignore]

    tf.get_logger().setLevel("FATAL")
    np.seterr(all="ignore")
    tf.matmul(tf.ones([64, 64]), tf.ones([64, 64]))  # starts TensorFlow's threads
    limits.bound_memory()
    replies.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
    replies.flush()
    for line in sys.stdin:
        for program in json.loads(line):
            seed = program.pop("nudge", None)
            found = answer(program, tf) if seed is None else nudged_answer(program, tf, seed)
            replies.write(json.dumps(found) + "\n")
            replies.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
