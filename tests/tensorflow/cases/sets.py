"""Sets in the rows of dense and sparse tensors."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.harness import cases

A = [[3, 1, 2, 2], [4, 5, 5, 4]]
B = [[2, 9, 9], [5, 7, 4]]
OPS = ["difference", "intersection", "union"]


@cases(op=OPS, dtype=["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32"])
def dtypes(tf, op, dtype):
    return getattr(tf.sets, op)(tf.constant(A, dtype), tf.constant(B, dtype))


@cases(
    op=OPS,
    given={
        "text": lambda tf: ([["a", "b"]], [["b", "c"]]),
        "lists": lambda tf: ([[1, 2]], [[2, 3]]),
        "arrays": lambda tf: (np.array(A), np.array(B)),
        "deep": lambda tf: (tf.reshape(A, [2, 1, 4]), tf.reshape(B, [2, 1, 3])),
        "vectors": lambda tf: ([1, 2], [2, 3]),
        "scalars": lambda tf: (1, 2),
        "mismatched": lambda tf: (A, B[:1]),
        "ranks": lambda tf: (A, tf.reshape(B, [2, 1, 3])),
        "mixed": lambda tf: (A, tf.constant(B, tf.int64)),
        "none_left": lambda tf: (tf.zeros([2, 0], tf.int32), B),
        "none_right": lambda tf: (A, tf.zeros([2, 0], tf.int32)),
        "no_rows": lambda tf: (tf.zeros([0, 3], tf.int32), tf.zeros([0, 2], tf.int32)),
        "disjoint": lambda tf: ([[1], [2]], [[2], [1]]),
        "same": lambda tf: (A, A),
        "dense_sparse": lambda tf: (tf.constant(A), tf.sparse.from_dense(B)),
        "sparse_dense": lambda tf: (tf.sparse.from_dense(A), tf.constant(B)),
        "sparse_sparse": lambda tf: (tf.sparse.from_dense(A), tf.sparse.from_dense(B)),
        "sparse_deep": lambda tf: (
            tf.sparse.from_dense(tf.reshape(A, [2, 1, 4])),
            tf.sparse.from_dense(tf.reshape(B, [2, 1, 3])),
        ),
        "unordered": lambda tf: (
            tf.SparseTensor([[1, 0], [0, 1], [0, 0]], [1, 1, 5], [2, 2]),
            tf.SparseTensor([[0, 0]], [1], [2, 2]),
        ),
        "negative": lambda tf: ([[-1, 2]], [[-1, -3]]),
    },
)
def operands(tf, op, given):
    return getattr(tf.sets, op)(*given(tf))


@cases(
    given={
        "the_other_way": lambda tf: tf.sets.difference(A, B, aminusb=False),
        "the_other_way_sparse": lambda tf: tf.sets.difference(A, tf.sparse.from_dense(B), False),
        "unchecked": lambda tf: tf.sets.union(A, B, validate_indices=False),
        "unchecked_difference": lambda tf: tf.sets.difference(a=A, b=B, validate_indices=False),
        "size": lambda tf: tf.sets.size(tf.sparse.from_dense(A)),
        "size_dense": lambda tf: tf.sets.size(tf.constant(A)),
        "size_vector": lambda tf: tf.sets.size(tf.sparse.from_dense([1, 2])),
        "size_float": lambda tf: tf.sets.size(tf.sparse.from_dense([[1.0]])),
        "size_text": lambda tf: tf.sets.size(tf.SparseTensor([[0, 0]], ["a"], [1, 1])),
        "size_gaps": lambda tf: tf.sets.size(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 1, 5], [4, 2])
        ),
        "size_deep": lambda tf: tf.sets.size(
            tf.SparseTensor([[0, 0, 0], [0, 1, 1], [1, 0, 0]], [1, 1, 5], [2, 2, 2])
        ),
        "size_unordered": lambda tf: tf.sets.size(
            tf.SparseTensor([[2, 0], [0, 1]], [1, 1], [4, 2])
        ),
        "size_unchecked": lambda tf: tf.sets.size(
            tf.SparseTensor([[2, 0], [0, 1], [0, 0]], [1, 1, 5], [4, 2]), validate_indices=False
        ),
        "size_empty": lambda tf: tf.sets.size(
            tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.int32), [2, 2])
        ),
    }
)
def options(tf, given):
    return given(tf)
