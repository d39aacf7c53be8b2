"""GT404 vanishing-depth: every layer multiplies the gradient by a small derivative."""

from __future__ import annotations

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.layers import Chain, Layer, chain
from ...trace import Event
from ...trace.finding import Finding
from ..base import Rule

RATE, TOTAL, LAYERS = 0.5, 1e-4, 5
NEAR = 4  # ops from a product to its sigmoid
NORMAL = 1e-4  # a cotangent at the end that is not small itself


class VanishingDepth(Rule):
    code, name = "GT404", "vanishing-depth"
    states = frozenset({"vanishing", "zero"})
    title = "many layers each multiply the gradient by a small derivative"
    lesson = """\
The gradient of an early layer is a product with one factor for every layer behind it. The
derivative of a sigmoid is at most 1/4, and small weights shrink it further: ten such layers leave a
millionth. Use relu with He initialisation, normalise between the layers, or add the input of a
block to its output (a residual connection), so that one of the factors is about 1."""
    failing = """\
rng = np.random.default_rng(0)
layers = [tf.Variable((0.5 * rng.normal(size=(8, 8))).astype("float32")) for _ in range(16)]
h = tf.constant(rng.normal(size=(4, 8)).astype("float32"))
with tf.GradientTape() as tape:
    for k in layers:
        h = tf.sigmoid(h @ k)
    loss = tf.reduce_sum(h)
grads = tape.gradient(loss, layers)
"""
    cured = """\
rng = np.random.default_rng(0)
layers = [tf.Variable((0.5 * rng.normal(size=(8, 8))).astype("float32")) for _ in range(16)]
h = tf.constant(rng.normal(size=(4, 8)).astype("float32"))
with tf.GradientTape() as tape:
    for k in layers:
        h = h + tf.sigmoid(h @ k)
    loss = tf.reduce_mean(h)
grads = tape.gradient(loss, layers)
"""
    ignore = "When the early layers are not meant to learn."

    def examine(self, case: Case) -> Finding | None:
        found = chain(case)
        if found is None or found.recurrent is not None or len(found) < LAYERS:
            return None
        first = found.entry(case.nodes)
        if first is None:
            return None
        behind, before = Chain(found.layers[first:]), Chain(found.layers[:first])
        back = behind.backward if len(behind) > 1 else 1.0
        ahead = before.forward if len(before) > 1 else 1.0
        back, ahead = min(back, 1.0), min(ahead, 1.0)
        if back * ahead > TOTAL or found.rate(back * ahead) > RATE:
            return None
        if not largest(case, found) >= NORMAL:
            return None
        part = behind if back <= ahead else before
        if len(part) < LAYERS or not part.gradual(backward=back <= ahead):
            return None
        shrunk = min(back, ahead)
        event = _sigmoid(part.layers[0]) or part.layers[0].event
        return case.finding(
            self, event.place, _message(part, shrunk, back <= ahead), _FIX,
            event=event, change=_level(found),
        )  # fmt: skip


def _sigmoid(layer: Layer) -> Event | None:
    """A sigmoid behind a product that is a layer of its own: what is to be changed."""
    value = layer.made
    for _ in range(NEAR):
        if len(value.users) != 1 or not value.users[0].outputs:
            return None
        event = value.users[0]
        if event.kind == "Sigmoid":
            own = layer.event.layer
            return event if own is not None and event.layer not in (None, own) else None
        value = event.outputs[0]
    return None


def _level(found: Chain) -> changes.Change:
    shrunk = found.rate(min(found.backward, found.forward))
    return changes.louder(
        [layer.event for layer in found.layers], 1 / max(shrunk, 1e-30),
        "each layer passing on as much as comes to it",
    )  # fmt: skip


def largest(case: Case, found: Chain) -> float:
    """The largest entry of the cotangent behind the last layer."""
    arrived = case.walk.cotangents.get(found.layers[-1].made)
    return 0.0 if arrived is None or not np.size(arrived) else float(np.abs(arrived).max())


def _message(part: Chain, shrunk: float, backward: bool) -> str:
    first, last = part.layers[0], part.layers[-1]
    if backward:
        what, numbers = "the gradient", f"from {last.arrived:.2g} to {first.passed:.2g}"
    else:
        what, numbers = "the values", f"from {first.before:.2g} to {last.after:.2g}"
    rate = part.rate(shrunk)
    return f"each of {len(part)} layers multiplies {what} by about {rate:.2g} ({numbers})."


_FIX = (
    "use relu with He initialisation in place of a squashing function, normalise between the "
    "layers, or add the input of each layer to its output"
)
RULE = VanishingDepth()
