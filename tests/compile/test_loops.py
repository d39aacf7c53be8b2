"""Loops in functions: one equation where they can be, the same numbers in any case."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.program import Loop

W = tf.Variable(0.9)
ROWS = np.linspace(-1, 1, 60).astype("f4").reshape(30, 2)


def power(x, n):
    return tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y * x * W), (tf.constant(0), tf.ones_like(x))
    )[1]


ALONG = {
    "scan": lambda xs: tf.scan(lambda a, r: a * 0.5 * W + tf.sin(r), xs),
    "scan_from": lambda xs: tf.scan(lambda a, r: a * W + r, xs, initializer=tf.zeros([2])),
    "scan_back": lambda xs: tf.scan(lambda a, r: a * W + r, xs, reverse=True),
    "foldl": lambda xs: tf.foldl(lambda a, r: a * 0.7 + r * W, xs),
    "foldr": lambda xs: tf.foldr(lambda a, r: a * 0.7 + r * W, xs),
    "map_fn": lambda xs: tf.map_fn(lambda r: tf.reduce_sum(r) * W, xs),
}


def loops(function) -> int:
    program = next(iter(function._trees.values())).takes[0].program
    return sum(isinstance(e.op, Loop) for e in program.equations)


def gradients(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x) ** 2)
    return tape.gradient(y, [x, W])


def same(first, second) -> None:
    for a, b in zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_loop_whose_length_depends_on_data_is_recorded_once() -> None:
    function, x = tf.function(power), tf.constant([1.5, 2.0])
    for n in (3, 5, 0, 2, 40):
        same(function(x, tf.constant(n)), power(x, tf.constant(n)))
    assert loops(function) == 1
    assert [tree.recordings for tree in function._trees.values()] == [1]


def test_its_gradient_inside_and_outside() -> None:
    outside, x = tf.function(power), tf.constant([1.5, 2.0])
    inside = tf.function(lambda x, n: gradients(lambda x: power(x, n), x))
    for n in (3, 1, 6):
        eager = gradients(lambda x, n=n: power(x, tf.constant(n)), x)
        same(eager, gradients(lambda x, n=n: outside(x, tf.constant(n)), x))
        same(eager, inside(x, tf.constant(n)))
    assert [tree.recordings for tree in inside._trees.values()] == [1]


@pytest.mark.parametrize("name", ALONG)
def test_along_rows(name) -> None:
    plain = ALONG[name]
    function = tf.function(plain)
    inside = tf.function(lambda xs: gradients(plain, xs))
    for k in (1.0, -0.5):
        xs = tf.constant(k * ROWS)
        same(plain(xs), function(xs))
        same(gradients(plain, xs), gradients(function, xs))
        same(gradients(plain, xs), inside(xs))
    assert loops(function) == 1


def test_short_ones_are_recorded_step_by_step() -> None:
    function = tf.function(ALONG["scan"])
    xs = tf.constant(ROWS[:5])
    same(function(xs), ALONG["scan"](xs))
    assert loops(function) == 0


@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_of_higher_order(order) -> None:
    x = tf.constant(1.3)

    def derivative(f, order):
        if order == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(f, order - 1)
        return tape.gradient(y, x)

    plain = lambda x: power(x, tf.constant(4))
    same(derivative(plain, order), derivative(tf.function(plain), order))
    same(derivative(plain, order), tf.function(lambda: derivative(plain, order))())


def test_a_body_that_assigns_or_looks_is_followed() -> None:
    total = tf.Variable(0.0)

    @tf.function
    def count(n):
        def body(i):
            total.assign_add(1.0)
            if i > 2:
                total.assign_add(10.0)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (tf.constant(0),))

    for n in (2, 5, 2):
        total.assign(0.0)
        count(tf.constant(n))
        assert float(total) == n + 10.0 * max(0, n - 3)


def test_nested_loops() -> None:
    def nested(x, n):
        def outer(i, y):
            inner = lambda j, z: (j + 1, z * x)
            return i + 1, tf.while_loop(lambda j, z: j < i, inner, (tf.constant(0), y))[1]

        return tf.while_loop(lambda i, y: i < n, outer, (tf.constant(0), tf.ones_like(x)))[1]

    function, x = tf.function(nested), tf.constant(1.1)
    for n in (3, 5):
        same(nested(x, tf.constant(n)), function(x, tf.constant(n)))
        same(
            gradients(lambda x, n=n: nested(x, tf.constant(n)), x)[0],
            gradients(lambda x, n=n: function(x, tf.constant(n)), x)[0],
        )


def test_an_error_in_the_body_is_the_users() -> None:
    @tf.function
    def walk(table, n):
        return tf.while_loop(
            lambda i: i < n, lambda i: (i + 1 + 0 * tf.gather(table, i),), (tf.constant(0),)
        )

    table = tf.constant([0, 0, 0])
    assert int(walk(table, tf.constant(2))[0]) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        walk(table, tf.constant(9))


def test_a_loop_under_two_tapes_is_followed_and_guarded() -> None:
    @tf.function
    def halved(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                outer.watch(x)
                inner.watch(x)
                halving = lambda v: [v * 0.5]
                y = tf.while_loop(lambda v: tf.norm(v) > 1.0, halving, [x * x])[0]
                total = tf.reduce_sum(y)
            first = inner.gradient(total, x)
        return y, outer.gradient(first, x)

    for scale, factor in ((0.5, 1.0), (2.0, 0.25), (0.5, 1.0), (4.0, 0.0625)):
        x = tf.constant([scale, 0.0])
        y, second = halved(x)
        same(y, factor * x * x)
        same(second, tf.constant([2 * factor, 2 * factor]))
