"""Random programs as a `tf.function`, called again and again, beside the same program eagerly.

Both are gradtape; variables and random state are compared after every call. What differs because
the numbers are at a brink, or because passes round otherwise, is told by nudging the eager program.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import io
import logging
import random
import warnings
from typing import Any

import numpy as np

from tests.tensorflow import harness
from tests.tensorflow.fuzz import compare, control, interpret, limits, render
from tests.tensorflow.fuzz.draw import FLOATS
from tests.tensorflow.fuzz.generate import generate

CALLS = 4
NUDGES = range(12)
# `bundled`: to a tape a function is one op, which needs the derivatives of all that is in it.
FINE = ("same", "unstable", "bundled")
_MISSING = ("registry has no entry", "Gradient not defined")


def draw(seed: int, index: int) -> dict[str, Any]:
    """A program, the numbers for each call, and whether a tape is around the calls."""
    program = generate(seed, index, control.FAMILIES)
    rng = random.Random(f"calls-{seed}-{index}")
    program["calls"] = [_numbers(rng, program["inputs"], call) for call in range(CALLS - 1)]
    program["calls"].append(program["calls"][0])  # as once before
    program["around"] = rng.random() < 0.3
    if program["around"]:  # eagerly, a tape inside hears of what the other one watches already
        given = {one["name"] for one in program["inputs"]}
        watch = program["scenario"]["watch"]
        program["scenario"]["watch"] = sorted([0 if n in given else k, n] for k, n in watch)
    program["id"] = f"played-{program['id']}"
    return program


def _numbers(rng: random.Random, inputs: list[dict[str, Any]], call: int) -> dict[str, Any]:
    """Other values for the inputs that are arguments; those of the first call are their own."""
    found = {}
    for given in inputs:
        if given["kind"] == "constant":
            values = list(given["values"])
            if call and given["dtype"] in FLOATS:
                values = [round(v * rng.uniform(0.25, 1.5) + rng.uniform(-1, 1), 2) for v in values]
            elif call:
                rng.shuffle(values)
            found[given["name"]] = values
    return found


def source(program: dict[str, Any], nudged: bool = False) -> str:
    """The text of `def program(tf)`, which gives the function, and its state by name."""
    indent = render.INDENT
    state = [given for given in program["inputs"] if given["kind"] == "variable"]
    names = ", ".join(f"{given['name']!r}: {given['name']}" for given in state)
    body = render.body(program, nudged)
    lines = [
        *[render.assignment(given) for given in state],
        "chance = tf.random.Generator.from_seed(7)",
        f"def body({', '.join(program['calls'][0])}):",
        *[indent + line for line in body],
        f"return body, {{{names}{', ' if names else ''}'chance': chance.state}}",
    ]
    return "\n".join(["def program(tf):", *[indent + line for line in lines]]) + "\n"


class Side:
    """The program with a state of its own, in a function or not."""

    def __init__(self, program: dict[str, Any], tf: Any, function: bool, nudge: Any = None) -> None:
        space: dict[str, Any] = {"np": np, "py": control, "nudge": nudge}
        exec(source(program, nudge is not None), space)
        self.program, self.tf, self.nudge, self.function = program, tf, nudge, function
        self.body, self.state = space["program"](tf)
        body = tf.function(self.body) if function else self.body

        def noting(*args: Any) -> Any:
            self.failed = True
            answer = body(*args)
            self.failed = False
            # A function gives tensors, also for Python's numbers and for variables.
            kinds = bool, int, float, tf.Variable
            return tf.nest.map_structure(
                lambda y: tf.identity(y) if isinstance(y, kinds) else y, answer
            )

        self.recorded = body if function else None
        self.body, self.failed = noting, False

    def call(self, number: int) -> Any:
        """The encoded answer of a call, and what the state is then."""
        tf, args = self.tf, []
        for given in self.program["inputs"]:
            if given["kind"] == "constant":
                values = self.program["calls"][number][given["name"]]
                text = render.assignment({**given, "values": values})
                space: dict[str, Any] = {"tf": tf}
                exec(text, space)
                args.append(space[given["name"]])
        if self.nudge is not None:
            args = [self.nudge(arg) for arg in args]
        self.tf.config.run_functions_eagerly(not self.function)
        try:
            with limits.bound_time():
                answer = self._around(args) if self.program["around"] else self.body(*args)
            answer = harness.encode(answer, tf)
        except Exception as error:
            answer = harness.encode(error, tf)
        finally:
            self.tf.config.run_functions_eagerly(False)
        return answer

    def _around(self, args: list) -> Any:
        """The answer and its gradients to a tape around the call."""
        tf = self.tf
        with tf.GradientTape() as tape:
            tape.watch(args)
            answer = self.body(*args)
        floating = [
            y for y in tf.nest.flatten(answer, expand_composites=True)
            if y is not None and getattr(y, "dtype", None) in (tf.float32, tf.float64)
        ]  # fmt: skip
        # To a tape a function is one op: what is not connected has zeros where others are.
        found = tape.gradient(floating, args, None, "zero") if floating else []
        return answer, [tf.convert_to_tensor(g) for g in found]

    def values(self) -> dict[str, Any]:
        return {name: variable.numpy() for name, variable in self.state.items()}

    def set(self, values: dict[str, Any]) -> None:
        for name, variable in self.state.items():
            variable.assign(values[name])


def judge(program: dict[str, Any], tf: Any) -> tuple[str, str]:
    """A kind (one of FINE, or how the sides differ) and the words for it."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        eager, played = Side(program, tf, False), Side(program, tf, True)
        for number in range(CALLS):
            before, own = eager.values(), played.values()
            expected, got = eager.call(number), played.call(number)
            if eager.failed and played.failed:
                # A program that fails has done nothing; eagerly, half of it is done.
                eager.set(before)
                eagerly = any(tree.eager for tree in played.recorded._trees.values())
                if not eagerly and any(
                    _bits(own[name]) != _bits(now) for name, now in played.values().items()
                ):
                    return "state", f"call {number}: a variable changed, and an exception followed"
            pair = [expected, *_encoded(eager)], [got, *_encoded(played)]
            left = compare.differences(program, *pair)
            if left:
                if _unsteady(program, tf, number, before, pair[0], left):
                    return "unstable", left[0].words
                if program["around"] and "raises" in got and any(w in str(got) for w in _MISSING):
                    return "bundled", left[0].words
                kind = "raises" if eager.failed else "value"
                return kind, f"call {number}: {left[0].words}"
            eager.set(played.values())  # so that roundings do not add up
    return "same", ""


def _bits(array: Any) -> bytes:
    return np.asarray(array).tobytes()


def _encoded(side: Side) -> list:
    return [harness.encode(variable, side.tf) for variable in side.state.values()]


def _unsteady(
    program: Any, tf: Any, number: int, before: dict[str, Any], expected: Any, left: list
) -> bool:
    """Whether the eager program's own answers move there when its numbers move by a rounding."""
    moved = set()
    for seed in NUDGES:
        rng = random.Random(seed)

        def nudge(x: Any, rng: random.Random = rng) -> Any:
            dtype = getattr(getattr(x, "dtype", None), "name", "")
            if dtype.startswith(("float", "bfloat", "complex")):
                return x * (1.0 + rng.choice([-2, -1, 1, 2]) * interpret.STEP.get(dtype, 2.0**-52))
            return x

        side = Side(program, tf, False, nudge)
        side.set(before)
        answer = side.call(number)
        moved |= {
            d.place for d in compare.differences(program, expected, [answer, *_encoded(side)])
        }
    return all(any(d.place[: len(m)] == m[: len(d.place)] for m in moved) for d in left)


def batch(job: tuple[argparse.Namespace, int, int]) -> tuple[Any, list[Any], list[Any]]:
    """Run some programs: the count of each verdict, and what to print."""
    import gradtape as tf

    logging.getLogger("gradtape").setLevel(logging.ERROR)
    np.seterr(all="ignore")
    options, start, stop = job
    counts: collections.Counter[str] = collections.Counter()
    reports: list[Any] = []
    for index in range(start, stop):
        program = draw(options.seed, index)
        kind, words = judge(program, tf)
        counts[kind] += 1
        if kind not in FINE:
            if not options.whole:
                program, words = _shortened(program, kind, words, tf)
            reports.append(f"# {program['id']}: {kind}: {words}\n{script(program)}")
    return counts, reports, []


def script(program: dict[str, Any]) -> str:
    """The program for whoever looks into a difference."""
    calls = [
        ", ".join(
            render.assignment({**given, "values": call[given["name"]]}).partition(" = ")[2]
            for given in program["inputs"]
            if given["kind"] == "constant"
        )
        for call in program["calls"]
    ]
    lines = [
        "import gradtape as tf",
        "from tests.tensorflow.fuzz import control as py",
        source(program),
        "for made in (lambda body: body, tf.function):",
        "    body, state = program(tf)",
        "    body = made(body)" + ("  # a tape is around the calls" if program["around"] else ""),
        *[f"    print(body({call}), state)" for call in calls],
    ]
    return "\n".join(lines) + "\n"


def _shortened(program: dict[str, Any], kind: str, words: str, tf: Any) -> tuple[Any, str]:
    """Without the steps, from the last one on, that the difference does not need."""
    for at in reversed(range(len(program["steps"]))):
        name = program["steps"][at]["to"]
        scenario = program["scenario"]
        asked = {n for q in scenario["queries"] for n in [*q["targets"], *q["sources"]]}
        watched = {n for _, n in scenario["watch"]}
        if name in asked | watched or any(name in step["of"] for step in program["steps"]):
            continue
        shorter = copy.deepcopy(program)
        del shorter["steps"][at]
        for pair in shorter["scenario"]["watch"]:
            pair[0] -= pair[0] > at
        if "pause" in shorter["scenario"]:
            shorter["scenario"]["pause"] = [n - (n > at) for n in shorter["scenario"]["pause"]]
        found = judge(shorter, tf)
        if found[0] == kind:
            program, words = shorter, found[1]
    return program, words
