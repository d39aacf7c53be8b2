"""Values and slopes at awkward points: ties, corners, poles, zeros, infinities, overflow, NaN."""

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

INF, NAN = float("inf"), float("nan")


def slope(tf, function, *given, dtype="float32"):
    xs = [tf.constant(value, dtype) for value in given]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = function(*xs)
    return y, tape.gradient(y, xs)


@cases(
    op=["reduce_max", "reduce_min"],
    given={
        "two": [1.0, 3.0, 3.0],
        "all": [2.0, 2.0, 2.0, 2.0],
        "low": [1.0, 1.0, 3.0],
        "infinite": [INF, INF, 0.0],
        "nan": [1.0, NAN, 3.0],
    },
)
def reduction_ties(tf, op, given):
    return slope(tf, getattr(tf, op), given)


@cases(axis=[0, 1, -1, None])
def reduce_max_ties_along(tf, axis):
    return slope(tf, lambda x: tf.reduce_max(x, axis), [[1.0, 1.0], [1.0, 0.0], [0.5, 1.0]])


@cases(op=["maximum", "minimum"])
def binary_ties(tf, op):
    return slope(tf, getattr(tf, op), [1.0, 2.0, 3.0, 0.0], [1.0, 3.0, 2.0, -0.0])


@cases(op=["maximum", "minimum"])
def binary_with_nan(tf, op):
    return slope(tf, getattr(tf, op), [NAN, 1.0, NAN], [1.0, NAN, NAN])


@cases(
    op={
        "relu": lambda tf, x: tf.nn.relu(x),
        "relu6": lambda tf, x: tf.nn.relu6(x),
        "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
        "elu": lambda tf, x: tf.nn.elu(x),
        "selu": lambda tf, x: tf.nn.selu(x),
        "abs": lambda tf, x: tf.abs(x),
        "sign": lambda tf, x: tf.sign(x),
        "floor": lambda tf, x: tf.floor(x),
        "round": lambda tf, x: tf.round(x),
        "ceil": lambda tf, x: tf.math.ceil(x),
        "rint": lambda tf, x: tf.math.rint(x),
        "clip": lambda tf, x: tf.clip_by_value(x, 0.0, 6.0),
        "square": lambda tf, x: tf.square(x),
        "softplus": lambda tf, x: tf.nn.softplus(x),
        "softsign": lambda tf, x: tf.nn.softsign(x),
        "gelu": lambda tf, x: tf.nn.gelu(x),
        "swish": lambda tf, x: tf.nn.swish(x),
        "where_positive": lambda tf, x: tf.where(x > 0.0, x, 0.0),
        "maximum_zero": lambda tf, x: tf.maximum(x, 0.0),
        "zero_maximum": lambda tf, x: tf.maximum(0.0, x),
        "sigmoid": lambda tf, x: tf.sigmoid(x),
        "tanh": lambda tf, x: tf.tanh(x),
        "exp": lambda tf, x: tf.exp(x),
        "expm1": lambda tf, x: tf.math.expm1(x),
        "erf": lambda tf, x: tf.math.erf(x),
        "atan": lambda tf, x: tf.atan(x),
        "sin": lambda tf, x: tf.sin(x),
        "log_sigmoid": lambda tf, x: tf.math.log_sigmoid(x),
        "is_nan": lambda tf, x: tf.cast(tf.math.is_nan(x), tf.float32),
    }
)
def unary_over_the_line(tf, op):
    points = [-INF, -100.0, -1.5, -0.5, -0.0, 0.0, 0.5, 2.5, 6.0, 100.0, INF, NAN]
    return slope(tf, lambda x: op(tf, x), points)


@cases(
    op={
        "sqrt": lambda tf, x: tf.sqrt(x),
        "rsqrt": lambda tf, x: tf.math.rsqrt(x),
        "log": lambda tf, x: tf.math.log(x),
        "log1p": lambda tf, x: tf.math.log1p(x),
        "reciprocal": lambda tf, x: tf.math.reciprocal(x),
        "one_over": lambda tf, x: 1.0 / x,
        "asin": lambda tf, x: tf.asin(x),
        "acos": lambda tf, x: tf.acos(x),
        "acosh": lambda tf, x: tf.acosh(x),
        "atanh": lambda tf, x: tf.atanh(x),
        "xlogx": lambda tf, x: x * tf.math.log(x),
        "xlogy": lambda tf, x: tf.math.xlogy(x, x),
        "lgamma": lambda tf, x: tf.math.lgamma(x),
        "pow_half": lambda tf, x: tf.pow(x, 0.5),
        "cube_root": lambda tf, x: tf.pow(x, 1.0 / 3.0),
        "reciprocal_no_nan": lambda tf, x: tf.math.reciprocal_no_nan(x),
        "erfinv": lambda tf, x: tf.math.erfinv(x),
    }
)
def unary_at_poles(tf, op):
    return slope(tf, lambda x: op(tf, x), [-2.0, -1.0, 0.0, 0.5, 1.0, 2.0, INF])


@cases(
    pair={
        "zero_squared": (0.0, 2.0),
        "zero_cubed": (0.0, 3.0),
        "zero_to_the_zero": (0.0, 0.0),
        "zero_to_the_one": (0.0, 1.0),
        "zero_to_the_half": (0.0, 0.5),
        "zero_to_the_minus_one": (0.0, -1.0),
        "negative_squared": (-2.0, 2.0),
        "negative_cubed": (-2.0, 3.0),
        "negative_to_the_half": (-2.0, 0.5),
        "one_to_the_zero": (1.0, 0.0),
        "positive_to_the_zero": (3.0, 0.0),
        "positive_to_the_minus_two": (3.0, -2.0),
        "infinite": (INF, 2.0),
    }
)
def pow_at(tf, pair):
    return slope(tf, tf.pow, *pair)


@cases(exponent=[0, 1, 2, 3, -1, 0.5])
def pow_with_a_python_exponent(tf, exponent):
    return slope(tf, lambda x: x**exponent, [-1.0, 0.0, 2.0])


@cases(base=[0.0, 1.0, 2.0, -2.0])
def pow_with_a_python_base(tf, base):
    return slope(tf, lambda y: base**y, [0.0, 1.0, 2.0])


@cases(
    op={
        "sqrt": lambda tf, x: tf.sqrt(x),
        "norm": lambda tf, x: tf.norm(x),
        "relu": lambda tf, x: tf.nn.relu(x),
        "pow": lambda tf, x: x**3,
        "square": lambda tf, x: x * x,
        "abs": lambda tf, x: tf.abs(x),
        "max": lambda tf, x: tf.reduce_max(x),
        "prod": lambda tf, x: tf.reduce_prod(x),
        "where": lambda tf, x: tf.where(x > 0.0, x * x, x),
        "tanh": lambda tf, x: tf.tanh(x),
        "log": lambda tf, x: tf.math.log(x),
        "softplus": lambda tf, x: tf.nn.softplus(x),
    }
)
def second_derivative_at_zero(tf, op):
    x = tf.Variable([0.0, 0.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = op(tf, x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@cases(ord=["euclidean", 1, 2, INF])
def norm_at_zero(tf, ord):
    return slope(tf, lambda x: tf.norm(x, ord=ord), [0.0, 0.0])


@cases(ord=["euclidean", 1, 2, 3, INF])
def norm_away_from_zero(tf, ord):
    return slope(tf, lambda x: tf.norm(x, ord=ord), [3.0, 0.0, -4.0])


@cases(given={"one": [0.0, 2.0, 3.0], "two": [0.0, 0.0, 3.0], "none": [1.0, 2.0, 3.0]})
def reduce_prod_with_zeros(tf, given):
    return slope(tf, tf.reduce_prod, given)


@cases(op=["cumprod", "cumsum", "cumulative_logsumexp"])
def cumulative_with_zeros(tf, op):
    return slope(tf, getattr(tf.math, op), [2.0, 0.0, 3.0, 4.0])


@case
def where_hides_the_value_but_not_the_slope(tf):
    return slope(tf, lambda x: tf.where(x > 0.0, 1.0 / x, 0.0), [0.0, 2.0])


@case
def where_done_twice_is_safe(tf):
    def f(x):
        safe = tf.where(x > 0.0, x, 1.0)
        return tf.where(x > 0.0, 1.0 / safe, 0.0)

    return slope(tf, f, [0.0, 2.0])


@cases(op=["divide_no_nan", "multiply_no_nan", "xdivy", "xlogy", "xlog1py"])
def guarded_pairs(tf, op):
    return slope(tf, getattr(tf.math, op), [1.0, 0.0, 0.0, 3.0], [2.0, 0.0, 4.0, 0.0])


@case
def division_by_zero(tf):
    return slope(tf, lambda x, y: x / y, [1.0, 0.0, -1.0], [0.0, 0.0, 0.0])


@cases(op=["floormod", "floordiv", "mod", "truncatemod"])
def division_with_remainder(tf, op):
    given = [7.0, -7.0, 7.0, -7.0, 6.0], [3.0, 3.0, -3.0, -3.0, 3.0]
    function = {
        "floormod": tf.math.floormod,
        "floordiv": tf.math.floordiv,
        "mod": lambda x, y: x % y,
        "truncatemod": getattr(tf, "truncatemod", None),
    }[op]
    return slope(tf, function, *given)


@cases(dtype=["float16", "float32", "float64"])
def sign_of_no_remainder(tf, dtype):
    x, y = (tf.constant(given, dtype) for given in ([-3, 3, -0.0, 0.0, -3], [3, -3, 3, -3, -3]))
    return 1 / (x % y)


@case
def atan2_at_the_origin(tf):
    return slope(tf, tf.atan2, [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, -1.0, -1.0])


@case
def squared_difference_at_zero(tf):
    return slope(tf, tf.math.squared_difference, [1.0, 2.0], [1.0, 3.0])


@cases(bounds=[(0.0, 1.0), (1.0, 0.0), (0.5, 0.5)])
def clip_by_value_with_bounds(tf, bounds):
    return slope(tf, lambda x: tf.clip_by_value(x, *bounds), [-1.0, 0.0, 0.5, 1.0, 2.0])


@case
def clip_by_value_with_tensor_bounds(tf):
    return slope(tf, tf.clip_by_value, [0.0, 0.5, 3.0], [0.0, 1.0, 1.0], [1.0, 2.0, 2.0])


@cases(norm=[0.0, 1.0, 5.0, 10.0])
def clip_by_norm_at(tf, norm):
    return slope(tf, lambda x: tf.clip_by_norm(x, norm), [3.0, 4.0])


@case
def clip_by_norm_of_zeros(tf):
    return slope(tf, lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0])


@case
def l2_normalize_of_zeros(tf):
    return slope(tf, lambda x: tf.math.l2_normalize(x), [0.0, 0.0])


@case
def reduce_std_of_equal_values(tf):
    return slope(tf, tf.math.reduce_std, [2.0, 2.0])


@cases(
    given={
        "large": [1000.0, 0.0, -1000.0],
        "equal": [0.0, 0.0, 0.0],
        "minus_infinite": [-INF, 0.0, 1.0],
        "all_minus_infinite": [-INF, -INF],
        "nan": [NAN, 0.0],
    },
    op={
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
        "logsumexp": lambda tf, x: tf.reduce_logsumexp(x),
    },
)
def softmax_family(tf, given, op):
    weights = np.arange(1.0, len(given) + 1.0, dtype=np.float32)
    return slope(tf, lambda x: op(tf, x) * weights, given)


@cases(logits={"large": [100.0, -100.0], "zero": [0.0, 0.0], "huge": [1e4, -1e4]})
def cross_entropies_of_large_logits(tf, logits):
    def sigmoid(x):
        labels = tf.constant([0.0, 1.0])
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x)

    def softmax(x):
        return tf.nn.softmax_cross_entropy_with_logits(labels=[0.0, 1.0], logits=x)

    def sparse(x):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=x[None])

    return [slope(tf, f, logits) for f in (sigmoid, softmax, sparse)]


@case
def sort_and_top_k_ties(tf):
    given = [1.0, 3.0, 3.0, 2.0]
    first = slope(tf, lambda x: tf.sort(x) * tf.constant([1.0, 2.0, 3.0, 4.0]), given)
    second = slope(tf, lambda x: tf.math.top_k(x, 2).values * tf.constant([1.0, 2.0]), given)
    return first, second


@case
def segment_max_ties(tf):
    return slope(tf, lambda x: tf.math.segment_max(x, [0, 0, 1]), [1.0, 1.0, 2.0])


@case
def argmax_ties_and_nan(tf):
    return tf.argmax([1.0, 3.0, 3.0]), tf.argmin([1.0, 1.0, 3.0]), tf.argmax([1.0, NAN, 3.0])


@case
def max_pool_ties(tf):
    x = [[[[1.0], [1.0]], [[1.0], [0.0]]]]
    return slope(tf, lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), x)


@cases(dtype=["float16", "bfloat16"])
def overflow_of_small_dtypes(tf, dtype):
    x = tf.constant([300.0, 1e-6], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return y, tape.gradient(y, x)


@cases(
    op={
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "matmul": lambda a, b: a @ b,
        "less": lambda a, b: a < b,
        "equal": lambda a, b: a == b,
        "floordiv": lambda a, b: a // b,
        "mod": lambda a, b: a % b,
    },
    pair=[
        ("float32", "int32"),
        ("int32", "float32"),
        ("float32", "float64"),
        ("float64", "float32"),
        ("float16", "float32"),
        ("int32", "int64"),
        ("complex64", "float32"),
        ("bool", "float32"),
    ],
)
def mixed_dtypes(tf, op, pair):
    a, b = (tf.cast(tf.constant([[1, 2], [3, 4]]), dtype) for dtype in pair)
    return attempt(lambda: op(a, b))


@case(message="cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but")
def mixed_dtypes_message(tf):
    return tf.constant(1.0) + tf.constant(1)


@cases(
    dtype=["float16", "float32", "float64", "int32", "int64", "uint8", "bool", "complex64"],
    other={
        "int": 2,
        "float": 1.5,
        "whole_float": 2.0,
        "bool": True,
        "complex": 1.0 + 2.0j,
        "float64_array": np.array([1.0, 2.0]),
        "float32_array": np.array([1.0, 2.0], np.float32),
        "int64_array": np.array([1, 2]),
        "int32_array": np.array([1, 2], np.int32),
        "float64_scalar": np.float64(1.5),
        "int64_scalar": np.int64(2),
        "list": [1.0, 2.0],
        "int_list": [1, 2],
        "string": "a",
        "none": None,
    },
)
def addition_of_something_else(tf, dtype, other):
    x = tf.cast(tf.constant([1, 0]), dtype)
    return attempt(lambda: x + other), attempt(lambda: other + x)


@case
def large_python_integers(tf):
    x = tf.constant([1, 2])
    return attempt(lambda: x + 2**31), attempt(lambda: tf.constant(2**31)), tf.constant(2**31 - 1)


@case
def integer_division(tf):
    x = tf.constant([7, -7, 6])
    return x / 2, x // 2, x % 2, x % -4, attempt(lambda: x // 0), attempt(lambda: x % 0)


@case
def integer_overflow_and_powers(tf):
    x = tf.constant([2, -3])
    return x**2, x**0, attempt(lambda: x ** tf.constant(-1)), tf.constant(2**30) * 4


@case
def where_between_dtypes(tf):
    return attempt(lambda: tf.where([True, False], tf.constant([1.0, 2.0]), tf.constant([1, 2])))


@case(floor=0.0)
def vanishing_chain(tf):
    def f(x):
        for _ in range(30):
            x = tf.sigmoid(x)
        return x

    return slope(tf, f, [0.5], dtype="float64")


@case
def exploding_chain(tf):
    def f(x):
        for _ in range(20):
            x = x * x
        return x

    return slope(tf, f, [1.5, 0.5])
