"""Element-wise functions: values, slopes of two orders, kinks, edges of the domain and dtypes."""

from __future__ import annotations

import operator

import numpy as np

from tests.tensorflow.cases._common import (
    INF,
    NAN,
    REAL,
    SHAPES,
    fill,
    first_only,
    grads,
    named,
    tensor,
)
from tests.tensorflow.harness import attempt, case, cases

# The open interval in which each function is smooth and not steep.
DOMAIN = {
    "abs": (-2, 2),
    "math.acos": (-0.9, 0.9),
    "math.acosh": (1.1, 3),
    "math.asin": (-0.9, 0.9),
    "math.asinh": (-2, 2),
    "math.atan": (-2, 2),
    "math.atanh": (-0.9, 0.9),
    "math.bessel_i0": (-2, 2),
    "math.bessel_i0e": (-2, 2),
    "math.bessel_i1": (-2, 2),
    "math.bessel_i1e": (-2, 2),
    "math.ceil": (-2, 2),
    "cos": (-2, 2),
    "math.cosh": (-2, 2),
    "math.digamma": (0.5, 3),
    "math.erf": (-2, 2),
    "math.erfc": (-2, 2),
    "math.erfinv": (-0.9, 0.9),
    "exp": (-2, 2),
    "math.expm1": (-2, 2),
    "floor": (-2, 2),
    "identity": (-2, 2),
    "math.lgamma": (0.5, 3),
    "math.log": (0.2, 3),
    "math.log1p": (-0.9, 2),
    "math.log_sigmoid": (-3, 3),
    "math.ndtri": (0.1, 0.9),
    "negative": (-2, 2),
    "math.reciprocal": (0.3, 2),
    "math.reciprocal_no_nan": (0.3, 2),
    "math.rint": (-2, 2),
    "round": (-2, 2),
    "math.rsqrt": (0.3, 2),
    "sigmoid": (-3, 3),
    "sign": (-2, 2),
    "sin": (-2, 2),
    "math.sinh": (-2, 2),
    "math.softplus": (-3, 3),
    "nn.softsign": (-2, 2),
    "sqrt": (0.3, 2),
    "square": (-2, 2),
    "stop_gradient": (-2, 2),
    "tan": (-1.2, 1.2),
    "tanh": (-2, 2),
    "zeros_like": (-2, 2),
    "ones_like": (-2, 2),
    "math.conj": (-2, 2),
    "math.real": (-2, 2),
    "math.imag": (-2, 2),
    "math.angle": (0.2, 2),
    "math.is_nan": (-2, 2),
    "math.is_inf": (-2, 2),
    "math.is_finite": (-2, 2),
}
EDGES = [-INF, -2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, INF, NAN]
COARSE = ["float16", "bfloat16"]
OTHERS = ["int32", "bool", "complex64"]


@cases(op=list(DOMAIN), dtype=REAL)
def unary(tf, op, dtype):
    return grads(tf, named(tf, op), tensor(tf, fill((2, 3), *DOMAIN[op]), dtype))


@cases(op=list(DOMAIN), tolerance=1e-4)
def unary_at_the_edges(tf, op):
    return grads(tf, named(tf, op), tensor(tf, EDGES))


@cases(op=list(DOMAIN))
def unary_of_other_shapes(tf, op):
    answers = []
    for shape in [(), (0, 3)]:
        x = tensor(tf, fill(shape, *DOMAIN[op]))
        answers.append(first_only(tf, named(tf, op), x))
    return answers


@cases(op=list(DOMAIN), dtype=COARSE)
def unary_coarse(tf, op, dtype):
    return first_only(tf, named(tf, op), tensor(tf, fill((4,), *DOMAIN[op]), dtype))


@cases(op=list(DOMAIN), dtype=OTHERS)
def unary_of_dtype(tf, op, dtype):
    low, high = DOMAIN[op]
    array = fill((4,), low, high) if dtype == "complex64" else np.array([0, 1, 2, 3])
    return first_only(tf, named(tf, op), tensor(tf, array, dtype))


@cases(
    op=["abs", "exp", "math.log", "sqrt", "sigmoid", "negative", "math.is_nan", "math.conj"],
    given={
        "number": 0.5,
        "integer": 2,
        "truth": True,
        "list": [0.5, 0.25],
        "array64": np.array([0.5, 0.25]),
        "array32": np.array([0.5, 0.25], np.float32),
        "text": "junk",
        "none": None,
        "object": object,
    },
)
def unary_of_python(tf, op, given):
    return named(tf, op)(given)


@cases(op=["sigmoid", "tanh", "math.softplus", "math.log_sigmoid", "math.erf", "math.expm1"])
def unary_far_out(tf, op):
    x = tensor(tf, [-100.0, -50.0, -20.0, -1e-6, 1e-6, 20.0, 50.0, 100.0], "float64")
    return grads(tf, named(tf, op), x)


@cases(
    alias=[
        "math.abs",
        "math.exp",
        "math.sin",
        "math.cos",
        "math.sqrt",
        "math.square",
        "math.sigmoid",
        "math.tanh",
        "math.negative",
        "math.sign",
        "math.floor",
        "math.round",
        "math.tan",
        "nn.sigmoid",
        "nn.tanh",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cosh",
        "sinh",
        "nn.softplus",
        "math.softsign",
    ]
)
def unary_alias(tf, alias):
    return named(tf, alias)(tensor(tf, [1.25, 0.75]))


@case
def names_are_accepted(tf):
    x = tensor(tf, [1.0, 2.0])
    y = tf.add(x, x, name="a")
    return [
        y,
        tf.multiply(x, 2.0, name="m"),
        tf.abs(x, name="abs"),
        tf.exp(x=x, name="exp"),
        tf.sqrt(x=x),
        tf.pow(x=x, y=2.0, name="pow"),
        tf.maximum(x=x, y=1.5),
        tf.add_n(inputs=[x, x], name="n"),
        tf.identity(input=x, name="same"),
        tf.sigmoid(x=x),
        tf.math.softplus(features=x),
        tf.square(x=x),
    ]


# ------------------------------------------------------------------------------ two operands

BINARY = {
    "add": ((-2, 2), (-2, 2)),
    "subtract": ((-2, 2), (-2, 2)),
    "multiply": ((-2, 2), (-2, 2)),
    "divide": ((-2, 2), (0.5, 2)),
    "truediv": ((-2, 2), (0.5, 2)),
    "math.divide_no_nan": ((-2, 2), (0.5, 2)),
    "math.multiply_no_nan": ((-2, 2), (0.5, 2)),
    "math.floordiv": ((-5, 5), (0.5, 2)),
    "math.mod": ((-5, 5), (0.5, 2)),
    "math.floormod": ((-5, 5), (0.5, 2)),
    "truncatemod": ((-5, 5), (0.5, 2)),
    "pow": ((0.3, 2), (-2, 2)),
    "maximum": ((-2, 2), (-2, 2)),
    "minimum": ((-2, 2), (-2, 2)),
    "math.squared_difference": ((-2, 2), (-2, 2)),
    "math.atan2": ((-2, 2), (0.5, 2)),
    "math.xdivy": ((-2, 2), (0.5, 2)),
    "math.xlogy": ((-2, 2), (0.5, 2)),
    "math.xlog1py": ((-2, 2), (-0.5, 2)),
    "math.igamma": ((0.5, 2), (0.5, 3)),
    "math.igammac": ((0.5, 2), (0.5, 3)),
    "math.zeta": ((1.5, 3), (0.5, 2)),
    "math.nextafter": ((-2, 2), (-2, 2)),
    "complex": ((-2, 2), (-2, 2)),
    "equal": ((-2, 2), (-2, 2)),
    "not_equal": ((-2, 2), (-2, 2)),
    "less": ((-2, 2), (-2, 2)),
    "less_equal": ((-2, 2), (-2, 2)),
    "greater": ((-2, 2), (-2, 2)),
    "greater_equal": ((-2, 2), (-2, 2)),
}
PAIRS = {
    "same": ((2, 3), (2, 3)),
    "row": ((2, 3), (3,)),
    "cross": ((2, 1), (1, 3)),
    "scalar": ((), (3,)),
    "scalars": ((), ()),
    "empty": ((0, 3), (1, 3)),
    "clash": ((2, 3), (2,)),
}


def pair(tf, op, shapes=((2, 3), (2, 3)), dtype="float32"):
    (first, second), (one, other) = BINARY[op], shapes
    return tensor(tf, fill(one, *first), dtype), tensor(tf, fill(other, *second, seed=1), dtype)


@cases(op=list(BINARY))
def binary64(tf, op):
    return grads(tf, named(tf, op), *pair(tf, op, dtype="float64"))


@cases(op=list(BINARY), shapes=PAIRS)
def binary(tf, op, shapes):
    return first_only(tf, named(tf, op), *pair(tf, op, shapes))


@cases(op=["multiply", "divide", "pow", "maximum", "math.squared_difference", "math.xlogy"])
def binary_broadcast_twice(tf, op):
    return grads(tf, named(tf, op), *pair(tf, op, ((2, 1), (1, 3)), "float64"))


@cases(op=list(BINARY), dtype=[*COARSE, "int32", "uint8", "bool", "complex64"])
def binary_of_dtype(tf, op, dtype):
    if dtype in (*COARSE, "complex64"):
        return first_only(tf, named(tf, op), *pair(tf, op, ((3,), (3,)), dtype))
    x, y = np.array([0, 1, 7, 3]), np.array([1, 1, 2, 5])
    return first_only(tf, named(tf, op), tensor(tf, x, dtype), tensor(tf, y, dtype))


EDGE_X = [-INF, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, INF, NAN]
EDGE_Y = [-INF, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, INF, NAN]


@cases(op=[op for op in BINARY if op not in ("math.igamma", "math.igammac", "math.zeta")])
def binary_at_the_edges(tf, op):
    x = np.repeat(EDGE_X, len(EDGE_Y))
    y = np.tile(EDGE_Y, len(EDGE_X))
    return first_only(tf, named(tf, op), tensor(tf, x), tensor(tf, y))


@cases(op=["pow", "maximum", "math.divide_no_nan", "math.xlogy", "math.xdivy", "math.atan2"])
def binary_second_order_at_zero(tf, op):
    x, y = np.repeat([-1.0, 0.0, 2.0], 4), np.tile([0.0, 1.0, 2.0, 3.0], 3)
    return grads(tf, named(tf, op), tensor(tf, x), tensor(tf, y))


@cases(
    op=["math.floordiv", "math.mod", "truncatediv", "truncatemod", "divide", "pow", "maximum"],
    dtype=["int32", "int64", "float32"],
)
def signs_of_whole_numbers(tf, op, dtype):
    x, y = np.repeat([-7, -1, 0, 7], 3), np.tile([-2, 1, 3], 4)
    if op == "pow":
        y = np.abs(y)
    return named(tf, op)(tensor(tf, x, dtype), tensor(tf, y, dtype))


@cases(op=["math.floordiv", "math.mod", "truncatediv", "divide"], dtype=["int32", "float32"])
def division_by_zero(tf, op, dtype):
    return named(tf, op)(tensor(tf, [1, 0, -1], dtype), tensor(tf, [0, 0, 0], dtype))


@case
def negative_whole_power(tf):
    return tf.pow(tf.constant([2, 3]), tf.constant([-1, 2]))


@cases(
    x=["float32", "int32", "bool"],
    y=["float64", "int32", "int64", "bool", "complex64"],
    op=["add", "pow", "equal", "maximum"],
)
def mixed_dtypes(tf, op, x, y):
    return named(tf, op)(tensor(tf, [1, 2], x), tensor(tf, [1, 1], y))


@cases(op=["logical_and", "logical_or", "math.logical_xor"])
def logical(tf, op):
    x, y = tf.constant([True, True, False, False]), tf.constant([True, False, True, False])
    junk = attempt(lambda: named(tf, op)(tf.constant(1.0), tf.constant(0.0)))
    return named(tf, op)(x, y), named(tf, op)(True, [False, True]), junk


@case
def logical_not(tf):
    return tf.logical_not([True, False]), attempt(lambda: tf.logical_not(tf.constant([1, 0])))


@cases(count=[1, 2, 3])
def add_n(tf, count):
    inputs = [tensor(tf, fill((2,), seed=seed)) for seed in range(count)]
    return grads(tf, lambda *xs: tf.add_n(xs), *inputs)


@cases(
    given={
        "none": [],
        "not_a_list": 3.0,
        "one_tensor": np.ones(2, np.float32),
        "clash": [np.ones(2, np.float32), np.ones(3, np.float32)],
        "broadcast": [np.ones((2, 2), np.float32), np.ones(2, np.float32)],
        "mixed": [np.ones(2, np.float32), np.ones(2, np.float64)],
    }
)
def add_n_of(tf, given):
    return tf.add_n(given)


@cases(kind=["same_twice", "variable", "whole"])
def add_n_kinds(tf, kind):
    if kind == "same_twice":
        return grads(tf, lambda x: tf.add_n([x, x, x]), tensor(tf, [1.0, 2.0]))
    if kind == "whole":
        return tf.add_n([tf.constant([1, 2]), tf.constant([3, 4])])
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.add_n([v, v * v])
    return y, tape.gradient(y, v)


@case(tolerance=1e-4)
def betainc(tf):
    a, b, x = (tensor(tf, v, "float64") for v in ([0.5, 2.0], [1.5, 3.0], [0.25, 0.6]))
    return first_only(tf, tf.math.betainc, a, b, x)


@case(tolerance=1e-4)
def polygamma(tf):
    a, x = tensor(tf, [1.0, 2.0], "float64"), tensor(tf, [1.5, 0.6], "float64")
    return first_only(tf, tf.math.polygamma, a, x)


# --------------------------------------------------------------------------------- operators

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@cases(sign=OPERATORS, dtype=["float32", "float64", "int32"])
def operators(tf, sign, dtype):
    x, y = tensor(tf, [5, 2, 3], dtype), tensor(tf, [2, 2, 4], dtype)
    return grads(tf, sign, x, y)


@cases(
    sign=OPERATORS,
    other={
        "float": 2.5,
        "int": 2,
        "true": True,
        "list": [2.0, 3.0],
        "array64": np.array([2.0, 3.0]),
        "array32": np.array([2.0, 3.0], np.float32),
        "whole_array": np.array([2, 3]),
        "scalar64": np.float64(2.5),
        "scalar_int": np.int64(2),
        "complex": 1j,
        "none": None,
        "text": "junk",
    },
    dtype=["float32", "int32"],
)
def operators_with_python(tf, sign, other, dtype):
    x = tensor(tf, [4, 3], dtype)
    return attempt(lambda: sign(x, other)), attempt(lambda: sign(other, x))


@cases(sign=["&", "|", "^", "~"], dtype=["bool", "int32", "float32"])
def bits(tf, sign, dtype):
    x, y = tensor(tf, [0, 1, 1, 0], dtype), tensor(tf, [0, 1, 0, 1], dtype)
    table = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
    return ~x if sign == "~" else table[sign](x, y)


@cases(dtype=["float32", "int32", "complex64", "bool"])
def signs(tf, dtype):
    x = tensor(tf, [1, 0, 1], dtype)
    return [attempt(lambda: -x), attempt(lambda: +x), attempt(lambda: abs(x))]


@cases(
    call={
        "divmod": lambda x: divmod(x, 2.0),
        "float": float,
        "int": int,
        "bool": bool,
        "len": len,
        "index": lambda x: [1, 2, 3][x],
        "iterate": list,
        "format": lambda x: f"{x:.2f}",
        "contains": lambda x: 1.0 in x,
        "hash": lambda x: hash(x) is not None,
        "complex": complex,
        "sum": sum,
    },
    given={
        "scalar": np.float32(1.25),
        "whole": np.int32(1),
        "one": np.float32([1.5]),
        "two": np.float32([1.5, 2.5]),
        "matrix": np.float32([[1.5, 2.5]]),
        "empty": np.zeros((0,), np.float32),
    },
)
def protocols(tf, call, given):
    return call(tf.constant(given))


@cases(shape=SHAPES)
def chain(tf, shape):
    return grads(
        tf,
        lambda x, y: tf.tanh(x * y) / (1.0 + tf.exp(-x)) - y**2,
        tensor(tf, fill(shape), "float64"),
        tensor(tf, fill(shape, seed=1), "float64"),
    )


@cases(depth=[3, 4])
def high_order(tf, depth):
    x = tf.constant(0.7, tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.sin(x) * tf.exp(x) * x**3
        found = []
        for _ in range(depth):
            y = tape.gradient(y, x)
            found.append(y)
    return found


@cases(power=[0, 1, 2, 3, 0.5, -1, 2.0])
def python_power(tf, power):
    return grads(tf, lambda x: x**power, tensor(tf, [-1.5, 0.0, 2.0]))


@cases(base=[0, 2, 2.0, -2.0])
def python_base(tf, base):
    return grads(tf, lambda x: base**x, tensor(tf, [0.0, 1.0, 2.0]))


@case
def complex_parts(tf):
    x = tensor(tf, fill((3,)), "complex64")

    def call(x):
        return [tf.math.real(x), tf.math.imag(x), tf.abs(x), tf.math.angle(x), tf.math.conj(x)]

    return grads(tf, call, x)


@cases(op=["math.real", "math.imag", "math.angle", "math.conj", "abs", "sign"])
def complex_zero(tf, op):
    return first_only(tf, named(tf, op), tf.constant([0j, 1j, -1.0 + 0j], tf.complex64))


@cases(shapes={"same": ((2,), (2,)), "row": ((2, 1), (3,))}, dtype=["complex64", "complex128"])
def complex_arithmetic(tf, shapes, dtype):
    x, y = tensor(tf, fill(shapes[0]), dtype), tensor(tf, fill(shapes[1], 0.5, 1, seed=1), dtype)
    return first_only(tf, lambda x, y: [x + y, x - y, x * y, x / y, x**y], x, y)
