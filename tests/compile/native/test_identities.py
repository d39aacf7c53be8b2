"""Products with identities in compiled functions: copies, and NaN where a product has it."""

from __future__ import annotations

import warnings
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.native.identities import with_identity
from gradtape.compile.native.unit import Native


def compiled(function: Any) -> Any:
    return tf.function(function, jit_compile=True)


def copies(function: Any) -> int:
    """How many products are copies."""
    (tree,) = function._trees.values()
    ops = [e.op for e in tree.takes[0].runner.program.equations]
    return sum(e.op is with_identity for op in ops if isinstance(op, Native) for e in op.body)


def same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


sizes = st.sampled_from([1, 2, 3, 7, 8, 15, 16, 17, 31, 40])


@settings(max_examples=80, deadline=None)
@given(
    sizes, sizes, st.sampled_from(["float32", "float64"]), st.booleans(), st.booleans(),
    st.sampled_from([((), ()), ((3,), ()), ((), (3,)), ((2, 3), (2, 3)), ((1,), (4,))]),
    st.sampled_from([None, np.nan, np.inf, -np.inf, -0.0, 1e-42]), st.booleans(), st.data(),
)  # fmt: skip
def test_as_the_product(
    n: int, m: int, dtype: str, first: bool, turned: bool, batches: Any, odd: Any, look: bool,
    data: Any,
) -> None:  # fmt: skip
    for_eye, for_x = batches
    eye = tf.constant(np.broadcast_to(np.eye(n, dtype=dtype), (*for_eye, n, n)))
    shape = (n, m) if first != turned else (m, n)
    x = np.random.default_rng(n + m).normal(size=(*for_x, *shape)).astype(dtype)
    if odd is not None:
        x.flat[data.draw(st.integers(0, x.size - 1))] = odd
    if look:  # columns one behind the other
        x = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)

    def product(x: Any) -> Any:
        if first:
            return tf.matmul(eye, x, transpose_b=turned) * 2.0
        return tf.matmul(x, eye, transpose_a=turned) * 2.0

    step, x = compiled(product), tf.constant(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = step(x), step(x)
    for one in found:
        same(one, product(x))
    assert n == 1 or copies(step) == 1


def test_one_result_of_many_and_of_a_variable() -> None:
    v = tf.Variable(np.random.default_rng(0).normal(size=(20, 30)).astype("float32"))
    eye = tf.eye(30)

    def function(x: Any) -> Any:
        y = tf.matmul(v, eye)
        return y, tf.reduce_sum(y * x, axis=1)

    step, x = compiled(function), tf.ones((20, 30))
    found = step(x)
    same(found[0], v)
    assert not np.shares_memory(found[0].numpy(), v.numpy())
    v.assign_add(tf.ones_like(v))
    same(step(x)[0], v)
    assert copies(step) == 1


def test_what_is_computed_or_nearly_an_identity_stays_a_product() -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(20, 20)).astype("float32"))
    near = np.eye(20, dtype="float32")
    near[3, 4] = 1e-3
    for function in (lambda x: tf.eye(20) @ tf.exp(x), lambda x: tf.constant(near) @ x):
        step = compiled(function)
        np.testing.assert_allclose(step(x), function(x), rtol=1e-5, atol=1e-6)
        assert copies(step) == 0


@pytest.mark.parametrize("size", [6, 50, 100])
@pytest.mark.parametrize("odd", [0.5, np.nan, np.inf])
def test_jacobians_and_hessians(size: int, odd: float) -> None:
    data = np.random.default_rng(0).normal(size=(2 * size, size)).astype("float32") / size
    data[1, 2] = odd
    w = tf.Variable(np.linspace(-1, 1, size, dtype="float32"))

    def hessian(x: Any) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.linalg.matvec(x, w)
                loss = tf.reduce_sum(tf.math.log(1.0 + tf.exp(y))) + tf.reduce_sum(w**4)
            g = inner.gradient(loss, w)
        return outer.jacobian(g, w)

    step, x = compiled(hessian), tf.constant(data)
    expected = hessian(x).numpy()
    np.testing.assert_allclose(step(x), expected, rtol=1e-4, atol=1e-5)
    assert copies(step) == 1


def test_large_ones_that_threads_share() -> None:
    rng = np.random.default_rng(0)
    x, w = (tf.constant(rng.normal(size=(300, 300)).astype("float32")) for _ in range(2))

    def function(x: Any, w: Any) -> Any:
        first = tf.tanh(x * 0.1) @ w
        return tf.tanh(first) @ w + tf.matmul(tf.eye(300), x, transpose_b=True) * first

    step, expected = compiled(function), function(x, w)
    for _ in range(3):
        np.testing.assert_allclose(step(x, w), expected, rtol=1e-3, atol=1e-3)
    assert copies(step) == 1
