"""GT405 vanishing-recurrence: a loop forgets its first steps, because the gradient shrinks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.layers import Chain, chain
from ...trace import Value
from ...trace.finding import Finding
from ...trace.states import VANISHING
from ..base import Rule
from .exploding_recurrence import spectral_radius
from .vanishing_depth import NORMAL, largest

RATE, TOTAL, TURNS = 0.8, 1e-4, 8


class VanishingRecurrence(Rule):
    code, name = "GT405", "vanishing-recurrence"
    states = frozenset({"vanishing", "zero", "ok"})
    title = "a loop multiplies by the same weight again and again, and the gradient shrinks"
    lesson = """\
Through a loop of T steps the gradient is multiplied T times by the same matrix and the same
derivatives. Where these shrink it, nothing is left of it after some dozens of steps: what happened
at the start of a sequence cannot be learned. Gates (LSTM, GRU), an orthogonal recurrent matrix, or
a short cut from early steps to the loss (attention, a mean over all steps) keep it alive."""
    failing = """\
rng = np.random.default_rng(0)
q, _ = np.linalg.qr(rng.normal(size=(4, 4)))
w = tf.constant((0.5 * q).astype("float32"))
start = tf.Variable([[0.1, -0.2, 0.3, 0.1]])
with tf.GradientTape() as tape:
    h = start
    for _ in range(40):
        h = tf.tanh(h @ w)
    loss = tf.reduce_sum(h)
grad = tape.gradient(loss, start)
"""
    cured = """\
rng = np.random.default_rng(0)
q, _ = np.linalg.qr(rng.normal(size=(4, 4)))
w = tf.constant(q.astype("float32"))
start = tf.Variable([[0.1, -0.2, 0.3, 0.1]])
with tf.GradientTape() as tape:
    h = start
    for _ in range(40):
        h = tf.tanh(h @ w)
    loss = tf.reduce_sum(h)
grad = tape.gradient(loss, start)
"""
    ignore = "When the start is meant to be forgotten, as in an exponential average."

    def examine(self, case: Case) -> Finding | None:
        if case.answer.state == "ok" and not _sliced(case):
            return None
        found = chain(case)
        loop = None if found is None else found.recurrent
        if loop is None or found is None or len(loop) < TURNS:
            return None
        if not 0 <= loop.backward <= TOTAL or not loop.rate(loop.backward) <= RATE:
            return None
        if not largest(case, loop) >= NORMAL or not loop.gradual(backward=True):
            return None
        if case.answer.state == "ok":
            return self._part(case, loop)
        if found.entry(case.nodes) is None:
            return None
        return self._say(case, loop, "")

    def _part(self, case: Case, loop: Chain) -> Finding | None:
        """Of a sequence: the gradient of its first steps is lost, that of the last is not."""
        sizes = _sizes(case)
        if sizes is None or not (sizes[0] < VANISHING and sizes[-1] > NORMAL):
            return None
        quarters = [float(np.max(part)) for part in np.array_split(sizes, 4)]
        if any(early * 5 > late for early, late in pairwise(quarters)):
            return None
        numbers = (
            f": {sizes[-1]:.2g} at the last of {len(sizes)} steps, {sizes[0]:.2g} at the first"
        )
        return self._say(case, loop, numbers, state="vanishing", sure=False)

    def _say(self, case: Case, loop: Chain, numbers: str, **more: Any) -> Finding:
        layer, radius = loop.layers[0], spectral_radius(loop)
        size = "" if radius is None else f" (its largest eigenvalue has magnitude {radius:.2g})"
        return case.finding(
            self, layer.event.place,
            f"`{layer.event.place.text}` multiplies by the same weight in {len(loop)} "
            f"iterations of the loop{size}, and the gradient shrinks by a factor of "
            f"{loop.rate(loop.backward):.2g} per iteration, from "
            f"{loop.layers[-1].arrived:.2g} to {layer.passed:.2g}{numbers}.",
            "use gates (LSTM or GRU), start with an orthogonal matrix, or give early steps "
            "a shorter way to the loss",
            event=layer.event, change=_level(loop), **more,
        )  # fmt: skip


def _level(loop: Chain) -> changes.Change:
    return changes.louder(
        [layer.event for layer in loop.layers], 1 / max(loop.rate(loop.backward), 1e-30),
        "each iteration passing on as much as it receives",
    )  # fmt: skip


def _sliced(case: Case) -> bool:
    """Is the source a tensor that a loop takes step by step?"""
    return isinstance(case.source, Value) and _axis(case.source) is not None


def _axis(source: Value) -> int | None:
    """The axis along which the source, or its transpose, was taken apart into steps."""
    turned = [e for e in source.users if e.kind == "Transpose" and "axes" in e.attrs]
    for value, axes in [
        (source, range(len(source.shape))), *((e.outputs[0], e.attrs["axes"]) for e in turned)
    ]:  # fmt: skip
        axis = _taken_apart(value)
        if axis is not None:
            return int(axes[axis])
    return None


def _taken_apart(source: Value) -> int | None:
    steps = [e for e in source.users if e.is_a(Family.SELECTS) and e.way == "op"]
    parts = [o for e in source.users if e.kind == "Unpack" for o in e.outputs]
    parts = parts or [e.outputs[0] for e in steps]
    for axis, length in enumerate(source.shape):
        rest = source.shape[:axis] + source.shape[axis + 1 :]
        kept = (*source.shape[:axis], 1, *source.shape[axis + 1 :])
        if length >= TURNS and sum(p.shape in (rest, kept) for p in parts) >= length:
            return axis
    return None


def _sizes(case: Case) -> Any:
    """The largest entry of the gradient at each step of the sequence, in the loop's order."""
    source, array = case.source, case.answer.array
    if not isinstance(source, Value) or array is None or np.shape(array) != source.shape:
        return None
    axis = _axis(source)
    if axis is None:
        return None
    steps = np.moveaxis(np.abs(np.asarray(array, np.float64)), axis, 0)
    sizes = steps.reshape(source.shape[axis], -1).max(1)
    return sizes if sizes[-1] >= sizes[0] else sizes[::-1]


RULE = VanishingRecurrence()
