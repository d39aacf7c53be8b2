"""GT606 tf-function-python-state: a Python value was frozen when tf.function traced."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class TfFunctionPythonState(CutRule):
    code, name, states = "GT606", "tf-function-python-state", frozenset({"none"})
    title = "a Python value was frozen into a tf.function when it was traced"
    lesson = """\
`@tf.function` runs the Python code once for each kind of arguments and keeps the graph. Python
values that it reads on the way, numbers, flags, tensors in attributes and lists, are constants
in that graph: later changes are not seen. Pass what changes as an argument, or keep it in a
tf.Variable."""
    failing = """\
class Model:
    scale = tf.constant(1.0)

    @tf.function
    def __call__(self, x):
        return x * self.scale

model, w = Model(), tf.Variable(2.0)
model(tf.constant(1.0))
with tf.GradientTape() as tape:
    model.scale = w * 3.0
    loss = model(tf.constant(1.0))
grad = tape.gradient(loss, w)
"""
    cured = """\
@tf.function
def scaled(x, scale):
    return x * scale

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = scaled(tf.constant(1.0), w * 3.0)
grad = tape.gradient(loss, w)
"""
    ignore = "When the value is meant to be fixed."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` was read when the function was traced, and its value of "
            "that time is a constant in the graph."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "pass it to the function as an argument, or keep it in a `tf.Variable`"


RULE = TfFunctionPythonState()
