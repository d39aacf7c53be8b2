"""What a tape follows, and the form in which gradients come back."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.fuzz.known.answers import floats, none, numbers, raised, summed
from tests.tensorflow.fuzz.known.found import Family, Found

DIFFERS = Family()


@DIFFERS.difference(
    "assigned",
    "`assign` returns the variable itself, so `tf.cast` of that to its own dtype is the "
    "variable, not a copy of its value, `recompute_grad` and `tf.function` take it as the "
    "variable, and using it makes a tape watch the variable.",
)
def _assigned(d: Found) -> bool:
    """A step is given what `assign` returned: casts it to its dtype, recomputes, is a graph, or is
    recorded where the assignment was not."""
    steps = {step["to"]: step for step in d.program["steps"]}
    made = {name for name, step in steps.items() if step["op"].startswith("{0}.assign")}
    users = [step for step in steps.values() if made & set(step["of"])]
    if none(d.expected):
        start, stop = d.program["scenario"].get("pause", (0, 0))
        unseen = [step for step in d.program["steps"][start:stop] if step["to"] in made]
        return any(step["of"][0] == d.source for step in unseen)
    if d.numeric:
        casts = [step for step in users if step["op"] == "tf.cast({0}, {to})"]
        return any(steps[step["of"][0]]["dtype"] == step["dtype"] for step in casts)
    if d.said.startswith("TypeError: Can not convert a NoneType into a Tensor"):
        return any("tf.function(" in step["op"] for step in users)
    message = (raised(d.got) or {}).get("message", "")
    return "recompute_grad tried to transpose" in message and any(
        "recompute_grad" in step["op"] for step in users
    )


@DIFFERS.difference(
    "rows in a formula",
    "Custom gradients and forward mode calculate with dense tensors where TensorFlow hands "
    "them `IndexedSlices` and fails (TypeError, AttributeError).",
)
def _rows_in_user_code(d: Found) -> bool:
    starts = (
        "TypeError: unsupported operand",
        "TypeError: in user code:",
        "AttributeError: 'IndexedSlices'",
    )
    if d.said.startswith("TypeError: Cannot convert the argument `type_value`: None"):
        return "gather_nd" in d.ops
    return d.said.startswith(starts) and "IndexedSlices'" in d.said


@DIFFERS.difference(
    "rows or dense",
    "Gradients that arrive at one tensor as rows of rows are one `IndexedSlices` or a tensor "
    "with the same sum.",
)
def _rows_or_dense(d: Found) -> bool:
    """One side has rows, the other a tensor; or rows of rows. Their sums are equal."""
    pair = [summed(side, False) for side in (d.expected, d.got)]
    dicts = [side for side in pair if isinstance(side, dict) and "tensor" in side]
    if pair == [d.expected, d.got] or len(dicts) < 2:
        return False
    wanted, found = (np.asarray(floats(side["value"]), np.float64) for side in pair)
    return wanted.shape == found.shape and np.allclose(wanted, found, 1e-4, 1e-6, equal_nan=True)


@DIFFERS.difference(
    "late watch",
    "A tensor is followed from `watch` on: ops that used it before do not count, where "
    "TensorFlow counts those that were recorded for the sake of another operand.",
)
def _late(d: Found) -> bool:
    """The gradient of a tensor that was watched only after a recorded op had used it."""
    scenario = d.program["scenario"]
    source = d.source
    if scenario["kind"] not in ("gradient", "persistent") or source is None:
        return False
    first = min((i for i, s in enumerate(d.program["steps"]) if source in s["of"]), default=99)
    return any(at > first and name == source for at, name in scenario["watch"])


@DIFFERS.difference(
    "slope of itself",
    "A target that is not followed has slope 1 with respect to itself, also where an op with "
    "a followed operand has used it; TensorFlow says None then.",
)
def _slope_of_itself(d: Found) -> bool:
    """A source that is also a target, among others."""
    source = d.source
    if source is None:
        return False
    query = d.program["scenario"]["queries"][d.place[0] - 1]
    zeros = "unconnected" in query and d.numeric and not numbers(d.expected).any()
    several = source in query["targets"] and len(query["targets"]) > 1
    return several and (none(d.expected) or zeros)
