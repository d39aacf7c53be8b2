"""GT206 constant-function: the target does not depend on the source, though a path is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....traits import KINKS, PRODUCTS, Family
from ...facts import changes
from ...facts.case import Case
from ...facts.replay import Replay, above, flows_in, replay
from ...facts.softmaxes import softmaxes
from ...facts.zeros import cancellations, nothing
from ...trace import Event, Value
from ...trace.finding import Finding
from ...trace.history import Line
from ..base import Rule

# Ops in which what depends on the source can add up to something that does not.
MEETINGS = Family.ADDS | Family.SUBTRACTS | Family.REDUCES | PRODUCTS
MOVED, STILL = 1e-3, 1e-9  # shares of a value
ROUNDING = 1e-5  # by which a softmax of one number, which is 1, may move in single precision


class ConstantFunction(Rule):
    code, name, states = (
        "GT206", "constant-function", frozenset({"zero", "vanishing", "ok"}),
    )  # fmt: skip
    gives_way_to = frozenset({"vanishing-depth", "vanishing-recurrence", "constant-derivative"})
    title = "the target is the same for every value of the source"
    lesson = """\
A softmax over an axis of size 1 is always 1, and so is the sum of any softmax. The mean of
something minus its own mean is always 0. The log-probability of a reparameterised sample under its
own distribution does not depend on the mean. The path is there, but the contributions cancel: the
gradient is rightly 0, and the loss does not depend on the source."""
    failing = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    p = tf.nn.softmax(x @ w)
    loss = -tf.reduce_mean(tf.math.log(p) * [[1.0], [0.0]])
grad = tape.gradient(loss, w)
"""
    cured = """\
x = tf.constant([[1.0], [2.0]])
w = tf.Variable([[0.5]])
with tf.GradientTape() as tape:
    p = tf.sigmoid(x @ w)
    loss = -tf.reduce_mean(tf.math.log(p) * [[1.0], [0.0]])
grad = tape.gradient(loss, w)
"""
    ignore = "When the symmetry is meant."

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """What has a gradient in another step is no constant: it was flat by chance."""
        return not all(line.states.get("ok") for line in lines)

    def examine(self, case: Case) -> Finding | None:
        for event in _singles(case):
            return case.finding(
                self, event.place,
                f"`{event.place.text}` is a softmax over an axis of size 1: it is "
                "always 1.",
                "give the softmax an axis with several classes; one unit needs a sigmoid for yes "
                "or no, and no activation for a number",
                event=event, state="wrong" if case.answer.state == "ok" else case.answer.state,
                change=changes.straight(changes.alike(case, event), "several classes")
                if case.answer.state == "zero"
                else _moved(case),
            )  # fmt: skip
        if case.answer.state == "ok":
            return None
        if any(death.event.is_a(KINKS) for death in case.deaths):
            return None  # flat here, and not elsewhere
        runs = None if _shifts(case) else _changes(case)
        if runs is None:
            return None  # at this point it is flat, elsewhere it is not: a minimum
        for _, senders in cancellations(case.walk, case.nodes):
            if len(senders) < 2:
                continue
            last = max(senders, key=lambda event: event.time)
            mean = next((e for e in senders if _of_one(e)), None)
            if mean is not None:
                return case.finding(
                    self, last.place,
                    f"`{mean.place.text}` is taken over one element, so it is that element, and "
                    f"what is left of it in `{last.place.text}` is 0 for every value of "
                    f"`{case.answer.name}`.",
                    "take the mean over several examples, or over another axis", event=last,
                    change=_moved(case),
                also=[(mean.place, "the mean of one element")],
                )  # fmt: skip
            others = [e.place for e in senders if e.place != last.place]
            return case.finding(
                self, last.place,
                f"the gradients from its {len(senders)} uses cancel exactly: "
                f"`{case.query.target_name}` is the same for every value of `{case.answer.name}`.",
                "look at the loss: it does not depend on this source",
                event=last, change=_moved(case),
                also=[(place, "used here too") for place in others[:3]],
            )  # fmt: skip
        lost = _lost_at(case, runs)
        if lost is None:
            return None
        return case.finding(
            self, lost.place,
            f"`{lost.place.text}` stays the same when `{case.answer.name}` changes, so "
            f"`{case.query.target_name}` does not depend on it.",
            "look at the loss: it does not depend on this source",
            event=lost, change=_moved(case),
        )  # fmt: skip


def _singles(case: Case) -> list[Event]:
    """Softmaxes over one number at which the gradient ends. They need not give 1 exactly: then what
    passes is rounding, and the target is the same for other values of the source."""
    if case.answer.state == "zero":
        return _of_one_number(death.event for death in case.deaths)
    found = case.question.once(_of_one_number, lambda: _of_one_number(case.question.passed))
    ends = [event for event in found if case.through(event) is not None]
    return ends if ends and _changes(case, ROUNDING) is not None else []


def _of_one_number(events: Iterable[Event]) -> list[Event]:
    return [s.event for s in softmaxes(events) if s.event.is_a(Family.SOFTMAXES) and s.size == 1]


def _moved(case: Case) -> changes.Change:
    return changes.seen(
        f"`{case.answer.name}` was moved at random twice, and `{case.query.target_name}` stayed "
        "the same"
    )


def _of_one(event: Event) -> bool:
    """A mean or a sum that leaves its operand as it is."""
    return event.is_a(Family.SUMS) and np.size(event.inputs[0].array) == np.size(
        event.outputs[0].array
    )


def _shifts(case: Case) -> bool:
    """Is the source a bias whose layer learns, as that of a critic whose scores are compared?

    What a layer adds in every call alike may cancel in a difference, a softmax or a normalisation.
    """
    uses = [e for e in case.walk.passed if any(v in case.nodes for v in e.inputs)]
    adders = {e.place if e.layer is None else (e.layer.name, e.layer.made) for e in uses}
    if len(adders) != 1 or not all(e.is_a(Family.ADDS) for e in uses):
        return False
    learning = [answer.source for answer in case.query.answers if answer.state == "ok"]
    shifted = above(v for e in uses for v in e.inputs if v not in case.nodes)
    return any(v in learning or v.variable in learning for v in shifted)


Change = Callable[..., float]


def _changes(case: Case, still_below: float = STILL) -> list[tuple[Replay, Change]] | None:
    """Runs with other values of the source that leave the target as it was, None if it moves."""
    nodes = [n for n in case.nodes if n in above(case.targets) and n.floating]
    arrays = [n.array for n in (*nodes, *case.targets)]
    if not nodes or any(a is None or np.asarray(a).dtype.kind != "f" for a in arrays):
        return None
    flows = flows_in(case.tape, above(case.targets))
    still = {n: np.asarray(n.array, np.float64) for n in nodes}
    rng = np.random.default_rng(0)
    start, found = replay(case.targets, still, flows), []
    for _ in range(2):
        step = {n: max(float(np.abs(a).mean()), 0.1) for n, a in still.items()}
        moved = {n: a + 0.5 * step[n] * rng.normal(size=a.shape) for n, a in still.items()}
        run = replay(case.targets, moved, flows)
        if start.failed or run.failed:
            return None

        def change(value: Any, size: float = 0.0, run: Any = run) -> float:
            a, b = (np.asarray(r[value]) for r in (start, run))
            a, b = (c if c.dtype.kind == "c" else c.astype(np.float64) for c in (a, b))
            if not a.size:
                return 0.0
            return float(np.abs(a - b).max()) / max(float(np.abs(a).max()), size, 1e-12)

        if not all(change(t, _given(t.maker)) <= still_below for t in case.targets):
            return None
        found.append((run, change))
    return found


def _lost_at(case: Case, runs: list[tuple[Replay, Change]]) -> Event | None:
    """The op whose operands change with the source, and whose result does not."""
    found = set()
    for run, change in runs:
        found.add(next((
            e for e in sorted(run.pulls, key=lambda e: e.time)
            if all(change(o, _given(e)) <= STILL for o in e.outputs)
            and any(v.floating and change(v, _size(e)) > MOVED for v in e.inputs)
        ), None))  # fmt: skip
    event = found.pop()
    # What is merely small may be so by another cause; a sum that rounds to nothing is clear.
    families = MEETINGS if case.answer.state == "zero" else Family.SUMS
    if found or event is None or not event.is_a(families):
        return None
    # By nothing multiplied, all is nothing: then the zeros are the cause.
    return None if any(nothing(v.array) for v in event.inputs) else event


def _size(event: Event) -> float:
    return _largest(event.outputs[0])


def _given(event: Event | None) -> float:
    """The size of the terms of a sum: when that is 0, nothing else tells the scale."""
    if event is None or not event.is_a(Family.SUMS | Family.ADDS | Family.SUBTRACTS):
        return 0.0
    return max((_largest(v) for v in event.inputs if v.floating), default=0.0)


def _largest(value: Value) -> float:
    sizes = np.abs(np.asarray(0.0 if value.array is None else value.array))
    return float(sizes.max()) if sizes.size else 0.0


RULE = ConstantFunction()
