"""GT402 exploding-init: every layer multiplies the values by more than one, and there are many."""

from __future__ import annotations

import math

import numpy as np

from ...facts import changes
from ...facts.case import Case
from ...facts.layers import Chain, Layer, chain, overflowed
from ...trace.finding import Finding
from ...trace.states import EXPLODING
from ..base import Rule

RATE, TOTAL = 2.0, 300.0  # growth a layer, and over all of them


class ExplodingInit(Rule):
    code, name = "GT402", "exploding-init"
    states = frozenset({"exploding", "inf", "nan"})
    title = "the weights are too large for the depth: every layer makes the values larger"
    lesson = """\
A layer of n inputs with weights of size s multiplies the size of its values by about s times the
square root of n (of n / 2 after a relu). Ten layers that multiply by 5 multiply by ten million, the
values as well as the gradient on its way back. Weights of size sqrt(2 / n) (He, for relu) or
sqrt(1 / n) (Glorot, for tanh) keep both as they are."""
    failing = """\
rng = np.random.default_rng(0)
layers = [tf.Variable(rng.normal(size=(64, 64)).astype("float32")) for _ in range(8)]
h = tf.constant(rng.normal(size=(16, 64)).astype("float32"))
with tf.GradientTape() as tape:
    for k in layers:
        h = tf.nn.relu(h @ k)
    loss = tf.reduce_mean(tf.square(h))
grads = tape.gradient(loss, layers)
"""
    cured = """\
rng = np.random.default_rng(0)
scale = np.sqrt(2 / 64)
layers = [tf.Variable((scale * rng.normal(size=(64, 64))).astype("float32")) for _ in range(8)]
h = tf.constant(rng.normal(size=(16, 64)).astype("float32"))
with tf.GradientTape() as tape:
    for k in layers:
        h = tf.nn.relu(h @ k)
    loss = tf.reduce_mean(tf.square(h))
grads = tape.gradient(loss, layers)
"""
    ignore = "When the growth is meant, as in a product of large factors that is the answer."

    def examine(self, case: Case) -> Finding | None:
        if case.answer.state in ("inf", "nan") and not overflowed(case):
            return None
        if _grew(case):
            return None
        found = chain(case)
        if found is None or found.recurrent is not None or not _weights(found):
            return None
        straight = _grows(found, found.forward, backward=False)
        if not straight and not _grows(found, found.backward, backward=True):
            return None
        if found.entry(case.nodes) is None:
            return None
        layer = _steepest(found)
        return case.finding(
            self, layer.event.place, self._message(found, straight), _fix(layer),
            event=layer.event, change=_smaller(found),
            also=[(v.made, "the weights are made here") for v in _weights(found)[:1] if v.made],
        )  # fmt: skip

    def _message(self, found: Chain, forward: bool) -> str:
        first, last = found.layers[0], found.layers[-1]
        if forward:
            rate, what = found.rate(found.forward), "the values"
            numbers = f"from {first.before:.2g} to {last.after:.2g}"
        else:
            rate, what = found.rate(found.backward), "the gradient on its way back"
            numbers = f"from {last.arrived:.2g} to {first.passed:.2g}"
        if not math.isfinite(rate):
            return _overflow(found, what)
        return (
            f"each of {len(found)} layers multiplies {what} by about {rate:.2g} ({numbers}): the "
            f"weights are too large for the depth."
        )


def _grew(case: Case) -> bool:
    """Was the gradient of a usual size at first? Then the steps made the weights large."""
    record = case.history.records.get(case.query.place)
    lines = [] if record is None else [n for n in record.lines if n.name == case.answer.name]
    norms = lines[0].norms.numbers if lines else []
    return len(norms) > 1 and norms[0] < EXPLODING


def _smaller(found: Chain) -> changes.Change:
    """The weights of the layers with the size that keeps what passes."""
    values = {}
    for layer in found.layers:
        array = None if layer.weight is None else np.asarray(layer.weight.array, np.float64)
        if layer.weight is not None and array is not None and array.ndim >= 2 and array.any():
            right = math.sqrt(1 / int(np.prod(array.shape[:-1]))) / float(np.std(array) or 1.0)
            values[layer.weight] = array * min(right, 1.0)
    if not values:
        return changes.unknown("the size that the weights should have is not known")
    return changes.set_value(values, "weights of size sqrt(1 / inputs)")


def _overflow(found: Chain, what: str) -> str:
    sound = Chain([layer for layer in found.layers if math.isfinite(layer.after)])
    if len(sound) == len(found) or len(sound) < 2:
        return f"{what} overflow in {len(found)} layers: the weights are too large for the depth."
    return (
        f"each layer multiplies {what} by about {sound.rate(sound.forward):.2g}, and after "
        f"{len(sound)} of {len(found)} layers they overflow: the weights are too large for the "
        "depth."
    )


def _grows(found: Chain, total: float, backward: bool) -> bool:
    return total >= TOTAL and found.rate(total) >= RATE and found.gradual(backward)


def _weights(found: Chain) -> list:
    """The variables of the layers, when most layers have one of their own."""
    own = list(dict.fromkeys(layer.variable for layer in found.layers if layer.variable))
    return own if len(own) >= 3 and 2 * len(own) >= len(found) else []


def _steepest(found: Chain) -> Layer:
    """The first layer that makes its values larger."""
    growing = [v for v in found.layers if v.variable is not None and v.after > RATE * v.before]
    return (growing or [v for v in found.layers if v.variable is not None])[0]


def _fix(layer: Layer) -> str:
    array = None if layer.weight is None else np.asarray(layer.weight.array)
    if array is None or array.ndim < 2:
        return "start with smaller weights, or normalise the values between the layers"
    inputs = int(np.prod(array.shape[:-1]))
    spread = float(np.std(array.astype(np.float64)))
    return (
        f"scale the initial weights, which have size {spread:.2g}, to "
        f"sqrt(2 / {inputs}) = {math.sqrt(2 / inputs):.2g} (He initialisation)"
    )


RULE = ExplodingInit()
