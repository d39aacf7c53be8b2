"""GT502 implicit-sum-of-targets: a loss for every example, and the step takes their sum."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...facts import apart, changes
from ...facts.backward import walk
from ...facts.case import Case, Run
from ...facts.faults import descendants
from ...source import edits, flow
from ...source.place import Place
from ...trace import Query, Value, Variable
from ...trace.finding import Finding
from ...trace.history import Record
from ..base import Rule

MATRICES = frozenset({"jac", "jacobian", "jacobians", "hess", "hessian", "hessians"})
# After "per" or "each" in a name: what of the target one derivative each is wanted for.
PARTS = frozenset({
    "example", "sample", "element", "point", "row", "item", "instance", "output", "component",
    "observation", "entry",
})  # fmt: skip
PLOTS = frozenset({"plot", "scatter", "stem", "fill_between", "semilogx", "semilogy", "loglog"})
TRIED = 6  # elements of the target


class ImplicitSumOfTargets(Rule):
    code, name, states = "GT502", "implicit-sum-of-targets", frozenset({"ok"})
    title = "the target has many elements, and its gradient is that of their sum"
    lesson = """\
`tape.gradient` of a vector is the gradient of the sum of its elements. A loss that was never
reduced to one number gives a step that is N times as long for a batch of N, so the learning rate
hangs on the size of the batch. Reduce it: `tf.reduce_mean(loss)`. For the gradient of every
element, ask `tape.jacobian`: also of a curve whose derivative at each point is to be plotted, when
a point of it depends on more than its own element of the source."""
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
        used, wanted = [], _asked_for_all(query.place) or _for_each(query, target)
        wanted = wanted or _taken_apart(run, query, target)
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
            return self._seen(self._all(case, target, wanted), record)
        finding = case.finding(
            self, query.place,
            f"`{query.target_name}` has {size} elements (shape {target.shape}) and was never "
            f"reduced to one number, so each step follows the sum over all {size} of them.",
            f"reduce it in the tape's block: `tf.reduce_mean({query.target_name})`",
            change=changes.unknown("what was meant is not known"), state="wrong", sure=False,
        )  # fmt: skip
        finding.sources = [case.answer.name for case in used]
        return self._seen(finding, record)

    def _seen(self, finding: Finding, record: Record) -> Finding:
        """A target that was never a single number had several in all steps that were looked at."""
        if not record.targets.count:
            finding.steps = sorted({*record.examined, *finding.steps})
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
            change=changes.unknown("what was meant is not known"), state="wrong", sure=False,
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


def _for_each(query: Query, target: Value) -> str | None:
    """The name of the result, or of the function that returns it, when one derivative for each
    element was wanted: it says so, or it is plotted against what has an element for each."""
    names, function = sorted(flow.bound_at(query.place)), flow.function_of(query.place.code)
    around = [function.name] if isinstance(function, ast.FunctionDef) else []
    for name in [*names, *around]:
        words = re.split(r"[^a-z]+", name.lower())
        for before, after in pairwise(words):
            if before in ("per", "each") and after.removesuffix("s") in PARTS:
                return name
    sources = [a.array for a in query.answers]
    if len(sources) != 1 or np.shape(sources[0]) != target.shape:
        return None
    calls = [
        node for s in flow.statements(query.place.code) for node in ast.walk(s)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]  # fmt: skip
    for call in calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in PLOTS:
            for name in names:
                if any(name in set(flow.used(arg)) for arg in call.args[1:]):
                    return name
    return None


def _taken_apart(run: Run, query: Query, target: Value) -> str | None:
    """The name of the result, when it stands beside the target, element by element, or is compared
    with what has a derivative for each of them."""
    if len(query.answers) != 1 or query.answers[0].array is None:
        return None
    case = Case(run.trace, query, query.answers[0], run.history)
    shape = np.shape(case.answer.array)
    whole = {target.shape + shape, *([target.shape] if shape in ((), (1,)) else [])}
    for sight, result, names in apart.sights(run.trace, query.place, query.target_name):
        name = min(result, default="the result")
        if result and names and sight.beside(result, names):
            return name
        for other in sight.compared(result):
            if other.shape in whole or (
                other.shape == shape == target.shape and _own_derivatives(case, target, other)
            ):
                return name
    return None


def _own_derivatives(case: Case, target: Value, other: np.ndarray) -> bool:
    """Are these the derivatives of each element by its own one of the source, and no sums?"""
    flat, given = other.reshape(-1), np.asarray(case.answer.array, np.float64)
    if not np.any(flat) or np.allclose(given, other, rtol=1e-2, atol=1e-5):
        return False
    for k, found in _each(case, target):
        own = np.reshape(found, -1)
        if np.size(own) != other.size or not np.isclose(own[k], flat[k], rtol=1e-3, atol=1e-6):
            return False
    return True


def _mixes(case: Case, target: Value) -> bool:
    """Do several elements of the target depend on one of the source? Else the sum loses nothing."""
    total: Any = 0
    for _, found in _each(case, target):
        total = total + (np.abs(found) > 0).astype(int)
    return bool(np.any(np.asarray(total) > 1))


def _each(case: Case, target: Value) -> Iterator[tuple[int, Any]]:
    """The gradients of a few single elements of the target."""
    size = int(np.size(target.array))
    for k in sorted({round(k) for k in np.linspace(0, size - 1, TRIED)}):
        seed = np.zeros(size, np.asarray(target.array).dtype)
        seed[k] = 1
        query = replace(case.query, seeds=[seed.reshape(target.shape)])
        found = walk(case.trace, query, case.tape).cotangents
        yield k, sum(np.asarray(found[n]) for n in case.nodes if n in found)


def _trains(run: Run, query: Query, source: object) -> bool:
    """Was the gradient then used to change the very variable?"""
    if not isinstance(source, Variable):
        return False
    answers = [e for e in run.trace.events if e.way == "gradient" and e.time == query.time]
    later = descendants([o for e in answers for o in e.outputs])
    return any(v.variable is source for v in later)


RULE = ImplicitSumOfTargets()
