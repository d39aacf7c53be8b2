"""GT133 constant-derivative: the first derivative does not depend on the source."""

from __future__ import annotations

import numpy as np

from ....traits import LINEAR, PRODUCTS, Family
from ...facts import changes
from ...facts.case import Case
from ...facts.graph import Values, ancestors, path
from ...trace import Event, Query, Value
from ...trace.finding import Finding, WouldBe
from ..base import Rule

CHOICES = frozenset({"comparison-op", "discrete-index"})  # which piece it is


class ConstantDerivative(Rule):
    code, name, states = "GT133", "constant-derivative", frozenset({"none", "zero"})
    title = "the first derivative does not depend on the source, so the second is None or 0"
    lesson = """\
The derivative of a straight line is the same everywhere. When every op between the source and the
function is linear in the source, the first derivative is a constant, and the tape finds no path
from the source to it: the second derivative is 0 in mathematics and None here. A physics loss on
a network without a nonlinear activation is the usual case; also relu has no second derivative."""
    failing = """\
x = tf.Variable([1.0, 2.0])
w = tf.constant([0.5, -0.3])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        u = tf.reduce_sum(w * x + 1.0)
    du = inner.gradient(u, x)
d2u = outer.gradient(du, x)
"""
    cured = """\
x = tf.Variable([1.0, 2.0])
w = tf.constant([0.5, -0.3])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        u = tf.reduce_sum(tf.tanh(w * x + 1.0))
    du = inner.gradient(u, x)
d2u = outer.gradient(du, x)
"""
    ignore = """\
When the function is meant to be linear: the second derivative is 0. Ask with
unconnected_gradients="zero" to get it as numbers."""

    def examine(self, case: Case) -> Finding | None:
        first = _first_derivative(case)
        if first is None or not case.nodes:
            return None
        way = path(case.nodes, [t for t in first.targets if isinstance(t, Value)], case.tape)
        if way is None or way.cuts or not way.events:
            return None
        if not all(_linear(e, way.values) for e in way.events):
            return None
        pieces = [e for e in way.events if e.is_a(Family.PIECEWISE)]
        event = pieces[0] if pieces else _straight(way.events)
        if case.query.zeros and case.answer.state == "zero" and not (pieces or event.layer):
            return None  # of a function that is written as a straight line, 0 was asked for
        name, inner = case.answer.name, first.target_name or "the function"
        layer, also = event.layer, [(first.place, "the first derivative")]
        place = layer.made if layer is not None and layer.made is not None else event.place
        if place is not event.place:
            also.insert(0, (event.place, "it is called here"))
        return case.finding(
            self, place, _message(name, inner, event, bool(pieces)),
            f"expect 0 here, or make `{inner}` nonlinear in `{name}`, with tanh or softplus",
            event=event, also=also,
            change=changes.replayed(
                WouldBe(np.zeros(case.nodes[0].shape), 0.0, "a straight line has no bend"),
                words="zeros asked for where there is no path",
            ),
        )  # fmt: skip


def _straight(events: list[Event]) -> Event:
    """Where a curved function is missing: at the first op that multiplies, in a layer if there is
    one, or at its start."""
    products = [e for e in events if e.is_a(PRODUCTS)]
    return next((e for e in products if e.layer is not None), (*products, *events)[0])


def _message(name: str, inner: str, event: Event, pieces: bool) -> str:
    layer = "" if event.layer is None else f" of layer `{event.layer.name}`"
    if pieces:
        return (
            f"`{inner}` is piecewise linear in `{name}` ({event.name}{layer}), so its "
            "second derivative is 0 everywhere."
        )
    none = f" Layer `{event.layer.name}` has no activation." if event.layer is not None else ""
    return (
        f"every op from `{name}` to `{inner}` is linear in `{name}`, so the first derivative "
        f"does not depend on `{name}`.{none}"
    )


def _first_derivative(case: Case) -> Query | None:
    """The query whose answer the target is made of, if the tape of this one recorded it."""
    behind = ancestors(case.targets)
    for query in case.trace.queries:
        if query is case.query or not case.tape.recording(query.time):
            continue
        source = case.variable or case.source
        if case.answer.state == "zero" and not any(a.source is source for a in query.answers):
            continue  # of a penalty on a gradient, the bias of the last layer
        made = [v for v in behind if _given_out(v, query, case.targets, behind)]
        if made and (case.answer.state == "zero" or not _leads(case, made)):
            record = case.history.records.get(query.place)
            if record is not None:
                query.target_name = record.target
            return query
    return None


def _given_out(value: Value, query: Query, targets: list[Value], behind: Values) -> bool:
    """Was it made by the query, and asked for or used by something else?"""
    if value.maker is None or value.maker.place != query.place:
        return False
    others = [event for event in value.users if event.place != query.place]
    return value in targets or any(o in behind for event in others for o in event.outputs)


def _leads(case: Case, made: list[Value]) -> bool:
    """Does a recorded path lead from the source to the first derivative, and not only by way of
    the choice of a piece?"""
    way = path(case.nodes, made, case.tape)
    if way is None or (way.cuts and all(cut.cause in CHOICES for cut in way.cuts)):
        return False
    return any(e.way != "gradient" for e in way.events)


def _linear(event: Event, values: list[Value]) -> bool:
    if event.is_a(LINEAR | Family.PIECEWISE):
        return True
    on_the_way = [v for v in event.inputs if v in values]
    divided = event.is_a(Family.DIVIDES) and event.inputs[-1] in values
    return event.is_a(PRODUCTS) and len(on_the_way) == 1 and not divided


RULE = ConstantDerivative()
