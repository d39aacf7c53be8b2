"""How plain values become tensors beside a variable, attributes of ops, and values of others."""

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

PLAIN = {
    "whole": 2, "fraction": 2.0, "truth": True, "complex": 1j, "large": 1 << 40, "text": "a",
    "bytes": b"x", "list": [1, 1, 1], "fractions": [1.0, 1.0, 1.0], "tuple": (1,), "empty": [],
    "range": range(3), "array": np.array([1.0, 2.0, 3.0]), "zero_d": np.array(3), "none": None,
    "int64": np.int64(2), "int8": np.int8(1), "float32": np.float32(2), "float64": np.float64(2),
}  # fmt: skip
PAIRS = {
    "multiply": lambda tf, x, y: tf.multiply(x, y),
    "maximum": lambda tf, x, y: tf.maximum(x, y),
    "less": lambda tf, x, y: tf.less(x, y),
    "squared_difference": lambda tf, x, y: tf.math.squared_difference(x, y),
    "add": lambda tf, x, y: tf.add(x, y),
    "atan2": lambda tf, x, y: tf.atan2(x, y),
    "operator": lambda tf, x, y: x * y,
}


@cases(op=PAIRS, dtype=["float32", "float64", "int64"])
def before_a_variable(tf, op, dtype):
    v = tf.Variable([1, 2, 3], dtype=dtype)
    return {name: attempt(lambda x=x: op(tf, x, v)) for name, x in PLAIN.items()}


LISTS = {
    "concat": lambda tf, parts: tf.concat(parts, 0),
    "stack": lambda tf, parts: tf.stack(parts),
    "stitch": lambda tf, parts: tf.dynamic_stitch([[0, 1, 2], [3, 4, 5]], parts),
    "accumulate_n": lambda tf, parts: tf.math.accumulate_n(parts),
}


@cases(op=LISTS)
def lists_with_variables(tf, op):
    v, d = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)
    c = tf.constant([1.0, 2.0, 3.0], tf.float64)
    given = {
        "list_first": [[1, 2, 3], v], "list_last": [v, [1, 2, 3]], "two": [v, d],
        "array_first": [np.array([1, 2, 3]), v], "tensor_first": [c, v], "tensor_last": [v, c],
        "fractions": [[1.0, 2.0, 3.0], d], "double": [c, d],
    }  # fmt: skip
    return {name: attempt(lambda parts=parts: op(tf, parts)) for name, parts in given.items()}


NUMBERS = {
    "complex_tensor": lambda tf: tf.constant(2 + 2j),
    "brain_tensor": lambda tf: tf.constant(2.0, tf.bfloat16),
    "beyond": lambda tf: 1 << 63,
    "far_beyond": lambda tf: -(1 << 70),
    "complex_scalar": lambda tf: np.complex64(2),
    "complex": lambda tf: 1j,
    "nan": lambda tf: float("nan"),
    "infinite": lambda tf: float("inf"),
    "zero_d": lambda tf: np.array(2),
    "variable": lambda tf: tf.Variable(2),
    "fraction": lambda tf: 2.7,
    "text": lambda tf: "2",
}
WHOLE = {
    "space_to_depth": lambda tf, k: tf.nn.space_to_depth(tf.ones([1, 4, 4, 1]), k),
    "ngrams": lambda tf, k: tf.strings.ngrams(["a", "b"], k),
    "approx_max_k": lambda tf, k: tf.math.approx_max_k(tf.constant([3.0, 1.0, 2.0, 4.0]), k)[0],
}


@cases(op=WHOLE)
def whole_attributes(tf, op):
    return {name: attempt(lambda k=k: op(tf, k(tf))) for name, k in NUMBERS.items()}


@cases(
    op={
        "lrn": lambda tf, x: tf.nn.local_response_normalization(tf.ones([1, 2, 2, 3]), alpha=x),
        "recall": lambda tf, x: tf.math.approx_max_k([3.0, 1.0, 2.0], 2, recall_target=x)[0],
    }
)
def real_attributes(tf, op):
    given = {
        "number": 0.5, "whole": 1, "scalar": np.float32(0.5), "array": np.array(0.5), "none": None,
        "tensor": tf.constant(0.5), "variable": tf.Variable(0.5), "complex": 1j, "text": "0.5",
    }  # fmt: skip
    return {name: attempt(lambda x=x: op(tf, x)) for name, x in given.items()}


UNARY = "negative square sqrt erf tanh sin cos exp log1p sigmoid floor ceil lgamma"


@cases(op=UNARY.split())
def values_of_others(tf, op):
    call = getattr(tf.math, op)
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    return attempt(lambda: call(sparse)), call(ragged)


AXES = {
    "reduce_sum": lambda tf, k: tf.reduce_sum([1.0], k),
    "concat": lambda tf, k: tf.concat([[1.0]], k),
    "expand_dims": lambda tf, k: tf.expand_dims([1.0], k),
    "argmax": lambda tf, k: tf.argmax([1.0], k),
    "gather": lambda tf, k: tf.gather([1.0], 0, axis=k),
    "cumsum": lambda tf, k: tf.cumsum([1.0], k),
    "split": lambda tf, k: tf.split([1.0], 1, k),
    "reverse": lambda tf, k: tf.reverse([1.0], [k]),
    "roll": lambda tf, k: tf.roll([1.0], 1, k),
    "fill": lambda tf, k: tf.fill([k], 1.0),
    "broadcast_to": lambda tf, k: tf.broadcast_to([1.0], k),
    "crelu": lambda tf, k: tf.nn.crelu([1.0], k),
}


@cases(op=AXES)
def numbers_beyond(tf, op):
    return attempt(lambda: op(tf, 1 << 70))


SEEDS = {
    "fraction": lambda tf: 1.0, "fractions": lambda tf: [1.0, 2.0], "mixed": lambda tf: [1, 1.0],
    "halves": lambda tf: np.array([1.0, 2.0], np.float16), "doubles": lambda tf: np.array([1.0, 2]),
    "truths": lambda tf: np.array([True, False]), "truth_list": lambda tf: [True, False],
    "tensor": lambda tf: tf.constant([1.0, 2.0]), "bytes": lambda tf: np.array([1, 2], np.uint8),
    "texts": lambda tf: np.array(["1", "2"]), "beyond": lambda tf: [1 << 70, 1],
}  # fmt: skip


@cases(seed=SEEDS)
def seeds(tf, seed):
    return (
        attempt(lambda: tf.random.stateless_uniform([2], seed(tf))),
        attempt(lambda: tf.random.stateless_categorical([[1.0, 2.0]], 2, seed(tf)).shape),
    )


@case
def thirty_two_bits(tf):
    return (
        tf.linspace(0.0, 1.0, (1 << 33) + 5),
        attempt(lambda: tf.linspace(0.0, 1.0, 1 << 31)),
        tf.roll([1, 2, 3], 1, tf.constant(1 << 40, tf.int64)),
        attempt(lambda: tf.as_string([1.5], shortest=True, width=1 << 40)),
    )


@case
def shapes_of_text(tf):
    given = (b"", b"\x02", "", "a")
    return [attempt(lambda shape=shape: tf.zeros(shape)) for shape in given]


@case
def truncated_by_zero(tf):
    return [
        attempt(lambda call=call: call(3, 0))
        for call in (tf.truncatemod, tf.truncatediv, tf.math.floormod)
    ]


@case
def products_of_lists(tf):
    f = tf.constant([[1.0]])
    given = {
        "list": ([[1]], f), "array": (np.array([[1]]), f), "list_last": (f, [[1]]),
        "variable": ([[1]], tf.Variable([[1.0]])), "fractions": ([[1.5]], f),
    }  # fmt: skip
    return {name: attempt(lambda pair=pair: tf.matmul(*pair)) for name, pair in given.items()}
