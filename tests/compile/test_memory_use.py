"""How much memory recording and playing take at most: what nobody needs any more is let go."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import gradtape as tf

MEGABYTE = 1 << 20


def peak(run: Callable[[], Any]) -> float:
    """The largest number of megabytes that a call has at a time, beyond those before it."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        return (tracemalloc.get_traced_memory()[1] - before) / MEGABYTE
    finally:
        tracemalloc.stop()


def test_a_function_recorded_in_a_function_holds_no_value_behind_its_last_use() -> None:
    @tf.function
    def inner(x):
        for _ in range(40):
            x = tf.sin(x) @ tf.eye(512)
        return tf.reduce_sum(x)

    outer = tf.function(lambda x: inner(x) * 2.0)
    x = tf.ones([512, 512])  # a megabyte
    inner(x)
    assert peak(lambda: outer(x)) < 20


def test_a_program_lets_go_of_large_arrays_that_are_no_buffers() -> None:
    kernel = tf.ones([3, 3, 4, 4]) * 0.01

    @tf.function
    def chain(x):
        for _ in range(80):
            x = tf.nn.conv2d(x, kernel, 1, "SAME")
        return tf.reduce_sum(x)

    x = tf.ones([1, 256, 256, 4])  # a megabyte
    expected = chain(x)
    assert peak(lambda: chain(x)) < 50
    np.testing.assert_allclose(chain(x), expected, rtol=1e-5)
