"""The public API on one screen."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf


def test_gradient() -> None:
    w, b = tf.Variable([[1.0], [2.0]]), tf.Variable(0.5)
    x = tf.constant([[3.0, 4.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ w + b) ** 2)
    grads = tape.gradient(loss, {"w": w, "b": b})
    assert grads["w"].numpy().tolist() == [[69.0], [92.0]]
    assert float(grads["b"]) == 23.0


def test_higher_order() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**4
        derivative = inner.gradient(y, x)
    assert (float(derivative), float(outer.gradient(derivative, x))) == (32.0, 48.0)


def test_jacobian_and_jvp() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stack([x[0] * x[1], x[0] ** 2])
    np.testing.assert_allclose(tape.jacobian(y, x), [[2.0, 1.0], [2.0, 0.0]])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        y = tf.stack([x[0] * x[1], x[0] ** 2])
    np.testing.assert_allclose(acc.jvp(y), [2.0, 2.0])


def test_training() -> None:
    w = tf.Variable(0.0)
    for _ in range(50):
        with tf.GradientTape() as tape:
            loss = (w - 3.0) ** 2
        w.assign_sub(0.1 * tape.gradient(loss, w))
    assert float(w) == pytest.approx(3.0, abs=1e-3)


def test_custom_gradient() -> None:
    @tf.custom_gradient
    def clipped(x):
        return x, lambda g: tf.clip_by_value(g, -1.0, 1.0)

    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        y = clipped(x) * 10.0
    assert float(tape.gradient(y, x)) == 1.0


def test_no_path_no_gradient() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        unwatched = x * x
        tape.watch(x)
        left_the_tape = tf.constant(np.sin(x))
        step = tf.floor(x)
    assert tape.gradient(unwatched, x) is None
    assert tape.gradient(left_the_tape, x) is None
    assert tape.gradient(step, x) is None
    assert float(tape.gradient(step, x, unconnected_gradients="zero")) == 0.0


def test_rows() -> None:
    table = tf.Variable(tf.ones((4, 2)))
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [1, 1, 3])
    grad = tape.gradient(rows, table)
    assert isinstance(grad, tf.IndexedSlices)
    table.scatter_sub(grad)
    assert table.numpy()[:, 0].tolist() == [1.0, -1.0, 1.0, 0.0]


def test_errors_teach() -> None:
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"
    ):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float tensor"):
        tf.constant(1.0) + tf.constant(1)
    with pytest.raises(AttributeError, match=r"tf\.math\.log"):
        tf.log(1.0)
