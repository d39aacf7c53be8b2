"""Every declared op, whoever declared it, in a function: what is played is what runs eagerly.

Each function is called with other numbers, too, so that a number that was frozen shows. Equation by
equation it must be the same to the last bit, and so must what NumPy's backend makes of a single op;
of gradients, whose arithmetic the passes rewrite, the last digits may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf
from gradtape.compile.play import interpret
from tests.compile.near import near
from tests.ops.test_every_op import CASES, ONCE, SLOPING, Sample, dense, every

every_sample = every(CASES)
every_grad = every(SLOPING)
# Terms of other signs, each with its own rounding.
CANCELLING = {"sigmoid_cross_entropy", "gelu_grad"}


class Played(Sample):
    """A sample, and functions of its operands."""

    def __init__(self, name: str, k: int) -> None:
        super().__init__(name, k)
        self.function = tf.function(self.values)

    def values(self, *tensors: Any) -> list:
        results = self.op.apply(*tensors, **self.params)
        return list(results) if isinstance(results, tuple) else [results]

    def other(self) -> list:
        """Operands of the same shapes with other numbers, if the op takes them."""
        for change in (_moved, _scaled):
            tensors = [tf.constant(change(np.asarray(a))) for a in self.operands]
            try:
                self.values(*tensors)
            except Exception:
                continue
            return tensors
        return self.tensors()

    def near(self, found: list, expected: list) -> None:
        elementwise = self.op.push == "diagonal" and self.op.name not in CANCELLING
        for y, wanted in zip(found, expected, strict=True):
            near(dense(y), dense(wanted), elementwise, self.op.name)

    def gradients(self, tensors: Any, weights: Any, order: int, compute: Any = None) -> list:
        """All gradients up to this order, of sums that are weighted anew at each step."""
        compute, sources = compute or self.values, [tensors[i] for i in self.derivatives]
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(sources)
            with tf.GradientTape() as tape:
                tape.watch(sources)
                results = [
                    y for y in compute(*tensors) if y.dtype.is_floating or y.dtype.is_complex
                ]
            found = tape.gradient(results, sources, weights)
            first = [None if g is None else tf.convert_to_tensor(g) for g in found]
            chosen = [tf.math.sin(g) if g.dtype.is_floating else g for g in first if g is not None]
        if order < 2 or not chosen:
            return first
        second = outer.gradient(chosen, sources)
        return [*first, *[None if g is None else tf.convert_to_tensor(g) for g in second]]


def _moved(a: Any) -> Any:
    return np.roll(a.ravel(), 1).reshape(a.shape) if a.dtype.kind in "iub" else _scaled(a)


def _scaled(a: Any) -> Any:
    return (a * a.dtype.type(0.96875)) if a.dtype.kind in "fc" else a


def same(found: Any, expected: Any, exact: bool = True) -> None:
    assert len(found) == len(expected)
    for y, wanted in zip(found, expected, strict=True):
        assert (y is None) == (wanted is None)
        if wanted is None:
            continue
        y, wanted = dense(y), dense(wanted)
        assert (y.dtype, y.shape) == (wanted.dtype, wanted.shape)
        if exact or y.dtype.kind not in "fc":
            np.testing.assert_array_equal(y, wanted)
        else:
            np.testing.assert_allclose(y, wanted, rtol=1e-10, atol=1e-12)


@every_sample
def test_played_is_eager(name: str, k: int) -> None:
    sample = Played(name, k)
    for tensors in (sample.tensors(), sample.other(), sample.tensors()):
        expected = sample.values(*tensors)
        sample.near(sample.function(*tensors), expected)
        take = next(iter(sample.function._trees.values())).takes[0]
        same(interpret(take.program, tensors), expected)


def _order(name: str) -> int:
    return 1 if name in ONCE else 2


@every_grad
def test_a_tape_in_a_function(name: str, k: int) -> None:
    sample, order = Played(name, k), _order(name)
    weights = [tf.constant(w) for w in sample.weights()]
    step = tf.function(lambda tensors, weights: sample.gradients(tensors, weights, order))
    for tensors in (sample.tensors(), sample.other()):
        expected = sample.gradients(tensors, weights, order)
        same(step(tensors, weights), expected, exact=False)
        take = next(iter(step._trees.values())).takes[0]
        same(take.pack(interpret(take.program, [*tensors, *weights])), expected, exact=False)


@every_grad
def test_a_tape_around_a_function(name: str, k: int) -> None:
    sample, order = Played(name, k), _order(name)
    weights = [tf.constant(w) for w in sample.weights()]
    for tensors in (sample.tensors(), sample.other()):
        expected = sample.gradients(tensors, weights, order)
        same(sample.gradients(tensors, weights, order, sample.function), expected, exact=False)
