"""GT129 integer-cast: the value became a whole number on the way."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ..base import CutRule


class IntegerCast(CutRule):
    code, name, states = "GT129", "integer-cast", frozenset({"none"})
    gives_way_to = frozenset({"gather-index"})
    title = "tf.cast to an integer type is on every path"
    lesson = """\
Integers have no gradient. A `tf.cast` to an integer type ends the path, also when the result
is cast back to a float at once."""
    failing = """\
w = tf.Variable(2.6)
with tf.GradientTape() as tape:
    pixels = tf.cast(w * 10.0, tf.int32)
    loss = tf.square(tf.cast(pixels, tf.float32) - 20.0)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable(2.6)
with tf.GradientTape() as tape:
    pixels = w * 10.0
    loss = tf.square(pixels - 20.0)
grad = tape.gradient(loss, w)
"""
    ignore = "When the integer is only shown or used off the path."

    def message(self, case: Case, cut: Cut) -> str:
        dtype = getattr(cut.output.dtype, "name", "integer")
        return (
            f"`{cut.event.place.text}` turns the value into {dtype}, and "
            f"{'truth values' if dtype == 'bool' else 'integers'} have no gradient."
        )

    def fix(self, case: Case, cut: Cut) -> str:
        return "keep the value in a floating dtype on the way to the loss"


RULE = IntegerCast()
