"""Every declared op in a compiled function: what machine code gives is what runs eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradtape as tf
from tests.compile.near import near
from tests.compile.test_every_op import Played, _order, every_grad, every_sample
from tests.ops.test_every_op import dense


def same(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for y, wanted in zip(found, expected, strict=True):
        assert (y is None) == (wanted is None)
        if wanted is not None:
            near(dense(y), dense(wanted))


def _cast(sample: Played, dtype: str) -> None:
    """The same sample in another precision."""
    sample.operands = [
        np.asarray(a, dtype) if np.asarray(a).dtype == np.float64 else a for a in sample.operands
    ]


@every_sample
def test_compiled_is_eager(name: str, k: int) -> None:
    for dtype in ("float32", "float64"):
        sample = Played(name, k)
        if name != "bitcast":  # whose parameters are for one precision
            _cast(sample, dtype)
        try:
            sample.values(*sample.tensors())
        except (TypeError, tf.errors.InvalidArgumentError):
            continue  # an op that does not take this precision
        for tensors in (sample.tensors(), sample.other(), sample.tensors()):
            sample.near(sample.function(*tensors), sample.values(*tensors))


@every_grad
def test_a_tape_in_a_compiled_function(name: str, k: int) -> None:
    sample, order = Played(name, k), _order(name)
    weights = [tf.constant(w) for w in sample.weights()]
    step = tf.function(lambda tensors, weights: sample.gradients(tensors, weights, order))
    for tensors in (sample.tensors(), sample.other()):
        same(step(tensors, weights), sample.gradients(tensors, weights, order))
