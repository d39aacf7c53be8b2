"""Functions under tapes: gradients as of eager code, of any order and in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.calls import Derivative


@pytest.fixture
def weights():
    rng = np.random.default_rng(3)
    return [tf.Variable(rng.normal(size=s).astype("f8")) for s in ((3, 4), (4, 2))]


def model(weights, x):
    return tf.tanh(x @ weights[0]) @ weights[1], tf.reduce_sum(x)


X = np.random.default_rng(4).normal(size=(5, 3))


def derivatives(f, x, weights, persistent=False):
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y, _ = f(x)
        loss = tf.reduce_sum(y**2)
    return tape.gradient(loss, [x, *weights])


@pytest.mark.parametrize("persistent", [False, True])
def test_first_order(weights, persistent) -> None:
    function, x = tf.function(lambda x: model(weights, x)), tf.constant(X)
    for _ in range(3):
        eager = derivatives(lambda x: model(weights, x), x, weights)
        played = derivatives(function, x, weights, persistent)
        for a, b in zip(eager, played, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)
        weights[0].assign_add(0.1 * tf.ones_like(weights[0]))
    take = next(iter(function._trees.values())).takes[0]
    assert isinstance(take._derivative, Derivative) is not persistent


def test_second_order_jacobians_and_forward_mode(weights) -> None:
    plain = lambda x: model(weights, x)
    function, x = tf.function(plain), tf.constant(X)

    def hessian(f):
        with tf.GradientTape() as outer:
            outer.watch(x)
            g = derivatives(f, x, weights)[0]
            total = tf.reduce_sum(g**2)
        return outer.gradient(total, x)

    def jacobian(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, _ = f(x)
        return tape.jacobian(y, [x, weights[1]])

    def forward(f):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y, _ = f(x)
        return acc.jvp(y)

    for how in (hessian, jacobian, forward):
        for a, b in zip(tf.nest.flatten(how(plain)), tf.nest.flatten(how(function)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10)


def test_a_function_in_a_function_in_a_tape(weights) -> None:
    inner = tf.function(lambda x: model(weights, x))

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, _ = inner(x)
            loss = tf.reduce_sum(y**2)
        return tape.gradient(loss, [x, *weights])

    x = tf.constant(X)
    eager = derivatives(lambda x: model(weights, x), x, weights)
    for a, b in zip(eager, outer(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_gathers_stay_rows() -> None:
    table = tf.Variable(np.arange(12.0).reshape(6, 2))
    function = tf.function(lambda i: tf.gather(table, i))
    for rows in ([1, 3, 1], [0, 5, 5]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(tf.constant(rows)) ** 2)
        slices = tape.gradient(loss, table)
        assert isinstance(slices, tf.IndexedSlices)
        assert slices.indices.numpy().tolist() == rows


def test_a_custom_gradient_inside_is_the_users() -> None:
    @tf.custom_gradient
    def odd(x):
        return x * x, lambda g: g * 100.0

    function, x = tf.function(lambda x: odd(x) + 1.0), tf.constant(3.0)
    function(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert float(tape.gradient(y, x)) == 100.0


def test_a_variable_given_to_a_custom_gradient_is_an_input() -> None:
    # As in TensorFlow's graphs; outside of functions, what only stands for one is not.
    class Standing(tf.__internal__.types.Tensor):
        value = tf.Variable(2.0)

    @tf.custom_gradient
    def odd(x, scale):
        return x * scale, lambda g, variables=None: (g * 100.0, g * 10.0)

    @tf.function
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = odd(x, Standing())
        return tape.gradient(y, [x, Standing.value])

    assert [float(g) for g in both(tf.constant(3.0))] == [100.0, 10.0]


def test_a_guard_fails_under_a_tape_as_elsewhere() -> None:
    @tf.function
    def either(x):
        return x * 2.0 if x > 0 else x * 3.0

    found = []
    for value in (1.0, -1.0, 2.0, -2.0):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = either(x)
        found.append(float(tape.gradient(y, x)))
    assert found == [2.0, 3.0, 2.0, 3.0]


def test_variables_assigned_in_a_function_under_a_tape() -> None:
    v, x = tf.Variable(2.0), tf.constant(3.0)

    def step(x):
        y = v * x
        v.assign_add(1.0)
        return y + v * x

    function = tf.function(step)
    for f in (step, function, step, function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert [float(g) for g in tape.gradient(y, [x, v])] == [2 * float(v) - 1, 6.0]


def test_a_python_function_under_a_tape_has_its_gradient() -> None:
    function = tf.function(lambda x: tf.py_function(lambda v: tf.sin(v) * 2.0, [x], x.dtype))
    x = tf.constant(0.5)
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        np.testing.assert_allclose(tape.gradient(y, x), 2 * np.cos(0.5), rtol=1e-6)
