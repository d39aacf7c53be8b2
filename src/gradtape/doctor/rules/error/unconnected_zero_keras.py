"""GT605 unconnected-zero-keras: zeros were asked for, and Keras variables make that fail."""

from __future__ import annotations

from ...facts import changes
from ...facts.case import Case
from ...trace import Variable
from ...trace.finding import Finding
from ..base import Rule


class UnconnectedZeroKeras(Rule):
    code, name, states = "GT605", "unconnected-zero-keras", frozenset({"error"})
    needs = "the real TensorFlow"
    title = 'unconnected_gradients="zero" raises with the variables of Keras 3'
    lesson = """\
Zeros for a source without a path are made from the source itself. A variable of Keras 3 is no
tf.Variable but holds one, and TensorFlow fails to make zeros of it. Give the variable inside,
`[v.value for v in model.trainable_variables]`, or leave the option out and fill the zeros in
yourself."""
    failing = """\
used, unused = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
x = tf.constant([[1.0, 2.0]])
used(x), unused(x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(used(x))
grads = tape.gradient(loss, unused.trainable_variables, unconnected_gradients="zero")
"""
    cured = """\
used, unused = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
x = tf.constant([[1.0, 2.0]])
used(x), unused(x)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(used(x))
grads = tape.gradient(loss, used.trainable_variables)
"""
    ignore = "Never: it is an error."

    def examine(self, case: Case) -> Finding | None:
        if not case.query.zeros or not isinstance(case.query.error, (AttributeError, ValueError)):
            return None
        if case.path is not None and not case.path.cuts:  # it needs no zeros
            return None
        source = case.source
        owner = source.owner if isinstance(source, Variable) else getattr(source, "thing", source)
        if type(owner).__module__.partition(".")[0] != "keras":
            return None
        return case.finding(
            self, case.query.place,
            f"`{case.answer.name}` is a Keras variable, and "
            "unconnected_gradients=\"zero\" cannot make zeros for it.",
            "leave unconnected_gradients out, or pass the variables inside: "
            "`[v.value for v in ...]`",
            change=changes.seen("the exception says so"),
        )  # fmt: skip


RULE = UnconnectedZeroKeras()
