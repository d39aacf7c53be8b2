"""The verdict on two answers to one program: every difference between them has to be explained."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.tensorflow import harness
from tests.tensorflow.fuzz import interpret, known, order
from tests.tensorflow.fuzz.worker import CRASHED, TensorFlow

Program = dict[str, Any]

# Verdicts that ask for nothing, beside those of `known`. `crash`: TensorFlow took its process down.
# `unstable`: TensorFlow's own number moves about as far when its operands move by a rounding.
# `overflow`: neither number is finite, and the program has finite ones at the end of their range:
# whether their sum is inf or nan hangs on the order of summation.
# `rounding`: the libraries agree in double precision, and gradtape is about as near to that answer.
# `order`: two arguments are wrong, and each library names another one first.
# `form`: both refuse; TensorFlow as gradtape does, if the same numbers come as tensors or arrays.
FINE = ("same", "crash", "unstable", "overflow", "rounding", "order", "form", *known.NAMES)
# The last: TensorFlow without TensorBoard has no summaries.
BROKEN = ("SystemError", "MemoryError", "Hang", "TBNotInstalledError")
SEEDS = range(6)
# For truth values and whole numbers, which a nudge tips over seldom and then altogether.
MORE = range(6, 40)
# How much farther than the answers that were looked at another one may reasonably lie.
FAR = 8.0


def tolerance(program: Program) -> float:
    """Relative: that of the coarsest dtype in the program, more for many steps."""
    dtypes = {part["dtype"] for part in [*program["inputs"], *program["steps"]]}
    dtypes |= {name for name in harness.TOLERANCE if f"'{name}'" in known.text(program)}
    # A program that is being shrunk may be left with nothing.
    widest = max((harness.TOLERANCE.get(dtype, (1e-9,))[0] for dtype in dtypes), default=1e-9)
    return widest * (1.0 + len(program["steps"]) / 4)


def verdict(
    program: Program, expected: Any, got: Any, tf: Any, worker: TensorFlow
) -> tuple[str, str]:
    """A kind (one of FINE, or how the answers differ) and the words for it."""
    # A SystemError is Python's word for a C extension that breaks its rules.
    # A MemoryError is one of its allocations going astray: it has a word of its own for no memory.
    if expected == CRASHED or (known.raised(expected) or {}).get("raises") in BROKEN:
        return "crash", "TensorFlow crashed"
    left = differences(program, expected, got)
    if not left:
        return "same", ""
    values = functools.cache(lambda: interpret.values(program, tf))
    names = [known.name(program, d.place, d.expected, d.got, values) for d in left]
    if all(names):
        return names[0] or "", left[0].words
    left = [d for d, name in zip(left, names, strict=True) if not name]
    first = left[0]
    if any(_kind(d) != "value" for d in left):
        first = next(d for d in left if _kind(d) != "value")
        if order.form(program, first.expected, first.got, tf, worker):
            return "form", first.words
        if order.only(program, first.expected, first.got, tf, worker):
            return "order", first.words
        return _kind(first), first.words
    left = _steady(program, expected, left, worker)
    if not left:
        return "unstable", first.words
    first = left[0]
    if all(_infinite(d) for d in left) and interpret.overflows(program, tf):
        return "overflow", first.words
    if all(_rounded(program, left, tf, worker)):
        return "rounding", first.words
    return "value", first.words


@dataclass(frozen=True)
class Difference:
    """A place where two answers differ, what each has there, and words for it."""

    place: tuple[int, ...]
    expected: Any
    got: Any
    words: str


def mismatch(program: Program, expected: Any, got: Any) -> str | None:
    """The first difference that is not documented, in words."""
    for d in differences(program, expected, got):
        if not known.name(program, d.place, d.expected, d.got):
            return d.words
    return None


def differences(program: Program, expected: Any, got: Any) -> list[Difference]:
    """All places that differ, with the program's tolerance and rows in any order.

    Tangents are always dense here; TensorFlow may give slices, because it pulls twice.
    """
    told = program["scenario"]["kind"] not in known.FORWARD
    pair = known.summed(expected, told), known.summed(got, told)
    return list(_differences(*pair, tolerance(program), ()))


def _differences(expected: Any, got: Any, relative: float, place: tuple[int, ...]) -> Any:
    items, others = _items(expected), _items(got)
    if items is not None and others is not None and len(items) == len(others):
        for i, (item, other) in enumerate(zip(items, others, strict=True)):
            yield from _differences(item, other, relative, (*place, i))
        return
    if _has(expected, "rows") and _has(got, "rows"):
        expected, got = expected["rows"], got["rows"]
    path = "answer" + "".join(f"[{i}]" for i in place)
    # The dtype of a wild program's result is known only now.
    inner = next((k for k in ("ragged", "sparse") if _has(expected, k)), "")
    part = expected[inner]["values"] if inner else expected
    dtype = part["tensor"] if _has(part, "tensor") else ""
    own, _ = harness.TOLERANCE.get(dtype, (0.0, 0.0))
    words = harness.mismatch(expected, got, max(relative, own), path=path)
    if words:
        yield Difference(place, expected, got, words)


def _has(answer: Any, key: str) -> bool:
    return isinstance(answer, dict) and key in answer


def _items(answer: Any) -> list[Any] | None:
    if _has(answer, "tuple"):
        return answer["tuple"]
    if _has(answer, "record"):
        return answer["items"]
    return answer if isinstance(answer, list) else None


def at(answer: Any, place: tuple[int, ...]) -> Any:
    """The part of an answer at a place, or None."""
    for i in place:
        items = _items(answer)
        if items is None or len(items) <= i:
            return None
        answer = items[i]
    return answer


# ---------------------------------------------------------------------------------- roundings


def steady(program: Program, expected: Any, worker: TensorFlow) -> bool:
    """Whether TensorFlow's answer hangs nowhere on its last digits."""
    answers = worker.answers([{**program, "nudge": seed} for seed in SEEDS])
    wanted, relative = known.summed(expected, False), tolerance(program) / 2
    return not any(
        any(_differences(wanted, known.summed(answer, False), relative, ())) for answer in answers
    )


def _steady(
    program: Program, expected: Any, left: list[Difference], worker: TensorFlow
) -> list[Difference]:
    """The differences that are not a matter of TensorFlow's own last digits."""
    for seeds in (SEEDS, MORE):
        answers = worker.answers([{**program, "nudge": seed} for seed in seeds])
        shaken = [known.summed(answer, False) for answer in answers]
        left = [d for d in left if not _moves(d, [at(answer, d.place) for answer in shaken])]
        if not left or any("float" in d.expected.get("tensor", "") for d in left):
            break
    return left


def _moves(d: Difference, nudged: list[Any]) -> bool:
    """Whether each number that differs is one that moves as far when its operands are nudged."""
    wanted, found = known.numbers(d.expected), known.numbers(d.got)
    spread = np.zeros(wanted.shape)
    for answer in nudged:
        other = known.numbers(answer)
        if other.shape != wanted.shape:
            continue
        with np.errstate(invalid="ignore"):
            apart = np.abs(other - wanted)
        finite = np.isfinite(other) & np.isfinite(wanted)
        same = (other == wanted) | (np.isnan(other) & np.isnan(wanted))
        spread = np.maximum(spread, np.where(same, 0.0, np.where(finite, apart, np.inf)))
    with np.errstate(invalid="ignore"):
        near = np.abs(found - wanted) <= FAR * spread
    return bool(np.all(near | np.isinf(spread) | _close(d, wanted, found)))


def _infinite(d: Difference) -> bool:
    wanted, found = known.numbers(d.expected), known.numbers(d.got)
    finite = np.isfinite(wanted) | np.isfinite(found)
    return bool(np.all(_close(d, wanted, found) | ~finite))


def _close(d: Difference, wanted: Any, found: Any) -> Any:
    relative = harness.TOLERANCE.get(d.expected.get("tensor", ""), (0.0,))[0]
    return np.isclose(found, wanted, rtol=relative, atol=0.0, equal_nan=True)


def _rounded(program: Program, left: list[Difference], tf: Any, worker: TensorFlow) -> list[bool]:
    """Whether, in double precision, the libraries agree and gradtape is as near as TensorFlow."""
    wide = doubled(program)
    if wide is None:
        return [False]
    wanted = known.summed(worker.answers([wide])[0], False)
    found = known.summed(interpret.answer(wide, tf), False)
    return [_as_near(d, at(wanted, d.place), at(found, d.place)) for d in left]


def _as_near(d: Difference, wanted: Any, found: Any) -> bool:
    exact, ours = known.numbers(wanted), known.numbers(found)
    theirs, got = known.numbers(d.expected), known.numbers(d.got)
    if not exact.shape == ours.shape == theirs.shape == got.shape or not exact.size:
        return False
    if not np.allclose(exact, ours, rtol=1e-6, atol=1e-9, equal_nan=True):
        return False
    relative, floor = harness.TOLERANCE.get(d.expected.get("tensor", ""), (0.0, 0.0))
    with np.errstate(invalid="ignore"):
        theirs_off, off = np.abs(theirs - exact), np.abs(got - exact)
        worst = np.max(theirs_off, where=np.isfinite(theirs_off), initial=0.0)
        allowed = FAR * worst + relative * np.nanmax(np.abs(exact)) + floor
        same = (got == exact) | (np.isnan(got) & np.isnan(exact))
        return bool(np.all((off <= allowed) | same | (off <= theirs_off)))


def doubled(program: Program) -> Program | None:
    """The program in double precision, if it is not there already."""
    text = wide = json.dumps(program)
    for narrow, width in (
        ("float32", "float64"),
        ("float16", "float64"),
        ("bfloat16", "float64"),
        ("complex64", "complex128"),
    ):
        wide = wide.replace(f'"{narrow}"', f'"{width}"')
    return None if wide == text else json.loads(wide)


def _kind(d: Difference) -> str:
    raised = [known.raised(side) for side in (d.expected, d.got)]
    if any(raised):
        pair = [side["raises"] if side else "answer" for side in raised]
        return f"{pair[0]} expected, got {pair[1]}"
    for word in (".dtype", ".shape"):
        if word + ":" in d.words:
            return word[1:]
    if known.none(d.expected) or known.none(d.got):
        return "None"
    return "value" if isinstance(d.expected, dict) and "value" in d.expected else "kind"
