"""Sparse matrices times sparse matrices, which TensorFlow has in a private module only."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf
from gradtape.sparse.products import matmul


def _matrices(seed, *shape):
    numbers = np.random.default_rng(seed).integers(-2, 3, shape).astype("float32")
    return tf.constant(numbers)


@pytest.mark.parametrize("batch", [(), (4,)])
def test_the_product_is_that_of_the_dense_ones(batch):
    dense = [_matrices(1, *batch, 3, 5), _matrices(2, *batch, 5, 2)]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(dense)
        sparse = matmul(*map(tf.sparse.from_dense, dense))
        found, expected = tf.sparse.to_dense(sparse) ** 2, tf.matmul(*dense) ** 2
    np.testing.assert_allclose(found, expected)
    for x in dense:
        there = tf.cast(x != 0, tf.float32)  # the gradient of what is not there is not asked for
        np.testing.assert_allclose(
            tape.gradient(found, x), tape.gradient(expected, x) * there, rtol=1e-5
        )


def test_nothing_meets_nothing():
    empty = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3])
    product = matmul(empty, tf.sparse.eye(3))
    assert product.shape == (2, 3)
    assert not len(product.values)


def test_sizes_must_agree():
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not agree"):
        matmul(tf.sparse.eye(2), tf.sparse.eye(3))
