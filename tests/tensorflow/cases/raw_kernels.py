"""Ops that only `tf.raw_ops` has, which Keras uses, and `tf.sparse.cross_hashed`."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.harness import attempt, cases

ROWS = [[1, 0, 0], [1, 0, 0], [2, 0, 0]]


def kind(given):
    return type(given).__name__ if isinstance(given, Exception) else given


def _sparse(tf, rows):
    return tf.sparse.from_dense(rows)


@cases(
    given={
        "buckets": lambda tf, raw: raw.Bucketize(
            input=[[-5.0, 10000.0], [150.0, 10.0], [5.0, 100.0]], boundaries=[0.0, 10.0, 100.0]
        ),
        "buckets_int": lambda tf, raw: raw.Bucketize(input=[1, 5, 9], boundaries=[5, 7]),
        "buckets_none": lambda tf, raw: raw.Bucketize(input=[1, 2], boundaries=[]),
        "buckets_unsorted": lambda tf, raw: raw.Bucketize(input=[1, 2], boundaries=[3.0, 1.0]),
        "unique": lambda tf, raw: list(raw.UniqueV2(x=[4, 1, 4, 8, 1], axis=[0])),
        "unique_text": lambda tf, raw: list(raw.UniqueV2(x=["b", "a", "b"], axis=[0])),
        "unique_rows": lambda tf, raw: list(raw.UniqueV2(x=ROWS, axis=[0])),
        "unique_columns": lambda tf, raw: list(raw.UniqueV2(x=ROWS, axis=[1], out_idx=tf.int64)),
        "unique_no_axis": lambda tf, raw: list(
            raw.UniqueV2(x=[3, 1, 3], axis=np.zeros([0], np.int32))
        ),
        "unique_beyond": lambda tf, raw: raw.UniqueV2(x=ROWS, axis=[2]),
        "unique_flat": lambda tf, raw: raw.UniqueV2(x=ROWS, axis=np.zeros([0], np.int32)),
        "counts": lambda tf, raw: list(raw.UniqueWithCountsV2(x=ROWS, axis=[0])),
        "crossed": lambda tf, raw: tf.sparse.cross_hashed(
            [_sparse(tf, [["a", "b"], ["c", ""]]), _sparse(tf, [["d", ""], ["e", "f"]])], 100
        ),
        "crossed_large": lambda tf, raw: tf.sparse.cross_hashed(
            [_sparse(tf, [["a", "b"], ["c", ""]]), tf.constant([[1], [2]], tf.int64)]
        ),
        "crossed_key": lambda tf, raw: tf.sparse.cross_hashed(
            [tf.constant([["a", "b"]]), tf.constant([["c", "d"]])], 1000, hash_key=42
        ),
        "set_shape": lambda tf, raw: _sparse(tf, [[1, 0]]).set_shape([None, 2]),
        "set_shape_wrong": lambda tf, raw: _sparse(tf, [[1, 0]]).set_shape([None, 3]),
    }
)
def kernels(tf, given):
    return kind(attempt(lambda: given(tf, tf.raw_ops)))


@cases(
    interpolation=["NEAREST", "BILINEAR"],
    fill_mode=["CONSTANT", "REFLECT", "WRAP", "NEAREST"],
    dtype=["float32", "uint8", "float64"],
    transform={
        "turned": [0.9, 0.2, -1.5, -0.3, 1.1, 0.6, 0.0, 0.0],
        "far": [1.0, 0.0, 9.3, 0.0, 1.0, -7.2, 0.0, 0.0],
        "projective": [1.0, 0.1, 0.3, 0.1, 1.0, 0.2, 0.03, 0.02],
    },
)
def projective(tf, interpolation, fill_mode, dtype, transform):
    images = tf.cast(tf.reshape(tf.range(48) * 5 % 97, [2, 4, 6, 1]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(images)
        y = tf.raw_ops.ImageProjectiveTransformV3(
            images=images, transforms=[transform], output_shape=[5, 4], fill_value=7.0,
            interpolation=interpolation, fill_mode=fill_mode,
        )  # fmt: skip
    return y, tape.gradient(y, images) if dtype == "float32" else None
