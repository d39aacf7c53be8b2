"""GT310 learning-rate-divergence: the steps run away, until the loss overflows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ...facts import changes
from ...facts.case import Case, Run
from ...facts.faults import finite
from ...facts.replay import above, flows_in, replay, wide
from ...facts.steps import EVEN, optimizer
from ...source.place import Place
from ...trace import Event, Query, Trace, Value, Variable
from ...trace.finding import CONFIRMED, Finding, Verdict
from ...trace.history import Line, Record, Series
from ...trace.states import EXPLODING
from ..base import Rule
from ..counts import at_least

TOTAL = 20.0  # growth of the loss over all steps
STEPS = 3  # at least
JUMPS = 8  # steps over which a loss is looked at that does not overflow
KNOWN = 4  # of them, whose loss is known
HIGH = 5.0  # times the first loss
MOSTLY = 0.75  # of the steps, that go the same way


class LearningRateDivergence(Rule):
    code, name = "GT310", "learning-rate-divergence"
    states = frozenset({"exploding", "inf", "nan"})
    title = "the steps run away: too long, or down a loss that has no lower bound"
    lesson = """\
A step along the gradient lowers the loss only where the loss is still about as steep as at the
start of the step. A step that is too long lands on the other side of the valley, higher than
before, where the gradient is larger, so the next step is longer still. Loss, weights and gradients
grow from step to step until they overflow, and NaN is the end of it, not the cause.

A loss that has no lower bound ends in the same way, and no learning rate helps: the mean of a score
that is to be large, or the difference of a critic's two means without a constraint on the critic,
falls as long as the weights grow. Bound it: a penalty on the gradient or on the weights, weights
that are clipped or normalised, or a loss that saturates."""
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
        if case.answer.state != "exploding" and _falls(record.targets.numbers):
            return self._bottomless(case, record, update)
        grown = growth(record, _line(record, case))
        if grown is None or _descends(case):
            return None
        what, first, last, steps = grown
        rate = (last / first) ** (1 / steps)
        smaller = at_least(max(2, math.ceil(1 + math.sqrt(rate))))
        target = f"`{record.target}`" if what == "loss" else f"the gradient of `{case.answer.name}`"
        why = "each step goes too far"
        fix = f"use a learning rate that is at least {smaller} times smaller, or clip the gradient"
        own = optimizer(case.trace, case.variable)
        # With momentum, a step of an optimizer's may go either way.
        if uphill := own is None and _uphill(case, update):
            why = "each step goes up along the gradient, not down"
            fix = "subtract the gradient (assign_sub), or bound what is to be made large"
        first_of_all, *others = _updates(case, update)
        also = [(place, "and this far too") for place in others]
        if own is not None and own.made is not None:
            also = [(place, "the steps are taken here") for place in (first_of_all, *others)]
            first_of_all = own.made
        return case.finding(
            self, first_of_all,
            f"{target} grew by a factor of {rate:.3g} per step, from {first:.2g} to {last:.2g} "
            f"over {steps + 1} steps: {why}.",
            fix, change=changes.step_size(partial(_helps, case), "a smaller step"), sure=not uphill,
            also=[(place, words) for place, words in also if place != first_of_all],
        )  # fmt: skip

    def _bottomless(self, case: Case, record: Record, update: Event) -> Finding:
        """The steps do what they are to do, and the loss has no lower bound."""
        sound = _finite(record.targets.numbers)
        own, places = optimizer(case.trace, case.variable), _updates(case, update)
        place = own.made if own is not None and own.made is not None else places[0]
        target = record.target or "the loss"
        return case.finding(
            self, place,
            f"`{target}` fell from {sound[0]:.2g} to {sound[-1]:.2g} in {len(sound)} steps and "
            "has no lower bound: the steps make the weights larger and larger, until the numbers "
            "overflow.",
            f"give `{target}` a lower bound: bound the score that it makes large (a penalty on "
            "its gradient or on the weights, weights that are clipped or normalised, a tanh), or "
            "take a loss that saturates, such as a cross-entropy",
            change=changes.step_size(partial(_falls_on, case), "longer steps the same way"),
            also=[(p, "the steps are taken here") for p in places if p != place],
        )  # fmt: skip

    def examine_run(self, run: Run) -> Iterable[Finding]:
        """Where nothing overflows: a loss that jumps up, and stays there."""
        if any(f.name == self.name for f in run.findings):
            return
        for record in run.history.records.values():
            queries = [q for q in run.trace.queries if q.place == record.place]
            if not queries or record.steps < JUMPS or not _stays_up(record.targets.numbers):
                continue
            moved = [a.source for a in queries[-1].answers if isinstance(a.source, Variable)]
            own = next((o for v in moved if (o := optimizer(run.trace, v)) is not None), None)
            first, later = record.targets.numbers[0], record.targets.numbers[1:]
            so = f"`{record.target}` was {first:.2g} before the first step, and "
            so += f"{min(later):.2g} or more after it"
            if min(later) <= first:
                so = f"`{record.target}` was {first:.2g} before the first step, and is "
                so += f"{later[-1]:.2g} after {record.steps - 1} steps"
            if own is not None and own.kind in EVEN and own.rate is not None and own.moves:
                size = sorted(size for size, _ in own.moves)[len(own.moves) // 2]
                if own.rate >= size and not _better_than_nothing(queries[-1]):
                    why = f"{own.kind} moves each weight by up to {own.rate:.2g} a step, and the "
                    why += f"weights began with a size of {size:.2g}"
                    yield _jumped(self, record, queries[-1], own.made or own.place, f"{why}: {so}.")
            elif len(queries) > 1 and _same_task(run.trace, queries):
                updates = [run.trace.update(v) for v in moved]
                places = [e.place for e in updates if e is not None]
                made = own.made if own is not None else None
                if (made or places) and not _up(run.trace, queries[-2], updates):
                    why = "on the same data: the steps go too far"
                    yield _jumped(self, record, queries[-1], made or places[0], f"{so} {why}.")

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """What came down again did not diverge: one batch was larger than the others."""
        if _falls(targets):
            return finding.state != "exploding"
        return any(_rise(targets) or _rise(line.norms.numbers) for line in lines)


def _jumped(rule: Rule, record: Record, query: Query, place: Place | None, words: str) -> Finding:
    names = [line.name for line in record.lines]
    finding = Finding(
        rule.code, rule.name, rule.cause, "wrong", record.target, names[0], place, words,
        "use a learning rate that is at least 10 times smaller", query=query,
        verdict=Verdict(CONFIRMED, "these numbers were seen over the steps as they are"),
    )  # fmt: skip
    finding.sources = names
    return finding


def _stays_up(numbers: list[float]) -> bool:
    """Is a loss far above where it began, and was so nearly all the time?"""
    if len(numbers) < KNOWN or not all(map(math.isfinite, numbers)) or numbers[0] <= 0:
        return False
    first, later = numbers[0], sorted(numbers[1:])
    end = sorted(numbers[-max(1, len(numbers) // 4) :])
    return later[len(later) // 2] > HIGH * first and end[len(end) // 2] > HIGH * first


def _better_than_nothing(query: Query) -> bool:
    """Is the loss lower than with weights of 0, which these began near to? Then what grows are the
    targets, as the returns of a policy do, and not by these steps."""
    targets = [t for t in query.targets if isinstance(t, Value) and t.array is not None]
    moved = [a.source for a in query.answers]
    zeros = {v: np.zeros_like(wide(v.array)) for v in _used(query) if v.variable in moved}
    run = replay(targets, zeros, flows_in(query.tape, above(targets)))
    if not targets or not zeros or run.failed:
        return False
    now, then = (float(sum(np.sum(wide(a)) for a in arrays)) for arrays in (
        [t.array for t in targets], [run[t] for t in targets]))  # fmt: skip
    return now < then


def _same_task(trace: Trace, queries: list[Query]) -> bool:
    """Have all steps that are still known the same data, and is no other variable changed that the
    loss is made of? The factor of a penalty that is raised may be kept in one."""
    last, moved = queries[-1], [a.source for a in queries[-1].answers]
    others = [v for v in _used(last) if v.variable is not None and v.variable not in moved]
    return not any(trace.update(v.variable) for v in others if v.variable is not None) and all(
        _same_data(q, last) for q in {id(q): q for q in (queries[0], queries[-2])}.values()
    )


def _same_data(one: Query, other: Query) -> bool:
    """Did two steps compute with the same numbers, but for the variables?"""
    first, second = (
        sorted((np.shape(a), np.asarray(a).tobytes()) for a in _given(query))
        for query in (one, other)
    )
    return first == second != []


def _given(query: Query) -> list[Any]:
    number = query.tape.number
    used = [v for v in _used(query) if v.variable is None and v.array is not None]
    return [v.array for v in used if v.maker is None or number not in v.maker.tapes]


def _used(query: Query) -> list[Value]:
    """What the target is made of while the tape records."""
    found = above([t for t in query.targets if isinstance(t, Value)])
    return [v for v in found if any(query.tape.number in e.tapes for e in v.users)]


def _up(trace: Trace, before: Query, updates: list[Event | None]) -> bool:
    """Do the steps go up along the gradient? Then a loss that grows is meant to."""
    for answer, event in zip(before.answers, updates, strict=False):
        if event is None or answer.array is None:
            continue
        reads = trace.reads(event.outputs[0].variable)  # type: ignore[arg-type]
        k = reads.index(event.outputs[0])
        if k and event.time > before.time and reads[k].shape == np.shape(answer.array):
            way = np.asarray(reads[k].array, np.float64) - reads[k - 1].array
            if np.sum(way * answer.array) > 0:
                return True
    return False


def growth(record: Record, line: Line | None) -> tuple[str, float, float, int] | None:
    """What grew from the lowest to the last finite number, and over how many steps."""
    norms = Series() if line is None else line.norms
    if norms.numbers and norms.numbers[0] > EXPLODING:
        return None  # it was large before any step was made
    if _falls(record.targets.numbers):
        return None  # without a lower bound: the steps do what they are to do
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
    return rise if ups >= MOSTLY * (len(rise) - 1) and rise[-1] >= 0.5 * max(rise) else []


def _falls(numbers: list[float]) -> bool:
    """Does a loss become more and more negative?"""
    sound = _finite(numbers)
    downs = sum(b < a for a, b in pairwise(sound))
    return len(sound) > 1 and sound[-1] < min(sound[0], 0) and downs >= MOSTLY * (len(sound) - 1)


def _finite(numbers: list[float]) -> list[float]:
    """Those before the first that is not finite."""
    return numbers[: next((k for k, n in enumerate(numbers) if not math.isfinite(n)), None)]


def _falls_on(case: Case) -> bool | None:
    """Is the loss lower still, the further one goes as the last sound step went?"""
    before = [q for q in case.trace.queries if q.place == case.query.place]
    for earlier, query in reversed([*pairwise(before)]):
        targets = [t for t in query.targets if isinstance(t, Value)]
        reads = {v: v.array for v in _reads(case, query)}
        start = {v.variable: v.array for v in _reads(case, earlier)}
        known = [t.array for t in targets] + list(reads.values()) + list(start.values())
        if not targets or not reads or not all(a is not None and finite(a) for a in known):
            continue
        if not all(v.variable in start for v in reads):
            return None
        losses = [float(sum(np.sum(wide(t.array)) for t in targets))]
        flows = flows_in(query.tape, above(targets))
        for far in (1.0, 10.0):
            moved = {
                v: wide(a) + far * (wide(a) - wide(start[v.variable])) for v, a in reads.items()
            }
            run = replay(targets, moved, flows)
            if run.failed:
                return None
            losses.append(float(sum(np.sum(wide(run[t])) for t in targets)))
        return all(b < a for a, b in pairwise(losses))
    return None


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
