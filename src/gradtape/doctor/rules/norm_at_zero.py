"""GT303 norm-at-zero: the norm of a zero vector has no slope."""

from __future__ import annotations

import numpy as np

from ..case import Case
from ..faults import Fault
from ..finding import Finding
from ..trace import Event
from .base import FaultRule


class NormAtZero(FaultRule):
    code, name = "GT303", "norm-at-zero"
    kinds = frozenset({"Sqrt", "Rsqrt", "EuclideanNorm", "ComplexAbs"})
    title = "the norm of a zero vector: it has no slope there"
    lesson = """\
The gradient of a norm is the vector divided by its norm: 0/0 for the zero vector, hence NaN. Take
`tf.sqrt(tf.reduce_sum(x * x) + 1e-12)`, or compare squared norms, which need no root."""
    failing = """\
x = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    length = tf.norm(x)
grad = tape.gradient(length, x)
"""
    cured = """\
x = tf.Variable([0.0, 0.0])
with tf.GradientTape() as tape:
    length = tf.sqrt(tf.reduce_sum(tf.square(x - 1.0)) + 1e-12)
grad = tape.gradient(length, x)
"""
    ignore = "Never, if the vector can be zero in training."

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        text = event.place.text
        named = any(word in text for word in ("norm(", "l2_normalize", "euclidean"))
        if not (named or event.kind == "EuclideanNorm"):
            return None
        if not (np.asarray(event.outputs[0].array) == 0).any() and event.kind != "Rsqrt":
            return None
        return case.finding(
            self, event.place,
            f"`{text}` is the norm of a zero vector, whose gradient is 0/0.",
            "add a little under the root: tf.sqrt(tf.reduce_sum(tf.square(x)) + 1e-12), or use the "
            "squared norm",
            event=event, mends=False,
        )  # fmt: skip


RULE = NormAtZero()
