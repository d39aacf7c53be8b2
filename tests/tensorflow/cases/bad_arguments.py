"""Every argument of every function replaced by what it is not: the exception, or the answer."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._tables import ROWS, Of, ask
from tests.tensorflow.harness import attempt, cases

BAD = {
    "none": None,
    "text": "junk",
    "ragged": [[1.0], [2.0, 3.0]],
    "negative": -7,
    "large": 99,
    "fraction": 2.5,
    "nothing": [],
    "object": object(),
    "function": Of(lambda tf: tf.abs),
    "truths": np.array([True, False]),
    "strings": Of(lambda tf: tf.constant(["a", "b"])),
    "whole": Of(lambda tf: tf.constant([[1, 2], [0, 1]])),
    "wide": Of(lambda tf: tf.constant([1.0, 2.0], tf.float64)),
}


@cases(
    excuses=True,
    op={f"{row.name}.{key}": (row, key) for row in ROWS.values() for key in row.parameters},
)
def bad(tf, op):
    row, key = op
    answers = {}
    for label, value in BAD.items():
        tf.random.set_seed(0)
        given = {**row.args, key: value}
        answers[label] = attempt(lambda given=given: ask(tf, row, given, row.dtype or "float32", 0))
    return answers


@cases(excuses=True, op=ROWS)
def wrong_arguments(tf, op):
    """Too few, too many, and one that the function does not have."""
    few = {key: value for key, value in op.args.items() if key != next(iter(op.args))}
    return {
        "few": attempt(lambda: ask(tf, op, few, op.dtype or "float32", 0)),
        "unknown": attempt(
            lambda: ask(tf, op, {**op.args, "nonsense": 1}, op.dtype or "float32", 0)
        ),
        "named": attempt(lambda: ask(tf, op, {**op.args, "name": "n"}, op.dtype or "float32", 0)),
    }
