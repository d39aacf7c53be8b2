"""Windows that pick, transposes of convolutions, isotonic regression, seeded dropout."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import NAN, fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases


def image(tf, shape=(2, 4, 5, 2), dtype="float32", seed=0):
    return tensor(tf, fill(shape, seed=seed), dtype)


# ------------------------------------------------------------------------------- the greatest


@cases(
    options={
        "pairs": {"ksize": 2, "strides": 2, "padding": "VALID"},
        "same": {"ksize": 2, "strides": 2, "padding": "SAME"},
        "sliding": {"ksize": [3, 2], "strides": [1, 2], "padding": "SAME"},
        "four": {"ksize": [1, 2, 3, 1], "strides": [1, 1, 1, 1], "padding": "VALID"},
        "batch": {"ksize": 2, "strides": 1, "padding": "SAME", "include_batch_in_index": True},
    }
)
def pool_with_argmax(tf, options):
    x = image(tf)
    call = lambda x: tf.nn.max_pool_with_argmax(x, **options)
    return call(x), first_only(tf, lambda x: call(x).output, x)


@cases(
    given={
        "integers": lambda tf, x: tf.nn.max_pool_with_argmax(tf.cast(x, tf.int32), 2, 2, "SAME"),
        "int32": lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 1, "VALID", output_dtype=tf.int32),
        "nchw": lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", data_format="NCHW"),
        "padding": lambda tf, x: tf.nn.max_pool_with_argmax(x, 2, 2, "FULL"),
        "rank": lambda tf, x: tf.nn.max_pool_with_argmax(x[0], 2, 2, "SAME"),
        "nan": lambda tf, x: tf.nn.max_pool_with_argmax(
            tf.constant([NAN, 1.0, 2.0, NAN], shape=(1, 2, 2, 1)), [2, 1], [2, 1], "VALID"
        ),
        "ties": lambda tf, x: tf.nn.max_pool_with_argmax(tf.zeros([1, 3, 3, 1]), 2, 1, "SAME"),
    }
)
def pool_with_argmax_arguments(tf, given):
    return attempt(lambda: given(tf, image(tf)))


@cases(
    op=["dilation2d", "erosion2d"],
    options={
        "same": ([1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        "valid": ([1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]),
        "strided": ([1, 2, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]),
        "dilated": ([1, 1, 1, 1], "VALID", "NHWC", [1, 2, 1, 1]),
    },
    dtype=["float32", "float64"],
)
def morphology(tf, op, options, dtype):
    filters = tensor(tf, fill((2, 3, 2), seed=1), dtype)
    x = image(tf, dtype=dtype)
    return first_only(tf, lambda x, f: getattr(tf.nn, op)(x, f, *options), x, filters)


@cases(
    given={
        "numbers": lambda tf, x, f: tf.nn.dilation2d(x, f, 1, "SAME", "NHWC", 1),
        "nchw": lambda tf, x, f: tf.nn.dilation2d(x, f, [1] * 4, "SAME", "NCHW", [1] * 4),
        "nchw_erosion": lambda tf, x, f: tf.nn.erosion2d(x, f, [1] * 4, "SAME", "NCHW", [1] * 4),
        "channels": lambda tf, x, f: tf.nn.dilation2d(
            x, f[:, :, :1], [1] * 4, "SAME", "NHWC", [1] * 4
        ),
        "integers": lambda tf, x, f: tf.nn.dilation2d(
            tf.cast(x, tf.int32), tf.cast(f, tf.int32), [1] * 4, "SAME", "NHWC", [1] * 4
        ),
        "ties": lambda tf, x, f: tf.nn.dilation2d(
            tf.zeros([1, 3, 3, 1]), tf.zeros([2, 2, 1]), [1] * 4, "SAME", "NHWC", [1] * 4
        ),
        "filter_rank": lambda tf, x, f: tf.nn.dilation2d(x, f[0], [1] * 4, "SAME", "NHWC", [1] * 4),
    }
)
def morphology_arguments(tf, given):
    return attempt(lambda: given(tf, image(tf), tensor(tf, fill((2, 3, 2), seed=1))))


@case
def ties_of_dilation(tf):
    call = lambda x, f: tf.nn.dilation2d(x, f, [1] * 4, "SAME", "NHWC", [1] * 4)
    return first_only(tf, call, tf.zeros([1, 3, 3, 1]), tf.zeros([2, 2, 1]))


# ------------------------------------------------------------------- transposes of convolutions

SLIDES = {
    "same": ([1, 1, 1, 1], "SAME"),
    "valid": ([1, 1, 1, 1], "VALID"),
    "strided": ([1, 2, 2, 1], "SAME"),
}


@cases(slide=SLIDES)
def depthwise_back(tf, slide):
    x, f = image(tf, (1, 4, 4, 2)), tensor(tf, fill((2, 2, 2, 2), seed=1))
    g = image(tf, tuple(tf.nn.depthwise_conv2d(x, f, *slide).shape), seed=2)
    back_x, back_f = tf.nn.depthwise_conv2d_backprop_input, tf.nn.depthwise_conv2d_backprop_filter
    return (
        grads(tf, lambda f, g: back_x([1, 4, 4, 2], f, g, *slide), f, g),
        grads(tf, lambda x, g: back_f(x, [2, 2, 2, 2], g, *slide), x, g),
    )


@cases(
    given={
        "atrous_same": lambda tf, x, f: tf.nn.atrous_conv2d_transpose(
            x, f, [1, 4, 4, 1], 2, "SAME"
        ),
        "atrous_valid": lambda tf, x, f: tf.nn.atrous_conv2d_transpose(
            x, f, [1, 6, 6, 1], 2, "VALID"
        ),
        "atrous_one": lambda tf, x, f: tf.nn.atrous_conv2d_transpose(x, f, [1, 4, 4, 1], 1, "SAME"),
        "atrous_wrong": lambda tf, x, f: tf.nn.atrous_conv2d_transpose(
            x, f, [1, 4, 4, 1], 0, "SAME"
        ),
        "space_same": lambda tf, x, f: tf.nn.with_space_to_batch(
            x,
            [2, 2],
            "SAME",
            lambda x, num_spatial_dims, padding: tf.nn.conv2d(x, f, 1, padding),
            filter_shape=[2, 2],
        ),
        "space_valid": lambda tf, x, f: tf.nn.with_space_to_batch(
            x, [2, 1], "VALID", lambda x, num_spatial_dims, padding: tf.nn.conv2d(x, f, 1, padding)
        ),
        "space_one": lambda tf, x, f: tf.nn.with_space_to_batch(
            x, [1, 1], "SAME", lambda x, num_spatial_dims, padding: tf.nn.conv2d(x, f, 1, padding)
        ),
        "space_padding": lambda tf, x, f: tf.nn.with_space_to_batch(
            x, [2, 2], "FULL", lambda x, num_spatial_dims, padding: x
        ),
        "space_rate": lambda tf, x, f: tf.nn.with_space_to_batch(
            x, [0, 2], "SAME", lambda x, num_spatial_dims, padding: x
        ),
        "global_norm": lambda tf, x, f: tf.nn.batch_norm_with_global_normalization(
            x, tf.constant([0.5]), tf.constant([2.0]), tf.constant([1.0]), tf.constant([3.0]), 1e-3,
            True,
        ),
        "global_norm_unscaled": lambda tf, x, f: tf.nn.batch_norm_with_global_normalization(
            x, tf.constant([0.5]), tf.constant([2.0]), tf.constant([1.0]), tf.constant([3.0]), 1e-3,
            False,
        ),
    }
)  # fmt: skip
def by_other_names(tf, given):
    x, f = image(tf, (1, 4, 4, 1)), tensor(tf, fill((2, 2, 1, 1), seed=1))
    return first_only(tf, lambda x, f: given(tf, x, f), x, f)


# -------------------------------------------------------------------------- regression, top k


@cases(
    rows={
        # Of a vector TensorFlow's gradient has another shape.
        "row": [[3.0, 1.0, 2.0]],
        "ties": [[3.0, 3.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0], [4.0, 3.0, 3.0, 5.0]],
        "one": [[1.0], [2.0]],
        "long": fill((2, 12)).tolist(),
    },
    options={
        "falling": {},
        "rising": {"decreasing": False},
        "first_axis": {"axis": 0},
        "rising_first": {"axis": 0, "decreasing": False},
    },
)
def isotonic(tf, rows, options):
    call = lambda x: tf.nn.isotonic_regression(x, **options)
    x = tf.constant(rows)
    return call(x), first_only(tf, lambda x: call(x)[0], x)


@cases(dtype=["float16", "bfloat16", "float64", "int8", "int32", "int64"])
def isotonic_dtypes(tf, dtype):
    return tuple(tf.nn.isotonic_regression(tensor(tf, [3, 1, 2, 2], dtype)))


@cases(
    given={
        "max": lambda tf, x: tf.math.approx_max_k(x, 2),
        "nn": lambda tf, x: tf.nn.approx_max_k(x, 1, recall_target=0.5),
        "integers": lambda tf, x: tf.math.approx_max_k(tf.cast(x, tf.int32), 2),
        "too_many": lambda tf, x: tf.math.approx_max_k(x, 9),
    }
)
def approximate_top(tf, given):
    return attempt(lambda: given(tf, tensor(tf, fill((2, 4)))))


# ------------------------------------------------------------------------------------ dropout


@cases(
    given={
        "stateless": lambda tf, x: tf.nn.experimental.stateless_dropout(x, 0.4, [1, 2]),
        "philox": lambda tf, x: tf.nn.experimental.stateless_dropout(
            x, 0.4, [1, 2], rng_alg="philox"
        ),
        "noise_shape": lambda tf, x: tf.nn.experimental.stateless_dropout(
            x, 0.4, [1, 2], noise_shape=[3, 1]
        ),
        "rate_tensor": lambda tf, x: tf.nn.experimental.stateless_dropout(
            x, tf.constant(0.25), [3, 4]
        ),
        "none": lambda tf, x: tf.nn.experimental.stateless_dropout(x, 0, [1, 2]),
        "rate": lambda tf, x: tf.nn.experimental.stateless_dropout(x, 1.0, [1, 2]),
        "integers": lambda tf, x: tf.nn.experimental.stateless_dropout([1, 2], 0.5, [1, 2]),
        "general": lambda tf, x: tf.nn.experimental.general_dropout(
            x, 0.5, lambda shape, dtype: tf.reshape(tf.linspace(0.0, 1.0, 15), shape)
        ),
    }
)
def seeded_dropout(tf, given):
    return first_only(tf, lambda x: given(tf, x), tensor(tf, np.ones((3, 5))))
