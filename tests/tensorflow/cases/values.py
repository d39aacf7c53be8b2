"""Tensors and variables as Python objects: text, indexing, operators, conversion, assignment."""

import operator

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
EVERY = [*FLOATS, *INTEGERS, "bool", "complex64", "complex128"]

SHAPES = {
    "scalar": (),
    "vector": (3,),
    "matrix": (2, 3),
    "cube": (2, 1, 2),
    "empty": (0,),
    "empty_matrix": (0, 3),
    "long": (1200,),
    "wide": (3, 500),
    "deep": (1, 1, 1, 1),
}


def ramp(tf, shape, dtype="float32"):
    return tf.cast(tf.reshape(tf.range(int(np.prod(shape))), shape), dtype)


# --------------------------------------------------------------------------------------- text


@cases(shape=SHAPES, form=[repr, str])
def text_by_shape(tf, shape, form):
    return form(ramp(tf, shape))


@cases(dtype=EVERY, form=[repr, str])
def text_by_dtype(tf, dtype, form):
    return form(tf.cast(tf.constant([0, 1, 2]), dtype)), form(tf.cast(tf.constant(1), dtype))


@cases(shape=SHAPES)
def text_of_variables_by_shape(tf, shape):
    return repr(tf.Variable(ramp(tf, shape)))


@cases(dtype=EVERY)
def text_of_variables_by_dtype(tf, dtype):
    variable = tf.Variable(tf.cast(tf.constant([0, 1]), dtype), name="v")
    return repr(variable), str(variable)


@cases(
    value={
        "tenth": 0.1,
        "third": 1.0 / 3.0,
        "large": 1e10,
        "small": 1e-10,
        "whole": 5.0,
        "infinite": float("inf"),
        "nan": float("nan"),
        # Not as a scalar: TensorFlow keeps scalar constants, and takes -0.0 and 0.0 for one.
        "negative_zero": [-0.0, 0.0],
        "mixed": [1.0, 0.001, 1000.0],
        "far_apart": [1e-8, 1.0, 1e8],
        "with_nan": [float("nan"), 1.0, float("-inf")],
    }
)
def text_of_floats(tf, value):
    narrow, wide = tf.constant(value), tf.constant(value, tf.float64)
    return repr(narrow), str(narrow), repr(wide), str(wide)


@case
def text_of_strings(tf):
    one, many = tf.constant("héllo"), tf.constant([b"a", "b\n"])
    return repr(one), str(one), repr(many), str(many)


@case
def text_of_complex_numbers(tf):
    return repr(tf.constant(1.0 + 2.0j)), str(tf.constant([1.0 + 2.0j, -0.5j]))


@cases(
    spec={
        "plain": "{}",
        "fixed": "{:.2f}",
        "wide": "{:8.3f}",
        "exponent": "{:.3e}",
        "general": "{:g}",
        "repr": "{!r}",
        "string": "{!s:>6}",
        "integer": "{:d}",
        "percent": "{:.1%}",
        "aligned": "{:>8}",
    }
)
def format_specifications(tf, spec):
    values = tf.constant(3.14159), tf.constant(42), tf.Variable(2.5), tf.constant([1.0, 2.0])
    return [attempt(lambda value=value: spec.format(value)) for value in values]


@case
def percent_formatting(tf):
    x = tf.constant(2.5)
    return "%s" % x, "%.2f" % x, attempt(lambda: "%d" % tf.constant(3))  # noqa: UP031


@case
def text_of_indexed_slices(tf):
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([2]))
    return str(slices).startswith("IndexedSlices(indices=")


@case
def text_of_small_things(tf):
    spec = tf.TensorSpec([None, 3], tf.float32, name="x")
    return (
        repr(tf.float32),
        str(tf.float32),
        repr(tf.TensorShape([1, None])),
        str(tf.TensorShape([1, None])),
        repr(tf.TensorShape(None)),
        str(tf.TensorShape([])),
        repr(spec),
        repr(tf.TensorSpec([])),
        str(tf.UnconnectedGradients.ZERO),
    )


@case
def text_of_nested_values(tf):
    return str([tf.constant(1.0)]), str({"a": tf.constant([1, 2])})


# ---------------------------------------------------------------------------- Python's protocols


@cases(
    protocol={
        "len": len,
        "bool": bool,
        "int": int,
        "float": float,
        "complex": complex,
        "hash": hash,
        "iter": lambda x: list(iter(x)),
        "index": operator.index,
        "list": lambda x: [10, 20, 30][x],
        "range": lambda x: list(range(x)),
        "abs": abs,
        "contains": lambda x: 1.0 in x,
        "reversed": lambda x: list(reversed(x)),
        "tolist": lambda x: x.numpy().tolist(),
        "item": lambda x: x.numpy().item(),
        "array": np.asarray,
        "float_array": lambda x: np.array(x, dtype=np.float64),
        "unpack": lambda x: [*x],
        "call": lambda x: x(),
        "setitem": lambda x: operator.setitem(x, 0, 1.0),
        "delitem": lambda x: operator.delitem(x, 0),
        "invert": operator.invert,
        "neg": operator.neg,
        "pos": operator.pos,
    },
    value={
        "float": lambda tf: tf.constant(2.5),
        "int": lambda tf: tf.constant(2),
        "zero": lambda tf: tf.constant(0.0),
        "true": lambda tf: tf.constant(True),
        "vector": lambda tf: tf.constant([1.0, 2.0]),
        "one": lambda tf: tf.constant([1]),
        "empty": lambda tf: tf.zeros([0]),
        "complex": lambda tf: tf.constant(1.0 + 2.0j),
        "string": lambda tf: tf.constant("1"),
        "variable": lambda tf: tf.Variable(2.0),
        "variable_vector": lambda tf: tf.Variable([1, 2]),
    },
)
def python_protocol(tf, protocol, value):
    result = attempt(lambda: protocol(value(tf)))
    return isinstance(result, int) if protocol is hash else result


@cases(
    pair={
        "same": lambda tf: (tf.constant([1.0, 2.0]), tf.constant([1.0, 3.0])),
        "broadcast": lambda tf: (tf.constant([[1.0], [2.0]]), tf.constant([1.0, 2.0])),
        "shapes": lambda tf: (tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])),
        "scalar": lambda tf: (tf.constant([1.0, 2.0]), 1.0),
        "none": lambda tf: (tf.constant([1.0, 2.0]), None),
        "string": lambda tf: (tf.constant([1.0, 2.0]), "a"),
        "strings": lambda tf: (tf.constant(["a", "b"]), "a"),
        "list": lambda tf: (tf.constant([1, 2]), [1, 3]),
        "array": lambda tf: (tf.constant([1, 2]), np.array([1, 3])),
        "object": lambda tf: (tf.constant(1), object),
        "bool": lambda tf: (tf.constant([True, False]), True),
        "variable": lambda tf: (tf.Variable(1.0), tf.Variable(1.0)),
        "variable_tensor": lambda tf: (tf.Variable(1.0), tf.constant(2.0)),
        "variable_none": lambda tf: (tf.Variable(1.0), None),
        "nan": lambda tf: (tf.constant(float("nan")), tf.constant(float("nan"))),
        "integer_float": lambda tf: (tf.constant(1), 1.5),
    },
    compare={"eq": operator.eq, "ne": operator.ne},
)
def equality(tf, pair, compare):
    left, right = pair(tf)
    return attempt(lambda: compare(left, right)), attempt(lambda: compare(right, left))


@case
def membership_and_identity(tf):
    a, b = tf.constant(1.0), tf.constant(1.0)
    return a is b, attempt(lambda: a in [b]), attempt(lambda: {a: 1}), a.ref() == a.ref()


@case
def references(tf):
    a, b = tf.constant(1.0), tf.constant(1.0)
    table = {a.ref(): "a", b.ref(): "b"}
    return table[a.ref()], a.ref().deref() is a, a.ref() == b.ref(), hash(a.ref()) == hash(a.ref())


@case
def attributes(tf):
    x, w = tf.zeros([2, 3]), tf.Variable([1.0], name="w")
    return (
        x.shape,
        x.dtype,
        x.ndim,
        x.shape.rank,
        x.get_shape(),
        x.shape.as_list(),
        w.shape,
        w.dtype,
        w.name,
        w.trainable,
        attempt(lambda: x.name),
        attempt(lambda: x.size),
        attempt(lambda: x.T),
        attempt(lambda: x.reshape(3, 2)),
        attempt(lambda: x.astype("float64")),
        attempt(lambda: x.ravel()),
        attempt(lambda: x.transpose()),
        attempt(lambda: x.nothing),
    )


@case
def attributes_are_read_only(tf):
    x = tf.constant(1.0)
    return attempt(lambda: setattr(x, "shape", [1])), attempt(lambda: setattr(x, "dtype", "int32"))


@case
def numpy_of_a_tensor(tf):
    x = tf.constant([[1.0, 2.0]])
    scalar = tf.constant(1.0).numpy()
    return (
        x.numpy(),
        scalar,
        type(scalar).__name__,
        tf.constant("a").numpy(),
        x.numpy() is x.numpy(),
    )


@case
def numpy_of_a_variable_is_a_copy(tf):
    w = tf.Variable([1.0, 2.0])
    before = w.numpy()
    w.assign([5.0, 6.0])
    return before, w.numpy()


@case
def input_arrays_are_copied(tf):
    given = np.array([1.0, 2.0], np.float32)
    x, y, w = tf.constant(given), tf.convert_to_tensor(given), tf.Variable(given)
    given[0] = 9.0
    return x, w, y.shape


@case
def shapes_of_results_compare_with_lists(tf):
    x = tf.zeros([2, 3])
    return (
        x.shape == (2, 3),
        x.shape == [2, 3],
        x.shape != (3, 2),
        x.shape == tf.TensorShape([2, 3]),
    )


# ----------------------------------------------------------------------------------- indexing


@cases(
    index={
        "integer": lambda tf: 1,
        "negative": lambda tf: -1,
        "pair": lambda tf: (1, 2),
        "slice": lambda tf: slice(0, 1),
        "open": lambda tf: slice(None),
        "step": lambda tf: (slice(None), slice(None, None, 2)),
        "backwards": lambda tf: (slice(None, None, -1),),
        "backwards_range": lambda tf: (0, slice(2, 0, -1)),
        "negative_range": lambda tf: (0, slice(-2, None)),
        "past_the_end": lambda tf: slice(1, 10),
        "empty": lambda tf: slice(2, 1),
        "ellipsis": lambda tf: (..., 0),
        "ellipsis_alone": lambda tf: ...,
        "ellipsis_middle": lambda tf: (0, ..., 1),
        "newaxis": lambda tf: (None, 0),
        "newaxis_name": lambda tf: (slice(None), tf.newaxis, 1),
        "newaxis_end": lambda tf: (..., None),
        "none": lambda tf: None,
        "tuple_of_nothing": lambda tf: (),
        "tensor": lambda tf: tf.constant(1),
        "tensor_int64": lambda tf: tf.constant(1, tf.int64),
        "tensor_bounds": lambda tf: slice(tf.constant(0), tf.constant(1)),
        "tensor_pair": lambda tf: (tf.constant(1), slice(None, tf.constant(2))),
        "numpy_integer": lambda tf: np.int64(1),
        "numpy_scalar_array": lambda tf: np.array(1),
        "variable": lambda tf: tf.Variable(1),
        "out_of_range": lambda tf: 2,
        "out_of_range_negative": lambda tf: -3,
        "out_of_range_inner": lambda tf: (0, 3),
        "too_many": lambda tf: (0, 0, 0),
        "two_ellipses": lambda tf: (..., ...),
        "zero_step": lambda tf: slice(None, None, 0),
        "float": lambda tf: 1.0,
        "float_tensor": lambda tf: tf.constant(1.0),
        "string": lambda tf: "a",
        "bool": lambda tf: True,
        "list": lambda tf: [0, 1],
        "array": lambda tf: np.array([0, 1]),
        "tensor_vector": lambda tf: tf.constant([0, 1]),
        "mask": lambda tf: tf.constant([True, False]),
        "mask_array": lambda tf: np.array([True, False]),
        "condition": lambda tf: tf.constant([[1, 2, 3], [4, 5, 6]]) > 2,
        "float_bound": lambda tf: slice(0.0, 1.0),
    },
    kind=["tensor", "variable"],
)
def indexing(tf, index, kind):
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    x = tf.Variable(x) if kind == "variable" else x
    return attempt(lambda: x[index(tf)])


@case
def indexing_a_scalar(tf):
    x = tf.constant(1.0)
    return [attempt(lambda i=i: x[i]) for i in (0, ..., None, (), slice(None))]


@case
def indexing_strings_and_bools(tf):
    return tf.constant(["a", "b"])[1], tf.constant([True, False])[::-1]


@case
def assignment_through_an_index(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    w[0].assign([7.0, 8.0])
    w[1, 1].assign(9.0)
    result = w[:, 0].assign([0.5, 0.6])
    return w, isinstance(result, tf.Variable), attempt(lambda: w[0].assign([1.0, 2.0, 3.0]))


@case
def item_assignment_of_a_variable(tf):
    w = tf.Variable([1.0, 2.0])
    return attempt(lambda: operator.setitem(w, 0, 5.0))


@case
def iteration(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    rows = list(x)
    return rows, [isinstance(row, tf.Tensor) for row in rows], list(tf.Variable([1, 2]))


@case
def iteration_over_enumerate_and_zip(tf):
    x = tf.constant([1.0, 2.0])
    return [(i, element) for i, element in enumerate(x)], list(zip(x, [3, 4], strict=True))


# ---------------------------------------------------------------------------------- operators

BINARY = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


@cases(
    op=BINARY,
    other={
        "int": 2,
        "float": 2.5,
        "array": np.array([2.0, 3.0]),
        "float32_array": np.array([2.0, 3.0], np.float32),
        "list": [2.0, 3.0],
        "numpy_scalar": np.float32(2.0),
        "matrix": np.ones((2, 2), np.float32),
    },
)
def operators(tf, op, other):
    x, w = tf.constant([1.0, 4.0]), tf.Variable([1.0, 4.0])
    pairs = [(x, other), (other, x), (w, other), (other, w)]
    return [attempt(lambda pair=pair: op(*pair)) for pair in pairs]


@cases(op=BINARY, dtype=["int32", "uint8", "float16", "float64"])
def operators_between_tensors(tf, op, dtype):
    x, y = (tf.cast(tf.constant(value), dtype) for value in ([1, 4, 7], [2, 2, 3]))
    return attempt(lambda: op(x, y)), attempt(lambda: op(tf.Variable(x), y))


@cases(op={"and": operator.and_, "or": operator.or_, "xor": operator.xor})
def logical_operators(tf, op):
    x, y = tf.constant([True, True, False]), tf.constant([True, False, False])
    n = tf.constant([6, 5])
    return op(x, y), op(x, True), op(False, x), attempt(lambda: op(n, 3)), ~x, attempt(lambda: ~n)


@case
def logical_operators_on_floats(tf):
    x = tf.constant([1.0])
    return attempt(lambda: x & x), attempt(lambda: ~x), attempt(lambda: x and x), not x


@case
def shift_operators(tf):
    x = tf.constant([1, 2])
    return attempt(lambda: x << 1), attempt(lambda: x >> 1)


@case
def matrix_multiplication(tf):
    a, v = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 1.0])
    array = np.eye(2, dtype=np.float32)
    return (
        a @ a,
        a @ array,
        array @ a,
        [[1.0, 0.0]] @ a,
        attempt(lambda: a @ v),
        attempt(lambda: v @ v),
        attempt(lambda: a @ tf.constant([[1.0, 2.0, 3.0]])),
        attempt(lambda: a @ 2.0),
    )


@case
def unary_operators(tf):
    x, w = tf.constant([-1.0, 2.0]), tf.Variable([-1.0, 2.0])
    return -x, abs(x), -w, abs(w), -tf.constant([1, 2]), attempt(lambda: -tf.constant([True]))


@case
def operators_return_tensors(tf):
    w = tf.Variable(1.0)
    results = [w + 1.0, 1.0 + w, -w, w[...], np.float32(1.0) + w, w == 1.0, w < 2.0]
    return [isinstance(r, tf.Tensor) and not isinstance(r, tf.Variable) for r in results]


@case
def shapes_that_do_not_match(tf):
    a, b = tf.ones([2, 3]), tf.ones([2, 2])
    return [attempt(lambda op=op: op(a, b)) for op in (operator.add, operator.mul, operator.lt)]


@case
def strings_are_joined(tf):
    x = tf.constant(["a", "b"])
    return attempt(lambda: x + "c"), attempt(lambda: "c" + x), attempt(lambda: x * 2)


@case
def arrays_on_the_left_give_tensors(tf):
    x = tf.constant([1.0, 2.0])
    left = np.array([3.0, 4.0])
    results = [left + x, left - x, left * x, left / x, left**x, left > x, left == x]
    return results, [isinstance(r, tf.Tensor) for r in results]


@case
def numpy_functions_give_arrays(tf):
    x, w = tf.constant([1.0, 4.0]), tf.Variable([1.0, 4.0])
    results = [np.sqrt(x), np.sum(w), np.maximum(x, 2.0), np.stack([x, x]), np.dot(x, w)]
    return results, [type(r).__name__ for r in results]


# --------------------------------------------------------------------------------- conversion


@cases(
    given={
        "int": 1,
        "float": 1.5,
        "bool": True,
        "complex": 1.0 + 2.0j,
        "string": "a",
        "bytes": b"a",
        "list_int": [1, 2],
        "list_float": [1.0, 2.0],
        "list_mixed": [1, 2.5],
        "list_float_int": [2.5, 1],
        "list_bool": [True, False],
        "list_bool_int": [True, 2],
        "nested": [[1, 2], [3, 4]],
        "tuple": (1.0, 2.0),
        "nested_tuple": ((1, 2), [3, 4]),
        "empty": [],
        "empty_nested": [[], []],
        "ragged": [[1, 2], [3]],
        "none": None,
        "list_none": [1.0, None],
        "dict": {"a": 1},
        "set": {1},
        "range": range(3),
        "large": 2**40,
        "too_large": 2**70,
        "negative": -1,
        "float64": np.float64(1.5),
        "float32": np.float32(1.5),
        "int64": np.int64(1),
        "array64": np.array([1.0, 2.0]),
        "array_int": np.array([1, 2]),
        "array_int8": np.array([1, 2], np.int8),
        "array_bool": np.array([True]),
        "array_string": np.array(["a", "b"]),
        "array_object": np.array([1, "a"], dtype=object),
        "list_of_arrays": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        "list_of_scalars": [np.float32(1.0), 2.0],
        "list_of_float64": [np.float64(1.0), np.float64(2.0)],
        "array_complex": np.array([1j]),
    },
    into=["constant", "convert_to_tensor", "Variable"],
)
def conversion(tf, given, into):
    return attempt(lambda: getattr(tf, into)(given))


@cases(
    given={
        "int": 1,
        "float": 1.5,
        "whole_float": 2.0,
        "bool": True,
        "list_int": [1, 2],
        "list_float": [1.5, 2.0],
        "array": np.array([1.5, 2.0]),
        "array_int": np.array([1, 2]),
        "large": 300,
        "string": "1",
        "complex": 1.0 + 0j,
    },
    dtype=["float16", "float32", "float64", "int32", "uint8", "bool", "complex64", "string"],
)
def conversion_to_a_dtype(tf, given, dtype):
    into = tf.constant, tf.convert_to_tensor, tf.Variable
    return [attempt(lambda make=make: make(given, dtype=dtype)) for make in into]


@cases(
    shape=[(2, 2), (4,), (1, 4), (), (3,), (-1,), None],
    given={"four": [1.0, 2.0, 3.0, 4.0], "one": 5.0, "single": [5.0]},
)
def constant_with_a_shape(tf, shape, given):
    return attempt(lambda: tf.constant(given, shape=shape))


@case
def constant_of_a_tensor(tf):
    x = tf.constant([1.0, 2.0])
    return (
        tf.constant(x) is x,
        attempt(lambda: tf.constant(x, tf.float64)),
        attempt(lambda: tf.constant(x, tf.float32)),
        attempt(lambda: tf.constant(x, shape=[2, 1])),
        attempt(lambda: tf.constant(tf.Variable(1.0))),
    )


@case
def convert_to_tensor_of_a_tensor(tf):
    x, w = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    return (
        tf.convert_to_tensor(x) is x,
        attempt(lambda: tf.convert_to_tensor(x, tf.float64)),
        attempt(lambda: tf.convert_to_tensor(x, dtype_hint=tf.float64)),
        tf.convert_to_tensor([1, 2], dtype_hint=tf.float32),
        tf.convert_to_tensor(w),
        attempt(lambda: tf.convert_to_tensor(w, tf.float64)),
        attempt(lambda: tf.convert_to_tensor([1.5], dtype_hint=tf.int32)),
    )


@cases(
    given={
        "tensors": lambda tf: [tf.constant(1.0), tf.constant(2.0)],
        "tensor_and_number": lambda tf: [tf.constant(1.0), 2.0],
        "number_and_tensor": lambda tf: [2, tf.constant(1.0)],
        "vectors": lambda tf: [tf.constant([1.0, 2.0]), [3.0, 4.0]],
        "nested": lambda tf: [[tf.constant(1.0), 2.0], [3.0, tf.constant(4.0)]],
        "variables": lambda tf: [tf.Variable(1.0), tf.Variable(2.0)],
        "variable_and_number": lambda tf: [tf.Variable(1.0), 2.0],
        "dtypes": lambda tf: [tf.constant(1.0), tf.constant(2)],
        "float_and_double": lambda tf: [tf.constant(1.0), tf.constant(2.0, tf.float64)],
        "array_and_tensor": lambda tf: [np.array([1.0, 2.0]), tf.constant([3.0, 4.0])],
        "shapes": lambda tf: [tf.constant([1.0]), tf.constant([2.0, 3.0])],
        "empty_inside": lambda tf: [tf.zeros([0]), tf.zeros([0])],
        "int_number_float_tensor": lambda tf: [1, 2, tf.constant(3.0)],
        "float_number_int_tensor": lambda tf: [1.5, tf.constant(3)],
        "tuple": lambda tf: (tf.constant(1.0), tf.constant(2.0)),
    },
    into=["constant", "convert_to_tensor", "stack"],
)
def conversion_of_lists_of_tensors(tf, given, into):
    return attempt(lambda: getattr(tf, into)(given(tf)))


@cases(source=EVERY, target=["float32", "int32", "uint8", "bool", "complex64", "bfloat16"])
def cast(tf, source, target):
    return tf.cast(tf.cast(tf.constant([0.0, 1.7, 3.0]), source), target)


@case
def cast_of_other_things(tf):
    w = tf.Variable(1.5)
    return (
        tf.cast(1.7, tf.int32),
        tf.cast([1, 2], tf.float64),
        tf.cast(np.array([1.5]), "float16"),
        tf.cast(w, tf.int32),
        tf.cast(w, tf.float32) is w,
        attempt(lambda: tf.cast("1", tf.float32)),
        attempt(lambda: tf.cast(tf.constant([-1.7, 300.0]), tf.int32)),
        tf.cast(tf.constant([-1, 256, 300]), tf.uint8),
        attempt(lambda: tf.cast(1.0, "nonsense")),
    )


@cases(dtype=["float32", "int32", "bool", "complex64"])
def zeros_and_ones(tf, dtype):
    x = tf.zeros([2], dtype)
    return x, tf.ones([1, 2], dtype), tf.zeros_like(x), tf.ones_like(tf.zeros([2]), dtype)


@case
def zeros_of_strings(tf):
    return tf.zeros([2], tf.string), attempt(lambda: tf.ones([2], tf.string))


@case
def is_tensor(tf):
    things = tf.constant(1.0), tf.Variable(1.0), np.array(1.0), 1.0, [tf.constant(1.0)], None
    return [tf.is_tensor(thing) for thing in things]


@case
def isinstance_of_both(tf):
    x, w = tf.constant(1.0), tf.Variable(1.0)
    return [isinstance(v, kind) for v in (x, w) for kind in (tf.Tensor, tf.Variable)]


# ----------------------------------------------------------------------------------- variables


@case
def variable_names(tf):
    plain, named = tf.Variable(1.0), tf.Variable(1.0, name="weights")
    with tf.name_scope("layer"):
        scoped = tf.Variable(1.0, name="w")
    return plain.name, named.name, scoped.name, tf.Variable(1.0, name="weights").name


@case
def variable_options(tf):
    w = tf.Variable(1, trainable=False, dtype=tf.float64, name="w")
    return w, w.trainable, tf.Variable(lambda: 3.0), tf.Variable([1.0], shape=[None]).shape


@case
def variable_without_a_value(tf):
    return attempt(lambda: tf.Variable()), attempt(lambda: tf.Variable(None))


@case
def variable_of_a_variable(tf):
    v = tf.Variable(1.0)
    w = tf.Variable(v)
    v.assign(2.0)
    return v, w


@cases(
    change={
        "assign": lambda w: w.assign([5.0, 6.0]),
        "assign_add": lambda w: w.assign_add([5.0, 6.0]),
        "assign_sub": lambda w: w.assign_sub([5.0, 6.0]),
        "assign_unread": lambda w: w.assign([5.0, 6.0], read_value=False),
        "assign_named": lambda w: w.assign([5.0, 6.0], name="step"),
        "assign_numbers": lambda w: w.assign(np.array([5.0, 6.0])),
        "assign_integers": lambda w: w.assign([5, 6]),
        "assign_scalar": lambda w: w.assign(5.0),
        "assign_add_scalar": lambda w: w.assign_add(5.0),
        "assign_long": lambda w: w.assign([1.0, 2.0, 3.0]),
        "assign_column": lambda w: w.assign([[1.0], [2.0]]),
        "assign_string": lambda w: w.assign("a"),
        "assign_none": lambda w: w.assign(None),
        "assign_add_long": lambda w: w.assign_add([1.0, 2.0, 3.0]),
        "assign_self": lambda w: w.assign(w),
        "assign_twice": lambda w: w.assign([5.0, 6.0]).assign_add([1.0, 1.0]),
        "assign_complex": lambda w: w.assign([1j, 2j]),
        "assign_integer_array": lambda w: w.assign(np.array([5, 6])),
    }
)
def assignment(tf, change):
    w = tf.Variable([1.0, 2.0])
    result = attempt(lambda: change(w))
    if isinstance(result, Exception):
        return result, w
    return (
        w,
        None if result is None else tf.convert_to_tensor(result),
        isinstance(result, tf.Variable),
    )


@case
def assignment_of_another_dtype(tf):
    w = tf.Variable([1.0, 2.0])
    return (
        attempt(lambda: w.assign(tf.constant([1.0, 2.0], tf.float64))),
        attempt(lambda: w.assign(tf.constant([1, 2]))),
        attempt(lambda: w.assign_add(tf.constant([1, 2]))),
        attempt(lambda: tf.Variable([1, 2]).assign([1.5, 2.5])),
        attempt(lambda: tf.Variable([1, 2]).assign(np.array([1.5, 2.5]))),
    )


@case
def assignment_to_an_unknown_shape(tf):
    w = tf.Variable([1.0], shape=tf.TensorShape(None))
    w.assign([[1.0, 2.0]])
    return w.shape, w.read_value()


@case
def reads_are_snapshots(tf):
    w = tf.Variable([1.0, 2.0])
    read, value, alias = w.read_value(), w.value(), tf.identity(w)
    w.assign([9.0, 9.0])
    return read, value, alias, w


@cases(
    method=[
        "scatter_update",
        "scatter_add",
        "scatter_sub",
        "scatter_mul",
        "scatter_div",
        "scatter_max",
        "scatter_min",
        "batch_scatter_update",
    ]
)
def scatter_of_slices(tf, method):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    slices = tf.IndexedSlices(tf.constant([[2.0, 8.0], [0.5, 1.0]]), tf.constant([2, 0]))
    result = attempt(lambda: getattr(w, method)(slices))
    return (result if isinstance(result, Exception) else isinstance(result, tf.Variable)), w


@case
def scatter_with_duplicates(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    slices = tf.IndexedSlices(tf.constant([10.0, 20.0]), tf.constant([1, 1]))
    w.scatter_add(slices)
    added = w.numpy()
    w.scatter_update(slices)
    return added, w, attempt(lambda: w.scatter_add(tf.IndexedSlices([1.0], [7])))


@case
def scatter_of_something_else(tf):
    w = tf.Variable([1.0, 2.0])
    return attempt(lambda: w.scatter_add(tf.constant([1.0, 2.0])))


@cases(
    method=["scatter_nd_update", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_max"],
)
def scatter_nd(tf, method):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    getattr(w, method)([[0, 1], [1, 0]], [10.0, 2.0])
    return w


@case
def gather_and_sparse_reads(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    return w.sparse_read([1, 1]), w.gather_nd([[0, 1]])


@case
def variable_counts(tf):
    w = tf.Variable(1)
    w.assign_add(1)
    return w.assign_add(1), w, attempt(lambda: tf.Variable(1).assign_add(0.5))


@case
def variable_of_strings_and_bools(tf):
    s, b = tf.Variable("a"), tf.Variable([True, False])
    s.assign("b")
    b.assign([False, False])
    return s, b


@case
def variable_is_not_hashable(tf):
    w = tf.Variable(1.0)
    return attempt(lambda: hash(w)), {w.ref(): 1}[w.ref()], attempt(lambda: w in {1})


@case
def variables_in_python_containers(tf):
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    return any(v is b for v in [a, b]), attempt(lambda: [a, b].index(b))


@case
def variable_copies(tf):
    import copy

    w = tf.Variable([1.0, 2.0])
    deep = copy.deepcopy(w)
    w.assign([5.0, 5.0])
    return deep, w


@case
def tensor_copies(tf):
    import copy

    x = tf.constant([1.0, 2.0])
    return copy.copy(x), copy.deepcopy(x), isinstance(copy.deepcopy(x), tf.Tensor)


# ----------------------------------------------------------------------------- small classes


@case
def tensor_shape(tf):
    shape, unknown = tf.TensorShape([2, None, 3]), tf.TensorShape(None)
    return (
        shape.rank,
        len(shape),
        list(shape),
        shape[0],
        shape[1],
        shape[1:],
        shape.as_list(),
        shape.ndims,
        shape.is_fully_defined(),
        tf.TensorShape([2, 3]).is_fully_defined(),
        tf.TensorShape([2, 3]).num_elements(),
        shape.num_elements(),
        unknown.rank,
        attempt(lambda: len(unknown)),
        attempt(lambda: list(unknown)),
        attempt(unknown.as_list),
        bool(tf.TensorShape([])),
        bool(tf.TensorShape([0])),
        bool(unknown),
    )


@case
def tensor_shape_algebra(tf):
    shape = tf.TensorShape([2, None])
    return (
        shape + [3],  # noqa: RUF005
        [3] + shape,  # noqa: RUF005
        shape.concatenate([4]),
        shape.merge_with([None, 5]),
        attempt(lambda: shape.merge_with([3, 5])),
        shape.is_compatible_with([2, 7]),
        shape.is_compatible_with([3, 7]),
        attempt(lambda: shape.assert_is_compatible_with([3, 7])),
        shape.with_rank(2),
        attempt(lambda: shape.with_rank(3)),
        attempt(lambda: shape.with_rank_at_least(3)),
        shape.most_specific_compatible_shape(tf.TensorShape([2, 3])),
    )


@case
def tensor_shape_equality(tf):
    shape = tf.TensorShape([2, 3])
    return (
        shape == [2, 3],
        shape == (2, 3),
        shape == tf.TensorShape([2, 3]),
        shape == tf.TensorShape([2, None]),
        shape == [2],
        attempt(lambda: tf.TensorShape(None) == tf.TensorShape(None)),
        shape != [2, 3],
        attempt(lambda: hash(shape) == hash(tf.TensorShape([2, 3]))),
        attempt(lambda: shape == None),  # noqa: E711
        attempt(lambda: shape == "a"),
    )


@case
def tensor_shape_made_of(tf):
    made = [2, 3], (2,), 5, tf.TensorShape([1]), [np.int64(2)], [], [-1], [None], "a", [1.5], ["a"]
    return [attempt(lambda given=given: tf.TensorShape(given)) for given in made]


@case
def tensor_shape_as_an_argument(tf):
    x = tf.zeros(tf.TensorShape([2, 3]))
    return tf.reshape(x, [x.shape[1], x.shape[0]]).shape, tf.ones(x.shape[:1]), tuple(x.shape)


@case
def tensor_spec(tf):
    spec = tf.TensorSpec([None, 2], tf.float32, name="x")
    return (
        spec.shape,
        spec.dtype,
        spec.name,
        spec.is_compatible_with(tf.zeros([5, 2])),
        spec.is_compatible_with(tf.zeros([5, 3])),
        spec.is_compatible_with(tf.zeros([5, 2], tf.int32)),
        spec == tf.TensorSpec([None, 2], tf.float32, name="x"),
        spec == tf.TensorSpec([None, 2], tf.float32),
        tf.TensorSpec.from_tensor(tf.zeros([2])) == tf.TensorSpec([2], tf.float32),
        tf.TensorSpec([1]).dtype,
    )


@cases(dtype=[*EVERY, "string"])
def dtype_attributes(tf, dtype):
    kind = tf.as_dtype(dtype)
    return (
        kind.name,
        kind.is_floating,
        kind.is_integer,
        kind.is_complex,
        kind.is_bool,
        kind.is_unsigned,
        kind.size,
        attempt(lambda: float(kind.max)),
        attempt(lambda: float(kind.min)),
        kind.as_numpy_dtype.__name__,
        kind.real_dtype,
        kind.base_dtype,
        kind == dtype,
        getattr(tf, dtype) is kind,
        kind.as_datatype_enum,
    )


@case
def dtype_equality(tf):
    return (
        tf.float32 == np.float32,
        tf.float32 == "float32",
        tf.float32 == tf.float64,
        tf.float32 != np.float64,
        attempt(lambda: tf.float32 == None),  # noqa: E711
        attempt(lambda: tf.float32 == "nonsense"),
        tf.float32 in [tf.float32],
        {tf.float32: 1}[tf.float32],
        tf.float32 == np.dtype("float32"),
        tf.double is tf.float64,
        tf.half is tf.float16,
    )


@case
def as_dtype(tf):
    given = (
        float,
        int,
        bool,
        complex,
        "float32",
        np.float64,
        np.dtype("int8"),
        tf.int32,
        str,
        None,
        1,
    )
    return [attempt(lambda item=item: tf.as_dtype(item)) for item in given]


@case
def python_types_as_dtypes(tf):
    calls = (
        lambda: tf.constant(1, float),
        lambda: tf.constant(1, dtype=int),
        lambda: tf.zeros([1], bool),
        lambda: tf.cast(1.5, int),
        lambda: tf.cast(1, float),
    )
    return [attempt(call) for call in calls]


@case
def indexed_slices(tf):
    values, indices = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 2])
    slices = tf.IndexedSlices(values, indices, tf.constant([4, 2]))
    return (
        slices.values,
        slices.indices,
        slices.dtype,
        slices.shape,
        tf.convert_to_tensor(slices),
        -slices,
        attempt(lambda: slices + 1.0),
        attempt(lambda: slices * 2.0),
        attempt(lambda: slices.numpy()),
        attempt(lambda: len(slices)),
        attempt(lambda: slices[0]),
        tf.is_tensor(slices),
        isinstance(slices, tf.Tensor),
        attempt(lambda: tf.reduce_sum(slices)),
        attempt(lambda: tf.square(slices)),
        attempt(lambda: tf.nest.flatten(slices)),
    )


@case
def indexed_slices_without_a_shape(tf):
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([2]))
    return slices.dense_shape, attempt(lambda: tf.convert_to_tensor(slices)), slices.shape


@case
def clip_by_global_norm_of_slices(tf):
    slices = tf.IndexedSlices(tf.constant([3.0, 4.0]), tf.constant([0, 0]), tf.constant([2]))
    return tf.clip_by_global_norm([slices, None, tf.constant([0.0])], 1.0)


@case
def slices_and_rows_of_one_replica(tf):
    replica = tf.distribute.get_replica_context()
    slices = tf.IndexedSlices(tf.constant([3.0, 4.0]), tf.constant([0, 0]), tf.constant([2]))
    found = replica.all_reduce("SUM", [slices, tf.constant([1.0])])
    rows = tf.ragged.constant([[1.0], [2.0, 3.0]])
    return (
        (found[0].values, found[0].indices, found[1]),
        [replica.all_reduce("SUM", rows), replica.all_gather(rows, 0)],
        attempt(lambda: replica.all_gather([slices], 0)),
    )


@cases(
    call={
        "map": lambda tf, n: tf.nest.map_structure(lambda x: x * 2, n),
        "flatten": lambda tf, n: tf.nest.flatten(n),
        "pack": lambda tf, n: tf.nest.pack_sequence_as(n, [10, 20, 30]),
        "same": lambda tf, n: attempt(lambda: tf.nest.assert_same_structure(n, [1])),
        "nested": lambda tf, n: [tf.nest.is_nested(v) for v in (n, 1, [], (), "a")],
    }
)
def nests(tf, call):
    return call(tf, {"b": 1, "a": (2, [3])})


@case
def errors_are_what_they_are(tf):
    error = tf.errors.InvalidArgumentError(None, None, "said")
    return (
        str(error),
        error.message,
        isinstance(error, tf.errors.OpError),
        isinstance(error, ValueError),
        isinstance(error, Exception),
    )


@cases(
    op={
        "add": lambda tf: tf.add([1.0, 2.0], [1.0, 2.0, 3.0]),
        "matmul": lambda tf: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
        "reshape": lambda tf: tf.reshape(tf.ones([6]), [4, 2]),
        "concat": lambda tf: tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], 0),
        "stack": lambda tf: tf.stack([tf.ones([2]), tf.ones([3])]),
        "gather": lambda tf: tf.gather([1.0, 2.0], [5]),
        "axis": lambda tf: tf.reduce_sum(tf.ones([2]), axis=3),
        "squeeze": lambda tf: tf.squeeze(tf.ones([2, 1]), axis=0),
        "transpose": lambda tf: tf.transpose(tf.ones([2, 3]), [0, 0]),
        "expand": lambda tf: tf.expand_dims(tf.ones([2]), 5),
        "split": lambda tf: tf.split(tf.ones([5]), 2),
        "broadcast": lambda tf: tf.broadcast_to(tf.ones([3]), [2, 2]),
        "inverse": lambda tf: tf.linalg.inv([[1.0, 2.0], [2.0, 4.0]]),
        "sqrt_of_int": lambda tf: tf.sqrt(tf.constant(4)),
        "exp_of_int": lambda tf: tf.exp(1),
        "exp_of_string": lambda tf: tf.exp("a"),
        "mean_of_int": lambda tf: tf.reduce_mean([1, 2]),
        "assert": lambda tf: tf.debugging.assert_equal(1, 2),
        "check_numerics": lambda tf: tf.debugging.check_numerics([float("nan")], "bad"),
    }
)
def errors_of_ops(tf, op):
    return attempt(lambda: op(tf))
