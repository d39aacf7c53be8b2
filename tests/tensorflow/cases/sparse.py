"""Sparse tensors: what becomes of their places and values, and the gradients of the values."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import fill, slopes, tensor, weights
from tests.tensorflow.harness import attempt, case, cases

PLACES = [[0, 1], [0, 3], [2, 0], [2, 2]]
JUMBLED = [[2, 0], [0, 3], [0, 1], [2, 2]]
VALUES = [1.0, -2.0, 3.0, 4.0]


def sparse(tf, values=None, places=PLACES, shape=(3, 4), dtype="float32"):
    values = tensor(tf, VALUES if values is None else values, dtype)
    return tf.SparseTensor(places, values, shape)


def other(tf, dtype="float32"):
    return sparse(tf, [10.0, 20.0, -4.0], [[0, 1], [1, 1], [2, 2]], dtype=dtype)


def through(tf, call, dtype="float32", places=PLACES):
    """What the call makes of a sparse tensor, and the gradient of its values."""
    values = tensor(tf, VALUES, dtype)
    with tf.GradientTape() as tape:
        tape.watch(values)
        found = call(tf.SparseTensor(places, values, [3, 4]))
        parts = [found] if isinstance(found, tf.SparseTensor) else tf.nest.flatten(found)
        targets = [p.values if isinstance(p, tf.SparseTensor) else p for p in parts]
        targets = [t for t in targets if slopes(tf, t)]
        seeds = [weights(tf, t) for t in targets]
    if not targets:
        return found
    gradient = attempt(lambda: tape.gradient(targets, values, seeds))
    if isinstance(gradient, tf.IndexedSlices):
        gradient = tf.convert_to_tensor(gradient)
    return found, gradient


MADE = {
    "add": lambda tf, s: tf.sparse.add(s, other(tf)),
    "add_itself": lambda tf, s: tf.sparse.add(s, s),
    "add_threshold": lambda tf, s: tf.sparse.add(s, other(tf), threshold=5.0),
    "add_all_gone": lambda tf, s: tf.sparse.add(s, other(tf), 500.0),
    "add_dense": lambda tf, s: tf.sparse.add(s, tf.ones([3, 4])),
    "add_dense_first": lambda tf, s: tf.sparse.add(tf.ones([3, 4]), s),
    "add_row": lambda tf, s: tf.sparse.add(s, tf.ones([4])),
    "add_other_size": lambda tf, s: tf.sparse.add(s, tf.ones([3, 5])),
    "add_list": lambda tf, s: tf.sparse.add(s, [[1.0] * 4] * 3),
    "add_two_dense": lambda tf, s: tf.sparse.add(tf.ones([2]), tf.ones([2])),
    "add_shapes": lambda tf, s: tf.sparse.add(s, tf.SparseTensor([[0, 1]], [1.0], [3, 5])),
    "add_ranks": lambda tf, s: tf.sparse.add(s, tf.SparseTensor([[0]], [1.0], [3])),
    "add_dtypes": lambda tf, s: tf.sparse.add(s, other(tf, "float64")),
    "concat": lambda tf, s: tf.sparse.concat(1, [s, other(tf)]),
    "concat_rows": lambda tf, s: tf.sparse.concat(0, [s, other(tf)]),
    "concat_last": lambda tf, s: tf.sparse.concat(axis=-1, sp_inputs=[s, s, s]),
    "concat_one": lambda tf, s: tf.sparse.concat(0, [s]),
    "concat_grow": lambda tf, s: tf.sparse.concat(
        0, [s, tf.SparseTensor([[0, 4]], [9.0], [1, 5])], expand_nonconcat_dims=True
    ),
    "concat_clash": lambda tf, s: tf.sparse.concat(
        0, [s, tf.SparseTensor([[0, 4]], [9.0], [1, 5])]
    ),
    "concat_outside": lambda tf, s: tf.sparse.concat(2, [s, s]),
    "concat_dense": lambda tf, s: tf.sparse.concat(0, [s, tf.ones([3, 4])]),
    "expand": lambda tf, s: tf.sparse.expand_dims(s),
    "expand_first": lambda tf, s: tf.sparse.expand_dims(s, 0),
    "expand_middle": lambda tf, s: tf.sparse.expand_dims(s, axis=-2),
    "expand_outside": lambda tf, s: tf.sparse.expand_dims(s, 5),
    "fill": lambda tf, s: tf.sparse.fill_empty_rows(s, 9.0),
    "fill_int": lambda tf, s: tf.sparse.fill_empty_rows(s, 9),
    "fill_full": lambda tf, s: tf.sparse.fill_empty_rows(
        tf.sparse.add(s, tf.sparse.eye(3, 4)), 9.0
    ),
    "map": lambda tf, s: tf.sparse.map_values(tf.square, s),
    "map_number": lambda tf, s: tf.sparse.map_values(tf.add, s, 5.0),
    "map_two": lambda tf, s: tf.sparse.map_values(tf.multiply, s, s),
    "map_named": lambda tf, s: tf.sparse.map_values(tf.add, x=s, y=s),
    "map_clash": lambda tf, s: tf.sparse.map_values(tf.multiply, s, other(tf)),
    "map_none": lambda tf, s: tf.sparse.map_values(tf.multiply, 1.0, 2.0),
    "map_to_scalar": lambda tf, s: tf.sparse.map_values(tf.reduce_sum, s),
    "reduce_sum": lambda tf, s: tf.sparse.reduce_sum(s),
    "reduce_sum_rows": lambda tf, s: tf.sparse.reduce_sum(s, 1),
    "reduce_sum_kept": lambda tf, s: tf.sparse.reduce_sum(s, -1, keepdims=True),
    "reduce_sum_all_kept": lambda tf, s: tf.sparse.reduce_sum(s, keepdims=True),
    "reduce_sum_list": lambda tf, s: tf.sparse.reduce_sum(s, axis=[0, 1]),
    "reduce_sum_none": lambda tf, s: tf.sparse.reduce_sum(s, axis=[]),
    "reduce_sum_outside": lambda tf, s: tf.sparse.reduce_sum(s, 5),
    "reduce_sum_sparse": lambda tf, s: tf.sparse.reduce_sum(s, 1, output_is_sparse=True),
    "reduce_sum_sparse_kept": lambda tf, s: tf.sparse.reduce_sum(s, 1, True, True),
    "reduce_sum_sparse_columns": lambda tf, s: tf.sparse.reduce_sum(s, 0, output_is_sparse=True),
    "reduce_max": lambda tf, s: tf.sparse.reduce_max(s),
    "reduce_max_rows": lambda tf, s: tf.sparse.reduce_max(s, 1),
    "reduce_max_columns": lambda tf, s: tf.sparse.reduce_max(s, 0),
    "reduce_max_kept": lambda tf, s: tf.sparse.reduce_max(s, [1], keepdims=True),
    "reduce_max_sparse": lambda tf, s: tf.sparse.reduce_max(s, 1, output_is_sparse=True),
    "reorder": lambda tf, s: tf.sparse.reorder(s),
    "reset": lambda tf, s: tf.sparse.reset_shape(s, [4, 5]),
    "reset_tight": lambda tf, s: tf.sparse.reset_shape(s),
    "reset_small": lambda tf, s: tf.sparse.reset_shape(s, [2, 5]),
    "reset_ranks": lambda tf, s: tf.sparse.reset_shape(s, [3, 4, 5]),
    "reshape": lambda tf, s: tf.sparse.reshape(s, [2, -1]),
    "reshape_flat": lambda tf, s: tf.sparse.reshape(s, [12]),
    "reshape_deep": lambda tf, s: tf.sparse.reshape(s, tf.constant([3, 2, 2], tf.int64)),
    "reshape_clash": lambda tf, s: tf.sparse.reshape(s, [5, -1]),
    "reshape_two": lambda tf, s: tf.sparse.reshape(s, [-1, -1]),
    "retain": lambda tf, s: tf.sparse.retain(s, [True, False, True, False]),
    "retain_all": lambda tf, s: tf.sparse.retain(s, tf.constant([True] * 4)),
    "retain_clash": lambda tf, s: tf.sparse.retain(s, [True, False]),
    "slice": lambda tf, s: tf.sparse.slice(s, [0, 1], [2, 3]),
    "slice_over": lambda tf, s: tf.sparse.slice(s, [1, 1], [9, 9]),
    "slice_none": lambda tf, s: tf.sparse.slice(s, [1, 0], [1, 4]),
    "slice_negative": lambda tf, s: tf.sparse.slice(s, [1, 1], [-1, 2]),
    "slice_ranks": lambda tf, s: tf.sparse.slice(s, [1], [1]),
    "softmax": lambda tf, s: tf.sparse.softmax(s),
    "split": lambda tf, s: tf.sparse.split(s, 2, 1),
    "split_uneven": lambda tf, s: tf.sparse.split(sp_input=s, num_split=3, axis=1),
    "split_rows": lambda tf, s: tf.sparse.split(s, 3, 0),
    "split_too_many": lambda tf, s: tf.sparse.split(s, 5, 1),
    "split_outside": lambda tf, s: tf.sparse.split(s, 2, 3),
    "split_no_axis": lambda tf, s: tf.sparse.split(s, 2),
    "split_no_number": lambda tf, s: tf.sparse.split(s, axis=1),
    "transpose": lambda tf, s: tf.sparse.transpose(s),
    "transpose_same": lambda tf, s: tf.sparse.transpose(s, [0, 1]),
    "transpose_list": lambda tf, s: tf.sparse.transpose(s, perm=[1, 0]),
    "to_dense": lambda tf, s: tf.sparse.to_dense(s),
    "to_dense_default": lambda tf, s: tf.sparse.to_dense(s, 7.0),
    "to_dense_named": lambda tf, s: tf.sparse.to_dense(
        s, default_value=tf.constant(2.0), validate_indices=False, name="d"
    ),
    "matmul": lambda tf, s: tf.sparse.sparse_dense_matmul(s, tf.ones([4, 2])),
    "matmul_adjoint": lambda tf, s: tf.sparse.sparse_dense_matmul(
        s, tf.ones([3, 2]), adjoint_a=True
    ),
    "matmul_adjoint_b": lambda tf, s: tf.sparse.sparse_dense_matmul(
        s, tf.ones([2, 4]), adjoint_b=True
    ),
    "matmul_right": lambda tf, s: tf.sparse.sparse_dense_matmul(tf.ones([2, 3]), s),
    "matmul_clash": lambda tf, s: tf.sparse.sparse_dense_matmul(s, tf.ones([3, 2])),
    "times": lambda tf, s: s * tf.constant([[1.0, 2.0, 3.0, 4.0]]),
    "over": lambda tf, s: s / tf.constant([[1.0, 2.0, 3.0, 4.0]]),
}


@cases(call=MADE)
def made(tf, call):
    return through(tf, lambda s: call(tf, s))


ORDER = ("reorder", "transpose", "to_dense", "reshape", "slice", "reduce_sum_rows", "retain",
         "fill", "matmul")  # fmt: skip


@cases(call={name: MADE[name] for name in ORDER})
def made_of_jumbled_places(tf, call):
    return through(tf, lambda s: call(tf, s), places=JUMBLED)


@cases(dtype=["float64", "complex64"])
def adjoint_products(tf, dtype):
    b = tensor(tf, fill((3, 2)), dtype)
    return through(tf, lambda s: tf.sparse.sparse_dense_matmul(s, b, adjoint_a=True), dtype)


@cases(op=["maximum", "minimum"])
def larger_and_smaller(tf, op):
    return getattr(tf.sparse, op)(sparse(tf), other(tf))


@cases(
    given={
        "times_number": lambda tf: sparse(tf) * 3.0,
        "eye": lambda tf: tf.sparse.eye(3),
        "eye_wide": lambda tf: tf.sparse.eye(2, 3, tf.int32),
        "eye_high": lambda tf: tf.sparse.eye(3, num_columns=2, name="e"),
        "eye_none": lambda tf: tf.sparse.eye(0),
        "mask": lambda tf: tf.sparse.mask(
            tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([1, 4, 6]), [10, 1]),
            [4],
        ),
        "from_dense": lambda tf: tf.sparse.from_dense([[0, 2], [3, 0]]),
        "from_dense_text": lambda tf: tf.sparse.from_dense(["a", "", "b"]),
        "from_dense_bool": lambda tf: tf.sparse.from_dense([True, False]),
        "dense_text": lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1]], ["a"], [3])),
        "dense_text_default": lambda tf: tf.sparse.to_dense(
            tf.SparseTensor([[1]], ["a"], [2]), "b"
        ),
        "dense_bool": lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1]], [True], [3])),
        "dense_int": lambda tf: tf.sparse.to_dense(tf.SparseTensor([[1]], [5], [3])),
        "dense_empty": lambda tf: tf.sparse.to_dense(
            tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 2])
        ),
        "dense_repeated": lambda tf: tf.sparse.to_dense(
            tf.SparseTensor([[0, 0], [0, 0]], [1.0, 2.0], [1, 2])
        ),
        "dense_unchecked": lambda tf: tf.sparse.to_dense(
            tf.SparseTensor([[0, 0], [0, 0]], [1.0, 2.0], [1, 2]), validate_indices=False
        ),
        "dense_outside": lambda tf: tf.sparse.to_dense(tf.SparseTensor([[0, 7]], [1.0], [1, 2])),
        "dense_of_dense": lambda tf: tf.sparse.to_dense(tf.ones([2])),
        "indicator": lambda tf: tf.sparse.to_indicator(
            tf.SparseTensor(PLACES, [1, 0, 3, 3], [3, 4]), 5
        ),
        "indicator_outside": lambda tf: tf.sparse.to_indicator(
            tf.SparseTensor(PLACES, [1, 0, 3, 9], [3, 4]), 5
        ),
        "indicator_float": lambda tf: tf.sparse.to_indicator(sparse(tf), 5),
        "add_ints": lambda tf: tf.sparse.add(
            tf.sparse.from_dense([[1, 2]]), tf.sparse.from_dense([[1, -2]])
        ),
        "softmax_vector": lambda tf: tf.sparse.softmax(tf.SparseTensor([[0]], [1.0], [3])),
        "softmax_deep": lambda tf: tf.sparse.softmax(
            tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 0, 0]], [1.0, 2.0, 3.0], [2, 1, 2])
        ),
        "fill_text": lambda tf: tf.sparse.fill_empty_rows(
            tf.SparseTensor([[1, 0]], ["a"], [2, 1]), "b"
        ),
        "reduce_max_int": lambda tf: tf.sparse.reduce_max(tf.SparseTensor([[1]], [-3], [3])),
        "sum_of_nothing": lambda tf: tf.sparse.reduce_sum(
            tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 2]), 1
        ),
    }
)
def given(tf, given):
    return given(tf)


@cases(
    options={
        "default": {},
        "rows": {"axis": -1},
        "longer": {"axis": -1, "minlength": 8},
        "shorter": {"axis": -1, "maxlength": 2},
        "longer_than_shorter": {"axis": -1, "minlength": 8, "maxlength": 3},
        "maxlength_above": {"axis": -1, "maxlength": 9},
        "binary": {"axis": -1, "binary_output": True},
        "binary_all": {"binary_output": True},
        "weighted": {"weights": [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], "axis": -1},
        "weighted_all": {"weights": [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]},
        "weighted_binary": {"weights": [[1.0] * 4] * 2, "axis": -1, "binary_output": True},
        "columns": {"axis": 1},
        "negative": {"minlength": -1},
    },
    dtype=["int32", "int64", "float32"],
)
def bincount(tf, options, dtype):
    return tf.sparse.bincount(tf.constant([[1, 2, 2, 5], [0, 0, 1, 1]], dtype), **options)


@cases(
    given={
        "vector": lambda tf: tf.sparse.bincount([1, 2, 2]),
        "vector_rows": lambda tf: tf.sparse.bincount([1, 2, 2], axis=-1),
        "sparse": lambda tf: tf.sparse.bincount(tf.SparseTensor(PLACES, [1, 2, 1, 1], [3, 4])),
        "sparse_rows": lambda tf: tf.sparse.bincount(
            tf.SparseTensor(PLACES, [1, 2, 1, 1], [3, 4]), axis=-1
        ),
        "below_zero": lambda tf: tf.sparse.bincount([-1, 2]),
        "none": lambda tf: tf.sparse.bincount(tf.zeros([0], tf.int32)),
    }
)
def bincount_of(tf, given):
    return given(tf)


@cases(
    op=["segment_sum", "segment_mean", "segment_sqrt_n"],
    options={
        "plain": {},
        "more": {"num_segments": 4},
        "fewer": {"num_segments": 1},
        "rows": {"sparse_gradient": True},
    },
    dtype=["float32", "float64", "float16", "int32"],
)
def segments(tf, op, options, dtype):
    data = tensor(tf, fill((3, 2)), dtype)
    with tf.GradientTape() as tape:
        tape.watch(data)
        y = getattr(tf.sparse, op)(data, [0, 2, 2], [0, 0, 1], **options)
        seeds = weights(tf, y)
    gradient = attempt(lambda: tape.gradient(y, data, seeds))
    return y, gradient if gradient is None else attempt(lambda: tf.convert_to_tensor(gradient))


@cases(
    op=["segment_sum", "segment_mean", "segment_sqrt_n"],
    given={
        "gap": ([0, 1], [0, 2]),
        "falling": ([0, 1], [2, 0]),
        "outside": ([0, 7], [0, 0]),
        "below": ([-1, 0], [0, 0]),
        "lengths": ([0, 1], [0, 0, 1]),
        "negative": ([0], [-1]),
        "none": (np.zeros(0, np.int32), np.zeros(0, np.int32)),
        "long": (np.array([0, 1]), np.array([0, 0])),
        "matrix": ([[0, 1]], [[0, 0]]),
        "float": ([0.0, 1.0], [0, 0]),
    },
)
def segments_given(tf, op, given):
    return getattr(tf.sparse, op)(tensor(tf, fill((3, 2))), *given)


@case
def passed_on(tf):
    x = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 0.5], [2, 3])
    found = [tf.cast(x, tf.int32), tf.identity(x), tf.stop_gradient(x), tf.rank(x), tf.size(x)]
    return [*found, tf.size(x, tf.int64)]


@case
def cast_gradient(tf):
    values = tf.constant([2.0, 0.5])
    with tf.GradientTape() as tape:
        tape.watch(values)
        x = tf.SparseTensor([[0, 1], [1, 0]], values, [2, 3])
        y = tf.sparse.to_dense(tf.cast(x, tf.float64))
    return tape.gradient(y, values)


@cases(
    shape={
        "sizes": lambda tf: (tf.constant(2), 3),
        "tensors": lambda tf: [tf.constant(2), tf.constant(3)],
        "static": lambda tf: tf.ones([2, 3]).shape,
        "list": lambda tf: [2, 3],
    }
)
def dense_shapes(tf, shape):
    return tf.SparseTensor([[0, 1]], [2.0], shape(tf))


@cases(
    given={
        "to_dense": lambda tf: (lambda row: tf.sparse.to_dense(row) * 2.0, tf.float32),
        "sparse": lambda tf: (
            lambda row: tf.sparse.map_values(tf.square, row), tf.SparseTensorSpec([3], tf.float32),
        ),
    }
)  # fmt: skip
def mapped_rows(tf, given):
    fn, signature = given(tf)
    x = tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [2.0, 0.5, 3.0], [3, 3])
    return tf.map_fn(fn, x, fn_output_signature=signature)


@case
def mapped_products(tf):
    x = tf.SparseTensor([[0, 0, 1], [1, 1, 0], [1, 1, 2]], [2.0, 0.5, 3.0], [2, 2, 3])
    dense = tensor(tf, fill((2, 3, 2)))
    return tf.map_fn(
        lambda pair: tf.sparse.sparse_dense_matmul(*pair), (x, dense),
        fn_output_signature=tf.float32,
    )  # fmt: skip
