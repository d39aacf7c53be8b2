"""GT502 implicit-sum-of-targets: a loss for every example, and the step takes their sum."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..case import Case, Run
from ..faults import descendants
from ..finding import Finding
from ..trace import Query, Value, Variable
from .base import Rule


class ImplicitSumOfTargets(Rule):
    code, name, states = "GT502", "implicit-sum-of-targets", frozenset({"ok"})
    title = "the target has many elements, and its gradient is that of their sum"
    lesson = """\
`tape.gradient` of a vector is the gradient of the sum of its elements. A loss that was never
reduced to one number gives a step that is N times as long for a batch of N, so the learning rate
hangs on the size of the batch. Reduce it: `tf.reduce_mean(loss)`. For the gradient of every
element, ask `tape.jacobian`."""
    failing = """\
x = tf.constant([[1.0], [2.0], [3.0], [4.0]])
y = tf.constant([[2.0], [4.0], [6.0], [8.0]])
w = tf.Variable([[0.5]])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.square(x @ w - y)
    w.assign_sub(0.01 * tape.gradient(loss, w))
"""
    cured = """\
x = tf.constant([[1.0], [2.0], [3.0], [4.0]])
y = tf.constant([[2.0], [4.0], [6.0], [8.0]])
w = tf.Variable([[0.5]])
for step in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w - y))
    w.assign_sub(0.01 * tape.gradient(loss, w))
"""
    ignore = "When the sum is what is meant; say so with tf.reduce_sum."

    def examine_run(self, run: Run) -> Iterable[Finding]:
        seen = set()
        for query in reversed(run.trace.queries):
            if query.place in seen or query.place not in run.history.records:
                continue
            seen.add(query.place)
            finding = self._examine(run, query)
            if finding is not None:
                yield finding

    def _examine(self, run: Run, query: Query) -> Finding | None:
        target = _vector(query)
        if target is None:
            return None
        record = run.history.records[query.place]
        query.target_name, query.step = record.target, record.steps
        used = []
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name = line.name
            answer.state = line.state
            if answer.state == "ok" and _trains(run, query, answer.source):
                used.append(answer)
        if not used:
            return None
        case = Case(run.trace, query, used[0], run.history)
        size = int(np.size(target.array))
        finding = case.finding(
            self, query.place,
            f"`{query.target_name}` has {size} elements (shape {target.shape}) and was never "
            f"reduced to one number, so each step follows the sum over all {size} of them.",
            f"reduce it in the tape's block: `tf.reduce_mean({query.target_name})`",
            mends=False, state="wrong", sure=False,
        )  # fmt: skip
        finding.sources = [answer.name for answer in used]
        return finding


def _vector(query: Query) -> Value | None:
    """The one target with several elements that a plain gradient was asked of."""
    if query.method != "gradient" or query.seeds is not None or query.error is not None:
        return None
    if len(query.targets) != 1 or not isinstance(query.targets[0], Value):
        return None
    target = query.targets[0]
    return target if target.floating and np.size(target.array) > 1 else None


def _trains(run: Run, query: Query, source: object) -> bool:
    """Was the gradient then used to change the very variable?"""
    if not isinstance(source, Variable):
        return False
    answers = [e for e in run.trace.events if e.way == "gradient" and e.time == query.time]
    later = descendants([o for e in answers for o in e.outputs])
    return any(v.variable is source for v in later)


RULE = ImplicitSumOfTargets()
