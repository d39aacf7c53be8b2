"""GT403 exploding-recurrence: a loop multiplies by the same weight, and the gradient grows."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ....traits import Family
from ...facts import changes
from ...facts.case import Case
from ...facts.layers import Chain, chain, overflowed
from ...source import edits
from ...source.place import Place
from ...trace import Event, Value
from ...trace.finding import Finding
from ..base import Rule

RATE, TOTAL = 1.05, 100.0
SLOW = 1.01  # a rate that counts where nothing bounds the state
TURNS, FAR = 3, 12  # of a loop that are looked at, and ops between two products


class ExplodingRecurrence(Rule):
    code, name = "GT403", "exploding-recurrence"
    states = frozenset({"exploding", "inf", "nan"})
    title = "a loop multiplies by the same weight again and again, and the gradient grows"
    lesson = """\
Through a loop of T steps the gradient is multiplied T times by the same matrix. Where that matrix
stretches anything by more than 1, the gradient grows like a power of it: 1.5 to the 50th is six
hundred million. Start with an orthogonal matrix, clip the gradient (`tf.clip_by_global_norm`), or
cut the sequence into shorter pieces."""
    failing = """\
w = tf.Variable([[1.2, 0.4], [0.3, 1.1]])
h = tf.constant([[1.0, 0.5]])
with tf.GradientTape() as tape:
    for _ in range(40):
        h = h @ w
    loss = tf.reduce_mean(h)
grad = tape.gradient(loss, w)
"""
    cured = """\
w = tf.Variable([[0.8, 0.6], [-0.6, 0.8]])
h = tf.constant([[1.0, 0.5]])
with tf.GradientTape() as tape:
    for _ in range(40):
        h = h @ w
    loss = tf.reduce_mean(h)
grad = tape.gradient(loss, w)
"""
    ignore = "When the growth is what is computed: compound interest, a power of a matrix."

    def examine(self, case: Case) -> Iterator[Finding]:
        if case.answer.state in ("inf", "nan") and not overflowed(case):
            return
        found = chain(case)
        loop = None if found is None else found.recurrent
        if loop is None or found is None or found.entry(case.nodes) is None:
            return
        grown = max(loop.forward, loop.backward)
        unbounded = _rectified(loop)
        if not grown >= TOTAL or not loop.rate(grown) >= (SLOW if unbounded else RATE):
            return
        ways = [loop.gradual(backward=way) for way in (True, False)]
        if not ways[loop.backward < loop.forward] and not (loop.backward == grown and any(ways)):
            return
        layer = loop.layers[0]
        if loop.rate(grown) >= RATE:
            yield case.finding(
                self, layer.event.place, _message(loop), _fix(loop), event=layer.event,
                change=_level(loop),
            )  # fmt: skip
        if unbounded:
            made = None if layer.event.layer is None else layer.event.layer.made
            yield case.finding(
                self, layer.event.place, f"{_message(loop)} ReLU has no upper end to hold it.",
                "use tanh, whose state stays between -1 and 1, or an orthogonal matrix and clipped "
                "gradients", event=layer.event, edit=_tanh(made),
                change=changes.seen("with tanh in the place of ReLU, the state stays within 1"),
            )  # fmt: skip


def _rectified(loop: Chain) -> bool:
    """Does the state go through a ReLU in every turn, and through nothing that bounds it?"""
    ways = [(a.made, b.state) for a, b in pairwise(loop.layers)]
    return all(_by_relu(start, end) for start, end in ways[:TURNS])


def _by_relu(start: Value, end: Value) -> bool:
    steps: list[Event] = []
    value = end
    for _ in range(FAR):
        if value is start or value.maker is None:
            break
        steps.append(value.maker)
        state = [v for v in value.maker.inputs if v.variable is None and v.maker is not None]
        if not state:
            break
        value = start if start in state else max(state, key=lambda v: v.maker.time)  # type: ignore[union-attr]
    rectified = any(step.kind == "Relu" for step in steps)
    return rectified and not any(step.is_a(Family.BOUNDED) for step in steps)


def _tanh(made: Place | None) -> str | None:
    """The line of a layer with tanh where it says ReLU."""
    call = None if made is None else made.node
    for word in call.keywords if isinstance(call, ast.Call) else ():
        if made is not None and word.arg == "activation" and isinstance(word.value, ast.Constant):
            return edits.replaced(made, '"tanh"', word.value)
    return None


def _level(loop: Chain) -> changes.Change:
    """The weight of the loop with a size that lets what passes stay as it is."""
    weight, radius = loop.layers[0].weight, spectral_radius(loop)
    if weight is None:
        return changes.unknown("the size that the factor should have is not known")
    array = np.asarray(weight.array, np.float64)
    factor = radius or float(np.abs(array).max())
    reads = {layer.weight: array / factor for layer in loop.layers if layer.weight is not None}
    return changes.set_value(reads, "a weight whose largest eigenvalue is 1")


def _message(loop: Chain) -> str:
    layer, radius = loop.layers[0], spectral_radius(loop)
    what = "the gradient" if loop.backward >= loop.forward else "the state"
    grown = max(loop.forward, loop.backward)
    rate = loop.rate(grown)
    size = "" if radius is None else f" (its largest eigenvalue has magnitude {radius:.3g})"
    if not math.isfinite(rate):
        return (
            f"`{layer.event.place.text}` multiplies by the same weight in {len(loop)} "
            f"iterations of the loop{size}, until {what} overflows."
        )
    return (
        f"`{layer.event.place.text}` multiplies by the same weight in {len(loop)} "
        f"iterations of the loop{size}, and {what} grows by a factor of {rate:.3g} per iteration, "
        f"{grown:.2g} in all."
    )


def _fix(loop: Chain) -> str:
    if spectral_radius(loop) is not None:
        return (
            "start with an orthogonal matrix, clip the gradient with `tf.clip_by_global_norm`, or "
            "run fewer iterations"
        )
    return "keep the factor at 1 or below, clip the gradient, or run fewer iterations"


def spectral_radius(loop: Chain) -> float | None:
    """The size of the largest eigenvalue of the weight, when it is a square matrix."""
    weight = loop.layers[0].weight
    array = None if weight is None else np.asarray(weight.array)
    if array is None or array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) > 512:
        return None
    if len(array) < 2 or not np.isfinite(array.astype(np.float64)).all():
        return None
    return float(np.abs(np.linalg.eigvals(array.astype(np.float64))).max())


RULE = ExplodingRecurrence()
