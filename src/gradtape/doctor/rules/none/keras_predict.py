"""GT110 keras-predict: the model was run with predict, which returns NumPy arrays."""

from __future__ import annotations

import ast

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule
from .left_the_tape import picked


class KerasPredict(CutRule):
    code, name, states, needs = "GT110", "keras-predict", frozenset({"none"}), "keras"
    title = "Model.predict inside a tape returns a NumPy array"
    lesson = """\
`model.predict(x)` and `model.predict_on_batch(x)` run the model in a loop of their own, for
speed on large data, and return NumPy arrays. On the way to a loss, call the model itself:
`model(x)`, with `training=True` where layers need to know."""
    failing = """\
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x = tf.constant([[1.0, 2.0]])
model(x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model.predict_on_batch(x))
grads = tape.gradient(loss, model.trainable_variables)
"""
    cured = """\
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x = tf.constant([[1.0, 2.0]])
model(x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(x))
grads = tape.gradient(loss, model.trainable_variables)
"""
    ignore = "When the prediction is a fixed target and not to be trained."

    def message(self, case: Case, cut: Cut) -> str:
        return f"`{_function(cut)}` returns a NumPy array, which is a constant to the tape."

    def fix(self, case: Case, cut: Cut) -> str:
        model = _function(cut).rpartition(".")[0] or "model"
        return f"call the model itself, `{model}(...)`{picked(case, cut)}"


def _function(cut: Cut) -> str:
    node = cut.event.place.node
    return ast.unparse(node.func) if isinstance(node, ast.Call) else cut.event.name


RULE = KerasPredict()
