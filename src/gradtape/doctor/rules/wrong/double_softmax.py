"""GT503 double-softmax: probabilities where the loss expects logits."""

from __future__ import annotations

from ....traits import HANDS_ON
from ...facts import changes
from ...facts.case import Case
from ...facts.expressions import operand
from ...facts.replay import flows_in, gradient, replay, wide
from ...trace import Event, Value
from ...trace.finding import Finding, WouldBe
from ...trace.states import norm
from ..base import Rule

NAMES = {"softmax": "`tf.nn.softmax`", "sigmoid": "`tf.sigmoid`"}


class DoubleSoftmax(Rule):
    code, name = "GT503", "double-softmax"
    states = frozenset({"ok", "vanishing", "exploding"})
    title = "probabilities are passed where the loss expects logits"
    lesson = """\
The losses `..._with_logits` apply softmax or sigmoid themselves. Given probabilities, they apply it
a second time: the largest probability cannot come above e / (e + n - 1), the loss has a floor, and
the gradient is many times too small. Pass the raw outputs of the last layer; take the softmax only
for showing probabilities."""
    failing = """\
x = tf.constant([[1.0, 2.0]])
w = tf.Variable([[0.5, -0.2, 0.1], [0.3, 0.8, -0.5]])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(x @ w)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=p)
    )
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[1.0, 2.0]])
w = tf.Variable([[0.5, -0.2, 0.1], [0.3, 0.8, -0.5]])
with tf.GradientTape() as tape:
    logits = x @ w
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits)
    )
grad = tape.gradient(loss, w)
"""
    ignore = "Never: where probabilities are all there is, take their logarithm."

    def examine(self, case: Case) -> Finding | None:
        for event, squash in case.question.once(self, lambda: _pairs(case.question.makers)):
            if event not in case.question.passed or squash.inputs[0] not in case.walk.cotangents:
                continue
            if case.through(squash) is None or not _on_the_way(case, squash):
                continue
            what = NAMES[squash.traits.function]
            raw = operand(squash, squash.inputs[0])
            return case.finding(
                self, event.place,
                f"the loss applies {_own(event)} itself, but its input has already been through "
                f"{what} (line {squash.place.line}).",
                f"pass `{raw}` as logits, without {what}" if raw
                else f"pass what goes into {what} as logits",
                event=event, state="wrong",
                also=[(squash.place, "already probabilities")],
                change=changes.replayed(_would_be(case, squash), "the step cannot be replayed"),
            )  # fmt: skip
        return None


def _pairs(events: list[Event]) -> list[tuple[Event, Event]]:
    """Losses that take logits, newest first, and the squashing that these come from."""
    found = []
    for event in reversed(events):
        logits = _logits(event)
        squash = None if logits is None else _squash(logits)
        if squash is not None:
            found.append((event, squash))
    return found


def _own(event: Event) -> str:
    return "`tf.nn.softmax`" if "Softmax" in event.kind else "`tf.sigmoid`"


def _logits(event: Event) -> Value | None:
    """What an event takes for logits, if it is a loss that does."""
    if event.traits.logits is not None:
        return event.inputs[event.attrs.get("logits", event.traits.logits)]
    if event.kind.lower() == "log1p" and "cross_entropy" in event.place.text:
        return _outermost(event)  # log(1 + exp(-|x|)) is the heart of the sigmoid's loss
    return None


def _outermost(event: Event) -> Value | None:
    """What came to the expression that an op belongs to, through ops of one operand."""
    value = event.inputs[0]
    while value.maker is not None and value.maker.place == event.place:
        floating = [v for v in value.maker.inputs if v.floating]
        if not floating:
            return None
        value = floating[-1]
    return value


def _squash(value: Value) -> Event | None:
    """The softmax or sigmoid that this is the result of."""
    maker = value.maker
    while maker is not None and maker.is_a(HANDS_ON) and maker.inputs:
        maker = maker.inputs[0].maker
    return (
        maker
        if maker is not None and maker.way == "op" and maker.traits.function in NAMES
        else None
    )


def _on_the_way(case: Case, squash: Event) -> bool:
    return case.leads_to(squash.outputs[0])


def _would_be(case: Case, squash: Event) -> WouldBe | None:
    """The gradient when the squashing is left out."""
    flows = flows_in(case.tape, case.walk.cotangents)
    changed = {n: wide(n.array) for n in case.nodes if n.floating}
    given, made = squash.inputs[0], squash.outputs[0]
    run = replay(case.targets, {**changed, made: wide(given.array)}, flows)
    run.pulls[squash] = lambda gs: [gs[0]]
    total = gradient(run, case.query, case.nodes, case.targets)
    if run.failed or total is None:
        return None
    total = total.astype(case.answer.array.dtype)
    return WouldBe(total, norm(total) or 0.0)


RULE = DoubleSoftmax()
