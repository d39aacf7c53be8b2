"""GT209 unconnected-zero: the zeros were filled in where there is no path."""

from __future__ import annotations

from ...facts import changes
from ...facts.case import Case
from ...trace.finding import Finding
from ..base import Rule
from ..reaching import uses


class UnconnectedZero(Rule):
    code, name, states = "GT209", "unconnected-zero", frozenset({"zero"})
    title = 'unconnected_gradients="zero" shows 0 where there is no path at all'
    lesson = """\
With `unconnected_gradients="zero"` a source that the target does not depend on gets zeros of its
shape instead of None. That hides a broken path: leave the option out to see which sources are
unconnected. A source that is used for another target, as the layers of another head or a term of a
first derivative are, has the gradient 0, and is not reported."""
    failing = """\
w = tf.Variable(2.0)
unused = tf.Variable([1.0, 1.0])
with tf.GradientTape() as tape:
    loss = w * w
grads = tape.gradient(loss, [w, unused], unconnected_gradients="zero")
"""
    cured = """\
w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = w * w
grad = tape.gradient(loss, w, unconnected_gradients="zero")
"""
    ignore = "When the source is known to be unconnected, and zeros make the code simpler."

    def examine(self, case: Case) -> Finding | None:
        if not case.query.zeros or any(n in case.walk.cotangents for n in case.nodes):
            return None
        cut = case.cut
        if cut is None and _for_another(case):
            return None  # 0 is its gradient by this target
        where = (
            "" if cut is None else f"; the path ends in line {cut.event.place.line} ({cut.cause})"
        )
        return case.finding(
            self, case.query.place,
            f"no recorded path leads from `{case.answer.name}` to `{case.query.target_name}`, and "
            f"unconnected_gradients=\"zero\" shows 0 instead of None{where}.",
            self._fix(case),
            event=cut.event if cut else None,
            change=changes.ask_for() if case.path is None else None,
            also=[(cut.event.place, f"the path ends here: {cut.cause}")] if cut else [],
        )  # fmt: skip

    def _fix(self, case: Case) -> str:
        name, target = case.answer.name, case.query.target_name
        if case.cut is None:
            return f"use `{name}` in the computation of `{target}`, or leave it out of the sources"
        return (
            f"mend the path in line {case.cut.event.place.line}, and leave unconnected_gradients "
            "out while looking for such breaks"
        )


def _for_another(case: Case) -> bool:
    """Is a number computed from the source, as another loss is, or what another query was about?"""
    others = [t for q in case.trace.queries if q is not case.query for t in q.targets]
    made = [value for event in uses(case) for value in event.outputs]
    return any(v.floating and (not v.shape or v in others) for v in made)


RULE = UnconnectedZero()
