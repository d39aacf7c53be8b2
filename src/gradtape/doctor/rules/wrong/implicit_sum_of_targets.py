"""GT502 implicit-sum-of-targets: a loss for every example, and the step takes their sum."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ...facts.backward import walk
from ...facts.case import Case, Run
from ...facts.faults import descendants
from ...source import edits, flow
from ...source.place import Place
from ...trace import Query, Value, Variable
from ...trace.finding import Finding
from ..base import Rule

MATRICES = frozenset({"jac", "jacobian", "jacobians", "hess", "hessian", "hessians"})
TRIED = 6  # elements of the target


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
        if not any(record.several for record in run.history.records.values()):
            return
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
        used, wanted = [], _asked_for_all(query.place)
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name = line.name
            answer.state = line.state
            if answer.state == "ok" and (wanted or _trains(run, query, answer.source)):
                used.append(Case(run.trace, query, answer, run.history))
        used = [case for case in used if _mixes(case, target)]
        if not used:
            return None
        case, size = used[0], int(np.size(target.array))
        if wanted:
            return self._all(case, target, wanted)
        finding = case.finding(
            self, query.place,
            f"`{query.target_name}` has {size} elements (shape {target.shape}) and was never "
            f"reduced to one number, so each step follows the sum over all {size} of them.",
            f"reduce it in the tape's block: `tf.reduce_mean({query.target_name})`",
            mends=False, state="wrong", sure=False,
        )  # fmt: skip
        finding.sources = [case.answer.name for case in used]
        return finding

    def _all(self, case: Case, target: Value, name: str) -> Finding:
        query, size = case.query, int(np.size(target.array))
        call = ast.unparse(query.place.node) if query.place.node is not None else ""
        new = call.replace(".gradient(", ".jacobian(", 1)
        return case.finding(
            self, query.place,
            f"`{query.target_name}` has {size} elements (shape {target.shape}), and this is the "
            f"gradient of their sum: `{name}` has the shape of `{case.answer.name}` and holds no "
            "derivative of a single one.",
            f"ask for all of them: `{new}`" if new != call else "ask with `tape.jacobian`",
            mends=False, state="wrong", sure=False,
            edit=edits.replaced(query.place, new) if new != call else None,
        )  # fmt: skip


def _vector(query: Query) -> Value | None:
    """The one target with several elements that a plain gradient was asked of."""
    if query.method != "gradient" or query.seeds is not None or query.error is not None:
        return None
    if len(query.targets) != 1 or not isinstance(query.targets[0], Value):
        return None
    target = query.targets[0]
    return target if target.floating and np.size(target.array) > 1 else None


def _asked_for_all(place: Place) -> str | None:
    """The name of the result, when it says that every derivative was wanted: `jac`, `hessian`."""
    for name in flow.bound_at(place):
        words = re.split(r"[^a-zA-Z]+", name)
        if {"J", "H"} & set(words) or {w.lower() for w in words} & MATRICES:
            return name
    return None


def _mixes(case: Case, target: Value) -> bool:
    """Do several elements of the target depend on one of the source? Else the sum loses nothing."""
    size = int(np.size(target.array))
    total: Any = 0
    for k in sorted({round(k) for k in np.linspace(0, size - 1, TRIED)}):
        seed = np.zeros(size, np.asarray(target.array).dtype)
        seed[k] = 1
        query = replace(case.query, seeds=[seed.reshape(target.shape)])
        found = walk(case.trace, query, case.tape).cotangents
        total = total + sum((np.abs(found[n]) > 0).astype(int) for n in case.nodes if n in found)
    return bool(np.any(np.asarray(total) > 1))


def _trains(run: Run, query: Query, source: object) -> bool:
    """Was the gradient then used to change the very variable?"""
    if not isinstance(source, Variable):
        return False
    answers = [e for e in run.trace.events if e.way == "gradient" and e.time == query.time]
    later = descendants([o for e in answers for o in e.outputs])
    return any(v.variable is source for v in later)


RULE = ImplicitSumOfTargets()
