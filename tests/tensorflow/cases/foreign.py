"""Values of others' making as arguments: subclasses of ndarray, buffers, containers, numbers."""

import array
import collections
import decimal
import enum
import fractions
import numbers

import numpy as np

from tests.tensorflow.harness import attempt, cases


class Arrayed:
    """What pandas, xarray and others have: `__array__`, a dtype, a shape, operators."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


class Series(Arrayed):
    """A stand-in for pandas' series: a sequence that has an array, operators and attributes."""

    __array_priority__ = 1000
    dtype = property(lambda self: self._values.dtype)
    shape = property(lambda self: self._values.shape)
    ndim = property(lambda self: self._values.ndim)
    size = property(lambda self: self._values.size)

    def __len__(self):
        return len(self._values)

    def __getitem__(self, key):
        return self._values[key]

    def __iter__(self):
        return iter(self._values)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [np.asarray(i) for i in inputs]
        return Series(getattr(ufunc, method)(*plain, **kwargs))

    def __add__(self, other):
        return Series(self._values + np.asarray(other))

    __radd__ = __add__

    def __mul__(self, other):
        return Series(self._values * np.asarray(other))

    __rmul__ = __mul__


class Interfaced:
    """Only `__array_interface__`."""

    def __init__(self, values):
        self._values = np.asarray(values)
        self.__array_interface__ = self._values.__array_interface__


class Lent:
    """Only DLPack."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class Stray(Arrayed):
    """Its `__array__` fails."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array here")


class Tagged(np.ndarray):
    """A subclass with a priority and operators of its own."""

    __array_priority__ = 1e6

    def __mul__(self, other):
        return "mine"

    __rmul__ = __mul__


class Claiming(np.ndarray):
    """A subclass that answers every ufunc itself."""

    def __array_ufunc__(self, *args, **kwargs):
        return "mine"


class Count(int):
    pass


class Length(float):
    pass


class Name(str):
    pass


class Rows(list):
    pass


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Indexed:
    def __index__(self):
        return 2


class Floating:
    def __float__(self):
        return 2.5


class Half(numbers.Number):
    def __float__(self):
        return 0.5


class Sequenced(collections.abc.Sequence):
    """A sequence that is no list."""

    def __getitem__(self, k):
        return [1.0, 2.0][k]

    def __len__(self):
        return 2


class Missing:
    """As pandas' NA: neither number nor truth value."""

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    def __mul__(self, other):
        return self

    __rmul__ = __add__ = __radd__ = __mul__


Point = collections.namedtuple("Point", "x y")
FLOAT = np.float32
M = [[1.0, 2.0], [3.0, 4.0]]


def masked(values, mask, dtype=FLOAT):
    return np.ma.masked_array(np.array(values, dtype), mask)


def structured():
    return np.array([(1.0, 2), (3.0, 4)], [("a", "f4"), ("b", "i4")])


def mapped():
    import tempfile

    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, FLOAT, "w+", shape=(2, 2))
        found[:] = M
        return found


def holding(*values):
    """An array of objects, whatever they are."""
    made = np.empty(len(values), object)
    made[:] = values
    return made


# Each is made anew: generators are used up, arrays may be written to.
VALUES = {
    "matrix": lambda: np.matrix(M, FLOAT),
    "matrix_of_ints": lambda: np.matrix([[1, 2], [3, 4]]),
    "matrix_row": lambda: np.matrix([1.0, 2.0], FLOAT),
    "masked": lambda: masked(M, [[0, 1], [0, 0]]),
    "masked_wholly": lambda: masked([1.0, 2.0], True),
    "masked_constant": lambda: np.ma.masked,
    "masked_scalar": lambda: masked(5.0, False),
    "recarray": lambda: structured().view(np.recarray),
    "recarray_field": lambda: structured().view(np.recarray).a,
    "plain_recarray": lambda: np.array(M, FLOAT).view(np.recarray),
    "memmap": mapped,
    "chararray": lambda: np.char.array(["ab", "c"]),
    "tagged": lambda: np.array(M, FLOAT).view(Tagged),
    "claiming": lambda: np.array(M, FLOAT).view(Claiming),
    "arrayed": lambda: Arrayed(np.array(M, FLOAT)),
    "arrayed_double": lambda: Arrayed(M),
    "arrayed_whole": lambda: Arrayed([1, 2]),
    "arrayed_scalar": lambda: Arrayed(FLOAT(3)),
    "arrayed_objects": lambda: Arrayed(holding(1.0, 2.0)),
    "arrayed_texts": lambda: Arrayed(holding("a", "b")),
    "arrayed_stray": lambda: Stray([1.0]),
    "series": lambda: Series(np.array([1.0, 2.0], FLOAT)),
    "series_double": lambda: Series([1.0, 2.0]),
    "series_of_objects": lambda: Series(holding(1.0, None)),
    "missing": Missing,
    "list_of_missing": lambda: [1.0, Missing()],
    "list_of_series": lambda: [Series(np.array([1.0, 2.0], FLOAT))] * 2,
    "list_of_masked": lambda: [masked([1.0, 2.0], [0, 1])] * 2,
    "list_with_masked_constant": lambda: [1.0, np.ma.masked],
    "list_of_tagged": lambda: [np.array([1.0], FLOAT).view(Tagged)] * 2,
    "list_of_lent": lambda: [Lent(np.array([1.0], FLOAT))] * 2,
    "interface": lambda: Interfaced(np.array(M, FLOAT)),
    "dlpack": lambda: Lent(np.array(M, FLOAT)),
    "memoryview_of_bytes": lambda: memoryview(b"ab"),
    "bytearray": lambda: bytearray(b"ab"),
    "array_of_floats": lambda: array.array("f", [1.0, 2.0]),
    "array_of_doubles": lambda: array.array("d", [1.0, 2.0]),
    "array_of_ints": lambda: array.array("i", [1, 2]),
    "array_of_longs": lambda: array.array("q", [1, 2]),
    "array_of_text": lambda: array.array("u", "ab"),
    "list_of_arrays": lambda: [array.array("f", [1.0]), array.array("f", [2.0])],
    "void": lambda: np.void(b"abcd"),
    "structured": structured,
    "record": lambda: structured()[0],
    "datetime": lambda: np.datetime64("2020-01-01"),
    "datetimes": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "timedelta": lambda: np.timedelta64(3, "s"),
    "list_of_datetimes": lambda: [np.datetime64("2020-01-01")],
    "decimal": lambda: decimal.Decimal("1.5"),
    "list_of_decimals": lambda: [decimal.Decimal("1.5")],
    "mixed_decimals": lambda: [1.0, decimal.Decimal("1.5")],
    "array_of_decimals": lambda: np.array([decimal.Decimal("1.5")]),
    "fraction": lambda: fractions.Fraction(1, 2),
    "list_of_fractions": lambda: [fractions.Fraction(1, 2)],
    "number": Half,
    "set": lambda: {1.0},
    "frozenset": lambda: frozenset({1.0}),
    "list_of_sets": lambda: [{1.0}],
    "dict": lambda: {"a": 1.0},
    "dict_values": lambda: {"a": 1.0}.values(),
    "dict_of_numbers": lambda: {0: 1.0, 1: 2.0},
    "list_of_dicts": lambda: [{0: 1.0}],
    "generator": lambda: (x for x in (1.0, 2.0)),
    "list_of_generators": lambda: [(x for x in (1.0, 2.0))],
    "iterator": lambda: iter([1.0]),
    "map": lambda: map(float, [1]),
    "zip": lambda: zip([1.0], [2.0], strict=True),
    "range": lambda: range(3),
    "empty_range": lambda: range(0),
    "list_of_ranges": lambda: [range(2), range(2)],
    "deque": lambda: collections.deque([1.0, 2.0]),
    "list_of_deques": lambda: [collections.deque([1.0])],
    "userlist": lambda: collections.UserList([1.0, 2.0]),
    "sequence": Sequenced,
    "rows": lambda: Rows([1.0, 2.0]),
    "point": lambda: Point(1.0, 2.0),
    "list_of_points": lambda: [Point(1.0, 2.0), Point(3.0, 4.0)],
    "count": lambda: Count(3),
    "length": lambda: Length(3.5),
    "name": lambda: Name("x"),
    "list_of_counts": lambda: [Count(3), 4],
    "list_of_lengths": lambda: [Length(3.5), 4.0],
    "list_of_names": lambda: [Name("x")],
    "enum": lambda: Colour.RED,
    "level": lambda: Level.HIGH,
    "list_of_levels": lambda: [Level.HIGH],
    "indexed": Indexed,
    "floating": Floating,
    "list_of_floating": lambda: [Floating()],
    "texts": lambda: np.array(["ab", "c"]),
    "bytes": lambda: np.array([b"ab", b"c"]),
    "texts_without_axes": lambda: np.array("ab"),
    "text_scalar": lambda: np.str_("ab"),
    "bytes_scalar": lambda: np.bytes_(b"ab"),
    "list_of_text_scalars": lambda: [np.str_("a"), np.bytes_(b"b")],
    "list_of_texts_and_numbers": lambda: ["a", 1.0],
    "list_of_numbers_and_texts": lambda: [1.0, "a"],
    "bytes_with_zeros": lambda: np.array([b"a\0b"]),
    "text_beyond": lambda: "\udc80",
    "objects": lambda: holding(1.0, 2.0),
    "objects_whole": lambda: holding(1, 2),
    "objects_mixed": lambda: holding(1, 2.5),
    "objects_texts": lambda: holding("a", b"b"),
    "objects_mixed_texts": lambda: holding("a", 1),
    "objects_truths": lambda: holding(True, False),
    "objects_none": lambda: holding(1.0, None),
    "objects_arrays": lambda: holding(np.ones(2, FLOAT), np.ones(2, FLOAT)),
    "objects_lists": lambda: holding([1.0], [2.0]),
    "objects_empty": lambda: np.array([], object),
    "objects_scalar": lambda: np.array(1.0, object),
    "objects_none_scalar": lambda: np.array(None),
    "objects_big": lambda: holding(1 << 70),
    "objects_complex": lambda: holding(1j, 2j),
    "objects_scalars": lambda: holding(np.float32(1), np.float32(2)),
    "ragged": lambda: [[1.0], [2.0, 3.0]],
    "ragged_deep": lambda: [[1.0], 2.0],
    "ragged_scalar_first": lambda: [1.0, [2.0]],
    "ragged_arrays": lambda: [np.ones(1, FLOAT), np.ones(2, FLOAT)],
    "ragged_empty": lambda: [[], [1.0]],
    "list_of_empty": lambda: [[], []],
    "empty_tuple": tuple,
    "array_in_list": lambda: [np.ones(2, FLOAT), [1.0, 2.0]],
    "list_then_array": lambda: [[1.0, 2.0], np.ones(2, np.float64)],
    "scalars_in_list": lambda: [np.float64(1), np.float32(2)],
    "scalars_first_python": lambda: [1.0, np.float64(2)],
    "whole_scalars_in_list": lambda: [np.int8(1), np.int64(2)],
    "unsigned_scalars_in_list": lambda: [np.uint8(1), np.uint8(2)],
    "large_unsigned_in_list": lambda: [np.uint64(1 << 63)],
    "truth_scalars_in_list": lambda: [np.bool_(True), False],
    "half_scalars_in_list": lambda: [np.float16(1), np.float16(2)],
    "complex_scalars_in_list": lambda: [np.complex64(1), np.complex64(2)],
    "scalar_and_array_in_list": lambda: [np.float32(1), np.array(2.0, FLOAT)],
    "zero_d_in_list": lambda: [np.array(1.0, FLOAT), np.array(2.0, FLOAT)],
    "zero_d": lambda: np.array(1.0, FLOAT),
    "zero_d_double": lambda: np.array(1.0),
    "zero_d_object": lambda: np.array("a", object),
    "double_scalar": lambda: np.float64(1.0),
    "long_double": lambda: np.longdouble(1.0),
    "long_doubles": lambda: np.array([1.0], np.longdouble),
    "long_complex": lambda: np.clongdouble(1.0),
    "list_of_long_doubles": lambda: [np.longdouble(1.0)],
    "big_endian": lambda: np.array([1.0, 2.0], ">f4"),
    "big_endian_int": lambda: np.array([1, 2], ">i8"),
    "strided": lambda: np.arange(6, dtype=FLOAT)[::2],
    "reversed": lambda: np.arange(3, dtype=FLOAT)[::-1],
    "broadcast": lambda: np.broadcast_to(FLOAT(1), (2, 2)),
    "read_only": lambda: np.frombuffer(np.ones(2, FLOAT).tobytes(), FLOAT),
    "big": lambda: 1 << 70,
    "big_negative": lambda: -(1 << 63) - 1,
    "unsigned_64": lambda: (1 << 64) - 1,
    "int_64": lambda: 1 << 40,
    "list_of_big": lambda: [1, 1 << 70],
    "list_of_int_64": lambda: [1, 1 << 40],
    "float_beyond": lambda: 1e300,
    "list_of_floats_beyond": lambda: [1.0, 1e300],
    "none": lambda: None,
    "list_of_none": lambda: [None],
    "list_with_none": lambda: [1.0, None],
    "none_first": lambda: [None, 1.0],
    "deep_none": lambda: [[1.0, None]],
    "ellipsis": lambda: ...,
    "not_implemented": lambda: NotImplemented,
    "slice": lambda: slice(1),
    "type": lambda: float,
    "numpy_type": lambda: np.float32,
    "dtype": lambda: np.dtype("float32"),
    "function": lambda: len,
    "lambda": lambda: lambda: 1.0,
    "object": object,
    "module": lambda: np,
    "exception": lambda: ValueError("x"),
    "truths_and_numbers": lambda: [True, 1],
    "numbers_and_truths": lambda: [1, True],
    "floats_and_ints": lambda: [1.5, 2],
    "ints_and_floats": lambda: [1, 2.5],
    "ints_and_complex": lambda: [1, 2j],
    "deep": lambda: [[[[[[[[[[1.0]]]]]]]]]],
}  # fmt: skip


def described(tf, value):
    """What became of it: the tensor, and the class of its array."""
    array = value.numpy()
    return tf.convert_to_tensor(value), type(array).__name__


@cases(value=VALUES)
def constant(tf, value):
    return [
        attempt(lambda: described(tf, tf.constant(value()))),
        attempt(lambda: described(tf, tf.constant(value(), tf.float32))),
        attempt(lambda: described(tf, tf.constant(value(), tf.int64))),
        attempt(lambda: described(tf, tf.constant(value(), tf.string))),
        attempt(lambda: tf.constant(value(), shape=[2, 2])),
    ]


@cases(value=VALUES)
def converted(tf, value):
    return [
        attempt(lambda: described(tf, tf.convert_to_tensor(value()))),
        attempt(lambda: tf.convert_to_tensor(value(), tf.float64)),
        attempt(lambda: tf.convert_to_tensor(value(), dtype_hint=tf.float64)),
        attempt(lambda: tf.convert_to_tensor(value(), dtype_hint=tf.int32)),
    ]


@cases(value=VALUES)
def variable(tf, value):
    return [
        attempt(lambda: described(tf, tf.Variable(value()))),
        attempt(lambda: described(tf, tf.Variable(value(), dtype=tf.float32))),
    ]


OPERATORS = {
    "mul": lambda a, b: a * b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "truediv": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "matmul": lambda a, b: a @ b,
    "less": lambda a, b: a < b,
    "equal": lambda a, b: a == b,
}
CHOSEN = [
    "matrix", "matrix_of_ints", "masked", "masked_constant", "plain_recarray", "recarray",
    "memmap", "chararray", "tagged", "claiming", "arrayed", "arrayed_double", "interface",
    "dlpack", "memoryview_of_bytes",
    "bytearray", "array_of_floats", "array_of_ints", "void", "structured",
    "datetime", "decimal", "fraction", "set", "dict", "generator", "range", "deque", "userlist",
    "sequence", "point", "rows", "count", "length", "name", "enum", "level", "indexed", "floating",
    "texts", "text_scalar", "objects", "objects_whole", "objects_none", "ragged", "double_scalar",
    "long_double", "zero_d", "zero_d_double", "big_endian", "strided", "big", "int_64",
    "float_beyond", "list_with_none", "list_of_masked", "type", "object",
    "whole_scalars_in_list", "missing", "slice", "lambda", "ellipsis",
]  # fmt: skip
SOME = {name: VALUES[name] for name in CHOSEN}


def plainly(value):
    """An object of others' making stands for itself."""
    return type(value).__name__ if isinstance(value, (Missing, Series, Arrayed)) else value


@cases(operator=OPERATORS, value=SOME)
def operators(tf, operator, value):
    x, v = tf.constant(M), tf.Variable(M)
    return [
        plainly(attempt(lambda: operator(x, value()))),
        plainly(attempt(lambda: operator(v, value()))),
        plainly(attempt(lambda: operator(value(), x))),
        plainly(attempt(lambda: operator(value(), v))),
    ]


@cases(operator=list(OPERATORS)[:6], value=["matrix", "masked", "tagged", "memmap", "arrayed"])
def slopes(tf, operator, value):
    operate = OPERATORS[operator]

    def differentiated(call):
        v = tf.Variable(M)
        with tf.GradientTape() as tape:
            y = call(v)
        return y, tape.gradient(y, v)

    return [
        attempt(lambda: differentiated(lambda v: operate(v, VALUES[value]()))),
        attempt(lambda: differentiated(lambda v: operate(VALUES[value](), v))),
    ]


FUNCTIONS = {
    "multiply": lambda tf, x: tf.multiply(tf.constant(M), x),
    "multiply_left": lambda tf, x: tf.multiply(x, tf.constant(M)),
    "matmul": lambda tf, x: tf.matmul(x, tf.constant(M)),
    "exp": lambda tf, x: tf.exp(x),
    "square": lambda tf, x: tf.square(x),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x),
    "reduce_sum_rows": lambda tf, x: tf.reduce_sum(x, 0),
    "reduce_max": lambda tf, x: tf.reduce_max(x, axis=1),
    "transpose": lambda tf, x: tf.transpose(x),
    "reshape": lambda tf, x: tf.reshape(x, [-1]),
    "concat": lambda tf, x: tf.concat([x, x], 0),
    # TensorFlow never comes back from a list of np.matrix, whose rows are matrices again.
    "stack": lambda tf, x: isinstance(x, np.matrix) or tf.stack([x, x]),
    "unstack": lambda tf, x: tf.unstack(x),
    "gather": lambda tf, x: tf.gather(x, [0]),
    "gather_places": lambda tf, x: tf.gather(tf.range(9.0), tf.cast(x, tf.int32)),
    "cast": lambda tf, x: tf.cast(x, tf.float64),
    "identity": lambda tf, x: tf.identity(x),
    "stop_gradient": lambda tf, x: tf.stop_gradient(x),
    "where": lambda tf, x: tf.where(tf.constant(M) > 2, tf.constant(M), x),
    "where_condition": lambda tf, x: tf.where(tf.cast(x, tf.bool)),
    "add_n": lambda tf, x: tf.add_n([x, x]),
    "zeros_like": lambda tf, x: tf.zeros_like(x),
    "shape": lambda tf, x: tf.shape(x),
    "size": lambda tf, x: tf.size(x),
    "rank": lambda tf, x: tf.rank(x),
    "relu": lambda tf, x: tf.nn.relu(x),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "einsum": lambda tf, x: tf.einsum("ij,jk->ik", x, x),
    "tensordot": lambda tf, x: tf.tensordot(x, x, 1),
    "inv": lambda tf, x: tf.linalg.inv(x),
    "trace": lambda tf, x: tf.linalg.trace(x),
    "norm": lambda tf, x: tf.norm(x),
    "clip": lambda tf, x: tf.clip_by_value(x, 0.0, 2.0),
    "clip_bounds": lambda tf, x: tf.clip_by_value(tf.constant(M), 0.0, x),
    "cumsum": lambda tf, x: tf.cumsum(x),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 0),
    "squeeze": lambda tf, x: tf.squeeze(x),
    "tile": lambda tf, x: tf.tile(x, [1, 2]),
    "pad": lambda tf, x: tf.pad(x, [[1, 0], [0, 0]]),
    "split": lambda tf, x: tf.split(x, 2),
    "broadcast_to": lambda tf, x: tf.broadcast_to(x, [2, 2, 2]),
    "fill": lambda tf, x: tf.fill([2], x),
    "mean_squared": lambda tf, x: tf.reduce_mean(tf.math.squared_difference(tf.constant(M), x)),
    "complex": lambda tf, x: tf.complex(x, x),
    "argmax": lambda tf, x: tf.argmax(x),
    "sort": lambda tf, x: tf.sort(x),
    "map_fn": lambda tf, x: tf.map_fn(lambda row: row * 2, x),
    "boolean_mask": lambda tf, x: tf.boolean_mask(x, [True, False]),
    "experimental_numpy": lambda tf, x: tf.experimental.numpy.multiply(x, x),
    "nest": lambda tf, x: tf.nest.map_structure(tf.reduce_sum, [x]),
    "print": lambda tf, x: tf.strings.as_string(x),
    "is_tensor": lambda tf, x: tf.is_tensor(x),
    "static": lambda tf, x: tf.get_static_value(tf.convert_to_tensor(x)),
    "debugging": lambda tf, x: tf.debugging.assert_equal(x, tf.constant(M)),
    "one_hot": lambda tf, x: tf.one_hot(tf.cast(x, tf.int32), 3),
    "sigmoid_loss": lambda tf, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x),
    "conv": lambda tf, x: tf.nn.conv1d(tf.reshape(x, [1, 4, 1]), tf.ones([1, 1, 1]), 1, "SAME"),
    "segment_sum": lambda tf, x: tf.math.segment_sum(x, [0, 0]),
    "unique": lambda tf, x: tf.unique(tf.reshape(x, [-1])),
    "eye_product": lambda tf, x: tf.linalg.matvec(x, [1.0, 2.0]),
}  # fmt: skip


@cases(
    function=FUNCTIONS,
    value={
        name: VALUES[name]
        for name in ("matrix", "masked", "tagged", "claiming", "memmap", "arrayed", "series")
    },
)
def functions(tf, function, value):
    return attempt(lambda: function(tf, value()))


UPDATES = {
    "assign": lambda tf, v, x: v.assign(x),
    "assign_add": lambda tf, v, x: v.assign_add(x),
    "assign_sub": lambda tf, v, x: v.assign_sub(x),
    "scatter_update": lambda tf, v, x: v.scatter_update(tf.IndexedSlices(x, [0, 1])),
    "scatter_add": lambda tf, v, x: v.scatter_add(tf.IndexedSlices(x, [0, 1])),
    "scatter_nd_update": lambda tf, v, x: v.scatter_nd_update([[0], [1]], x),
    "scatter_nd_add": lambda tf, v, x: v.scatter_nd_add([[0], [1]], x),
    "scatter_at_matrix": lambda tf, v, x: v.scatter_nd_add(np.matrix([[0], [1]]), x),
    "scatter_at_masked": lambda tf, v, x: v.scatter_nd_add(masked([[0], [1]], [[0], [1]], int), x),
    "slice": lambda tf, v, x: v[:].assign(x),
    "batch": lambda tf, v, x: v.batch_scatter_update(tf.IndexedSlices(x, [[0, 1], [0, 1]])),
}


@cases(
    update=UPDATES,
    value={
        name: VALUES[name]
        for name in (
            "matrix", "matrix_of_ints", "masked", "tagged", "memmap", "arrayed", "arrayed_double",
            "ragged", "decimal", "list_with_none", "texts", "none", "objects",
        )
    },
)  # fmt: skip
def updates(tf, update, value):
    v = tf.Variable([[10.0, 20.0], [30.0, 40.0]])
    error = attempt(lambda: update(tf, v, value()))
    shown = described(tf, v)
    return error if isinstance(error, Exception) else None, shown


@cases(value=["matrix", "masked", "tagged", "memmap", "arrayed"])
def cotangents(tf, value):
    make = VALUES[value]

    def seeded():
        v = tf.Variable(M)
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v, output_gradients=make())

    def returned():
        @tf.custom_gradient
        def f(x):
            return make(), lambda g: g * make()

        v = tf.Variable(M)
        with tf.GradientTape() as tape:
            y = f(v * 1.0)
        return y, tape.gradient(y, v)

    def handed_back():
        @tf.custom_gradient
        def f(x):
            return x * 2.0, lambda g: make()

        v = tf.Variable(M)
        with tf.GradientTape() as tape:
            y = f(v * 1.0) * 3.0
        return tape.gradient(y, v)

    def watched():
        with tf.GradientTape() as tape:
            tape.watch(make())

    return [attempt(seeded), attempt(returned), attempt(handed_back), attempt(watched)]


@cases(value=SOME)
def called_back(tf, value):
    def described_or_none(y):
        return None if y is None else described(tf, y) if tf.is_tensor(y) else type(y).__name__

    return [
        attempt(lambda: described_or_none(tf.py_function(value, [], tf.float32))),
        attempt(lambda: described_or_none(tf.numpy_function(value, [], tf.float32))),
        attempt(lambda: described_or_none(tf.numpy_function(np.copy, [value()], tf.float32))),
    ]  # fmt: skip


def dense_slices(tf, x):
    return tf.IndexedSlices(tf.constant(x), tf.constant([0, 1]), tf.constant([2, 2]))


COMPOSITES = {
    "ragged_constant": lambda tf, x: isinstance(x, np.matrix) or tf.ragged.constant(x),
    "row_lengths": lambda tf, x: tf.RaggedTensor.from_row_lengths(x, [1, 1]),
    "from_tensor": lambda tf, x: tf.RaggedTensor.from_tensor(x),
    "sparse": lambda tf, x: tf.SparseTensor([[0, 0], [1, 1]], tf.reshape(x, [-1])[:2], [2, 2]),
    "sparse_from_dense": lambda tf, x: tf.sparse.from_dense(x),
    "slices": lambda tf, x: tf.convert_to_tensor(dense_slices(tf, x)),
}  # fmt: skip


@cases(
    make=COMPOSITES,
    value=["matrix", "masked", "tagged", "memmap", "arrayed", "ragged"],
)
def composites(tf, make, value):
    return attempt(lambda: make(tf, VALUES[value]()))


KEYS = {
    "matrix_of_truths": lambda tf: np.matrix([[True, False], [False, True]]),
    "masked": lambda tf: masked([0, 1], [0, 1], int),
    "masked_truths": lambda tf: masked([True, False], [0, 1], bool),
    "masked_whole": lambda tf: masked(1, False, int),
    "array": lambda tf: np.array([0]),
    "zero_d": lambda tf: np.array(1),
    "truths": lambda tf: np.array([True, False]),
    "list_of_truths": lambda tf: [True, False],
    "tagged_whole": lambda tf: np.array(1).view(Tagged),
    "tagged_truths": lambda tf: np.array([True, False]).view(Tagged),
    "count": lambda tf: Count(1),
    "level": lambda tf: Level.HIGH,
    "indexed": lambda tf: Indexed(),
    "floating": lambda tf: Floating(),
    "arrayed": lambda tf: Arrayed(1),
    "arrayed_truths": lambda tf: Arrayed([True, False]),
    "unsigned": lambda tf: np.uint8(1),
    "long": lambda tf: np.int64(1),
    "float": lambda tf: 1.0,
    "float_scalar": lambda tf: np.float32(1),
    "text": lambda tf: "a",
    "decimal": lambda tf: decimal.Decimal(1),
    "set": lambda tf: {1},
    "range": lambda tf: range(1),
    "point": lambda tf: Point(0, 1),
    "slice_of_scalars": lambda tf: slice(np.int64(0), np.array(1)),
    "slice_of_counts": lambda tf: slice(Count(0), Level.HIGH),
    "slice_of_floats": lambda tf: slice(0.0, 1.0),
    "slice_of_tensors": lambda tf: slice(tf.constant(0), tf.constant(1)),
    "slice_of_indexed": lambda tf: slice(0, Indexed()),
    "big": lambda tf: 1 << 70,
    "slice_large": lambda tf: slice(0, 1 << 40),
    "truth": lambda tf: True,
    "truth_scalar": lambda tf: np.bool_(True),
    "tuple_with_truth": lambda tf: (0, True),
    "tuple_with_array": lambda tf: (0, np.array([1])),
    "bytes": lambda tf: b"a",
    "function": lambda tf: len,
}


@cases(key=KEYS)
def brackets(tf, key):
    x, v = tf.constant(M), tf.Variable(M)
    return [attempt(lambda: x[key(tf)]), attempt(lambda: v[key(tf)])]
