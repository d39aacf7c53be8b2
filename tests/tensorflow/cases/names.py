"""What a survey of TensorFlow's signatures brought up: arguments and attributes seldom used."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.harness import case, cases

POLICIES = ("", "DEFAULT", "ERROR", "IGNORE", "ignore", "other")
SCATTERED = {
    "good": ([[0], [2]], [1.0, 2.0]),
    "too_far": ([[0], [7]], [1.0, 2.0]),
    "negative": ([[-1], [2]], [1.0, 2.0]),
    "all_bad": ([[9], [7]], [1.0, 2.0]),
    "block": ([[[0], [5]], [[2], [0]]], [[1.0, 2.0], [3.0, 4.0]]),
}


@cases(policy=POLICIES, given=SCATTERED)
def scatter_nd(tf, policy, given):
    indices, updates = given
    return tf.scatter_nd(indices, updates, [3], bad_indices_policy=policy)


@cases(op=("add", "sub", "max", "min"), policy=POLICIES, given=SCATTERED)
def tensor_scatter_nd(tf, op, policy, given):
    indices, updates = given
    call = getattr(tf, f"tensor_scatter_nd_{op}")
    return call([0.5, 1.5, 2.5], indices, updates, bad_indices_policy=policy)


@cases(op=("max", "min"))
def gradient_without_what_is_ignored(tf, op):
    x, u = tf.constant([0.5, 1.0, 2.5]), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch([x, u])
        y = getattr(tf, f"tensor_scatter_nd_{op}")(x, [[1], [7]], u, bad_indices_policy="IGNORE")
    return tape.gradient(y, [x, u])


EYES = {
    "float_tensor": lambda tf: tf.constant(2.7),
    "double_tensor": lambda tf: tf.constant(2.0, tf.float64),
    "wide_tensor": lambda tf: tf.constant(2, tf.int64),
    "negative_tensor": lambda tf: tf.constant(-1.5),
    "variable": lambda tf: tf.Variable(2.5),
    "float": lambda tf: 2.0,
    "numpy_float": lambda tf: np.float32(2),
    "array": lambda tf: np.array(2.5),
    "none": lambda tf: None,
    "text": lambda tf: "2",
}


@cases(n=EYES, columns=[False, True])
def eye(tf, n, columns):
    return tf.eye(2, n(tf)) if columns else tf.eye(n(tf))


@case
def errors_take_a_code_only_at_the_root(tf):
    return tf.errors.OpError(None, None, "words", tf.errors.ABORTED).error_code


@case
def errors_know_their_code(tf):
    return tf.errors.InvalidArgumentError(None, None, "words", {}).error_code


@case
def errors_take_no_other_code(tf):
    return tf.errors.InvalidArgumentError(None, None, "words", error_code=3)


@case
def errors_need_a_code_at_the_root(tf):
    return tf.errors.OpError(None, None, "words")


@cases(shape=[[None, None], [2, None, None], [2, 3], None])
def ragged_rank_of_a_spec(tf, shape):
    return tf.RaggedTensorSpec(shape).ragged_rank


@case
def dtypes_are_numbers(tf):
    return int(tf.float32), tf.DType(1, None), int(tf.bool)


@case
def dtypes_have_functions(tf):
    return (
        tf.dtypes.cast([1.9], tf.int32),
        tf.dtypes.saturate_cast([300.0], tf.uint8),
        tf.dtypes.complex(1.0, 2.0),
    )


@case
def convert_to_tensor_has_no_old_names(tf):
    return tf.convert_to_tensor(1, preferred_dtype=tf.float32)


@case
def several_elements_are_not_one_truth(tf):
    return bool(tf.constant([True, True]))


@case
def tensors_take_no_items(tf):
    x = tf.constant([1.0, 2.0])
    x[0] = 3.0


@case
def variables_take_no_items(tf):
    x = tf.Variable([1.0, 2.0])
    x[0] = 3.0


@cases(name=("sum", "mean", "T", "reshape", "detach", "item"))
def arrays_methods(tf, name):
    return getattr(tf.constant([1.0]), name)


@cases(rows=[[[1, 2], [3]], [[[1], [2]], [3, 4]], [1, [2]]])
def rows_of_different_lengths(tf, rows):
    return tf.constant(rows)


@cases(name=("CompositeTensor", "EagerTensor"))
def internal_classes(tf, name):
    made = {"CompositeTensor": tf.ragged.constant([[1]]), "EagerTensor": tf.constant(1)}
    return isinstance(made[name], getattr(tf.__internal__, name))


@case
def internal_functions(tf):
    with tf.__internal__.eager_context.eager_mode(), tf.name_scope("a"):
        return tf.__internal__.tf2.enabled(), tf.__internal__.get_name_scope()
