"""What is raised for arguments of a wrong kind: rank, dtype, Python type, size, None, text."""

import numpy as np

from tests.tensorflow.harness import attempt, cases

# What may stand for an argument; `tf` makes tensors.
GIVEN = {
    "none": lambda tf: None,
    "text": lambda tf: "a",
    "bytes": lambda tf: b"a",
    "texts": lambda tf: ["a", "b"],
    "text_tensor": lambda tf: tf.constant("a"),
    "number": lambda tf: 2.0,
    "whole": lambda tf: 2,
    "negative": lambda tf: -3,
    "beyond": lambda tf: 1 << 70,
    "truth": lambda tf: True,
    "complex": lambda tf: 1j,
    "nan": lambda tf: float("nan"),
    "infinite": lambda tf: float("inf"),
    "empty_list": lambda tf: [],
    "list": lambda tf: [1.0, 2.0],
    "whole_list": lambda tf: [1, 2],
    "ragged": lambda tf: [[1.0], [2.0, 3.0]],
    "with_none": lambda tf: [None, 1.0],
    "dict": lambda tf: {"a": 1.0},
    "set": lambda tf: {1.0},
    "object": lambda tf: object(),
    "type": lambda tf: float,
    "scalar": lambda tf: tf.constant(2.0),
    "vector": lambda tf: tf.constant([1.0, 2.0]),
    "matrix": lambda tf: tf.constant([[4.0, 1.0], [1.0, 3.0]]),
    "cube": lambda tf: tf.ones([2, 2, 2]),
    "image": lambda tf: tf.ones([4, 4, 3]),
    "empty": lambda tf: tf.zeros([0]),
    "empty_matrix": lambda tf: tf.zeros([0, 2]),
    "whole_vector": lambda tf: tf.constant([1, 2]),
    "long_matrix": lambda tf: tf.constant([[4, 1], [1, 3]], tf.int64),
    "bytes_vector": lambda tf: tf.constant([1, 2], tf.uint8),
    "truths": lambda tf: tf.constant([True, False]),
    "truth_matrix": lambda tf: tf.constant([[True, False], [True, True]]),
    "double_matrix": lambda tf: tf.constant([[4.0, 1.0], [1.0, 3.0]], tf.float64),
    "half_vector": lambda tf: tf.constant([1.0, 2.0], tf.float16),
    "brain_vector": lambda tf: tf.constant([1.0, 2.0], tf.bfloat16),
    "complex_matrix": lambda tf: tf.constant([[4.0, 1j], [1.0, 3.0]], tf.complex64),
    "array": lambda tf: np.array([1.0, 2.0]),
    "array_of_ints": lambda tf: np.array([1, 2]),
    "array_matrix": lambda tf: np.array([[4.0, 1.0], [1.0, 3.0]], np.float32),
    "variable": lambda tf: tf.Variable([1.0, 2.0]),
    "zero_d": lambda tf: np.array(2.0),
    "scalar_of_numpy": lambda tf: np.int8(2),
}
FEW = [
    "none", "text", "number", "whole", "beyond", "truth", "complex", "list", "ragged", "object",
    "scalar", "vector", "matrix", "cube", "empty", "whole_vector", "truths", "truth_matrix",
    "double_matrix", "brain_vector", "complex_matrix", "array_of_ints", "array_matrix",
    "text_tensor", "bytes_vector",
]  # fmt: skip

ONE = {
    "range": lambda tf, x: tf.range(x),
    "range_float": lambda tf, x: tf.range(x, dtype=tf.float32),
    "range_whole": lambda tf, x: tf.range(x, dtype=tf.int64),
    "range_delta": lambda tf, x: tf.range(0, 4, x),
    "range_limit": lambda tf, x: tf.range(0.0, x),
    "logical_not": lambda tf, x: tf.logical_not(x),
    "brain": lambda tf, x: tf.constant(x, tf.bfloat16),
    "brain_converted": lambda tf, x: tf.convert_to_tensor(x, tf.bfloat16),
    "brain_cast": lambda tf, x: tf.cast(x, tf.bfloat16),
    "half": lambda tf, x: tf.constant(x, tf.float16),
    "brain_beside": lambda tf, x: tf.constant([1.0, 2.0], tf.bfloat16) + x,
    "einsum_one": lambda tf, x: tf.einsum("ij->ji", x),
    "einsum_equation": lambda tf, x: tf.einsum(x, tf.ones([2, 2])),
    "einsum_dots": lambda tf, x: tf.einsum("...i->...", x),
    "vectorized_map": lambda tf, x: tf.vectorized_map(lambda row: row * 2, x),
    "vectorized_fallback": lambda tf, x: tf.vectorized_map(tf.identity, tf.ones([2]), x),
    "psnr_range": lambda tf, x: tf.image.psnr(tf.ones([4, 4, 3]), tf.zeros([4, 4, 3]), x),
    "psnr_same": lambda tf, x: tf.image.psnr(x, x, 1.0),
    "lstsq_fast": lambda tf, x: tf.linalg.lstsq(tf.eye(2), tf.ones([2, 1]), fast=x),
    "solve_adjoint": lambda tf, x: tf.linalg.solve(tf.eye(2), tf.ones([2, 1]), adjoint=x),
}  # fmt: skip

TWO = {
    "psnr": lambda tf, x, y: tf.image.psnr(x, y, 1.0),
    "einsum": lambda tf, x, y: tf.einsum("ij,jk->ik", x, y),
    "solve": lambda tf, x, y: tf.linalg.solve(x, y),
    "range": lambda tf, x, y: tf.range(x, y),
    "logical_and": lambda tf, x, y: tf.logical_and(x, y),
    "logical_xor": lambda tf, x, y: tf.math.logical_xor(x, y),
    "truncatediv": lambda tf, x, y: tf.truncatediv(x, y),
}
OTHERS = {
    "matrix": GIVEN["matrix"],
    "vector": GIVEN["vector"],
    "whole": GIVEN["whole"],
    "truths": GIVEN["truths"],
    "text": GIVEN["text"],
    "cube": GIVEN["cube"],
}


def short(value):
    """Of a long answer (a range of many numbers), the beginning."""
    return value[:9] if getattr(value, "shape", ()) and len(value) > 9 else value


@cases(excuses=True, call=ONE, given=GIVEN)
def one(tf, call, given):
    return short(call(tf, given(tf)))


@cases(
    excuses=True,
    call=TWO,
    first={name: GIVEN[name] for name in FEW},
    other=OTHERS,
    swapped=[False, True],
)
def two(tf, call, first, other, swapped):
    x, y = (other(tf), first(tf)) if swapped else (first(tf), other(tf))
    return short(call(tf, x, y))


# The cube is of ones: what solves a singular system depends on the machine.
SOLVABLE = {name: GIVEN[name] for name in FEW if name not in ("cube", "beyond")}


@cases(
    excuses=True,
    first=SOLVABLE,
    other={name: other for name, other in OTHERS.items() if name != "cube"},
    swapped=[False, True],
)
def least_squares(tf, first, other, swapped):
    x, y = (other(tf), first(tf)) if swapped else (first(tf), other(tf))
    return tf.linalg.lstsq(x, y)


ORDERS = {
    "rank": lambda tf, tape, v, y: tape.jacobian(y, v, experimental_use_pfor=None),
    "batch": lambda tf, tape, v, y: tape.batch_jacobian(y, v),
    "batch_of_scalars": lambda tf, tape, v, y: tape.batch_jacobian(tf.constant(1.0), v),
    "none": lambda tf, tape, v, y: tape.gradient(None, v),
    "source": lambda tf, tape, v, y: tape.gradient(y, None),
    "text": lambda tf, tape, v, y: tape.gradient("a", v),
    "text_source": lambda tf, tape, v, y: tape.gradient(y, "a"),
    "number": lambda tf, tape, v, y: tape.gradient(1.0, v),
    "seeds": lambda tf, tape, v, y: tape.gradient(y, v, output_gradients=tf.ones([7])),
    "seed_dtype": lambda tf, tape, v, y: tape.gradient(y, v, tf.constant("a")),
    "unconnected": lambda tf, tape, v, y: tape.gradient(y, v, unconnected_gradients="nope"),
    "jacobian_none": lambda tf, tape, v, y: tape.jacobian(None, v),
    "jacobian_unconnected": lambda tf, tape, v, y: tape.jacobian(y, v, "nope"),
    "batch_mismatch": lambda tf, tape, v, y: tape.batch_jacobian(tf.ones([5, 2]), v),
    "watch": lambda tf, tape, v, y: tape.watch("a"),
    "watched": lambda tf, tape, v, y: tape.watched_variables(),
    "reset": lambda tf, tape, v, y: tape.reset(),
    "enter": lambda tf, tape, v, y: tape.__enter__(),
}


@cases(excuses=True, order=ORDERS, persistent=[False, True], used=[False, True])
def used_up(tf, order, persistent, used):
    """Which of two faults is told: a tape that was used, or a bad argument."""
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=persistent) as tape:
        y = v * v
    if used:
        tape.gradient(y, v)
    result = attempt(lambda: order(tf, tape, v, y))
    return result if isinstance(result, Exception) or tf.is_tensor(result) else None
