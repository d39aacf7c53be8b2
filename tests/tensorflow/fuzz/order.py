"""Two faults in one program: each library names one of them, and neither is wrong.

That a program has two is shown, not assumed, by changing one argument at a time. Without the fault
that TensorFlow names, gradtape still says what it said, and TensorFlow raises an error of the same
type; without the fault that gradtape names, TensorFlow still says what it said, and gradtape raises
an error of the same type; and without both, neither says any of this. So each fault is reported
alike, and only their order differs.

One fault may also be called by two names: TensorFlow converts tensors, variables, arrays and lists
on different ways, and reports a wrong one differently (`form`).
"""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Iterator
from typing import Any

from tests.tensorflow.fuzz import interpret, known
from tests.tensorflow.fuzz.arguments import DTYPES
from tests.tensorflow.fuzz.worker import CRASHED, TensorFlow

Program = dict[str, Any]

# What an argument is replaced with.
TEXTS = """
0 | 1 | 2 | 3 | [1] | [2] | [0] | [0, 1] | [2, 3] | [1, 1, 1, 1] | [1, 1, 1, 1, 1]
[[0, 0], [0, 0]] | None | True | False
0.5 | 1.0 | 'SAME' | 'VALID' | 'NHWC' | 'float32' | 'int32' | 'UTF-8' | 'a'
tf.constant([[1.0, 2.0], [3.0, 4.0]]) | tf.constant([1.0, 2.0, 3.0]) | tf.constant([1, 2], tf.int64)
tf.constant([0, 1], tf.int32) | tf.constant(1) | tf.ones([1, 4, 4, 2]) | tf.constant(['a', 'b'])
tf.ones([2, 3], tf.int32) | tf.ones([4, 4, 3]) | tf.constant([[True, False]])
tf.ones([1, 3, 3, 3, 2]) | tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
tf.constant([[1], [2]], tf.int64)
tf.constant([1 + 2j]) | tf.ones([3, 2, 3], tf.complex64) | tf.ones([1, 5, 2])
[[0], [1]] | tf.sin
""".replace("\n", " | ")
# What a check of an argument raises.
CHECKS = ("TypeError", "ValueError", "InvalidArgumentError")
TOGETHER = 10  # programs that are answered at once
PATIENCE = 60.0  # seconds, where changes make TensorFlow hang
FEW = 8  # changes of a kind that are tried together
CHOICES = [text.strip() for text in TEXTS.split(" | ") if text.strip()]


def only(program: Program, expected: Any, got: Any, tf: Any, worker: TensorFlow) -> bool:
    """Whether the two errors are two faults that are reported alike when each stands alone."""
    theirs, ours = known.raised(expected), known.raised(got)
    if not theirs or not ours:
        return False
    changes = list(arguments(program))
    answered = _answers([_changed(program, change) for change in changes], tf, worker)
    without_theirs, without_ours, sound = [], [], set()
    for change, pair in zip(changes, answered, strict=True):
        errors = [known.raised(side) for side in pair]
        if not any(errors):
            sound.add(change[:2])
        if not all(errors):
            continue
        if _same(errors[1], ours) and errors[0]["raises"] in _types(ours):
            without_theirs.append((change, errors))
        if _same(errors[0], theirs) and theirs["raises"] in _types(errors[1]):
            without_ours.append((change, errors))
    # Two faults of one argument, the others being sound.
    if any(one[0][:2] == other[0][:2] in sound for one in without_theirs for other in without_ours):
        return True
    pairs = [
        (one, other)
        for one in without_theirs[:FEW]
        for other in without_ours[:FEW]
        if one[0][:2] != other[0][:2]
    ]
    both = [_changed(program, one[0], other[0]) for one, other in pairs]
    return any(
        _gone(pair, one[1], other[1])
        for pair, (one, other) in zip(_answers(both, tf, worker), pairs, strict=True)
    )


KINDS = ("constant", "variable", "array", "python")


def form(program: Program, expected: Any, got: Any, tf: Any, worker: TensorFlow) -> bool:
    """Whether TensorFlow raises what gradtape raises as soon as the same numbers come in another
    form: a tensor, a variable, an array, a list. Which of its checks is the first hangs on that."""
    theirs, ours = known.raised(expected), known.raised(got)
    if not theirs or not ours or not {theirs["raises"], ours["raises"]} <= set(CHECKS):
        return False
    inputs = program["inputs"]
    given = [
        [*inputs[:i], {**one, "kind": kind}, *inputs[i + 1 :]]
        for i, one in enumerate(inputs)
        for kind in KINDS
        if kind != one["kind"]
    ]
    given += [[{**one, "kind": kind} for one in inputs] for kind in KINDS] if inputs else []
    others = [{**program, "inputs": parts} for parts in given]
    others += [_wrapped(program, words) for words in ("{}", "tf.constant({})", "np.array({})")]
    for pair in _answers(others, tf, worker):
        errors = [known.raised(side) for side in pair]
        if all(errors) and _same(errors[1], ours) and errors[0]["raises"] in _types(ours):
            return True
    return False


def _wrapped(program: Program, words: str) -> Program:
    """Every list or tuple that is an argument of its own as a tensor, or an array; and every name
    of a dtype as that dtype."""
    candidate = copy.deepcopy(program)
    for step in candidate["steps"]:
        for hole in step.get("with", {}).values():
            code = hole.get("code", "") if isinstance(hole, dict) else ""
            if code.startswith(("[", "(")):
                hole["code"] = words.format(code)
            elif code.strip("'") in DTYPES:
                hole["code"] = f"tf.{code.strip(chr(39))}"
    return candidate


def _gone(pair: Any, first: Any, second: Any) -> bool:
    """Whether, without both faults, neither library says what it said of the one or the other."""
    errors = [known.raised(side) for side in pair]
    if any(errors) and not (all(errors) and errors[0]["raises"] in _types(errors[1])):
        return False
    said = (
        [(errors[0], first[0]), (errors[0], second[0])],
        [
            (errors[1], first[1]),
            (errors[1], second[1]),
        ],
    )
    return not any(now and _same(now, then) for side in said for now, then in side)


def _answers(programs: list[Program], tf: Any, worker: TensorFlow) -> list[Any]:
    """What both answer to each; after a while, to be on the safe side, nothing."""
    begun, found = time.monotonic(), []
    for first in range(0, len(programs), TOGETHER):
        group = programs[first : first + TOGETHER]
        if time.monotonic() > begun + PATIENCE:
            found += [(CRASHED, CRASHED)] * len(group)
            continue
        answers = worker.answers(group)
        found += [(answers[i], interpret.answer(one, tf)) for i, one in enumerate(group)]
    return found


Change = tuple[int, str, str]  # a step, the hole of an argument, and what to write there


def arguments(program: Program) -> Iterator[Change]:
    """Every argument of every step left out, or replaced."""
    for i, step in enumerate(program["steps"]):
        holes = [f"{{{key}}}" for key in step.get("with", {})]
        for hole in [*holes, *[f"{{{at}}}" for at in range(len(step["of"]))]]:
            if re.search(rf"\w={re.escape(hole)}", step["op"]):
                yield i, hole, ""
            for text in CHOICES:
                yield i, hole, text


def _changed(program: Program, *changes: Change) -> Program:
    candidate = copy.deepcopy(program)
    for i, hole, text in changes:
        step = candidate["steps"][i]
        if not text:
            step["op"] = re.sub(rf",? ?\w+={re.escape(hole)}(?=[,)])", "", step["op"])
            step["op"] = step["op"].replace("(, ", "(")
        else:
            step["op"] = step["op"].replace(hole, text)
        step.get("with", {}).pop(hole[1:-1], None)
    return candidate


def _same(error: Any, other: Any) -> bool:
    """Whether two errors are one fault's: numbers and values in their words may differ."""
    return error["raises"] == other["raises"] and _words(error) == _words(other)


def _words(error: Any) -> str:
    return re.sub(r"[^A-Za-z_ ]+", "", error["message"])[:80]


def _types(error: Any) -> tuple[str, ...]:
    return (error["raises"], *error["bases"])
