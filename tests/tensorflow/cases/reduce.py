"""Reductions: axes, kept dimensions, dtypes, empty inputs, ties and zeros."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import INF, NAN, fill, first_only, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases

SMOOTH = {
    "reduce_sum": (-2, 2),
    "reduce_mean": (-2, 2),
    "reduce_prod": (0.5, 2),
    "reduce_max": (-2, 2),
    "reduce_min": (-2, 2),
    "reduce_logsumexp": (-2, 2),
    "math.reduce_std": (-2, 2),
    "math.reduce_variance": (-2, 2),
    "math.reduce_euclidean_norm": (-2, 2),
}
LOGICAL = ["reduce_all", "reduce_any"]
AXES = {
    "none": None,
    "0": 0,
    "last": -1,
    "list": [0, 2],
    "tuple": (-1, 0),
    "no_axes": [],
    "all": [0, 1, 2],
}
BAD_AXES = {
    "too_large": 3,
    "too_small": -4,
    "twice": [0, 0],
    "twice_by_sign": [0, -3],
    "fraction": 0.5,
    "text": "x",
    "list_out": [0, 5],
    "matrix": [[0, 1]],
}


@cases(op=list(SMOOTH), axis=AXES)
def axes(tf, op, axis):
    x = tensor(tf, fill((2, 1, 3), *SMOOTH[op]))
    return first_only(tf, lambda x: named(tf, op)(x, axis=axis), x)


@cases(op=list(SMOOTH), axis={"none": None, "last": -1})
def second_order(tf, op, axis):
    x = tensor(tf, fill((2, 3), *SMOOTH[op]), "float64")
    return grads(tf, lambda x: named(tf, op)(x, axis=axis), x)


@cases(op=[*SMOOTH, *LOGICAL], keepdims=[True, False], axis={"none": None, "1": 1})
def kept(tf, op, keepdims, axis):
    array = fill((2, 3), 0.5, 2) if op in SMOOTH else fill((2, 3)) > 0
    x = tensor(tf, array, "float32" if op in SMOOTH else "bool")
    return first_only(tf, lambda x: named(tf, op)(x, axis=axis, keepdims=keepdims), x)


@cases(op=[*SMOOTH, *LOGICAL, "math.count_nonzero"], axis=BAD_AXES)
def bad_axes(tf, op, axis):
    x = tensor(tf, fill((2, 1, 3)), "bool" if op in LOGICAL else "float32")
    return named(tf, op)(x, axis=axis)


@cases(
    op=[*SMOOTH, *LOGICAL, "math.count_nonzero"],
    dtype=["int32", "int64", "uint8", "bool", "float16", "bfloat16", "complex64", "string"],
)
def of_dtype(tf, op, dtype):
    if dtype == "string":
        return named(tf, op)(tf.constant(["a", "b"]))
    return first_only(tf, named(tf, op), tensor(tf, [1, 2, 4], dtype))


@cases(
    op=[*SMOOTH, *LOGICAL],
    shape=[(), (0,), (0, 3), (3, 0), (1,)],
    axis={"none": None, "0": 0},
)
def of_shape(tf, op, shape, axis):
    array = fill(shape, 0.5, 2)
    x = tensor(tf, array, "float32" if op in SMOOTH else "bool")
    return first_only(tf, lambda x: named(tf, op)(x, axis=axis), x)


SPECIAL = {
    "zeros": [0.0, 0.0, 0.0],
    "one_zero": [0.0, 2.0, 3.0],
    "two_zeros": [0.0, 2.0, 0.0],
    "ties": [1.0, 2.0, 2.0, 1.0],
    "all_equal": [3.0, 3.0, 3.0],
    "one": [2.5],
    "inf": [1.0, INF, 2.0],
    "minus_inf": [-INF, 1.0],
    "only_minus_inf": [-INF, -INF],
    "both_inf": [-INF, INF],
    "nan": [1.0, NAN, 2.0],
    "nan_first": [NAN, 1.0],
    "large": [1000.0, 1001.0],
    "signed_zero": [-0.0, 0.0],
}


@cases(op=list(SMOOTH), values=SPECIAL)
def special(tf, op, values):
    return grads(tf, named(tf, op), tensor(tf, values))


@cases(op=["reduce_max", "reduce_min", "reduce_prod", "math.reduce_std"])
def ties_in_rows(tf, op):
    x = tensor(tf, [[1.0, 1.0, 0.0], [2.0, 3.0, 3.0]])
    return grads(tf, lambda x: named(tf, op)(x, axis=1), x)


@cases(op=list(SMOOTH))
def of_python(tf, op):
    given = [3, [1.0, 2.0], [[1, 2], [3, 4]], np.array([1.0, 2.0]), True, "x", None, [[1], [2, 3]]]
    return [attempt(lambda v=v: named(tf, op)(v)) for v in given]


@cases(op=["reduce_sum", "reduce_mean", "reduce_max"])
def axis_as_tensor(tf, op):
    x = tensor(tf, fill((2, 3)))
    given = [
        tf.constant(1),
        tf.constant([0, 1]),
        tf.constant(-1, tf.int64),
        np.int64(0),
        np.array([0, 1]),
        range(2),
    ]
    return [attempt(lambda a=a: named(tf, op)(x, axis=a)) for a in given]


@cases(
    op=[
        "math.reduce_sum",
        "math.reduce_mean",
        "math.reduce_prod",
        "math.reduce_max",
        "math.reduce_min",
        "math.reduce_all",
        "math.reduce_any",
        "math.reduce_logsumexp",
    ]
)
def aliases(tf, op):
    x = tensor(tf, fill((2, 3)), "bool" if "a" in op.split("_")[1][:1] else "float32")
    return named(tf, op)(x, axis=0), named(tf, op)(input_tensor=x, axis=1, keepdims=True, name="n")


@case
def whole_means(tf):
    x = tf.constant([1, 2, 4])
    return tf.reduce_mean(x), tf.reduce_mean(-x), tf.reduce_sum(tf.constant([2**31 - 1, 1]))


@cases(axis={"none": None, "0": 0, "list": [0, 1]}, dtype=["int32", "int64"])
def count_nonzero(tf, axis, dtype):
    x = tf.constant([[1.0, 0.0], [0.0, 0.0], [2.0, NAN]])
    return tf.math.count_nonzero(x, axis=axis, dtype=dtype, keepdims=axis == 0)


@case
def same_tensor_in_and_out(tf):
    x = tensor(tf, fill((2, 3)))
    return grads(tf, lambda x: x - tf.reduce_mean(x, axis=1, keepdims=True), x)


@case
def standardise(tf):
    x = tensor(tf, fill((3, 2)), "float64")

    def call(x):
        return (x - tf.reduce_mean(x, 0)) / (tf.math.reduce_std(x, 0) + 1e-3)

    return grads(tf, call, x)


@case
def large_mean(tf):
    x = tf.reshape(tf.cast(tf.range(10000), tf.float32), [100, 100]) / 7.0
    return tf.reduce_mean(x), tf.reduce_sum(x), tf.math.reduce_variance(x)


@cases(op=["reduce_sum", "reduce_mean", "reduce_max", "reduce_logsumexp"])
def complex_sources(tf, op):
    return attempt(lambda: grads(tf, named(tf, op), tensor(tf, fill((2, 2)), "complex128")))


@cases(order={"sum": "reduce_sum", "prod": "reduce_prod"})
def half_accumulates(tf, order):
    x = tf.cast(tf.fill([300], 1.01 if order == "reduce_prod" else 10.1), tf.float16)
    return named(tf, order)(x[:100])
