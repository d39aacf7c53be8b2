"""Answers at the edges: arguments of every kind and dtype, and values at the ends of their range.

Each case is an expression of `tf`, `np`, `arr` (an array of any dtype), `inf`, `nan` and `grad`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tensorflow.cases._common import INF, NAN
from tests.tensorflow.harness import attempt, cases


def arr(value: Any, dtype: str) -> Any:
    """An array of a dtype, bfloat16 too, wrapped around or rounded."""
    if dtype == "string":
        return np.array(value).astype(str).astype(object)
    if dtype == "bfloat16":
        import ml_dtypes

        dtype = ml_dtypes.bfloat16
    with np.errstate(all="ignore"):
        return np.array(value).astype(dtype)


def ask(tf: Any, text: str) -> Any:
    def grad(call: Any, *values: Any) -> Any:
        sources = [tf.convert_to_tensor(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            y = call(*sources)
        return y, attempt(lambda: tape.gradient(y, sources))

    names = {"tf": tf, "np": np, "arr": arr, "inf": INF, "nan": NAN, "grad": grad}
    return attempt(lambda: eval(text, names))


CONVERSION = [
    "tf.constant([True, 1], tf.float32)",
    "tf.constant([True, 1], tf.int8)",
    "tf.constant([1, True], tf.int8)",
    "tf.constant([1.5, True], tf.bfloat16)",
    "tf.constant([np.True_], tf.float32)",
    "tf.convert_to_tensor([np.True_], dtype_hint=tf.float32)",
    "tf.constant([arr(1, 'bfloat16')[()]])",
    "tf.constant([1, arr(1, 'bfloat16')[()]])",
    "tf.constant([np.uint64(1), 7])",
    "tf.constant(arr([1, 2], 'string'), tf.float16)",
    "tf.constant(np.array(['a']), tf.float32)",
    "tf.constant([arr([1, 2], 'string'), arr([3, 4], 'string')])",
    "tf.constant([arr([1, 2], 'string')], tf.float16)",
    "tf.constant(np.array([2**64]), tf.float32)",
    "tf.constant(2**63, tf.int8)",
    "tf.constant(2**64, tf.bool)",
    "tf.constant([1.5, 2**64], tf.bfloat16)",
    "tf.constant(2**63, tf.bfloat16)",
    "tf.constant(np.array([1j]), tf.bool)",
]

STACKED = [
    "tf.stack([arr([1, 2], 'int16'), arr([3, 4], 'int16')], axis=-1)",
    "tf.stack([np.uint8(1), np.uint8(2)])",
    "tf.stack([np.complex64(1), np.complex64(2)], axis=-1)",
    "tf.stack([[5, 6], arr([1, 2], 'string')])",
    "tf.stack([tf.constant(1), 2.5], axis=1)",
    "tf.stack(tf.zeros([0]), axis=1)",
    "tf.stack(np.ones((2, 3)), axis=1)",
    "tf.stack(tf.constant([1.0, 2.0]))",
    "tf.stack([[1], [1, 2]], axis=np.array([0]))",
    "tf.unstack(1.0, num=2, axis=0)",
    "tf.unstack([None], num=2, axis=np.array([0]))",
    "tf.unstack([1.0, 2.0], num=0)",
    "tf.concat([1, None], 'a')",
    "tf.nn.depth_to_space(np.ones((1, 1, 1, 4)), np.array([2]))",
]


_SPECIAL = "[nan, 1.0, -inf, inf, 0.0, -0.0, nan, -1.0]"
_MANY = "np.array([7, nan, 0, 5, 2, nan, 4, 1, 6, 3, 7, 6, 5, 1, nan, 0, 4, 3, 7, 1, 7, 2])"

CAST = [
    "tf.bitcast(np.float16(1), tf.int16)",
    "tf.bitcast(tf.constant(1.0), tf.uint8)",
    "tf.bitcast(tf.constant([1, 2], tf.int32), tf.float64)",
    "tf.saturate_cast(arr([-1.5, 300.7, -300.7], 'float16'), tf.uint64)",
    "tf.saturate_cast(arr([1, -inf, inf], 'bfloat16'), tf.float16)",
    "tf.saturate_cast([-inf, inf, 1.0], tf.complex64)",
    "tf.saturate_cast(arr([-1, 2**31 - 1], 'int32'), tf.uint8)",
    "tf.saturate_cast([2**40], tf.int64)",
    "grad(lambda x: tf.saturate_cast(x, tf.int8), arr([1, 2], 'int8'))",
    "tf.cast(arr([1.5, -2.0, inf, nan], 'bfloat16'), tf.complex64)",
    "tf.cast(arr(1.5, 'bfloat16'), tf.complex128)",
]

ORDERED = [
    f"tf.sort(arr({_SPECIAL}, 'float16'))",
    f"tf.argsort({_SPECIAL}, direction='DESCENDING')",
    f"tf.sort({_MANY})",
    f"tf.argsort({_MANY}, direction='DESCENDING')",
    f"tf.math.top_k({_MANY}, 6)",
    f"tf.math.top_k({_MANY}, 6, sorted=False)",
    "tf.math.top_k([6.0, 7.0, nan], 1)",
    "tf.math.top_k([7.0, nan, 2.0], 1)",
    "tf.math.top_k([nan, 1, 2, 9, 4, 5, 6, 7, 8], 1)",
    "tf.math.top_k([4, 5, 1, 7, 6], 3, sorted=False)",
    "tf.math.top_k(np.arange(40) * 7 % 40, 9, sorted=False)",
    "tf.sort(arr([0, 1, 200, 2**64 - 1, 2**63, 5], 'uint64'))",
    "tf.unique(arr([0.0, -0.0, nan, nan, 0.0], 'float16'))",
    "tf.unique(arr([0.0, -0.0, nan, nan, 0.0], 'float32'))",
    f"tf.searchsorted({_SPECIAL}, {_SPECIAL})",
    "tf.searchsorted(arr([1, nan, 2], 'bfloat16'), arr([1, nan, 2], 'bfloat16'), side='right')",
    "tf.searchsorted(arr([5, 2, 200, 7, 1], 'uint8'), arr([0, 2, 6, 255], 'uint8'))",
    "tf.searchsorted(np.zeros((3, 0)), np.zeros((3, 0)))",
    "tf.math.bincount(arr([3, 1, 2], 'int8'))",
]


MADE = [
    "tf.sequence_mask([1.0, 2.5], maxlen=4)",
    "tf.sequence_mask([1.0, nan])",
    "tf.sequence_mask(True, maxlen=4.0)",
    "tf.sequence_mask(arr([1, 3], 'uint8'))",
    "tf.math.nextafter(1, 2)",
    "tf.math.nextafter(np.float64(1), 2.0)",
    "tf.math.nextafter(tf.constant(1.0, tf.float64), 2)",
    "tf.linspace(0.0, inf, 3)",
    "tf.linspace(tf.constant(inf), 0.0, 1)",
    "tf.linspace(arr(-0.0, 'float32'), 0.0, 2)",
    "tf.broadcast_dynamic_shape(np.array([2]), tf.TensorShape([1, 2]))",
    "tf.broadcast_dynamic_shape(tf.TensorShape([]), tf.TensorShape([1, 2]))",
    "tf.reduce_any(arr([1, 0], 'bfloat16'))",
    "tf.reduce_all(arr([1, 0], 'string'))",
    "tf.reduce_any(tf.constant([1.0]), axis=[0])",
    "tf.reduce_any(tf.constant([1.0]), axis=0)",
    "tf.logical_not(arr([1, 0], 'int8'))",
    "tf.repeat(1, 2, axis=0)",
    "tf.repeat([1, 2], 2, axis=np.int32(0))",
    "tf.repeat([1, 2], [[1]])",
    "tf.repeat([1, 2], [-1, 2])",
    "tf.repeat([1, 2, 3], [-1, 2])",
    "tf.repeat(1, 2.5, axis=-1)",
]


_ROW = "arr(np.reshape([nan, 1, -inf, -inf, 2, nan], [1, 6, 1]), 'float32')"
_SQUARE = "tf.constant(arr(np.reshape([nan, 1, -inf, -inf, 2, nan], [1, 2, 3, 1]), 'float16'))"

POOLED = [
    f"grad(lambda x: tf.nn.max_pool1d(x, 2, 1, 'VALID'), {_ROW})",
    f"grad(lambda x: tf.nn.max_pool1d(x, 2, 1, 'SAME'), {_ROW})",
    f"grad(lambda x: tf.nn.max_pool2d(x, 2, 1, 'SAME'), {_SQUARE})",
    "tf.nn.pool(arr(np.ones([1, 2, 3, 1]), 'bfloat16'), [2, 2], 'MAX')",
    "grad(lambda x: tf.nn.max_pool3d(x, 2, 1, 'VALID'), np.ones([1, 2, 3, 1, 1]))",
    "grad(lambda x: tf.nn.max_pool3d(x, 2, 2, 'SAME'), np.full([1, 2, 2, 2, 1], -inf))",
]


RARE = [
    "tf.sparse.eye(np.array(2)).values",
    "tf.sparse.eye(tf.constant(2.7), tf.constant(1)).dense_shape",
    "tf.sparse.mask(tf.IndexedSlices([1.0], [0]), tf.constant([[1]]))",
    "tf.reverse_sequence(tf.constant(5), seq_lengths=arr([1, 1], 'int32'))",
    "tf.reverse(tf.constant(1.0), axis=tf.constant(-1))",
    "tf.raw_ops.All(input=tf.constant([1, 2]), axis=[0])",
    "tf.raw_ops.All(input=tf.constant([1, 2]), axis=0)",
    "tf.raw_ops.All(input=np.array([1, 2]), axis=[0])",
    "tf.raw_ops.All(input=-1, axis=(-3, -4))",
    "tf.raw_ops.ArgMax(input=[1.0], dimension=tf.constant(0.5))",
    "tf.raw_ops.ArgMax(input=[1.0], dimension='a')",
    "tf.raw_ops.Where(condition=[True, False])",
    "tf.raw_ops.Erf(x=tf.sparse.from_dense([[1.0, 0.0]])).values",
    "tf.raw_ops.Sin(x=tf.ragged.constant([[1.0, 0.0], [0.5]])).values",
    "tf.raw_ops.Dawsn(x=tf.ragged.constant([[1.0, 0.0], [0.5]]))",
    "tf.raw_ops.DynamicStitch(indices=[1, 1], data=tf.constant([[1.5], [2.0]]))",
    "tf.raw_ops.DynamicStitch(indices=[1, 2], data=tf.constant(['a', 'b']))",
    "tf.dynamic_stitch([0, 1], [])",
    "tf.dynamic_partition(tf.zeros([1, 3]), [0], 0)",
    "tf.dynamic_partition(tf.zeros([1, 3]), [0], tf.float32)",
    "tf.strings.as_string(1.5, fill='a')",
    "tf.strings.to_hash_bucket_fast([tf.constant(1.0), tf.constant(1.0)], 5)",
    "tf.strings.unicode_decode('a', 'UTF-8', replacement_char=-3)",
    "tf.strings.unicode_decode(tf.constant(1.5), 'UTF-8', replacement_char=tf.constant('33'))",
    "tf.nn.batch_normalization(tf.zeros([2]), 3, np.float16(1.5), None, None, tf.zeros([2]))",
    "tf.experimental.numpy.moveaxis(2, 0, np.array(0))",
    "tf.image.resize_with_pad(tf.ones([2, 4, 6]), 3, tf.constant(4, tf.int64))",
    "tf.image.pad_to_bounding_box(tf.ones([2, 3, 1]), 5, 1.0, 3, -1)",
    "tf.image.pad_to_bounding_box(tf.ones([2, 3, 1]), 0, 1.0, 3, 7)",
    "tf.image.pad_to_bounding_box(tf.ones([2, 3, 1]), tf.constant([1]), 1, 5, 7)",
    "tf.image.rgb_to_hsv(arr([0.09, 0.1, 0.5], 'float64'))",
    "tf.linalg.lstsq(np.ones([2, 3]), np.ones([2, 3]), tf.constant(5))",
    "grad(lambda x: tf.linalg.lstsq([[1.0, 2.0]], [[1.0]], x), 0.5)",
    "tf.norm(tf.constant(['a', 'b']), ord=1)",
    "tf.norm([True])",
    "tf.fftnd(tf.constant(-0.5), 4, [[0], [0]])",
    "tf.rfftnd(tf.constant([[5, 2]]), 2, arr([1, 0], 'int32'))",
    "tf.rfftnd(tf.constant(['a']), 'x', 0)",
    "tf.slice([[False], [True]], tf.constant([0, 0]), tf.constant([1, 1], tf.int64))",
    "tf.signal.frame(tf.constant([[1.0, 2.0, 3.0]]), 8, -1)",
    "tf.signal.stft([1.0, 2.0], -1, np.array(5))",
    "tf.signal.overlap_and_add(tf.ones([2, 3]), 0)",
    "tf.signal.mdct([-1.0, -0.05, 0.67], np.array(4))",
    "tf.random.normal([2**40, 2])",
    "tf.nn.avg_pool1d(tf.constant(-1.9), 2, 2, padding=1)",
    "tf.nn.max_pool2d(tf.ones([2, 4, 3, 1]), 1, 1, padding='EXPLICIT')",
    "tf.math.invert_permutation(arr([0.0, 2.0, 1.0], 'float32'))",
    "tf.math.digamma(arr([0.0, 1e-40, 1e-30], 'float32'))",
    "tf.math.special.bessel_y1(arr([0.0, 1.0], 'float32'))",
    "tf.math.special.bessel_y1(arr([0.0, 1.0], 'float64'))",
    "tf.math.special.fresnel_cos(arr([-1.7e308, 4e4, inf], 'float64'))",
]


@cases(text=POOLED)
def pooled(tf, text):
    return ask(tf, text)


@cases(text=MADE)
def made(tf, text):
    return ask(tf, text)


@cases(text=CAST)
def cast(tf, text):
    return ask(tf, text)


@cases(text=ORDERED)
def ordered(tf, text):
    return ask(tf, text)


@cases(text=CONVERSION)
def conversion(tf, text):
    return ask(tf, text)


@cases(text=STACKED)
def stacked(tf, text):
    return ask(tf, text)


@cases(text=RARE)
def rare(tf, text):
    return ask(tf, text)
