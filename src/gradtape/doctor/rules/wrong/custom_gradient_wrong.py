"""GT504 custom-gradient-wrong: a custom gradient is not the derivative of its function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...facts import audit, changes
from ...facts.backward import walk
from ...facts.budget import Spent
from ...facts.case import Case
from ...facts.faults import finite
from ...trace import Event
from ...trace.finding import Finding, WouldBe
from ...trace.states import norm
from ..base import Rule
from ..none.custom_gradient_none import returned

TOLERANCE = 2e-2


class CustomGradientWrong(Rule):
    code, name = "GT504", "custom-gradient-wrong"
    states = frozenset({"ok", "vanishing", "exploding"})
    title = "the gradient function of a tf.custom_gradient is not the derivative of its result"
    lesson = """\
`tf.custom_gradient` believes what the inner function returns. A forgotten factor, a sign, a chain
rule without the incoming `upstream`, or the derivatives in the wrong order give a gradient that is
finite and wrong, and a training that goes nowhere in particular.

Gradients that are changed on purpose are not reported: where values pass as they are (reversal,
scaling, clipping), where the function has no useful derivative of its own (rounding, steps), where
its own derivative is not finite, and where the gradient function is not linear in `upstream`. With
`--audit` these are reported too."""
    failing = """\
@tf.custom_gradient
def cube(x):
    def grad(upstream):
        return upstream * 2.0 * x * x
    return x * x * x, grad

w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(cube(w))
grad = tape.gradient(loss, w)
"""
    cured = """\
@tf.custom_gradient
def cube(x):
    def grad(upstream):
        return upstream * 3.0 * x * x
    return x * x * x, grad

w = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(cube(w))
grad = tape.gradient(loss, w)
"""
    ignore = (
        "When the other derivative is meant: a surrogate for a function that does not learn well."
    )

    def examine(self, case: Case) -> Finding | None:
        wrong = case.question.once(self, lambda: list(_wrong(case)))
        for event, worst in wrong:
            if case.leads_to(*event.inputs):
                return self._explain(case, event, worst)
        return None

    def _explain(self, case: Case, event: Event, worst: tuple[int, float, float]) -> Finding:
        gs = [case.walk.cotangents.get(o) for o in event.outputs]
        k, claimed, derivative = worst
        deaf = ", because it ignores the upstream gradient" if _deaf(event, gs) else ""
        place = returned(event)[0]
        return case.finding(
            self, place or event.place,
            f"the gradient function of `{event.name}` gives {claimed:.4g} where the derivative of "
            "what "
            f"it computes is {derivative:.4g}{_which(k, event)}{deaf}.",
            f"correct the gradient function of `{event.name}`: it must return upstream times the "
            "derivative",
            event=event, state="wrong", sure=False,
            change=changes.replayed(would_be(case, event), "what was meant is not known"),
            also=[(event.place, "called here")] if place is not None else [],
        )  # fmt: skip


def _wrong(case: Case) -> Iterator[tuple[Event, tuple[int, float, float]]]:
    """The functions on the way whose gradient is not that of what they compute, newest first."""
    own = [e for e in case.question.makers if e.kind == "CustomGradient"]
    for event in reversed(own):
        worst = _difference(case, event) if event in case.walk.passed else None
        if worst is not None:
            yield event, worst


def _difference(case: Case, event: Event) -> tuple[int, float, float] | None:
    gs = [case.walk.cotangents.get(o) for o in event.outputs]
    if len(set(event.inputs)) < len(event.inputs):
        return None  # one value as two arguments: what is whose cannot be told apart
    own = audit.reference(event)
    if own is None or any(g is None for g in gs):
        return None
    worst = _worst(case.walk.passed[event], own(gs))
    # The user's function is called with other cotangents only if there is a doubt.
    return worst if worst is not None and _doubtful(event, gs) else None


def _doubtful(event: Event, gs: list) -> bool:
    """Is it likely to be meant as the derivative, and differs from that of what was computed?"""
    try:
        return not deliberate(event, gs) and audit.check_event(event) is not None
    except Spent:
        raise
    except Exception:  # it can be called once only, as what asks a tape that is not persistent
        return False


def deliberate(event: Event, gs: list) -> bool:
    """Is the gradient likely to be changed on purpose: does it look like no derivative at all?"""
    own = audit.reference(event)
    if own is None or audit.passes_values(event) or any(g is None for g in gs):
        return True
    if any(s is None or not np.any(s) for s in own(gs)):
        return True
    return not _linear(event, gs) and not _deaf(event, gs)


def _which(k: int, event: Event) -> str:
    return "" if len(event.inputs) == 1 else f" (argument {k + 1})"


def _worst(given: list, right: list) -> tuple[int, float, float] | None:
    """Where the two differ most: operand, claimed, derivative. None when nothing can be said."""
    worst: tuple[float, int, float, float] | None = None
    for k, (claimed, derivative) in enumerate(zip(given, right, strict=False)):
        if not finite(derivative):
            return None  # a derivative that is better replaced
        if claimed is None or not finite(claimed) or np.shape(claimed) != np.shape(derivative):
            continue
        a, b = np.asarray(claimed, np.float64), np.asarray(derivative, np.float64)
        if (b == 0).any() and np.any(a[b == 0]):
            return None  # a derivative where the function has none
        off = np.abs(a - b)
        where = np.unravel_index(int(off.argmax()), off.shape)
        share = float(off[where]) / max(float(np.abs(b).max()), 1e-30)
        if share > TOLERANCE and (worst is None or share > worst[0]):
            worst = share, k, float(a[where]), float(b[where])
    return None if worst is None else worst[1:]


def _linear(event: Event, gs: list) -> bool:
    """Twice the cotangent, twice the result; and with the other sign, the other sign."""
    assert event.pull is not None
    once = event.pull(gs)
    for factor in (-1.0, 100.0):
        again = event.pull([np.asarray(g * factor, g.dtype)[()] for g in gs])
        for a, b in zip(once, again, strict=True):
            if a is not None and not np.allclose(a * factor, b, rtol=1e-3, atol=1e-12):
                return False
    return True


def _deaf(event: Event, gs: list) -> bool:
    """Does it return the same whatever comes to it? Nobody wants that, unless it is nothing."""
    assert event.pull is not None
    once = event.pull(gs)
    if not any(a is not None and np.any(a) for a in once):
        return False
    for factor in (-1.0, 100.0):
        again = event.pull([np.asarray(g * factor, g.dtype)[()] for g in gs])
        for a, b in zip(once, again, strict=True):
            if (a is None) != (b is None) or (a is not None and not np.array_equal(a, b)):
                return False
    return True


def would_be(case: Case, event: Event) -> WouldBe | None:
    """The gradient with the derivative of what ran inside."""
    own, pull = audit.reference(event), event.pull
    if own is None:
        return None
    event.pull = own
    try:
        cotangents = walk(case.trace, case.query, case.tape).cotangents
    finally:
        event.pull = pull
    found: list[Any] = [cotangents[n] for n in case.nodes if n in cotangents]
    if not found:
        return None
    total = sum(found[1:], found[0])
    return WouldBe(total, norm(total) or 0.0)


RULE = CustomGradientWrong()
