"""Neural-network functions: activations, losses, normalisation, convolution, pooling, clipping."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import INF, NAN, REAL, fill, first_only, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases

ACTIVATIONS = {
    "relu": lambda tf, x: tf.nn.relu(x),
    "relu_named": lambda tf, x: tf.nn.relu(features=x, name="r"),
    "relu6": lambda tf, x: tf.nn.relu6(x),
    "elu": lambda tf, x: tf.nn.elu(x),
    "selu": lambda tf, x: tf.nn.selu(x),
    "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
    "leaky_relu_steep": lambda tf, x: tf.nn.leaky_relu(x, alpha=0.5, name="l"),
    "leaky_relu_over_one": lambda tf, x: tf.nn.leaky_relu(x, alpha=1.5),
    "leaky_relu_tensor": lambda tf, x: tf.nn.leaky_relu(x, alpha=tf.constant(0.25)),
    "gelu": lambda tf, x: tf.nn.gelu(x),
    "gelu_tanh": lambda tf, x: tf.nn.gelu(x, approximate=True),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "softsign": lambda tf, x: tf.nn.softsign(x),
    "silu": lambda tf, x: tf.nn.silu(x),
    "silu_beta": lambda tf, x: tf.nn.silu(x, beta=2.0),
    "swish": lambda tf, x: tf.nn.swish(x),
    "crelu": lambda tf, x: tf.nn.crelu(x, axis=-1),
    "sigmoid": lambda tf, x: tf.nn.sigmoid(x),
    "tanh": lambda tf, x: tf.nn.tanh(x),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
    "l2_loss": lambda tf, x: tf.nn.l2_loss(x),
    "l2_normalize": lambda tf, x: tf.math.l2_normalize(x),
    "mish_by_hand": lambda tf, x: x * tf.tanh(tf.nn.softplus(x)),
}
KINKS = [-INF, -20.0, -7.0, -1.0, -0.0, 0.0, 1e-8, 1.0, 6.0, 7.0, 20.0, INF, NAN]
POINTWISE = [name for name in ACTIVATIONS if "soft" not in name and "l2" not in name] + ["softplus"]


@cases(op=ACTIVATIONS, dtype=REAL)
def activations(tf, op, dtype):
    return attempt(lambda: grads(tf, lambda x: op(tf, x), tensor(tf, fill((2, 3), -4, 8), dtype)))


@cases(op={name: ACTIVATIONS[name] for name in POINTWISE})
def activations_at_kinks(tf, op):
    return grads(tf, lambda x: op(tf, x), tensor(tf, KINKS))


@cases(op=ACTIVATIONS, shape=[(), (0, 3), (3,)])
def activations_of_shape(tf, op, shape):
    return first_only(tf, lambda x: op(tf, x), tensor(tf, fill(shape)))


@cases(op=ACTIVATIONS, dtype=["float16", "bfloat16", "int32", "complex64", "bool"])
def activations_of_dtype(tf, op, dtype):
    array = [-1, 0, 2] if dtype == "int32" else [0.5, -1.5, 2.25]
    return first_only(tf, lambda x: op(tf, x), tensor(tf, array, dtype))


@cases(
    op=["nn.softmax", "nn.log_softmax", "math.softmax"],
    axis={
        "default": None,
        "0": 0,
        "last": -1,
        "middle": 1,
        "too_large": 3,
        "too_small": -4,
    },
)
def softmax_axes(tf, op, axis):
    x = tensor(tf, fill((2, 3, 2)))
    return first_only(tf, lambda x: named(tf, op)(x, axis=axis, name="s"), x)


@cases(
    op=["nn.softmax", "nn.log_softmax"],
    given={
        "large": [1000.0, 1001.0],
        "small": [-1000.0, -1001.0],
        "inf": [INF, 0.0],
        "minus_inf": [-INF, 0.0],
        "only_minus_inf": [-INF, -INF],
        "nan": [NAN, 0.0],
        "one": [3.0],
        "equal": [2.0, 2.0, 2.0],
        "python": [1, 2],
        "wide_rows": [[1.0, 2.0], [3.0, 5.0]],
    },
)
def softmax_of(tf, op, given):
    return grads(tf, lambda x: named(tf, op)(x), tf.constant(given))


@cases(axis={"none": None, "0": 0, "last": -1, "list": [0, 1]}, dtype=REAL)
def l2_normalize(tf, axis, dtype):
    x = tensor(tf, fill((2, 3)), dtype)
    return grads(tf, lambda x: tf.math.l2_normalize(x, axis=axis), x)


@case
def l2_normalize_small(tf):
    x = tf.constant([0.0, 0.0])
    y = tf.constant([1e-7, 0.0])
    return [
        grads(tf, lambda x: tf.math.l2_normalize(x), x),
        grads(tf, lambda y: tf.math.l2_normalize(y), y),
        first_only(tf, lambda y: tf.math.l2_normalize(y, epsilon=1.0), y),
        attempt(lambda: tf.nn.l2_normalize(x, axis=0)),
    ]


# ------------------------------------------------------------------------------------ losses


@cases(
    labels={
        "one_hot": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        "soft": [[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]],
        "not_normal": [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
    },
    dtype=REAL,
)
def softmax_cross_entropy(tf, labels, dtype):
    x, y = tensor(tf, fill((2, 3)), dtype), tensor(tf, labels, dtype)
    call = lambda y, x: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x, name="c")
    return grads(tf, call, y, x)


@cases(
    given={
        "axis": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
            tf.ones([2, 3]) / 2.0, x, axis=0
        ),
        "broadcast": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits([[0.5, 0.5, 0.0]], x),
        "vector": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits([0.5, 0.5, 0.0], x[0]),
        "clash": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(tf.ones([2, 2]), x),
        "whole_labels": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
            tf.constant([[1, 0, 0], [0, 1, 0]]), x
        ),
        "wide_labels": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
            tf.ones([2, 3], tf.float64), x
        ),
        "no_labels": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(None, x),
        "deep": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
            tf.ones([1, 2, 3]) / 3.0, x[tf.newaxis]
        ),
        "large": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(
            [[1.0, 0.0, 0.0]], x[:1] * 1e4
        ),
        "keras_dim": lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(x, x, dim=1),
    }
)
def softmax_cross_entropy_more(tf, given):
    return first_only(tf, lambda x: given(tf, x), tensor(tf, fill((2, 3))))


@cases(
    labels={
        "rows": [2, 0],
        "int64": np.array([1, 1]),
        "uint8": np.array([0, 2], np.uint8),
        "out_of_range": [3, 0],
        "negative": [-1, 0],
        "fraction": [0.5, 1.0],
        "too_many": [0, 1, 2],
        "scalar": 1,
        "matrix": [[0], [1]],
    },
    dtype=REAL,
)
def sparse_cross_entropy(tf, labels, dtype):
    x = tensor(tf, fill((2, 3)), dtype)
    call = lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    return grads(tf, call, x)


@case
def sparse_cross_entropy_more(tf):
    x = tensor(tf, fill((2, 2, 3)))
    call = tf.nn.sparse_softmax_cross_entropy_with_logits
    return [
        first_only(tf, lambda x: call([[0, 1], [2, 2]], x), x),
        first_only(tf, lambda x: call(1, x), x[0, 0]),
        first_only(tf, lambda x: call([0], x * 1000.0), x[0, :1]),
        attempt(lambda: call([0, 1], [1, 2])),
        call(np.zeros(0, np.int32), tf.zeros([0, 3])),
        attempt(lambda: call([], tf.zeros([0, 3]))),
    ]


@cases(
    given={
        "smooth": (fill((2, 3), 0, 1), fill((2, 3), seed=1)),
        "hard": ([0.0, 1.0, 0.0, 1.0], [0.0, 0.0, -2.0, 3.0]),
        "far": ([0.0, 1.0, 0.0, 1.0], [100.0, 100.0, -100.0, -100.0]),
        "not_finite": ([0.0, 1.0, 1.0, 0.5], [INF, INF, -INF, NAN]),
        "empty": (np.zeros((0, 3)), np.zeros((0, 3))),
        "clash": ([0.0], [0.0, 1.0]),
    },
    dtype=REAL,
)
def sigmoid_cross_entropy(tf, given, dtype):
    labels, logits = (tensor(tf, part, dtype) for part in given)
    call = lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x, name="s")
    return grads(tf, call, labels, logits)


@case
def sigmoid_cross_entropy_bad(tf):
    x, call = tf.constant([0.5]), tf.nn.sigmoid_cross_entropy_with_logits
    return [
        attempt(lambda: call(labels=None, logits=x)),
        attempt(lambda: call(labels=x)),
        attempt(lambda: call(labels=tf.constant([1]), logits=x)),
        attempt(lambda: call(labels=[1.0], logits=[0.5])),
        attempt(lambda: call(labels=np.array([1.0]), logits=x)),
    ]


@case
def weighted_losses(tf):
    y, x = tensor(tf, fill((3,), 0, 1)), tensor(tf, fill((3,), seed=1))
    return [
        first_only(tf, lambda y, x: tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0), y, x),
        first_only(tf, lambda x: tf.nn.log_poisson_loss(tf.exp(y), x), x),
    ]


@cases(
    options={
        "plain": {},
        "global": {"global_batch_size": 8},
        "weights": {"sample_weight": [1.0, 0.5, 0.0]},
        "both": {"sample_weight": 2.0, "global_batch_size": 6},
        "tensor_size": {"global_batch_size": np.int64(4)},
        "fraction_size": {"global_batch_size": 4.5},
        "clash": {"sample_weight": [1.0, 2.0]},
    }
)
def average_loss(tf, options):
    x = tensor(tf, fill((3,), 0, 2))
    return first_only(tf, lambda x: tf.nn.compute_average_loss(x, **options), x)


@case
def average_loss_more(tf):
    return [
        tf.nn.compute_average_loss(tf.ones([2, 3]), global_batch_size=2),
        tf.nn.compute_average_loss(tf.constant([1, 2]), global_batch_size=2),
        attempt(lambda: tf.nn.compute_average_loss(tf.constant(2.0))),
        attempt(lambda: tf.nn.compute_average_loss(tf.constant(2.0), global_batch_size=4)),
        tf.nn.scale_regularization_loss(tf.constant([1.0, 2.0])),
        tf.nn.scale_regularization_loss(tf.constant(3.0)),
        first_only(tf, tf.nn.scale_regularization_loss, tf.constant([1.0, 2.0])),
    ]


# ----------------------------------------------------------------------------- normalisation


@cases(
    axes={"0": [0], "all": [0, 1], "last": [-1], "integer": 0, "none": []}, keepdims=[False, True]
)
def moments(tf, axes, keepdims):
    x = tensor(tf, fill((2, 3)))
    return first_only(tf, lambda x: tf.nn.moments(x, axes=axes, keepdims=keepdims), x)


@cases(dtype=["float16", "float64", "int32"])
def moments_of_dtype(tf, dtype):
    x = tensor(tf, [[1, 2, 4], [3, 5, 9]], dtype)
    return first_only(tf, lambda x: tf.nn.moments(x, [0]), x)


@case
def moments_bad(tf):
    x = tf.ones([2, 3])
    return [
        attempt(lambda: tf.nn.moments(x)),
        attempt(lambda: tf.nn.moments(x, axes=[2])),
        attempt(lambda: tf.nn.moments(x, axes=[0], keep_dims=True)),
        tf.nn.weighted_moments(x * [1.0, 2.0, 3.0], [1], [1.0, 1.0, 2.0]),
    ]


@cases(parts=["all", "no_offset", "no_scale", "neither"], dtype=REAL)
def batch_normalization(tf, parts, dtype):
    x, mean, variance, offset, scale = (
        tensor(tf, fill(shape, low, high, seed), dtype)
        for seed, (shape, low, high) in enumerate(
            [((2, 3), -2, 2), ((3,), -1, 1), ((3,), 0.5, 2), ((3,), -1, 1), ((3,), 0.5, 2)]
        )
    )
    if parts in ("no_offset", "neither"):
        offset = None
    if parts in ("no_scale", "neither"):
        scale = None
    call = lambda *args: tf.nn.batch_normalization(*args, variance_epsilon=1e-3)
    return grads(tf, call, x, mean, variance, offset, scale)


@case
def batch_normalized(tf):
    x = tensor(tf, fill((4, 2)), "float64")

    def call(x):
        mean, variance = tf.nn.moments(x, axes=[0])
        return tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3)

    return grads(tf, call, x)


@cases(
    given={
        "rows": ((2, 3), (3,), {}),
        "image": ((1, 2, 2, 3), (3,), {"name": "b"}),
        "channels_first": ((1, 3, 2), (3,), {"data_format": "NCHW"}),
        "clash": ((2, 3), (2,), {}),
        "matrix_bias": ((2, 3), (1, 3), {}),
        "vector": ((3,), (3,), {}),
        "format": ((2, 3), (3,), {"data_format": "XYZ"}),
    }
)
def bias_add(tf, given):
    shape, bias, options = given
    x, b = tensor(tf, fill(shape)), tensor(tf, fill(bias, seed=1))
    return first_only(tf, lambda x, b: tf.nn.bias_add(x, b, **options), x, b)


@case
def bias_add_twice(tf):
    x, b = tensor(tf, fill((2, 3))), tensor(tf, fill((3,), seed=1))
    return grads(tf, lambda x, b: tf.nn.bias_add(x, b) ** 3, x, b)


@case
def dropout(tf):
    x = tensor(tf, fill((2, 3)))
    half = tf.nn.dropout(tf.ones([1000]), rate=0.5)
    return [
        first_only(tf, lambda x: tf.nn.dropout(x, rate=0), x),
        first_only(tf, lambda x: tf.nn.dropout(x, rate=0.0, seed=1), x),
        attempt(lambda: tf.nn.dropout(x, rate=1.0)),
        attempt(lambda: tf.nn.dropout(x, rate=-0.5)),
        attempt(lambda: tf.nn.dropout(x, rate=2)),
        attempt(lambda: tf.nn.dropout(tf.constant([1, 2]), rate=0.5)),
        tf.reduce_all((half == 0.0) | (half == 2.0)),
        300 < int(tf.reduce_sum(half) / 2.0) < 700,
    ]


# ---------------------------------------------------------------------- convolution, pooling

CONV = {
    "valid": {"strides": 1, "padding": "VALID"},
    "same": {"strides": 1, "padding": "SAME"},
    "strided": {"strides": 2, "padding": "VALID"},
    "strided_same": {"strides": [1, 2, 2, 1], "padding": "SAME"},
    "uneven": {"strides": [2, 1], "padding": "SAME"},
    "explicit": {"strides": 1, "padding": [[0, 0], [1, 0], [2, 1], [0, 0]]},
    "explicit_strided": {"strides": 2, "padding": [[0, 0], [1, 1], [0, 1], [0, 0]]},
    "dilated": {"strides": 1, "padding": "VALID", "dilations": 2},
    "dilated_same": {"strides": 1, "padding": "SAME", "dilations": [2, 1]},
    "format": {"strides": [1, 1, 1, 1], "padding": "VALID", "data_format": "NHWC", "name": "c"},
}


@cases(options=CONV)
def conv2d(tf, options):
    x, f = tensor(tf, fill((1, 5, 4, 2))), tensor(tf, fill((2, 2, 2, 2), seed=1))
    return first_only(tf, lambda x, f: tf.nn.conv2d(x, f, **options), x, f)


@cases(options={name: CONV[name] for name in ("valid", "same", "strided_same", "dilated")})
def conv2d_twice(tf, options):
    x, f = tensor(tf, fill((1, 4, 3, 1)), "float64"), tensor(tf, fill((2, 2, 1, 1)), "float64")
    return grads(tf, lambda x, f: tf.nn.conv2d(x, f, **options) ** 2, x, f)


@cases(shape=[(1, 1), (3, 3), (3, 2)], padding=["SAME", "VALID"])
def conv2d_filters(tf, shape, padding):
    x, f = tensor(tf, fill((2, 3, 3, 1))), tensor(tf, fill((*shape, 1, 2), seed=1))
    return first_only(tf, lambda x, f: tf.nn.conv2d(x, f, 1, padding), x, f)


@cases(
    given={
        "channels": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 3, 1]), 1, "VALID"),
        "rank": lambda tf, x: tf.nn.conv2d(x[0], tf.ones([2, 2, 2, 1]), 1, "VALID"),
        "filter_rank": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2]), 1, "VALID"),
        "padding": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 1, "OTHER"),
        "stride": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 0, "VALID"),
        "large_filter": lambda tf, x: tf.nn.conv2d(x, tf.ones([9, 9, 2, 1]), 1, "VALID"),
        "mixed": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1], tf.float64), 1, "VALID"),
        "int": lambda tf, x: tf.nn.conv2d(
            tf.ones([1, 2, 2, 1], tf.int32), tf.ones([1, 1, 1, 1], tf.int32), 1, "VALID"
        ),
        "batch_stride": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), [2, 1, 1, 1], "VALID"),
        "no_padding": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 1),
        "lower_case": lambda tf, x: tf.nn.conv2d(x, tf.ones([2, 2, 2, 1]), 1, "same"),
        "half": lambda tf, x: tf.nn.conv2d(
            tf.cast(x, tf.float16), tf.ones([2, 2, 2, 1], tf.float16), 1, "VALID"
        ),
        "empty_batch": lambda tf, x: tf.nn.conv2d(x[:0], tf.ones([2, 2, 2, 1]), 1, "VALID"),
    }
)
def conv2d_edge(tf, given):
    return given(tf, tensor(tf, fill((1, 3, 3, 2))))


CONVOLUTIONS = {
    "conv1d": lambda tf, x, f: tf.nn.conv1d(x[0], f[0], 1, "SAME"),
    "conv1d_strided": lambda tf, x, f: tf.nn.conv1d(x[0], f[0], stride=2, padding="VALID"),
    "convolution": lambda tf, x, f: tf.nn.convolution(x, f, strides=[1, 2], padding="SAME"),
    "convolution_dilated": lambda tf, x, f: tf.nn.convolution(x, f, dilations=[1, 2]),
    "depthwise": lambda tf, x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME"),
    "depthwise_strided": lambda tf, x, f: tf.nn.depthwise_conv2d(
        x, f, strides=[1, 2, 2, 1], padding="VALID"
    ),
    "conv2d_transpose": lambda tf, x, f: tf.nn.conv2d_transpose(
        x, f, output_shape=[1, 8, 6, 2], strides=2, padding="SAME"
    ),
    "conv2d_transpose_valid": lambda tf, x, f: tf.nn.conv2d_transpose(
        input=x, filters=f, output_shape=[1, 5, 4, 2], strides=[1, 1], padding="VALID"
    ),
    "conv2d_transpose_wrong": lambda tf, x, f: tf.nn.conv2d_transpose(
        x, f, output_shape=[1, 9, 6, 2], strides=2, padding="SAME"
    ),
    "conv1d_transpose": lambda tf, x, f: tf.nn.conv1d_transpose(
        x[0], f[0], output_shape=[4, 6, 2], strides=2, padding="SAME"
    ),
    "separable": lambda tf, x, f: tf.nn.separable_conv2d(
        x, f, tf.ones([1, 1, 4, 1]), [1, 1, 1, 1], "VALID"
    ),
}


@cases(op=CONVOLUTIONS)
def convolutions(tf, op):
    x, f = tensor(tf, fill((1, 4, 3, 2))), tensor(tf, fill((2, 2, 2, 2), seed=1))
    return first_only(tf, lambda x, f: op(tf, x, f), x, f)


@cases(
    kind=["max", "avg"],
    options={
        "valid": {"ksize": 2, "strides": 2, "padding": "VALID"},
        "same": {"ksize": 2, "strides": 2, "padding": "SAME"},
        "overlap": {"ksize": [2, 3], "strides": 1, "padding": "VALID"},
        "overlap_same": {"ksize": 3, "strides": 1, "padding": "SAME"},
        "full": {"ksize": [1, 2, 2, 1], "strides": [1, 2, 1, 1], "padding": "SAME"},
        "format": {"ksize": 2, "strides": 1, "padding": "VALID", "data_format": "NHWC"},
    },
)
def pool(tf, kind, options):
    x = tensor(tf, fill((1, 5, 4, 2)))
    return first_only(tf, lambda x: named(tf, f"nn.{kind}_pool2d")(x, **options), x)


@cases(
    given={
        "max_ties": lambda tf, x: tf.nn.max_pool(tf.ones_like(x) * x[0, 0, 0, 0], 2, 2, "VALID"),
        "max_equal": lambda tf, x: tf.nn.max_pool(
            tf.floor(x) + tf.zeros_like(x) * x, 2, 1, "VALID"
        ),
        "max_pool": lambda tf, x: tf.nn.max_pool(x, ksize=2, strides=2, padding="VALID"),
        "avg_pool": lambda tf, x: tf.nn.avg_pool(x, ksize=2, strides=2, padding="SAME"),
        "max_pool1d": lambda tf, x: tf.nn.max_pool1d(x[0], 2, 2, "VALID"),
        "avg_pool1d": lambda tf, x: tf.nn.avg_pool1d(x[0], 2, 1, "SAME"),
        "max_twice": lambda tf, x: tf.nn.max_pool2d(x * x, 2, 2, "VALID"),
        "avg_twice": lambda tf, x: tf.nn.avg_pool2d(x * x, 2, 2, "VALID"),
        "too_large": lambda tf, x: tf.nn.max_pool2d(x, 9, 1, "VALID"),
        "rank": lambda tf, x: tf.nn.max_pool2d(x[0], 2, 2, "VALID"),
        "padding": lambda tf, x: tf.nn.avg_pool2d(x, 2, 2, "OTHER"),
        "explicit": lambda tf, x: tf.nn.max_pool2d(x, 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]]),
        "int": lambda tf, x: tf.nn.max_pool2d(tf.cast(x, tf.int32), 2, 2, "VALID"),
        "avg_int": lambda tf, x: tf.nn.avg_pool2d(tf.cast(x, tf.int32), 2, 2, "VALID"),
        "global_by_mean": lambda tf, x: tf.reduce_mean(x, axis=[1, 2]),
    }
)
def pools(tf, given):
    return grads(tf, lambda x: given(tf, x), tensor(tf, fill((1, 4, 4, 1))))


# ---------------------------------------------------------------------------------- clipping


@cases(
    bounds={
        "inside": (-1.0, 1.0),
        "on_values": (-0.5, 0.5),
        "equal": (0.5, 0.5),
        "swapped": (1.0, -1.0),
        "arrays": ([-1.0, -0.1, 0.0, 0.0, 1.0], [1.0, 0.1, 0.0, 2.0, 2.0]),
        "infinite": (-INF, INF),
        "nan": (NAN, 1.0),
        "integer": (-1, 1),
        "clash": ([0.0, 1.0], [1.0, 2.0]),
        "text": ("a", "b"),
    }
)
def clip_by_value(tf, bounds):
    x = tf.constant([-2.0, -0.5, 0.0, 0.5, 2.0])
    call = lambda x: tf.clip_by_value(x, clip_value_min=bounds[0], clip_value_max=bounds[1])
    return grads(tf, call, x)


@case
def clip_by_value_bounds_have_slopes(tf):
    x, low, high = tf.constant([-2.0, 0.0, 1.0, 3.0]), tf.constant(-1.0), tf.constant(1.0)
    return [
        first_only(tf, tf.clip_by_value, x, low, high),
        tf.clip_by_value(tf.constant([1, 5]), 2, 4),
        attempt(lambda: tf.clip_by_value(tf.constant([1, 5]), 2.5, 4)),
        tf.clip_by_value(tf.constant([NAN, INF]), 0.0, 1.0),
        first_only(tf, lambda x: tf.clip_by_value(x, 0.0, 1.0), tf.constant([NAN, INF])),
        tf.clip_by_value([1.0, 9.0], 2.0, 4.0),
    ]


@cases(
    given={
        "long": ([3.0, 4.0], 1.0, None),
        "short": ([0.3, 0.4], 1.0, None),
        "exact": ([3.0, 4.0], 5.0, None),
        "zero": ([0.0, 0.0], 1.0, None),
        "axis": ([[3.0, 4.0], [0.3, 0.4]], 1.0, [1]),
        "axis_integer": ([[3.0, 4.0], [0.3, 0.4]], 1.0, 0),
        "zero_norm": ([3.0, 4.0], 0.0, None),
        "negative": ([3.0, 4.0], -1.0, None),
        "inf": ([INF, 1.0], 1.0, None),
        "nan": ([NAN, 1.0], 1.0, None),
        "scalar": (3.0, 1.0, None),
        "whole": ([3, 4], 1, None),
    }
)
def clip_by_norm(tf, given):
    values, norm, axes = given
    return grads(tf, lambda x: tf.clip_by_norm(x, norm, axes=axes), tf.constant(values))


@cases(
    given={
        "long": ([[3.0], [4.0]], {"clip_norm": 1.0}),
        "short": ([[0.3], [0.4]], {"clip_norm": 1.0}),
        "use_norm": ([[3.0], [4.0]], {"clip_norm": 1.0, "use_norm": np.float32(10.0)}),
        "with_none": ([[3.0], None], {"clip_norm": 1.0}),
        "zero": ([[0.0], [0.0]], {"clip_norm": 1.0}),
        "inf": ([[INF], [1.0]], {"clip_norm": 1.0}),
        "nan": ([[NAN], [1.0]], {"clip_norm": 1.0}),
        "nothing": ([], {"clip_norm": 1.0}),
        "tensor_norm": ([[3.0], [4.0]], {"clip_norm": np.float32(2.0)}),
    }
)
def clip_by_global_norm(tf, given):
    values, options = given
    tensors = [None if v is None else tf.constant(v) for v in values]
    clipped, norm = tf.clip_by_global_norm(tensors, **options)
    return clipped, norm


@case
def clip_by_global_norm_more(tf):
    x = tf.constant([3.0, 4.0])
    slices = tf.IndexedSlices(tf.constant([[3.0]]), tf.constant([1]), tf.constant([2, 1]))
    return [
        grads(tf, lambda x: tf.clip_by_global_norm([x, x * 2.0], 1.0), x),
        attempt(lambda: tf.clip_by_global_norm([slices, x], 1.0)),
        attempt(lambda: tf.clip_by_global_norm(x, 1.0)),
        attempt(lambda: tf.clip_by_norm(slices, 1.0)),
        attempt(lambda: tf.clip_by_value(slices, -1.0, 1.0)),
    ]


@cases(width=[3, 4])
def small_network(tf, width):
    x = tensor(tf, fill((4, 2)))
    w1, b1 = tf.Variable(tensor(tf, fill((2, width), seed=1))), tf.Variable(tf.zeros([width]))
    w2, b2 = tf.Variable(tensor(tf, fill((width, 3), seed=2))), tf.Variable(tf.zeros([3]))
    found = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x @ w1 + b1)
            logits = tf.matmul(hidden, w2) + b2
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits([0, 2, 1, 1], logits)
            loss = tf.reduce_mean(losses) + 1e-2 * tf.nn.l2_loss(w1)
        variables = [w1, b1, w2, b2]
        for variable, grad in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.5 * grad)
        found.append(loss)
    return found, variables
