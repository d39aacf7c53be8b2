"""Large random programs beside themselves, without TensorFlow: eagerly, on the NumPy backend and as
machine code whose work 1, 2, 3 and 4 threads share, or as many as it pays for.

Machine code gives the same bits whoever computes them, in every call. Eager ops and the backends
may differ by roundings: what differs by more is judged by the program in double precision and by
the eager program with every number off by a few roundings.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import io
import logging
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from gradtape.compile.backends import choice, llvm
from tests.compile.native.crews import all_shared, crew_of
from tests.tensorflow.fuzz import interpret, limits, wide

Program = dict[str, Any]
CALLS = 20
ARGUMENTS = 3  # sets of arguments, which the calls take in turn
PATIENCE = 300  # seconds for all calls of all sides, on a busy machine
NUDGES = range(9)
# How far apart two ways of computing may be, relative to the largest number, and how much farther
# than the roundings of a nudged program.
NEAR = {"float32": 1e-5, "float64": 1e-13}
FAR = 16.0
# `conditioned`: roundings of the program's own numbers move its answer as far.
FINE = ("same", "conditioned")
# What plays the function: the backend's name, threads, and whether they always work together.
SIDES: dict[str, tuple[str, int, bool]] = {
    "NumPy": ("numpy", 1, False),
    "one thread": ("llvm", 1, True),
    "2 threads": ("llvm", 2, True),
    "3 threads": ("llvm", 3, True),
    "4 threads": ("llvm", 4, True),
    "automatic": ("auto", 2, False),
}


def draw(seed: int, index: int) -> Program:
    return wide.generate(seed, index)


# --- running --------------------------------------------------------------------------------------
@contextlib.contextmanager
def playing(side: str) -> Iterator[None]:
    """Functions that are recorded meanwhile belong to this side."""
    name, threads, forced = SIDES[side]
    before = choice.NAME, llvm.STRICT, llvm.start
    # What the choice compiles is compiled when it is called, with the crew of that moment.
    choice.NAME, llvm.STRICT, llvm.start = name, True, lambda work: None
    with contextlib.ExitStack() as stack:
        stack.enter_context(crew_of(threads, forced))
        if forced:
            stack.enter_context(all_shared())
        try:
            yield
        finally:
            choice.NAME, llvm.STRICT, llvm.start = before


class Player:
    """The program with variables of its own: of a side, or eager."""

    def __init__(self, program: Program, tf: Any, side: str = "", nudge: Any = None) -> None:
        space: dict[str, Any] = {"tf": tf, "np": np, "nudge": nudge}
        exec(wide.source(program, nudge is not None), space)
        body, self.variables = space["program"](tf)
        self.body = tf.function(body) if side else body
        self.side = side

    def call(self, args: list[Any]) -> list[np.ndarray]:
        """The results of a call, and what the variables hold after it."""
        with playing(self.side) if self.side else contextlib.nullcontext():
            results = self.body(*args)
        return [np.asarray(y) for y in (*results, *self.variables)]

    def values(self) -> list[np.ndarray]:
        return [variable.numpy() for variable in self.variables]

    def set(self, values: list[Any]) -> None:
        for variable, value in zip(self.variables, values, strict=True):
            variable.assign(np.asarray(value, variable.dtype.name))


def judge(program: Program, tf: Any) -> tuple[str, str]:
    """A kind (one of FINE, or how the sides differ) and the words for it."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with limits.bound_time(PATIENCE):
            return _judge(program, tf)


def _judge(program: Program, tf: Any) -> tuple[str, str]:
    eager = Player(program, tf)
    players = {side: Player(program, tf, side) for side in SIDES}
    sets = [wide.arguments(program, tf, k) for k in range(ARGUMENTS)]
    found, bound = ("same", ""), [0.0] * 99
    for number in range(CALLS):
        args, before = sets[number % ARGUMENTS], eager.values()
        expected = eager.call(args)
        answers = {side: player.call(args) for side, player in players.items()}
        native = [side for side in SIDES if side != "NumPy"]
        if number + 1 < llvm.CHANGE:  # the choice begins on NumPy
            native.remove("automatic")
        for side, k in product(native, range(len(expected))):
            y, one = answers[side][k], answers["one thread"][k]
            if y.tobytes() != one.tobytes():
                words = f"{wide.said(program, k)} {_apart(y, one)}"
                return "bits", f"call {number}, {side}: {words}"
        for side in ("NumPy", "one thread", "automatic"):
            apart = [k for k, y in enumerate(answers[side]) if _differs(y, expected[k])]
            if apart:
                words = ", ".join(
                    f"{wide.said(program, k)} {_apart(answers[side][k], expected[k])}"
                    for k in apart
                )
                words = f"call {number}, {side}: {words}"
                if any(_far(answers[side][k], expected[k]) > bound[k] for k in apart):
                    reference, bound = _conditioning(program, tf, number, before, expected)
                    if any(_far(answers[side][k], reference[k]) > bound[k] for k in apart):
                        return "value", words
                found = "conditioned", words
        for player in players.values():  # so that roundings do not add up
            player.set(eager.values())
    return found


# --- differences ----------------------------------------------------------------------------------
def _differs(found: np.ndarray, expected: np.ndarray) -> bool:
    if (found.shape, found.dtype) != (expected.shape, expected.dtype):
        return True
    if found.dtype.name not in NEAR:
        return found.tobytes() != expected.tobytes()
    return not _distance(found, expected) <= NEAR[found.dtype.name]


def _distance(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest distance of two numbers, relative to the largest number; infinite if others are
    finite."""
    finite = np.isfinite(expected)
    if not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
        return math.inf
    found, expected = found[finite].astype("f8"), expected[finite].astype("f8")
    most = np.abs(expected).max(initial=0.0)
    far = np.abs(found - expected).max(initial=0.0)
    return float(far / most) if most else math.inf if far else 0.0


def _apart(found: np.ndarray, expected: np.ndarray) -> str:
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"has {found.dtype}{found.shape} for {expected.dtype}{expected.shape}"
    count = int((found != expected).sum())
    return f"differs in {count} of {found.size} numbers, by {_distance(found, expected):.2g}"


def _far(found: np.ndarray, expected: np.ndarray) -> float:
    """Their distance; infinite if they are no numbers of one kind."""
    same = (found.shape, found.dtype.kind) == (expected.shape, expected.dtype.kind)
    return _distance(found, expected) if same else math.inf


def _conditioning(
    program: Program, tf: Any, number: int, before: list[Any], expected: list[Any]
) -> tuple[list[Any], list[float]]:
    """The reference, and how far from it each result may be: it is the eager program in double
    precision, or as it is if it has that already, and roundings move the program so far."""
    reference, off = expected, [0.0] * len(expected)
    if program["dtype"] == "float32":
        double = {**program, "dtype": "float64"}
        exact = Player(double, tf)
        exact.set(before)
        reference = exact.call(wide.arguments(double, tf, number % ARGUMENTS))
    shaken = [expected]
    for seed in NUDGES:
        player = Player(program, tf, nudge=_nudging(tf, seed))
        player.set(before)
        shaken.append(player.call(wide.arguments(program, tf, number % ARGUMENTS)))
    for one in shaken:
        moved = [
            _distance(y, r) if y.shape == r.shape else 0.0
            for y, r in zip(one, reference, strict=True)
        ]
        off = [max(pair) for pair in zip(off, moved, strict=True)]
    return reference, [FAR * one for one in off]


def _nudging(tf: Any, seed: int) -> Callable[[Any], Any]:
    """What moves the numbers of a tensor, and those of its gradient, by a rounding or two: each in
    a way of its own, all by the same factor, or all up or down, as roundings of sums add up."""
    rng = np.random.default_rng(seed)

    def moved(x: Any) -> Any:
        name = x.dtype.name
        if name not in NEAR:
            return x
        step = interpret.STEP.get(name, 2.0**-52)
        if seed % 3 < 2:
            return x * (1.0 + step * rng.integers(-2, 3, x.shape)).astype(name)
        by = step * rng.choice([-2, -1, 1, 2])
        return x + abs(x) * by if seed % 2 else x * (1.0 + by)

    nudged = tf.custom_gradient(lambda x: (moved(x), moved))
    return lambda x: nudged(x) if tf.is_tensor(x) else x


# --- campaigns ------------------------------------------------------------------------------------
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
        kind, words = attempted(program, tf)
        counts[kind] += 1
        if kind not in FINE:
            if not options.whole:
                program, words = shortened(program, kind, words, tf)
            reports.append(f"# {program['id']}: {kind}: {words}\n{wide.script(program)}")
        elif kind != "same" and options.documented:
            reports.append(f"# {program['id']}: {kind}: {words}")
    return counts, reports, []


def attempted(program: Program, tf: Any) -> tuple[str, str]:
    try:
        return judge(program, tf)
    except Exception as error:
        return type(error).__name__, str(error)


def shortened(program: Program, kind: str, words: str, tf: Any) -> tuple[Program, str]:
    """Without the steps, from the last one on, that the difference does not need."""
    for at in reversed(range(len(program["steps"]))):
        shorter = copy.deepcopy(program)
        if wide.dropped(shorter, at):
            found = attempted(shorter, tf)
            if found[0] == kind:
                program, words = shorter, found[1]
    return program, words
