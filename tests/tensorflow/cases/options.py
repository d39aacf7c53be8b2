"""The keyword arguments of control flow, assertions, nests and other functions without a table."""

from __future__ import annotations

from tests.tensorflow.cases._common import fill, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases

LOOPS = {"parallel_iterations": 2, "back_prop": False, "swap_memory": True}
COMPARED = ["equal", "greater", "less", "greater_equal", "less_equal", "none_equal", "near"]
SIGNS = ["negative", "non_negative", "non_positive", "positive"]


@cases(op=["foldl", "foldr", "scan"], option=LOOPS)
def folds(tf, op, option):
    name = next(key for key, value in LOOPS.items() if value is option)
    x = tensor(tf, fill((3,), 0.5, 2), "float64")
    return grads(tf, lambda x: named(tf, op)(lambda a, b: a * b, x, **{name: option}), x)


@cases(option=[*LOOPS, "infer_shape"])
def map_fn(tf, option):
    given = {**LOOPS, "infer_shape": False}[option]
    x = tensor(tf, fill((3,), 0.5, 2), "float64")
    return grads(tf, lambda x: tf.map_fn(lambda a: a * a, x, **{option: given}), x)


@cases(option=[*LOOPS, "shape_invariants"])
def while_loop(tf, option):
    x = tensor(tf, fill((3,), 0.5, 2), "float64")
    given = {**LOOPS, "shape_invariants": [tf.TensorShape([]), tf.TensorShape([None])]}[option]
    more = {option: given}

    def call(x):
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x), **more)[1]

    return grads(tf, call, x)


@case
def branches(tf):
    one, two = (lambda: tf.constant(1)), (lambda: tf.constant(2))
    return [
        tf.case([(tf.constant(False), one), (tf.constant(True), two)], exclusive=True),
        attempt(lambda: tf.case([(tf.constant(True), one)] * 2, exclusive=True)),
        tf.case([(tf.constant(True), one)], default=two, strict=True),
        tf.switch_case(tf.constant(7), {0: one, 1: two}, default=lambda: tf.constant(3)),
        tf.vectorized_map(lambda x: x * x, tf.constant([1.0, 2.0]), warn=False),
        tf.vectorized_map(lambda x: x * x, tf.constant([1.0]), fallback_to_while_loop=False),
        tf.numpy_function(lambda x: x + 1, [tf.constant(1.0)], tf.float32, stateful=False),
        tf.type_spec_from_value(tf.constant([1.0, 2.0])).shape,
        tf.is_symbolic_tensor(tf.constant(1.0)),
        tf.get_static_value(tf.constant(1.0), partial=True),
        tf.print("printed", tf.constant(1.0), output_stream="file:///dev/null", summarize=1),
    ]


@cases(op=COMPARED)
def compared(tf, op):
    call = named(tf, f"debugging.assert_{op}")
    x, y = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 2.0, 3.0])
    return [
        attempt(lambda: call(x, y, message="these", summarize=1)),
        attempt(lambda: call(x, y + 1.0, message="these", summarize=1)),
        attempt(lambda: call(x, y - 1.0, message="these", summarize=1)),
    ]


@cases(op=SIGNS)
def signs(tf, op):
    call = named(tf, f"debugging.assert_{op}")
    given = ([1.0, 2.0], [-1.0, -2.0], [0.0])
    return [attempt(lambda v=v: call(v, message="these", summarize=1)) for v in given]


@case
def asserted(tf):
    check, x = tf.debugging, tf.constant([1.0])
    return [
        attempt(lambda: check.assert_integer(x, message="that")),
        attempt(lambda: check.assert_rank_at_least(x, 2, message="that")),
        attempt(lambda: check.assert_rank_in(x, [0, 2], message="that")),
        attempt(lambda: check.assert_scalar(x, message="that")),
        attempt(lambda: check.assert_type(x, tf.int32, message="that")),
        attempt(lambda: check.assert_same_float_dtype([x], tf.float32)),
        attempt(lambda: check.assert_same_float_dtype([x], dtype=tf.float64)),
        attempt(lambda: check.assert_shapes([(x, ("N",)), (tf.ones([2]), ("N",))], [x], 1, "that")),
        attempt(lambda: check.assert_shapes([(x, (1,))], data=[x], summarize=1, message="that")),
    ]


@case
def composites(tf):
    rows = tf.ragged.constant([[1, 2], [3]])
    flat = tf.nest.flatten([rows], expand_composites=True)
    tf.nest.assert_same_structure([rows], [rows], expand_composites=True)
    return flat, tf.nest.pack_sequence_as([rows], flat, expand_composites=True)
