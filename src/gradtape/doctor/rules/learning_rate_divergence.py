"""GT310 learning-rate-divergence: every step makes the loss larger, until it overflows."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from ..case import Case
from ..finding import Finding
from ..history import Line, Record
from ..states import EXPLODING
from ..trace import Event
from .base import Rule

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
        if grown is None:
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
        return case.finding(
            self, update.place,
            f"{target} grew {rate:.3g}-fold a step, from {first:.2g} to {last:.2g} over "
            f"{steps + 1} steps: {why}.",
            fix, mends=False, sure=not uphill,
        )  # fmt: skip


def growth(record: Record, line: Line | None) -> tuple[str, float, float, int] | None:
    """What grew from the lowest to the last finite number, and over how many steps."""
    norms = [] if line is None else line.norms.numbers
    if norms and norms[0] > EXPLODING:
        return None  # it was large before any step was made
    for what, numbers in (("loss", record.targets.numbers), ("gradient", norms)):
        sound = [abs(n) for n in numbers]
        end = next((k for k, n in enumerate(sound) if not math.isfinite(n)), len(sound))
        sound = sound[:end]
        if len(sound) < STEPS:
            continue
        start = min(range(len(sound)), key=lambda k: sound[k])
        rise = sound[start:]
        if len(rise) < STEPS or rise[0] <= 0 or rise[-1] < TOTAL * rise[0]:
            continue
        ups = sum(b > a for a, b in pairwise(rise))
        if ups >= 0.75 * (len(rise) - 1) and rise[-1] >= 0.5 * max(rise):
            every = (record.targets if what == "loss" else line.norms).every  # type: ignore[union-attr]
            return what, rise[0], rise[-1], (len(rise) - 1) * every
    return None


def _line(record: Record, case: Case) -> Line | None:
    return next((line for line in record.lines if line.name == case.answer.name), None)


def _update(case: Case) -> Event | None:
    """Where the source was last changed between the steps."""
    if case.variable is None:
        return None
    found = [
        e for e in case.trace.events
        if e.way == "assign" and any(o.variable is case.variable for o in e.outputs)
    ]  # fmt: skip
    return found[-1] if found else None


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
