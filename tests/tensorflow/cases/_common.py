"""Inputs and gradient queries that the case modules share; it holds no cases of its own."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt

REAL = ["float32", "float64"]
SHAPES = [(), (3,), (2, 3), (0, 3)]
INF, NAN = float("inf"), float("nan")


def named(tf: Any, path: str) -> Any:
    """The function at a dotted path, such as `math.log1p`."""
    return functools.reduce(getattr, path.split("."), tf)


def fill(shape: Any = (2, 3), low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    """Numbers without ties, with few digits, the same on every machine."""
    values = np.random.RandomState(seed).uniform(low, high, shape)
    return np.round(np.asarray(values), 3)


def tensor(tf: Any, array: Any, dtype: str = "float32") -> Any:
    """A constant of the dtype; complex ones get an imaginary part too."""
    array = np.asarray(array)
    if dtype in ("complex64", "complex128"):
        if array.dtype.kind != "c":
            array = array + 1j * np.round(0.3 + 0.25 * array[::-1] if array.ndim else 0.3, 3)
        return tf.constant(array.astype(dtype))
    if dtype == "bfloat16":
        return tf.cast(tf.constant(array.astype("float32")), tf.bfloat16)
    return tf.constant(array.astype(dtype))


def weights(tf: Any, y: Any, seed: int = 7) -> Any:
    """An output gradient whose entries differ, so that no sum can hide a wrong entry."""
    if not slopes(tf, y):
        return None
    array = fill(tuple(y.shape), 0.5, 1.5, seed)
    return tensor(tf, array, y.dtype.name)


def slopes(tf: Any, x: Any) -> bool:
    """Whether a tape follows tensors of this dtype."""
    return tf.is_tensor(x) and (x.dtype.is_floating or x.dtype.is_complex)


def grads(tf: Any, call: Any, *inputs: Any, order: int = 2) -> Any:
    """The value, the gradients and, through a second tape, the gradients of the gradients.

    The call takes the inputs and returns a tensor or a nest of them.
    """
    sources = [x for x in inputs if slopes(tf, x)]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as inner:
            inner.watch(sources)
            y = call(*inputs)
        seeds = tf.nest.map_structure(lambda part: weights(tf, part), y)
        first = attempt(lambda: inner.gradient(y, sources, output_gradients=seeds))
        if order == 1 or isinstance(first, Exception):
            return y, first
        targets = [tf.convert_to_tensor(g) for g in first if g is not None]
    if not targets:
        return y, first, None
    seeds = [weights(tf, g, 11) for g in targets]
    return y, first, attempt(lambda: outer.gradient(targets, sources, output_gradients=seeds))


def first_only(tf: Any, call: Any, *inputs: Any) -> Any:
    """The value and the gradients, for coarse dtypes and long answers."""
    return grads(tf, call, *inputs, order=1)
