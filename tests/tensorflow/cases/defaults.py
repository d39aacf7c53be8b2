"""Arguments for whose dtype TensorFlow's op has a default, and the order in which they are checked.

Each case is an expression of the names that `edges.ask` knows.
"""

from __future__ import annotations

from tests.tensorflow.cases.edges import ask
from tests.tensorflow.harness import cases

DEFAULTS = [
    *[
        f"tf.nn.{name}(arr([[[[1], [7]], [[3], [2]]]], {dtype!r}), 2, 2, 'VALID')"
        for name in ("max_pool", "max_pool2d")
        for dtype in ("uint8", "int64", "float16", "bool", "uint64", "complex64")
    ],
    "tf.nn.max_pool2d(tf.cast([[[[1], [7]], [[3], [2]]]], tf.uint64), 2, 2, 'VALID')",
    "tf.nn.max_pool1d(arr([[[1], [7]]], 'uint8'), 2, 2, 'VALID')",
    "tf.sparse.segment_sum(tf.ones([3, 2]), [2, 0, 0], arr([0, 1, 1], 'float32'))",
    "tf.sparse.segment_mean(tf.ones([3, 2]), arr([0, 1, 1], 'float32'), [0, 1, 1])",
    "tf.sparse.segment_sum(tf.ones([3, 2]), [2, 0, 0], [0.0, 1.0, 1.0])",
    "tf.sparse.segment_sum(tf.ones([3, 2]), [2, 0, 0], tf.constant([0.0, 1.0, 1.0]))",
    "tf.unravel_index(3, tf.constant([3, 3], tf.int64))",
    "tf.unravel_index([[1, 2]], [3, 3])",
    "tf.unravel_index([], [3, 3])",
    "tf.unravel_index(-1, [])",
    "tf.unravel_index(-1, [3, 0])",
    "tf.image.per_image_standardization(arr([[[1], [2]]], 'float16'))",
    "tf.ragged.stack([[1, 2], [3, 4]])[0:1].row_splits",
    "tf.ragged.constant([[1], [2, 3]], row_splits_dtype='int32')[1:].row_splits",
    "tf.shape_n([tf.zeros([3]), tf.constant([1, 2])])",
    "tf.get_static_value(tf.ragged.constant([[1.0], [2.0, 3.0]]))",
    "tf.get_static_value(tf.sparse.from_dense([[1.0]]))",
    "tf.signal.dct(tf.zeros([2, 0]), n=4)",
    "tf.signal.idct(tf.zeros([2, 0]))",
    "tf.signal.dct(tf.zeros([0, 3]))",
]

ORDER = [
    *[
        f"tf.nn.{name}(tf.ones([1, 4, 2]), {size}, 2, 'VALID')"
        for name in ("avg_pool3d", "max_pool2d", "avg_pool1d")
        for size in ("[0, 1]", "[1, 2, 2, 2, 1]", "tf.constant(2)", "2.0", "None")
    ],
    "tf.nn.max_pool_with_argmax(tf.ones([1, 4, 2]), [2, 4, 3], 2, 'VALID')",
    "tf.dynamic_stitch([-1, 0], [2, 3])",
    "tf.dynamic_stitch([], 0)",
    "tf.signal.frame(tf.zeros([20]), 8, np.int64(4))",
    "tf.signal.frame(tf.zeros([20]), np.int64(8), 4, True)",
    "tf.signal.frame(tf.zeros([20]), 8, 0)",
    "tf.signal.frame(tf.zeros([20]), 8, -1, True)",
    *[
        f"grad(lambda x: {call}, [1.0, 2.0])[1]"
        for call in (
            "tf.math.is_nan(x)",
            "tf.identity(tf.math.is_nan(x))",
            "tf.ensure_shape(tf.math.is_inf(x), [None])",
            "tf.logical_not(tf.math.is_finite(x))",
        )
    ],
]


@cases(text=DEFAULTS)
def defaults(tf, text):
    ask(tf, text)  # TensorFlow knows an op's defaults from its second call in a process on
    return ask(tf, text)


@cases(text=ORDER)
def order(tf, text):
    return ask(tf, text)
