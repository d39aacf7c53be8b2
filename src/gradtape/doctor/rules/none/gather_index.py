"""GT126 gather-index: the source enters only as an index."""

from __future__ import annotations

from ...facts.case import Case
from ...facts.graph import Cut
from ...trace.finding import Finding
from ..base import Rule


class GatherIndex(Rule):
    code, name, states = "GT126", "gather-index", frozenset({"none"})
    gives_way_to = frozenset({"integer-source"})
    title = "the source only chooses which entries are taken: an index has no derivative"
    lesson = """\
`tf.gather(table, i)`, `table[i]` and `tf.one_hot(i, n)` have a gradient for the table, never for
the index: an integer made of the parameter only selects. To differentiate by the position,
interpolate between entries (weights with a derivative), or choose softly with `softmax`."""
    failing = """\
position = tf.Variable(1.3)
table = tf.constant([1.0, 4.0, 9.0])
with tf.GradientTape() as tape:
    entry = tf.gather(table, tf.cast(position, tf.int32))
    loss = entry * 2.0
grad = tape.gradient(loss, position)
"""
    cured = """\
position = tf.Variable(1.3)
table = tf.constant([1.0, 4.0, 9.0])
with tf.GradientTape() as tape:
    low = tf.floor(tf.stop_gradient(position))
    share = position - low
    k = tf.cast(low, tf.int32)
    entry = (1.0 - share) * tf.gather(table, k) + share * tf.gather(table, k + 1)
    loss = entry * 2.0
grad = tape.gradient(loss, position)
"""
    ignore = "When the index is given by the data and not to be trained."

    def examine(self, case: Case) -> Finding | None:
        cuts: list[Cut] = [] if case.path is None else case.path.cuts
        found = [cut for cut in cuts if cut.cause == "gather-index"]
        # Of argmax and its kin, the position itself is the cause: that is another rule.
        if not found or cuts[0].cause not in ("gather-index", "integer-cast", "rounding-op"):
            return None
        event = found[0].event
        return case.finding(
            self, event.place,
            f"`{case.answer.name}` is used in `{event.place.text}` only as an index, and an "
            "index has no derivative.",
            "interpolate between neighbouring entries, or weight all of them with `tf.nn.softmax`",
            event=event,
            also=[(cuts[0].event.place, "becomes an integer here")]
            if cuts[0] is not found[0] else [],
        )  # fmt: skip


RULE = GatherIndex()
