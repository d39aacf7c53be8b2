"""GT109 stateful-source: the tensor went through an iterator and came out as another."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class StatefulSource(CutRule):
    code, name, states, needs = "GT109", "stateful-source", frozenset({"none"}), "tf.data"
    title = "the tensor went through a tf.data iterator or a queue"
    lesson = """\
A `tf.data.Dataset` hands out new tensors. Those that come out of its iterator have the values
of those that went in, but no connection to them, so no gradient leads back through a dataset or a
queue. Take the batch from the dataset first, then watch it and compute with it."""
    failing = """\
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    batches = tf.data.Dataset.from_tensor_slices(2.0 * x)
    loss = tf.add_n([batch * batch for batch in batches])
grad = tape.gradient(loss, x)
"""
    cured = """\
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    batches = tf.unstack(2.0 * x)
    loss = tf.add_n([batch * batch for batch in batches])
grad = tape.gradient(loss, x)
"""
    ignore = "When the dataset holds data only: then ask for the gradient of what comes out of it."

    def message(self, case: Case, cut: Cut) -> str:
        return (
            f"`{cut.event.place.text}` stores the value in a {_store(cut)}, and what comes out "
            f"of it is not connected to `{case.answer.name}`."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        if _store(cut) == "queue":
            return "compute with the tensor itself, and put only data into the queue"
        return "take the batch out of the dataset first, and compute with the tensor itself"


def _store(cut: Cut) -> str:
    return "queue" if cut.event.kind.startswith("Queue") else "dataset"


RULE = StatefulSource()
