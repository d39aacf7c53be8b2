"""Shapes told without numbers, as libraries ask for them in a scratch graph."""

from __future__ import annotations

import pytest

import gradtape as tf

internal = tf.__internal__


def sketched(function, *shapes):
    with internal.FuncGraph("scratch").as_default():
        result = function(*[tf.compat.v1.placeholder(tf.float32, shape) for shape in shapes])
        return [tuple(t.shape) for t in tf.nest.flatten(result)]


KERNEL = tf.Variable(tf.ones([3, 3, 8, 2048]))
DENSE = tf.Variable(tf.ones([8, 5]))
SEED = tf.Variable([1, 2])


@pytest.mark.parametrize(
    ("function", "shapes", "expected"),
    [
        (lambda x: tf.nn.relu(x @ DENSE) + 1.0, [(None, 8)], [(None, 5)]),
        (lambda x: tf.nn.conv2d(x, KERNEL, 2, "SAME"), [(None, None, 7, 8)],
         [(None, None, 4, 2048)]),
        (lambda x: tf.reshape(x, [tf.shape(x)[0], -1]), [(None, 4, 5)], [(None, 20)]),
        (lambda x: tf.reshape(x, [-1, 4]), [(None, 3, 8)], [(None, 4)]),
        (lambda x: tf.concat([x, x], 1), [(None, None, 3)], [(None, None, 3)]),
        (lambda x: tf.concat([x, x], 1), [(None, 6)], [(None, 12)]),
        (lambda x: tf.split(x, 2, axis=-1), [(None, 6)], [(None, 3), (None, 3)]),
        (lambda x: tf.reduce_mean(x, axis=(1, 2)), [(None, None, None, 3)], [(None, 3)]),
        (lambda x, y: tf.matmul(x, y, transpose_b=True), [(None, 7, 4), (None, 9, 4)],
         [(None, 7, 9)]),
        (lambda x: tf.transpose(x, [1, 0, 2]), [(None, 5, 2)], [(5, None, 2)]),
        (lambda x: tf.one_hot(tf.argmax(x, -1), 10), [(None, 3)], [(None, 10)]),
        (lambda x: x * tf.random.uniform(tf.shape(x)), [(None, 3)], [(None, 3)]),
        (lambda x: x + tf.random.stateless_normal(tf.shape(x), SEED), [(None, 3)], [(None, 3)]),
        (lambda x: x[:, -1], [(None, None, 6)], [(None, 6)]),
        (lambda x: tf.zeros([tf.shape(x)[0], 4]), [(None, 2)], [(None, 4)]),
        (lambda x: tf.boolean_mask(x, x[:, 0] > 0), [(None, 2)], [(None, 2)]),
        (lambda x: x, [(100_000, None)], [(100_000, None)]),
    ],
)  # fmt: skip
def test_open_sizes_stay_open(function, shapes, expected) -> None:
    assert sketched(function, *shapes) == expected


# `50 * 200` rows: a program may know the size of its batch where Keras does not.
@pytest.mark.parametrize(
    ("function", "shape", "expected"),
    [
        (lambda x: tf.reshape(x, [50 * 200, 32]), (None, 200, 32), (10_000, 32)),
        (lambda x: tf.reshape(x, [7, -1]), (None, 200, 32), (7, None)),
        (lambda x: tf.reshape(x, [3, 5, -1]), (None, None, 16), (3, 5, None)),
        (lambda x: tf.reshape(tf.reshape(x, [-1, 4]), [30, 4]), (None, 8), (30, 4)),
        (lambda x: x + tf.ones([50, 16]), (None, 16), (50, 16)),
        (lambda x: tf.matmul(x, tf.ones([50, 16, 4])), (None, 3, 16), (50, 3, 4)),
        (lambda x: tf.concat([x, tf.ones([50, 1])], 1), (None, 16), (None, 17)),
        (lambda x: tf.broadcast_to(x, [50, 16]), (None, 16), (50, 16)),
        (lambda x: tf.ensure_shape(x, [50, 16]), (None, 16), (50, 16)),
        (lambda x: tf.where(x > 0, x, tf.ones([50, 16])), (None, 16), (50, 16)),
        (lambda x: tf.add_n([x, tf.ones([50, 16])]), (None, 16), (None, 16)),
    ],
)
def test_an_open_size_may_be_what_the_program_says(function, shape, expected) -> None:
    assert sketched(function, shape) == [expected]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.matmul(x, tf.ones([5, 4])),
        lambda x: tf.concat([x, tf.ones([50, 7, 1])], 1),
        lambda x: x + tf.ones([50, 15]),
        lambda x: tf.ensure_shape(x, [50, 15]),
    ],
)
def test_known_sizes_must_fit(function) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        sketched(function, (None, 16))


def test_nothing_is_computed_and_nothing_changes() -> None:
    v = tf.Variable(1.0)
    assert sketched(lambda x: x + v.assign_add(1.0), (None,)) == [(None,)]
    assert float(v) == 1.0


def test_numbers_cannot_be_looked_at() -> None:
    with pytest.raises(TypeError, match="symbolic"):
        sketched(lambda x: x if x[0] > 0 else -x, (None,))
    with pytest.raises(RuntimeError, match="placeholder"):
        tf.compat.v1.placeholder(tf.float32, (2,))


def _halves(x):
    return tf.cond(x[0, 0] > 0, lambda: x[:, :2], lambda: x[:, 2:])


@pytest.mark.parametrize(("width", "expected"), [(4, (None, 2)), (5, (None, None))])
def test_both_branches_are_told(width, expected) -> None:
    assert sketched(_halves, (None, width)) == [expected]


def test_branches_of_other_dtypes() -> None:
    with pytest.raises(TypeError, match="same dtypes"):
        sketched(lambda x: tf.cond(x[0] > 0, lambda: x, lambda: tf.cast(x, tf.int32)), (None,))


TABLE = tf.Variable(tf.ones([4, 7]))


@pytest.mark.parametrize(
    ("function", "expected", "sparse"),
    [
        (lambda x: x, (None, 3, 4), True),
        (lambda x: tf.sparse.transpose(x, [0, 2, 1]), (None, 4, 3), True),
        (lambda x: tf.sparse.expand_dims(x, 1), (None, 1, 3, 4), True),
        (lambda x: tf.sparse.reshape(x, [-1, 12]), (None, 12), True),
        (lambda x: tf.sparse.map_values(tf.square, x), (None, 3, 4), True),
        (lambda x: tf.sparse.add(x, x), (None, 3, 4), True),
        (lambda x: tf.sparse.add(x, tf.sparse.to_dense(x)), (None, 3, 4), False),
        (lambda x: tf.sparse.concat(2, [x, x]), (None, 3, 8), True),
        (lambda x: tf.sparse.to_dense(x, default_value=1.0), (None, 3, 4), False),
        (lambda x: tf.sparse.reduce_sum(x, axis=1), (None, 4), False),
        (lambda x: tf.sparse.reduce_max(x, axis=1, output_is_sparse=True), (None, 4), True),
        (lambda x: tf.sparse.maximum(x, x), (None, 3, 4), True),
        (lambda x: tf.cast(x, tf.int32), (None, 3, 4), True),
        (lambda x: tf.sparse.sparse_dense_matmul(tf.sparse.reshape(x, [-1, 4]), TABLE),
         (None, 7), False),
        (lambda x: tf.map_fn(lambda row: tf.sparse.sparse_dense_matmul(row, TABLE), x,
                             fn_output_signature=tf.float32), (None, 3, 7), False),
        (lambda x: tf.nn.embedding_lookup_sparse(TABLE, tf.cast(tf.sparse.reshape(x, [-1, 4]),
                                                                tf.int64), None),
         (None, 7), False),
        (lambda x: tf.sparse.bincount(tf.cast(tf.sparse.reshape(x, [-1, 4]), tf.int64), axis=-1),
         (None, None), True),
    ],
)  # fmt: skip
def test_sparse_tensors_tell_their_shapes(function, expected, sparse) -> None:
    with internal.FuncGraph("scratch").as_default():
        found = function(tf.compat.v1.sparse_placeholder(tf.float32, (None, 3, 4)))
        assert isinstance(found, tf.SparseTensor) == sparse
        assert tuple(found.shape) == expected
