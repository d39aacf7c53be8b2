"""GT310 learning-rate-divergence: every step makes the loss larger, until it overflows."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.faults import finite
from ...facts.replay import above, flows_in, replay, wide
from ...source.place import Place
from ...trace import Event, Query, Value, Variable
from ...trace.finding import Finding
from ...trace.history import Line, Record, Series
from ...trace.states import EXPLODING
from ..base import Rule

TOTAL = 20.0  # growth of the loss over all steps
STEPS = 3  # at least


class LearningRateDivergence(Rule):
    code, name = "GT310", "learning-rate-divergence"
    states = frozenset({"exploding", "inf", "nan"})
    title = "every step makes the loss larger: the learning rate is too large"
    lesson = """\
A step along the gradient lowers the loss only where the loss is still about as steep as at the
start of the step. A step that is too long lands on the other side of the valley, higher than
before, where the gradient is larger, so the next step is longer still. Loss, weights and gradients
grow from step to step until they overflow, and NaN is the end of it, not the cause."""
    failing = """\
x = tf.constant([[1.0], [2.0], [3.0]])
y = tf.constant([[2.0], [4.0], [6.0]])
w = tf.Variable([[0.0]])
for step in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w - y))
    grad = tape.gradient(loss, w)
    w.assign_sub(0.5 * grad)
"""
    cured = """\
x = tf.constant([[1.0], [2.0], [3.0]])
y = tf.constant([[2.0], [4.1], [6.0]])
w = tf.Variable([[0.0]])
for step in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w - y))
    grad = tape.gradient(loss, w)
    w.assign_sub(0.05 * grad)
    if tf.norm(grad) < 1e-4:
        break
"""
    ignore = "Never: from here on nothing is learned."

    def examine(self, case: Case) -> Finding | None:
        record = case.history.records.get(case.query.place)
        update = _update(case)
        if record is None or update is None:
            return None
        grown = growth(record, _line(record, case))
        if grown is None or _descends(case):
            return None
        what, first, last, steps = grown
        rate = (last / first) ** (1 / steps)
        smaller = max(2, math.ceil(1 + math.sqrt(rate)))
        target = f"`{record.target}`" if what == "loss" else f"the gradient of `{case.answer.name}`"
        why = "each step goes too far"
        fix = f"use a learning rate that is at least {smaller} times smaller, or clip the gradient"
        if uphill := _uphill(case, update):
            why = "each step goes up along the gradient, not down"
            fix = "subtract the gradient (assign_sub), or bound what is to be made large"
        first_of_all, *others = _updates(case, update)
        return case.finding(
            self, first_of_all,
            f"{target} grew {rate:.3g}-fold a step, from {first:.2g} to {last:.2g} over "
            f"{steps + 1} steps: {why}.",
            fix, change=changes.step_size(partial(_helps, case), "a smaller step"), sure=not uphill,
            also=[(place, "and this far too") for place in others],
        )  # fmt: skip

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """What came down again did not diverge: one batch was larger than the others."""
        return any(_rise(targets) or _rise(line.norms.numbers) for line in lines)


def growth(record: Record, line: Line | None) -> tuple[str, float, float, int] | None:
    """What grew from the lowest to the last finite number, and over how many steps."""
    norms = Series() if line is None else line.norms
    if norms.numbers and norms.numbers[0] > EXPLODING:
        return None  # it was large before any step was made
    for what, series in (("loss", record.targets), ("gradient", norms)):
        rise = _rise(series.numbers)
        if rise:
            return what, rise[0], rise[-1], (len(rise) - 1) * series.every
    return None


def _rise(numbers: list[float]) -> list[float]:
    """The sizes from the lowest to the last finite one, if they went up all the way."""
    sound = [abs(n) for n in numbers]
    end = next((k for k, n in enumerate(sound) if not math.isfinite(n)), len(sound))
    sound = sound[:end]
    if len(sound) < STEPS:
        return []
    start = min(range(len(sound)), key=lambda k: sound[k])
    rise = sound[start:]
    if len(rise) < STEPS or rise[0] <= 0 or rise[-1] < TOTAL * rise[0]:
        return []
    ups = sum(b > a for a, b in pairwise(rise))
    return rise if ups >= 0.75 * (len(rise) - 1) and rise[-1] >= 0.5 * max(rise) else []


def _descends(case: Case) -> bool:
    """Did the last step make the loss smaller, on the very data that it was made for? Then what
    grows are the data, or a factor of the loss, and not by these steps."""
    before = [
        q for q in case.trace.queries if q.place == case.query.place and q.time < case.query.time
    ]
    targets = [t for t in before[-1].targets if isinstance(t, Value)] if before else []
    if not targets or any(t.array is None or not t.floating for t in targets):
        return False
    latest = {v.variable: v.array for v in _reads(case, case.query)}
    moved = {
        v: wide(latest[v.variable]) for v in _reads(case, before[-1])
        if latest.get(v.variable) is not None
    }  # fmt: skip
    if not moved:
        return False
    flows = flows_in(before[-1].tape, above(targets))
    run = replay(targets, moved, flows)
    if run.failed:
        return False
    first, last = (float(sum(np.sum(wide(a)) for a in arrays)) for arrays in (
        [t.array for t in targets], [run[t] for t in targets]))  # fmt: skip
    return bool(np.isfinite(first)) and last < first


def _helps(case: Case) -> bool | None:
    """Would a small step from where the last sound one began have made the loss smaller?"""
    before = [q for q in case.trace.queries if q.place == case.query.place]
    for query in reversed(before):
        targets = [t for t in query.targets if isinstance(t, Value)]
        given: dict[Variable | None, Any] = {
            a.source: a.array for a in query.answers if isinstance(a.source, Variable)
        }
        sound = [t.array for t in targets] + list(given.values())
        if not targets or not given or not all(a is not None and finite(a) for a in sound):
            continue
        reads = [v for v in _reads(case, query) if v.variable in given]
        slope = float(sum(np.sum(wide(given[v.variable]) ** 2) for v in reads))
        start = float(sum(np.sum(wide(t.array)) for t in targets))
        if not slope:
            continue
        step = 1e-3 * max(abs(start), 1e-6) / slope
        moved = {v: wide(v.array) - step * wide(given[v.variable]) for v in reads}
        run = replay(targets, moved, flows_in(query.tape, above(targets)))
        if run.failed:
            return None
        return float(sum(np.sum(wide(run[t])) for t in targets)) < start
    return None


def _reads(case: Case, query: Query) -> list[Value]:
    """The values that the sources had while the tape of a query recorded."""
    asked, number = [a.source for a in case.query.answers], query.tape.number
    above_it = above(t for t in query.targets if isinstance(t, Value))
    read = [v for v in above_it if v.variable is not None and v.variable in asked]
    return [v for v in read if any(number in e.tapes for e in v.users)]


def _line(record: Record, case: Case) -> Line | None:
    return next((line for line in record.lines if line.name == case.answer.name), None)


def _update(case: Case) -> Event | None:
    """Where the source was last changed between the steps."""
    return None if case.variable is None else case.trace.update(case.variable)


def _updates(case: Case, own: Event) -> list[Place]:
    """Where the sources of the query were changed in the last step: one fault of them all."""
    asked = [a.source for a in case.query.answers if isinstance(a.source, Variable)]
    steps = [q.time for q in case.trace.queries if q.place == case.query.place]
    start = max((t for t in steps if t < own.time), default=own.time)
    found = [event for v in asked if (event := case.trace.update(v)) is not None]
    found = [event for event in found if event is own or event.time > start]
    return list(dict.fromkeys(event.place for event in sorted(found, key=lambda e: e.time)))


def _uphill(case: Case, update: Event) -> bool:
    """Did the last update go the way in which the gradient points?"""
    reads = case.trace.reads(update.outputs[0].variable)  # type: ignore[arg-type]
    index = reads.index(update.outputs[0])
    before = [q for q in case.trace.queries if q.place == case.query.place and q.time < update.time]
    given = [a.array for q in before[-1:] for a in q.answers if a.source is case.source]
    if not index or not given or np.shape(given[0]) != update.outputs[0].shape:
        return False
    moved = np.asarray(update.outputs[0].array, np.float64) - reads[index - 1].array
    return bool(np.isfinite(moved).all() and np.sum(moved * given[0]) > 0)


RULE = LearningRateDivergence()
