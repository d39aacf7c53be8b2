"""Run programs on a module; as a script, the worker that answers with the real TensorFlow."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tensorflow import harness
from tests.tensorflow.fuzz import render

# The distance from 1 to the next number.
STEP = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "complex64": 2.0**-23}


def answer(program: dict[str, Any], tf: Any, nudge: Callable[[Any], Any] | None = None) -> Any:
    """The encoded answer of the module, or its exception."""
    space: dict[str, Any] = {"nudge": nudge}
    exec(render.source(program, nudge is not None), space)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
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
        if not given["dtype"].startswith("int"):
            given["values"] = [v if v * 2 == round(v * 2) else v * by for v in given["values"]]
    return answer(program, tf, nudge)


def serve() -> int:
    """Answer each line, a list of programs, with one line for each program."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    replies = os.fdopen(os.dup(1), "w")
    import tensorflow as tf  # type: ignore[import-untyped, unused-ignore]

    tf.get_logger().setLevel("FATAL")
    np.seterr(all="ignore")
    replies.write(json.dumps({"tensorflow": tf.__version__}) + "\n")
    replies.flush()
    for line in sys.stdin:
        for program in json.loads(line):
            replies.write(json.dumps(answer(program, tf)) + "\n")
            replies.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
