"""How often Python runs: as often as in TensorFlow, but for what docs/functions.md lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradtape as tf

ONES, CALLS = tf.ones, dict[str, tuple[dict[str, Any], Callable[..., Any], list[Any], int, int]]
# By name: options, the body, the arguments of the calls; how often Python runs in TensorFlow 2.21
# (asked by hand), and here.
CASES: CALLS = {
    "the same sizes": ({}, lambda x: x * 2.0, [ONES(2)] * 5, 1, 1),
    "other sizes": ({}, lambda x: x * 2.0, [ONES(2), ONES(3), ONES(2), ONES(4)], 3, 3),
    "Python's numbers": ({}, lambda x: x * 2, [1, 2, 3, 1, 2], 3, 3),
    "while_loop": (
        {}, lambda n: tf.while_loop(lambda i: i < n, lambda i: (i + 1,), [tf.constant(0)]),
        [tf.constant(3), tf.constant(5), tf.constant(30)], 1, 1,
    ),
    "map_fn": ({}, lambda x: tf.map_fn(lambda v: v * 2.0, x), [ONES(3), 2.0 * ONES(3)], 1, 1),
    "open sizes": (
        {"input_signature": [tf.TensorSpec([None])]}, lambda x: x * 2.0,
        [ONES(2), ONES(3), ONES(4), ONES(3)], 1, 3,
    ),
    "reduced retracing": (
        {"reduce_retracing": True}, lambda x: x * 2.0,
        [ONES(2), ONES(3), ONES(4), ONES(5), ONES(2)], 2, 4,
    ),
    "variables": ({}, lambda v: v * 2.0, [tf.Variable(1.0), tf.Variable(2.0)], 1, 2),
    "branches": (
        {}, lambda x: tf.cond(x > 0, lambda: x * 2.0, lambda: x * 3.0),
        [tf.constant(1.0), tf.constant(-1.0), tf.constant(2.0)], 1, 2,
    ),
    "sizes that numbers tell": ({}, tf.range, [tf.constant(3), tf.constant(5)], 1, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_python_runs_as_often_as_it_says(name: str) -> None:
    options, body, arguments, in_tensorflow, here = CASES[name]
    runs = []

    @tf.function(**options)
    def step(x: Any) -> Any:
        runs.append(x)
        return body(x)

    for argument in arguments:
        step(argument)
    assert len(runs) == here
    assert step.experimental_get_tracing_count() == in_tensorflow
