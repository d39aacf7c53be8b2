"""What a dataset says of functions whose numbers tell the sizes of what they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt, cases

TEXTS = ["a b", "c d e", "f"]
NUMBERS = [1, 2, 3]
ROWS = np.array([[1.0, -2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 5.0], [1.0, 1.0, 2.0, 2.0]], "f4")
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "split": (TEXTS, lambda tf, x: tf.strings.split(x)),
    "split_at": (TEXTS, lambda tf, x: tf.strings.split(x, " ", maxsplit=1)),
    "bytes_split": (TEXTS, lambda tf, x: tf.strings.bytes_split(x)),
    "unicode_decode": (TEXTS, lambda tf, x: tf.strings.unicode_decode(x, "UTF-8")),
    "unicode_split": (TEXTS, lambda tf, x: tf.strings.unicode_split(x, "UTF-8")),
    "lower_split": (TEXTS, lambda tf, x: tf.strings.lower(tf.strings.split(x))),
    "lengths": (TEXTS, lambda tf, x: tf.strings.length(tf.strings.split(x))),
    "decode_raw": (TEXTS, lambda tf, x: tf.io.decode_raw(x, tf.uint8)),
    "decode_raw_of_a_length": (
        TEXTS, lambda tf, x: tf.io.decode_raw(x, tf.int16, fixed_length=4),
    ),
    "where": (ROWS, lambda tf, x: tf.where(x > 0)),
    "boolean_mask": (ROWS, lambda tf, x: tf.boolean_mask(x, x > 0)),
    "sum_of_mask": (ROWS, lambda tf, x: tf.reduce_sum(tf.boolean_mask(x, x > 0))),
    "stack_of_where": (ROWS, lambda tf, x: tf.stack([tf.where(x > 0), tf.where(x > 0)])),
    "gather_where": (ROWS, lambda tf, x: tf.gather(x, tf.where(x > 0)[:, 0])),
    "unique": (ROWS, lambda tf, x: tf.unique(x)),
    "unique_with_counts": (ROWS, lambda tf, x: tf.unique_with_counts(x)),
    "nonzero": (ROWS, lambda tf, x: tf.experimental.numpy.nonzero(x)),
    "range": (NUMBERS, lambda tf, x: tf.range(x)),
    "zeros": (NUMBERS, lambda tf, x: tf.zeros([x, 2])),
    "fill": (NUMBERS, lambda tf, x: tf.fill([x], 1.0)),
    "repeat": (NUMBERS, lambda tf, x: tf.repeat([1, 2], x)),
    "slice": (NUMBERS, lambda tf, x: tf.range(10)[:x]),
    "sequence_mask": (NUMBERS, lambda tf, x: tf.sequence_mask(x)),
    "one_hot": (NUMBERS, lambda tf, x: tf.one_hot(1, x)),
    "pad": (NUMBERS, lambda tf, x: tf.pad([1, 2], [[x, 0]])),
    "unsorted_segments": (
        NUMBERS, lambda tf, x: tf.math.unsorted_segment_sum([1, 2], [0, 0], x),
    ),
    "resize": (NUMBERS, lambda tf, x: tf.image.resize(tf.zeros([4, 4, 1]), [x, x])),
    "crop": (
        NUMBERS,
        lambda tf, x: tf.image.crop_to_bounding_box(tf.zeros([4, 4, 1]), 0, 0, x, x),
    ),
    "map_fn": (NUMBERS, lambda tf, x: tf.map_fn(lambda y: y * 2, tf.range(x))),
    "closed": (ROWS, lambda tf, x: tf.reshape(x, [-1, 2])),
    "crop_or_pad": (
        NUMBERS, lambda tf, x: tf.image.resize_with_crop_or_pad(tf.ones([4, 4, 1]), x, x),
    ),
    "resize_with_pad": (
        NUMBERS, lambda tf, x: tf.image.resize_with_pad(tf.ones([4, 4, 1]), x, x),
    ),
    "rows_of_two": (NUMBERS, lambda tf, x: tf.reshape(tf.range(x * 2), [-1, 2])),
    "first_two": (TEXTS, lambda tf, x: tf.strings.split(x)[:2]),
    "numbers_of_texts": (["1 2", "3"], lambda tf, x: tf.strings.to_number(tf.strings.split(x))),
    "as_many_as_letters": (TEXTS, lambda tf, x: tf.zeros([tf.strings.length(x)])),
    "pool": (NUMBERS, lambda tf, x: tf.nn.max_pool(tf.ones([1, x + 3, x + 3, 1]), 2, 2, "SAME")),
    "branches": (NUMBERS, lambda tf, x: tf.cond(x > 1, lambda: tf.ones(2), lambda: tf.ones(3))),
    "frame": (NUMBERS, lambda tf, x: tf.signal.frame(tf.ones([x + 10]), 4, 2)),
    "stft": (NUMBERS, lambda tf, x: tf.abs(tf.signal.stft(tf.ones([x + 10]), 4, 2))),
    "rfft": (NUMBERS, lambda tf, x: tf.math.real(tf.signal.rfft(tf.ones([x + 10])))),
    "flip": (NUMBERS, lambda tf, x: tf.image.flip_left_right(tf.ones([x, 4, 1]))),
    "decoded": (
        ROWS, lambda tf, x: tf.io.decode_png(tf.io.encode_png(tf.cast(x[None, :, None], tf.uint8))),
    ),
    "sound": (ROWS, lambda tf, x: tf.audio.decode_wav(tf.audio.encode_wav(x[:, None], 8000))),
    "best_boxes": (
        [[0.8, 0.9], [0.2, 0.1]],
        lambda tf, x: tf.image.non_max_suppression(
            tf.stack([[0.0, 0.0, 1.0, 1.0], [x[0], 0.0, 2.0, x[1]]]), x, 2, 0.1
        ),
    ),
    "split_of_columns": (NUMBERS, lambda tf, x: tf.split(tf.ones([x, 4]), 2, axis=1)),
    "split_by_sizes": (NUMBERS, lambda tf, x: tf.split(tf.ones([4]), [x, 4 - x])),
    "stacked": (NUMBERS, lambda tf, x: tf.stack([tf.range(x), tf.range(x)], 1)),
    "unstacked": (NUMBERS, lambda tf, x: tf.unstack(tf.ones([x, 2]), axis=1)),
    "einsum": (NUMBERS, lambda tf, x: tf.einsum("ij,jk->ik", tf.ones([x, 2]), tf.ones([2, 3]))),
    "einsum_of_batches": (
        NUMBERS, lambda tf, x: tf.einsum("bij,bjk->bik", tf.ones([x, 2, x]), tf.ones([x, x, 3])),
    ),
}  # fmt: skip


@cases(function=FUNCTIONS)
def sizes_that_numbers_tell(tf: Any, function: Any) -> Any:
    values, call = function
    dataset = tf.data.Dataset.from_tensor_slices(values).map(lambda x: call(tf, x))
    specs = tf.nest.map_structure(lambda spec: (spec.shape, spec.dtype), dataset.element_spec)
    padded = attempt(lambda: list(dataset.padded_batch(2)))
    return specs, list(dataset), padded
