"""Sequences without alignment: CTC's loss, its helpers and its decoders."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import fill, first_only, grads, tensor
from tests.tensorflow.harness import case, cases

LABELS = [[1, 2, 2], [3, 0, 0]]
PLACES = [[0, 0], [0, 1], [0, 2], [1, 0]]


def logits(tf, shape=(6, 2, 4), dtype="float32"):
    return tensor(tf, fill(shape), dtype)


def sparse(tf, values=(1, 2, 2, 3), places=PLACES, dtype="int32"):
    return tf.SparseTensor(places, tf.constant(values, dtype), [2, 3])


@cases(
    given={
        "plain": lambda tf, x: tf.nn.ctc_loss(LABELS, x, [3, 1], [6, 5]),
        "blank_last": lambda tf, x: tf.nn.ctc_loss(
            [[1, 2, 2], [0, 0, 0]], x, [3, 1], [6, 5], blank_index=-1
        ),
        "blank_inside": lambda tf, x: tf.nn.ctc_loss(
            [[0, 2, 2], [3, 0, 0]], x, [3, 2], [6, 5], blank_index=1
        ),
        "batch_first": lambda tf, x: tf.nn.ctc_loss(
            LABELS, tf.transpose(x, [1, 0, 2]), [3, 1], [6, 5], logits_time_major=False
        ),
        "unique": lambda tf, x: tf.nn.ctc_loss(
            LABELS, x, [3, 1], [6, 5], unique=tf.nn.ctc_unique_labels(LABELS)
        ),
        "too_short": lambda tf, x: tf.nn.ctc_loss(LABELS, x, [3, 1], [3, 1]),
        "no_frames": lambda tf, x: tf.nn.ctc_loss(LABELS, x, [3, 1], [6, 0]),
        "no_labels": lambda tf, x: tf.nn.ctc_loss(LABELS, x, [3, 0], [6, 6]),
        "int64": lambda tf, x: tf.nn.ctc_loss(
            tf.constant(LABELS, tf.int64), x, tf.constant([3, 1], tf.int64), [6, 5], name="loss"
        ),
        "sparse": lambda tf, x: tf.nn.ctc_loss(sparse(tf), x, None, [6, 5], blank_index=0),
        "sparse_last": lambda tf, x: tf.nn.ctc_loss(
            sparse(tf, (1, 2, 2, 0)), x, None, [6, 5], blank_index=-1
        ),
        "sparse_batch_first": lambda tf, x: tf.nn.ctc_loss(
            sparse(tf), tf.transpose(x, [1, 0, 2]), None, [6, 5], False, blank_index=0
        ),
        "sparse_too_short": lambda tf, x: tf.nn.ctc_loss(
            sparse(tf), x, None, [3, 3], blank_index=0
        ),
        "sparse_without_blank": lambda tf, x: tf.nn.ctc_loss(sparse(tf), x, None, [6, 5]),
        "sparse_too_long": lambda tf, x: tf.nn.ctc_loss(sparse(tf), x, None, [6, 7], blank_index=0),
        "sparse_empty_row": lambda tf, x: tf.nn.ctc_loss(
            sparse(tf, (1, 2, 2), PLACES[:3]), x, None, [6, 6], blank_index=0
        ),
        "no_length": lambda tf, x: tf.nn.ctc_loss(LABELS, x, None, [6, 5]),
    },
    tolerance=1e-3,
)
def loss(tf, given):
    return first_only(tf, lambda x: given(tf, x), logits(tf))


@cases(dtype=["float16", "bfloat16", "float64"])
def loss_dtypes(tf, dtype):
    x = logits(tf, dtype=dtype)
    return first_only(tf, lambda x: tf.nn.ctc_loss(LABELS, x, [3, 1], [6, 5]), x)


# TensorFlow computes in float32 whatever the dtype.
@cases(dtype=["float16", "float64"], tolerance=5e-3)
def sparse_loss_dtypes(tf, dtype):
    x = logits(tf, dtype=dtype)
    call = lambda x: tf.nn.ctc_loss(sparse(tf), x, None, [6, 5], blank_index=0)
    return first_only(tf, call, x)


@case
def loss_twice(tf):
    return grads(tf, lambda x: tf.nn.ctc_loss(LABELS, x, [3, 1], [6, 5]), logits(tf))


@case
def sparse_loss_twice(tf):
    call = lambda x: tf.nn.ctc_loss(sparse(tf), x, None, [6, 5], blank_index=0)
    return grads(tf, call, logits(tf))


@cases(
    given={
        "unique": lambda tf: tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 1, 0, 0]]),
        "unique_one": lambda tf: tf.nn.ctc_unique_labels([[7]]),
        "collapse": lambda tf: tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [1, 2, 3, 4, 5]], [5, 3]),
        "collapse_int64": lambda tf: tf.nn.collapse_repeated(
            tf.constant([[1, 1, 2], [2, 2, 2]], tf.int64), tf.constant([2, 3], tf.int64)
        ),
    }
)
def helpers(tf, given):
    return given(tf)


@cases(
    given={
        "plain": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 4]),
        "unmerged": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 4], merge_repeated=False),
        "blank": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 4], blank_index=0),
        "blank_negative": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 0], blank_index=-4),
        "blank_wrong": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6, 0], blank_index=4),
        "too_long": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [7, 0]),
        "too_few": lambda tf, x: tf.nn.ctc_greedy_decoder(x, [6]),
        "matrix": lambda tf, x: tf.nn.ctc_greedy_decoder(x[0], [6, 1]),
        "float64": lambda tf, x: tf.nn.ctc_greedy_decoder(tf.cast(x, tf.float64), [6, 4]),
        "ties": lambda tf, x: tf.nn.ctc_greedy_decoder(tf.zeros([2, 1, 3]), [2]),
        "beam": lambda tf, x: tf.nn.ctc_beam_search_decoder(x, [6, 4], beam_width=20),
        "beam_narrow": lambda tf, x: tf.nn.ctc_beam_search_decoder(
            x, [6, 4], beam_width=2, top_paths=2
        ),
        "beam_paths": lambda tf, x: tf.nn.ctc_beam_search_decoder(
            x, [6, 4], beam_width=30, top_paths=3
        ),
        "beam_wide": lambda tf, x: tf.nn.ctc_beam_search_decoder(x, [6, 4]),
    },
    tolerance=1e-4,
)
def decoders(tf, given):
    return given(tf, logits(tf))


@case
def decoders_have_no_gradient(tf):
    x = logits(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.ctc_greedy_decoder(x, [6, 4])[1]
    return tape.gradient(y, x)


@case
def large(tf):
    random = np.random.RandomState(1)
    x = tf.constant(random.normal(size=(40, 5, 12)).astype("float32"))
    labels = random.randint(1, 12, (5, 9))
    lengths = [9, 3, 5, 1, 7], [40, 30, 20, 9, 11]
    return first_only(tf, lambda x: tf.nn.ctc_loss(labels, x, *lengths), x)
