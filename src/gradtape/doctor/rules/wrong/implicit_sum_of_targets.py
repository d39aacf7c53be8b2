"""GT502 implicit-sum-of-targets: a loss for every example, and the step takes their sum."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...facts import apart, changes, singles
from ...facts.case import Case, Run
from ...source import edits, flow
from ...source.place import Place
from ...trace import Query, Value
from ...trace.finding import Finding
from ...trace.history import Record
from ..base import Rule

MATRICES = frozenset({"jac", "jacobian", "jacobians", "hess", "hessian", "hessians", "fisher"})
# After "per" or "each" in a name: what of the target one derivative each is wanted for.
PARTS = frozenset({
    "example", "sample", "element", "point", "row", "item", "instance", "output", "component",
    "observation", "entry", "task", "class",
})  # fmt: skip
GRADIENTS = frozenset({"grad", "grads", "gradient", "gradients"})
FLAT = frozenset({"zero", "vanishing"})
PLOTS = frozenset({"plot", "scatter", "stem", "fill_between", "semilogx", "semilogy", "loglog"})


class ImplicitSumOfTargets(Rule):
    code, name, states = "GT502", "implicit-sum-of-targets", frozenset({"ok"})
    title = "the target has many elements, and its gradient is that of their sum"
    lesson = """\
`tape.gradient` of a vector is the gradient of the sum of its elements. A loss that was never
reduced to one number gives a step that is N times as long for a batch of N, so the learning rate
depends on the size of the batch. Reduce it: `tf.reduce_mean(loss)`. For the gradient of every
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
        targets = singles.targets_of(query)
        if not targets:
            return None
        record = run.history.records[query.place]
        query.target_name, query.step = record.target, record.steps
        cases = []
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name, answer.state = line.name, line.state
            cases.append(Case(run.trace, query, answer, run.history))
        for case in cases:
            if case.answer.state in FLAT and singles.cancel(case) and not _said(run, query):
                return self._seen(self._cancelled(case, targets), record)
        sound = [case for case in cases if case.answer.state == "ok"]
        wanted = _wanted(run, sound, targets)
        # Of several targets the sum is what one asks for, unless the program says otherwise.
        used = [c for c in sound if wanted or (len(targets) == 1 and singles.trains(c))]
        used = [case for case in used if singles.mixes(case)]
        if not used:
            return None
        case, size = used[0], _size(targets)
        if wanted:
            return self._seen(self._all(case, targets, wanted), record)
        finding = case.finding(
            self, query.place,
            f"`{query.target_name}` has {size} elements (shape {targets[0].shape}) and was never "
            f"reduced to one number, so each step follows the sum of all {size}.",
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

    def _all(self, case: Case, targets: list[Value], wanted: Wanted) -> Finding:
        query, size, width = case.query, _size(targets), wanted.width
        if len(targets) > 1:
            what = (
                f"`{query.target_name}` are {size} numbers, and this is the gradient of their sum: "
            )
            method, fix = "", "ask once for each of them, with a persistent tape"
        elif width:
            what = (
                f"each of the {targets[0].shape[0]} rows of `{query.target_name}` has {width} "
                "elements, and this is the gradient of their sum: "
            )
            method = "batch_jacobian" if min(targets[0].array.ndim, case.nodes[0].array.ndim) > 1 \
                else "jacobian"  # fmt: skip
            fix = f"take one of them in the tape's block, as `{query.target_name}[:, 0]`, or ask "
        else:
            what = (
                f"`{query.target_name}` has {size} elements (shape {targets[0].shape}), and this "
                "is the gradient of their sum: "
            )
            method, fix = "jacobian", "ask "
        new = _asked_with(query, method) if method else None
        if method:
            fix += f"for all of them: `{new}`" if new else f"with `tape.{method}`"
        return case.finding(
            self, query.place,
            f"{what}`{wanted.name}` has the shape of `{case.answer.name}` and is not the "
            "derivative of any single one.",
            fix, change=changes.unknown("what was meant is not known"), state="wrong", sure=False,
            edit=edits.replaced(query.place, new) if new else None,
        )  # fmt: skip

    def _cancelled(self, case: Case, targets: list[Value]) -> Finding:
        query, size = case.query, _size(targets)
        total = sum(float(np.sum(np.asarray(t.array, np.float64))) for t in targets)
        new = _asked_with(query, "jacobian") if len(targets) == 1 else None
        return case.finding(
            self, query.place,
            f"the {size} elements of `{query.target_name}` add up to {total:.4g} whatever "
            f"`{case.answer.name}` is, and this is the gradient of their sum: each of them has "
            "one, and together they are 0.",
            f"take one of them, or ask for all: `{new}`" if new else "ask for one of them",
            change=changes.seen("the gradients of single elements are there, and cancel"),
            state="wrong",
            edit=edits.replaced(query.place, new) if new else None,
        )  # fmt: skip


class Wanted(NamedTuple):
    """What shows that one derivative for each element was wanted."""

    name: str  # of the result, or of the function that returns it
    width: int = 0  # elements of a row of the target, where rows belong together


def _size(targets: list[Value]) -> int:
    return sum(int(np.size(t.array)) for t in targets)


def _asked_with(query: Query, method: str) -> str | None:
    """The call with another method in the place of `gradient`."""
    call = ast.unparse(query.place.node) if query.place.node is not None else ""
    new = call.replace(".gradient(", f".{method}(", 1)
    return new if new != call else None


def _said(run: Run, query: Query) -> bool:
    """Is there a finding already of why it is 0?"""
    return any(f.query is not None and f.query.place == query.place for f in run.findings)


def _wanted(run: Run, sound: list[Case], targets: list[Value]) -> Wanted | None:
    """Was one derivative for each element wanted? By names, by how the result is used, by what the
    elements have to do with each other."""
    if not sound:
        return None
    query = sound[0].query
    name = _asked_for_all(query.place) or _for_each(query, targets)
    if name is not None:
        return Wanted(name)
    if len(query.answers) != 1 or query.answers[0].array is None:
        return _by_use(sound, "the result")
    return _taken_apart(run, sound[0], targets) or _by_use(sound, _name_of(query.place))


def _by_use(sound: list[Case], name: str) -> Wanted | None:
    """What is certain without the source: a derivative of a derivative, squares, rows."""
    first = sound[0]
    if singles.of_gradient(first) is not None:
        return Wanted(name)
    if any(map(singles.trains, sound)):
        return None
    targets = first.targets
    if len(targets) == 1 and singles.beside_targets(first):
        return Wanted(name)
    if len(targets) == 1 and targets[0].array.ndim == 1 and singles.squared(first):
        return Wanted(name)
    width = singles.by_rows(first) if len(sound) == 1 and not _glanced_at(first) else 0
    return Wanted(name, width) if width else None


def _glanced_at(case: Case) -> bool:
    """Is it only looked whether there is a gradient, and is it part of no loss?"""
    tapes = case.trace.tapes.values()
    if any(tape is not case.tape and tape.recording(case.query.time) for tape in tapes):
        return False
    sights = list(apart.sights(case.trace, case.query.place, case.query.target_name))
    return any(result and sight.only_glanced_at(result) for sight, result, _ in sights)


def _name_of(place: Place) -> str:
    """The name of the result, or of the function that returns it."""
    names, function = sorted(flow.bound_at(place)), flow.function_of(place.code)
    if names:
        return names[0]
    return function.name if isinstance(function, ast.FunctionDef) else "the result"


def _asked_for_all(place: Place) -> str | None:
    """The name of the result, or of the function that returns it, when it says that every
    derivative was wanted: `jac`, `hessian`."""
    function = flow.function_of(place.code)
    returns = isinstance(function, ast.FunctionDef) and isinstance(place.statement, ast.Return)
    around = [function.name] if returns and isinstance(function, ast.FunctionDef) else []
    for name in [*flow.bound_at(place), *around]:
        words = re.split(r"[^a-zA-Z]+", name)
        if {"J", "H"} & set(words) or {w.lower() for w in words} & MATRICES:
            return name
    return None


def _for_each(query: Query, targets: list[Value]) -> str | None:
    """The name of the result, or of the function that returns it, when one derivative for each
    element was wanted: it says so, or it is plotted against what has an element for each."""
    names, function = sorted(flow.bound_at(query.place)), flow.function_of(query.place.code)
    around = [function.name] if isinstance(function, ast.FunctionDef) else []
    for name in [*names, *around]:
        words = re.split(r"[^a-z]+", name.lower())
        for before, after in pairwise(words):
            part = before in ("per", "each") and after.removesuffix("s") in PARTS
            if part or (before in PARTS and after in GRADIENTS):
                return name
    sources = [a.array for a in query.answers]
    if len(sources) != 1 or [t.shape for t in targets] != [np.shape(sources[0])]:
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


def _taken_apart(run: Run, case: Case, targets: list[Value]) -> Wanted | None:
    """The name of the result, when it stands beside the target, element by element, is compared
    with what has a derivative for each of them, or is taken once for each."""
    query, shape, size = case.query, np.shape(case.answer.array), _size(targets)
    target = targets[0] if len(targets) == 1 else None
    counts = {len(targets)} if target is None else {size, *target.shape[-1:]} - {1}
    whole = set()
    if target is not None:
        whole = {target.shape + shape, *([target.shape] if shape in ((), (1,)) else [])}
    for sight, result, names in apart.sights(run.trace, query.place, query.target_name):
        name = min(result, default="the result")
        if result and names and sight.beside(result, names):
            return Wanted(name)
        if result and sight.once_for_each(result, counts):
            return Wanted(name)
        if target is None:
            numbers = sight.numbered(result)
            if numbers == set(range(size)) and shape[:1] != (size,):
                return Wanted(name)
            continue
        rows = shape[:1] == target.shape[:1] and len(shape) > 1
        if result and rows and sight.by_rows(result):
            return Wanted(name)
        for other in sight.compared(result):
            if other.shape in whole or (
                other.shape == shape == target.shape and _own_derivatives(case, other)
            ):
                return Wanted(name)
    return None


def _own_derivatives(case: Case, other: np.ndarray) -> bool:
    """Are these the derivatives of each element by its own one of the source, and no sums?"""
    flat, given = other.reshape(-1), np.asarray(case.answer.array, np.float64)
    if not np.any(flat) or np.allclose(given, other, rtol=1e-2, atol=1e-5):
        return False
    for k, found in singles.each(case):
        own = np.reshape(found, -1)
        if np.size(own) != other.size or not np.isclose(own[k], flat[k], rtol=1e-3, atol=1e-6):
            return False
    return True


RULE = ImplicitSumOfTargets()
