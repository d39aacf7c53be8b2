"""Assertions, numeric checks and the classes of errors."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import INF, NAN, first_only, grads, named
from tests.tensorflow.harness import attempt, case, cases

PAIRS = {
    "assert_equal": ([1.0, 2.0], [1.0, 2.0], [1.0, 3.0]),
    "assert_none_equal": ([1.0, 2.0], [3.0, 4.0], [1.0, 4.0]),
    "assert_less": ([1.0, 2.0], [2.0, 3.0], [2.0, 2.0]),
    "assert_less_equal": ([1.0, 2.0], [1.0, 3.0], [0.0, 2.0]),
    "assert_greater": ([1.0, 2.0], [0.0, 1.0], [1.0, 1.0]),
    "assert_greater_equal": ([1.0, 2.0], [1.0, 1.0], [2.0, 1.0]),
    "assert_near": ([1.0, 2.0], [1.0, 2.0000001], [1.0, 2.1]),
}
SINGLES = {
    "assert_positive": ([1.0, 2.0], [0.0, 1.0]),
    "assert_negative": ([-1.0], [0.0]),
    "assert_non_negative": ([0.0, 1.0], [-1.0]),
    "assert_non_positive": ([0.0, -1.0], [1.0]),
}


@cases(op=list(PAIRS), outcome=["holds", "fails", "clash", "mixed", "scalar", "message"])
def two(tf, op, outcome):
    x, good, bad = PAIRS[op]
    check = getattr(tf.debugging, op)
    if outcome == "holds":
        return check(tf.constant(x), tf.constant(good))
    if outcome == "fails":
        return check(tf.constant(x), tf.constant(bad))
    if outcome == "clash":
        return check(tf.constant(x), tf.constant([1.0, 2.0, 3.0]))
    if outcome == "mixed":
        return check(tf.constant(x), tf.constant([1, 2]))
    if outcome == "message":
        return check(x, bad, message="said so", name="n")
    return check(1.0, [1.0, 1.0])


@cases(op=list(SINGLES), outcome=["holds", "fails", "nan", "whole", "empty"])
def one(tf, op, outcome):
    good, bad = SINGLES[op]
    check = getattr(tf.debugging, op)
    given = {
        "holds": good,
        "fails": bad,
        "nan": [NAN],
        "whole": [1, -1],
        "empty": np.zeros((0,)),
    }[outcome]
    return check(tf.constant(given))


@cases(
    given={
        "rank": lambda d, x: d.assert_rank(x, 2),
        "rank_wrong": lambda d, x: d.assert_rank(x, 1),
        "rank_message": lambda d, x: d.assert_rank(x, 1, message="said so"),
        "rank_at_least": lambda d, x: d.assert_rank_at_least(x, 1),
        "rank_at_least_wrong": lambda d, x: d.assert_rank_at_least(x, 3),
        "rank_in": lambda d, x: d.assert_rank_in(x, [1, 2]),
        "rank_in_wrong": lambda d, x: d.assert_rank_in(x, [0, 1]),
        "rank_fraction": lambda d, x: d.assert_rank(x, 1.5),
        "type": lambda d, x: d.assert_type(x, "float32"),
        "type_wrong": lambda d, x: d.assert_type(x, "int32"),
        "integer": lambda d, x: d.assert_integer(x),
        "integer_holds": lambda d, x: d.assert_integer([1, 2]),
        "scalar": lambda d, x: d.assert_scalar(x),
        "scalar_holds": lambda d, x: d.assert_scalar(1.0),
        "shapes": lambda d, x: d.assert_shapes([(x, ("N", 2)), (x[0], (2,))]),
        "shapes_wrong": lambda d, x: d.assert_shapes([(x, ("N", "N"))]),
        "shapes_clash": lambda d, x: d.assert_shapes([(x, ("N", 2)), (x[0], ("N",))]),
        "proper_iterable": lambda d, x: d.assert_proper_iterable([1]),
        "proper_iterable_wrong": lambda d, x: d.assert_proper_iterable(x),
        "same_float": lambda d, x: d.assert_same_float_dtype([x, x]),
        "is_numeric": lambda d, x: d.is_numeric_tensor(x),
        "all_finite": lambda d, x: d.assert_all_finite(x, "said so"),
        "all_finite_wrong": lambda d, x: d.assert_all_finite(x / 0.0, "said so"),
        "check": lambda d, x: d.check_numerics(x, "fine"),
        "check_nan": lambda d, x: d.check_numerics([NAN], message="here"),
        "check_inf": lambda d, x: d.check_numerics([INF], message="here"),
        "check_both": lambda d, x: d.check_numerics([-INF, NAN, INF], "here"),
        "check_whole": lambda d, x: d.check_numerics([1], "here"),
        "assert": lambda d, x: d.Assert(True, [x]),
        "assert_wrong": lambda d, x: d.Assert(False, [x], summarize=1),
        "near_loose": lambda d, x: d.assert_near([1.0], [1.1], rtol=0.2),
        "near_wrong": lambda d, x: d.assert_near([1.0], [1.1], atol=0.01),
    }
)
def others(tf, given):
    return given(tf.debugging, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))


@case
def checks_have_slopes(tf):
    x = tf.constant([1.0, 2.0])
    return [
        first_only(tf, lambda x: tf.debugging.check_numerics(x, "fine") ** 2, x),
        attempt(lambda: grads(tf, lambda x: tf.debugging.check_numerics(x**0.5, "slope"), x * 0.0)),
    ]


ERRORS = [
    "OpError",
    "InvalidArgumentError",
    "NotFoundError",
    "AlreadyExistsError",
    "FailedPreconditionError",
    "InternalError",
    "OutOfRangeError",
    "UnimplementedError",
    "ResourceExhaustedError",
    "CancelledError",
    "UnknownError",
    "DeadlineExceededError",
    "PermissionDeniedError",
    "AbortedError",
    "UnavailableError",
    "DataLossError",
]


@cases(name=ERRORS)
def error_classes(tf, name):
    kind = named(tf, f"errors.{name}")
    names = [base.__name__ for base in kind.__mro__]
    if name == "OpError":
        made = kind(None, None, "told", 3)
    else:
        made = kind(None, None, "told")
    return names, made.message, made.error_code, made.op, made.node_def, str(made)


@cases(
    call={
        "shapes": lambda tf: tf.ones([2]) + tf.ones([3]),
        "index": lambda tf: tf.constant([1.0])[3],
        "no_attribute": lambda tf: tf.constant([1.0]).nonsense,
        "no_name": lambda tf: tf.nonsense,
        "set_item": lambda tf: tf.constant([1.0]).__setitem__(0, 2.0),
        "too_many_arguments": lambda tf: tf.square(1.0, 2.0, 3.0),
        "unknown_keyword": lambda tf: tf.square(1.0, nonsense=2),
        "missing_argument": lambda tf: tf.add(1.0),
        "if_vector": lambda tf: bool(tf.constant([1.0, 2.0]) > 0.0),
        "variable_shape": lambda tf: tf.Variable([1.0]).assign([1.0, 2.0]),
        "variable_dtype": lambda tf: tf.Variable([1.0]).assign(tf.constant([1])),
        "variable_none": lambda tf: tf.Variable(None),
        "variable_nothing": lambda tf: tf.Variable(),
        "reshape_method": lambda tf: tf.constant([1.0]).reshape(1),
        "item_method": lambda tf: tf.constant([1.0]).item(),
        "numpy_method": lambda tf: tf.constant([1.0]).numpy(),
        "transpose_attribute": lambda tf: tf.constant([[1.0]]).T,
        "float_of_vector": lambda tf: float(tf.constant([1.0, 2.0])),
        "gradient_of_number": lambda tf: tf.GradientTape().gradient(1.0, 2.0),
    }
)
def mistakes(tf, call):
    return call(tf)


@case
def error_attributes(tf):
    error = attempt(lambda: tf.reshape([1.0, 2.0], [3]))
    return [
        isinstance(error, tf.errors.InvalidArgumentError),
        isinstance(error, tf.errors.OpError),
        isinstance(error, Exception),
        error.error_code,
        error.op,
        error.node_def,
        error.error_code == tf.errors.INVALID_ARGUMENT,
        "reshape" in error.message,
    ]
