"""A matrix that is used again and again: its gradient is that of as many matrices, added up."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.kernels import pending


def draw(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


# What the uses do with a matrix of 4 x 4 and a state of `rows` x 4.
USES = {
    "matmul": lambda h, w: tf.tanh(h @ w),
    "transposed": lambda h, w: tf.tanh(tf.matmul(h, w, transpose_b=True)),
    "on_the_left": lambda h, w: tf.tanh(tf.transpose(tf.matmul(w, h, transpose_b=True))),
    "read": lambda h, w: tf.tanh(h @ tf.identity(w)),
    "twice": lambda h, w: tf.tanh(h @ w) @ w,
    "among_others": lambda h, w: tf.tanh(h @ w) * tf.reduce_sum(w) + tf.gather(w, [1])[0],
    "a_part": lambda h, w: tf.tanh(h[:, :2] @ tf.split(w, 2)[0]),
    "of_a_stack": lambda h, w: tf.tanh((h[None] @ w)[0]),
}


def ran(use: Any, w: Any, rows: int, steps: int) -> Any:
    """The last state; `w` is one matrix for all steps, or a list with one for each."""
    h = tf.constant(draw(rows, 4, seed=1))
    for k in range(steps):
        h = use(h, w[k] if isinstance(w, list) else w)
    return h


@pytest.mark.parametrize(("rows", "steps"), [(4, 1), (4, 2), (4, 7), (4, 300), (300, 3)])
@pytest.mark.parametrize("use", USES)
def test_one_for_all_steps_has_the_sum_of_those_of_each(use: str, rows: int, steps: int) -> None:
    values = draw(4, 4) / 2
    one = tf.Variable(values)
    each = [tf.Variable(values) for _ in range(steps)]
    with tf.GradientTape(persistent=True) as tape:
        y, z = ran(USES[use], one, rows, steps), ran(USES[use], each, rows, steps)
    weights = tf.constant(draw(*y.shape, seed=2))
    found = tf.convert_to_tensor(tape.gradient(y, one, weights)).numpy()
    again = tf.convert_to_tensor(tape.gradient(y, one, weights)).numpy()
    parts = [tf.convert_to_tensor(g).numpy() for g in tape.gradient(z, each, weights)]
    np.testing.assert_allclose(found, np.sum(parts, 0), 1e-9, 1e-12)
    np.testing.assert_array_equal(found, again)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_every_dtype_keeps_its_own(dtype: str) -> None:
    w = tf.Variable(draw(3, 3).astype(dtype) / 2)
    x = tf.constant(draw(2, 3, seed=1).astype(dtype))
    with tf.GradientTape() as tape:
        y = x @ w @ w @ w
    g = tape.gradient(y, w)
    a, x = w.numpy().astype(complex), x.numpy().astype(complex)
    ones = np.ones((2, 3))
    exact = sum(
        np.conj(x @ np.linalg.matrix_power(a, k)).T
        @ (ones @ np.conj(np.linalg.matrix_power(a, 2 - k)).T)
        for k in range(3)
    )
    assert g.dtype == dtype
    np.testing.assert_allclose(g.numpy(), exact, 1e-2 if dtype == "float16" else 1e-4, 1e-2)


def test_overflow_is_silent() -> None:
    w, x = tf.Variable(np.eye(2, dtype=np.float32)), tf.constant(np.full((2, 2), 1e30, np.float32))
    with warnings.catch_warnings(), tf.GradientTape() as tape:
        warnings.simplefilter("error")
        y = x @ w + x @ w + x @ w
        g = tape.gradient(y, w, tf.fill((2, 2), 1e30))
    assert np.isinf(g.numpy()).all()


def test_a_cotangent_in_the_middle_is_whole() -> None:
    w = tf.Variable(draw(3, 3))
    with tf.GradientTape(persistent=True) as tape:
        twice = 2.0 * w
        h = tf.constant(draw(2, 3, seed=1))
        for _ in range(3):
            h = h @ twice
    middle, found = tape.gradient(h, [twice, w])
    np.testing.assert_allclose(found.numpy(), 2.0 * middle.numpy())


def test_the_second_derivative_goes_through_all_uses() -> None:
    w, x = tf.Variable(draw(2, 2) / 2), tf.constant(draw(3, 2, seed=1))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x @ w @ w @ w)
        g = inner.gradient(y, w)
    found = outer.gradient(g, w).numpy()
    for at in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[at] = 1e-5
        derivatives = []
        for sign in (1, -1):
            v = tf.Variable(w.numpy() + sign * step)
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(x @ v @ v @ v)
            derivatives.append(tape.gradient(y, v).numpy().sum())
        assert found[at] == pytest.approx((derivatives[0] - derivatives[1]) / 2e-5, rel=1e-6)


def test_what_others_hold_is_not_written_to() -> None:
    first = draw(2, 2)
    before = first.copy()
    a, g = draw(pending._ENOUGH, 2, seed=1), draw(pending._ENOUGH, 2, seed=2)
    total = pending.Products(first)
    for k in range(0, len(a), 64):
        total.append(a[k : k + 64], g[k : k + 64])
    total.append(a[:5], g[:5])
    np.testing.assert_allclose(total.dense(), before + a.T @ g + a[:5].T @ g[:5])
    np.testing.assert_array_equal(first, before)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (1,), ()])
def test_a_bias_has_the_sum_over_all_steps_and_rows(shape: tuple[int, ...]) -> None:
    bias, scale = tf.Variable(draw(*shape)), draw(6, 5, 3, seed=1)
    with tf.GradientTape(persistent=True) as tape:
        parts = [tf.constant(scale[k]) * (tf.zeros((5, 3), tf.float64) + bias) for k in range(4)]
        parts.append(tf.constant(scale[4, :2]) * (tf.zeros((2, 3), tf.float64) + bias))
        parts.append(tf.constant(scale[5, :2]) * (tf.zeros((2, 3), tf.float64) + bias))
        total = tf.add_n([tf.reduce_sum(part) for part in parts])
    used = np.concatenate([scale[:4].reshape(20, 3), scale[4, :2], scale[5, :2]])
    expected = used.sum(0) if shape[-1:] == (3,) else used.sum()
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(total, bias).numpy(), np.reshape(expected, shape))
