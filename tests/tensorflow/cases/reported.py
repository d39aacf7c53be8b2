"""Wrong values, lost values and wrong errors that users reported, one case or more for each."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from tests.tensorflow.cases._common import named
from tests.tensorflow.harness import attempt, case, cases

PLACES = ["eager", "function", "tape"]


def placed(tf: Any, place: str, call: Any, *values: Any) -> Any:
    """The result of a call that runs eagerly, in a function, or in the block of a tape."""
    if place == "function":
        return tf.function(call)(*values)
    with tf.GradientTape() if place == "tape" else contextlib.nullcontext():
        return call(*values)


# --- texts ----------------------------------------------------------------------------------------
TEXTS: dict[str, Any] = {
    "scalars": ("a", "b"),
    "scalar_and_row": ("a", ["b", "c"]),
    "rows": (["a", "b"], ["c", "d"]),
    "column_and_row": ([["a"], ["b"]], ["c", "d"]),
    "empty": (np.zeros((0, 2), "S"), "b"),
    "wrong_shapes": (["a", "b"], ["c", "d", "e"]),
    "number": ("a", 1.0),
}


@cases(given=TEXTS, place=PLACES)
def sum_of_texts(tf: Any, given: Any, place: str) -> Any:
    x, y = (tf.constant(part) for part in given)
    return attempt(lambda: placed(tf, place, lambda x, y: x + y, x, y))


@cases(
    call={
        "python_right": lambda tf, x: x + "b",
        "python_left": lambda tf, x: "b" + x,
        "bytes": lambda tf, x: x + b"\xff",
        "add": lambda tf, x: tf.add(x, x),
        "math_add": lambda tf, x: tf.math.add(x, ["c", "d"]),
        "add_n": lambda tf, x: tf.add_n([x, x]),
        "reduce_join": lambda tf, x: tf.strings.reduce_join([x, x]),
        "sub": lambda tf, x: x - x,
        "mul": lambda tf, x: x * x,
        "neg": lambda tf, x: -x,
        "pow": lambda tf, x: x**x,
        "mod": lambda tf, x: x % x,
        "floordiv": lambda tf, x: x // x,
        "less": lambda tf, x: x < x,
        "equal": lambda tf, x: x == x,
        "not_equal": lambda tf, x: x != x,
        "maximum": lambda tf, x: tf.maximum(x, x),
        "abs": lambda tf, x: abs(x),
        "matmul": lambda tf, x: x @ x,
        "sin": lambda tf, x: tf.sin(x),
        "sqrt": lambda tf, x: tf.sqrt(x),
        "square": lambda tf, x: tf.square(x),
        "reduce_sum": lambda tf, x: tf.reduce_sum(x),
        "cumsum": lambda tf, x: tf.cumsum(x),
        "is_nan": lambda tf, x: tf.math.is_nan(x),
    },
    shape={"scalar": "a", "row": ["a", "b"], "none": np.zeros((0,), "S")},
    place=["eager", "function"],
)
def arithmetic_of_texts(tf: Any, call: Any, shape: Any, place: str) -> Any:
    return attempt(lambda: placed(tf, place, lambda x: call(tf, x), tf.constant(shape)))


# --- ragged ---------------------------------------------------------------------------------------
SHAPES: dict[str, Any] = {
    "flat": lambda tf, x: [-1],
    "column": lambda tf, x: [-1, 1],
    "whole": lambda tf, x: [4],
    "wrong": lambda tf, x: [5],
    "square": lambda tf, x: [2, -1],
    "deeper": lambda tf, x: [2, 1, -1],
    "tensor": lambda tf, x: tf.constant([-1]),
    "its_own": lambda tf, x: tf.shape(x),
    "another": lambda tf, x: tf.shape(tf.ragged.constant([[1], [2, 3, 4]])),
}


@cases(
    rows={
        "two": [[1.0, 2.0, 3.0], [4.0]],
        "nested": [[[1.0], [2.0, 3.0]], [[4.0]]],
        "dense": np.array([[1.0, 2.0], [3.0, 4.0]]),
    },
    shape=SHAPES,
    place=PLACES,
)
def reshape_of_ragged(tf: Any, rows: Any, shape: Any, place: str) -> Any:
    dense = isinstance(rows, np.ndarray)
    x = tf.constant(rows) if dense else tf.ragged.constant(rows)

    def call(flat: Any) -> Any:
        values = tf.reshape(flat, x.shape) if dense else x.with_flat_values(flat)
        return tf.reshape(values, shape(tf, values))

    return attempt(lambda: placed(tf, place, call, x if dense else x.flat_values))


@case
def reshape_of_ragged_has_a_gradient(tf: Any) -> Any:
    flat = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(flat)
        x = tf.RaggedTensor.from_row_lengths(flat, [1, 2])
        y = tf.reshape(x, [3, 1]) * [[1.0], [2.0], [3.0]]
    return tape.gradient(y, flat)


# --- Python functions -----------------------------------------------------------------------------
FLOATS = [1.0, 2.5]
PYTHON: dict[str, Any] = {
    "wrong_dtype": lambda tf, f, x: f(lambda x: np.float64([1.0]), [x], tf.float32),
    "whole_for_float": lambda tf, f, x: f(lambda x: 3, [x], tf.float32),
    "float_for_whole": lambda tf, f, x: f(lambda x: 3.5, [x], tf.int32),
    "python_float": lambda tf, f, x: f(lambda x: 3.5, [x], tf.float64),
    "python_whole": lambda tf, f, x: f(lambda x: 3, [x], tf.int64),
    "truth": lambda tf, f, x: f(lambda x: True, [x], tf.bool),
    "truth_for_float": lambda tf, f, x: f(lambda x: True, [x], tf.float32),
    "text": lambda tf, f, x: f(lambda x: "ab", [x], tf.string),
    "text_for_float": lambda tf, f, x: f(lambda x: "ab", [x], tf.float32),
    "none": lambda tf, f, x: [f(lambda x: None, [x], []), x][1],
    "raises_type": lambda tf, f, x: f(lambda x: x + "a", [x], tf.float32),
    "raises_key": lambda tf, f, x: f(lambda x: {}[1], [x], tf.float32),
    "stops": lambda tf, f, x: f(lambda x: next(iter(())), [x], tf.float32),
    "none_for_float": lambda tf, f, x: f(lambda x: None, [x], tf.float32),
    "two": lambda tf, f, x: f(lambda x: (x, 1), [x], [tf.float32, tf.int32]),
    "two_wrong": lambda tf, f, x: f(lambda x: (x, 1.5), [x], [tf.float32, tf.int32]),
    "too_few": lambda tf, f, x: f(lambda x: x, [x], [tf.float32, tf.int32]),
    "too_many": lambda tf, f, x: f(lambda x: (x, x), [x], tf.float32),
    "list_of_one": lambda tf, f, x: f(lambda x: x, [x], [tf.float32]),
    "list_for_vector": lambda tf, f, x: f(lambda x: [1.0, 2.0], [x], tf.float32),
    "rows": lambda tf, f, x: f(lambda x: [x, x], [x], tf.float32),
    "dtype_name": lambda tf, f, x: f(lambda x: x * 2, [x], "float32"),
}


@cases(given=PYTHON, function=["numpy_function", "py_function"], place=["eager", "function"])
def python_functions_give_their_dtype(tf: Any, given: Any, function: str, place: str) -> Any:
    def call(x: Any) -> Any:
        return given(tf, getattr(tf, function), x)

    return attempt(lambda: placed(tf, place, call, tf.constant(FLOATS)))


@cases(
    function={
        "square": lambda x: x * x,
        "two": lambda x: (x * x, 3.0 * x),
        "constant": lambda x: x * 0.0 + 1.0,
        "nothing_of_it": lambda x: np.float32(2.0),
    },
    place=["eager", "function", "tape"],
)
def forward_mode_through_py_function(tf: Any, function: Any, place: str) -> Any:
    x = tf.constant([1.0, 2.0])

    def call(x: Any) -> Any:
        several = isinstance(function(x), tuple)
        return tf.py_function(function, [x], [tf.float32] * 2 if several else tf.float32)

    with tf.autodiff.ForwardAccumulator(x, tf.constant([3.0, 5.0])) as accumulator:
        y = attempt(lambda: placed(tf, place, call, x))
    if isinstance(y, Exception):
        return y
    return y, attempt(lambda: tf.nest.map_structure(accumulator.jvp, y))


# --- TensorArray ----------------------------------------------------------------------------------
ARRAYS: dict[str, Any] = {
    "read_twice": lambda array: _each(array.write(0, 1.0), [0, 0]),
    "read_after_others": lambda array: _each(array.unstack([1.0, 2.0]), [0, 1, 0]),
    "read_and_stack": lambda array: _each(array.unstack([1.0, 2.0]), [0], "stack"),
    "stack_twice": lambda array: _each(array.unstack([1.0, 2.0]), [], "stack", "stack"),
    "unknown_shape_twice": lambda array: _each(array.write(1, 1.0), [0, 0]),
    "write_twice": lambda array: array.write(0, 1.0).write(0, 2.0).read(0),
    "out_of_range": lambda array: array.read(5),
    "negative": lambda array: array.read(-1),
    "write_out_of_range": lambda array: array.write(5, 1.0).stack(),
    "write_negative": lambda array: array.write(-1, 1.0).stack(),
    "never_written": lambda array: array.read(1),
    "wrong_dtype": lambda array: array.write(0, "a").stack(),
    "shapes": lambda array: array.write(0, 1.0).write(1, [1.0, 2.0]).stack(),
    "gather_out_of_range": lambda array: array.unstack([1.0, 2.0]).gather([7]),
}


def _each(array: Any, places: list[int], *calls: str) -> Any:
    return [array.read(k) for k in places], [getattr(array, call)() for call in calls]


@cases(
    given=ARRAYS,
    options={
        "usual": {},
        "kept": {"clear_after_read": False},
        "cleared": {"clear_after_read": True},
        "growing": {"dynamic_size": True},
    },
    place=["eager", "function"],
)
def tensor_array(tf: Any, given: Any, options: Any, place: str) -> Any:
    if given is ARRAYS["write_negative"] and "dynamic_size" in options:
        return None  # ends TensorFlow's process

    def call(x: Any) -> Any:
        return given(tf.TensorArray(tf.float32, 2, **options))

    return attempt(lambda: placed(tf, place, call, tf.constant(1.0)))


# --- variables of Keras and NumPy's namespace -----------------------------------------------------
def acting(tf: Any, value: Any) -> Any:
    """A variable of another library, which converts itself as those of Keras do."""

    class Acting(tf.__internal__.types.Tensor):
        _should_act_as_resource_variable = True

        def __init__(self) -> None:
            self._value = self.value = tf.Variable(value)

        shape = property(lambda self: self.value.shape)
        dtype = property(lambda self: self.value.dtype.name)

        def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
            return tf.convert_to_tensor(self.value, dtype=dtype, name=name)

    return Acting()


@cases(
    name=["matmul", "add", "multiply", "dot", "maximum", "concatenate", "where", "sum", "sqrt"],
    order=["tensor_first", "variable_first", "both"],
    place=["eager", "function"],
)
def numpy_namespace_of_acting_variables(tf: Any, name: str, order: str, place: str) -> Any:
    tnp = tf.experimental.numpy
    x, v = tf.constant([[1.0, 2.0], [3.0, 4.0]]), acting(tf, [[5.0, 6.0], [7.0, 8.0]])
    call = getattr(tnp, name)
    pairs = {
        "tensor_first": lambda x: (x, v),
        "variable_first": lambda x: (v, x),
        "both": lambda x: (v, v),
    }

    def apply(x: Any) -> Any:
        a, b = pairs[order](x)
        if name in ("sum", "sqrt"):
            return call(a), call(b)
        if name == "concatenate":
            return call([a, b])
        return call(x > 2.0, a, b) if name == "where" else call(a, b)

    return attempt(lambda: placed(tf, place, apply, x))


# --- single functions -----------------------------------------------------------------------------
@cases(
    name=[f"unsorted_segment_{end}" for end in ("sum", "mean", "prod", "max", "min", "sqrt_n")],
    data={
        "no_columns": (np.zeros((2, 0), "f4"), [0, 1], 3),
        "no_rows": (np.zeros((0, 2), "f4"), np.zeros(0, "i4"), 3),
        "nothing": (np.zeros((0, 0), "f4"), np.zeros(0, "i4"), 2),
        "no_depth": (np.zeros((2, 2, 0), "f4"), [[0, 1], [1, 0]], 2),
        "no_segments": (np.zeros((2, 0), "f4"), [-1, -1], 0),
        "out_of_range": (np.zeros((2, 0), "f4"), [0, 7], 3),
        "none_in_range": (np.zeros((2, 0, 3), "f4"), [0, 1], 0),
        "ids_of_nothing": (np.zeros((2, 0), "f4"), np.zeros((2, 0), "i4"), 3),
    },
    place=PLACES,
)
def segments_of_nothing(tf: Any, name: str, data: Any, place: str) -> Any:
    values, ids, count = data

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = named(tf, f"math.{name}")(x, ids, count)
        return y, tape.gradient(y, x)

    return attempt(lambda: placed(tf, place, call, tf.constant(values)))


@cases(
    name=[f"segment_{end}" for end in ("sum", "mean", "prod", "max", "min")],
    data={
        "no_columns": (np.zeros((2, 0), "f4"), [0, 1]),
        "no_rows": (np.zeros((0, 2), "f4"), np.zeros(0, "i4")),
    },
)
def sorted_segments_of_nothing(tf: Any, name: str, data: Any) -> Any:
    values, ids = data
    return attempt(lambda: named(tf, f"math.{name}")(tf.constant(values), ids))


@cases(
    name={
        "moments": lambda tf, x, **more: tf.nn.moments(x, axes=[], **more),
        "moments_tuple": lambda tf, x, **more: tf.nn.moments(x, axes=(), **more),
        "weighted": lambda tf, x, **more: tf.nn.weighted_moments(x, [], tf.ones_like(x), **more),
        "sufficient": lambda tf, x, **more: tf.nn.sufficient_statistics(x, [], **more),
        "sum": lambda tf, x, **more: tf.reduce_sum(x, axis=[], **more),
        "mean": lambda tf, x, **more: tf.reduce_mean(x, axis=[], **more),
        "variance": lambda tf, x, **more: tf.math.reduce_variance(x, axis=[], **more),
        "std": lambda tf, x, **more: tf.math.reduce_std(x, axis=[], **more),
        "logsumexp": lambda tf, x, **more: tf.reduce_logsumexp(x, axis=[], **more),
        "norm": lambda tf, x, **more: tf.norm(x, axis=[], **more),
    },
    keepdims=[False, True],
    place=PLACES,
)
def no_axes(tf: Any, name: Any, keepdims: bool, place: str) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    return attempt(lambda: placed(tf, place, lambda x: name(tf, x, keepdims=keepdims), x))


@cases(axes={"list": [], "array": np.zeros(0, "i4"), "floats": np.zeros(0), "tuple": ()})
def no_axes_of_moments(tf: Any, axes: Any) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 5.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        mean, variance = tf.nn.moments(x, axes=axes)
    return mean, variance, tape.gradient(mean, x), tape.gradient(variance, x)


@case
def with_space_to_batch_calls_by_position(tf: Any) -> Any:
    asked = []

    def op(*args: Any, **kwargs: Any) -> Any:
        asked.append([len(args), sorted(kwargs), args[1], args[2] if len(args) > 2 else None])
        return args[0]

    x = tf.ones([1, 4, 4, 1])

    def call(rate: Any, padding: str) -> Any:
        return attempt(lambda: tf.nn.with_space_to_batch(x, rate, padding, op, filter_shape=[2, 2]))

    results = [call(rate, padding) for rate in ([1, 1], [2, 2]) for padding in ("VALID", "SAME")]
    return asked, results


@cases(
    value={
        "floats": [[1.0, 2.0], [3.0, 4.0]],
        "wholes": [1, 2],
        "scalar": 3.0,
        "truths": [True, False],
        "complex": [1j],
        "empty": np.zeros((2, 0)),
        "texts": ["a"],
        "halves": np.float16([1.0]),
        "brains": "bfloat16",
    },
    kind=["tensor", "variable"],
)
def memory_of_tensors(tf: Any, value: Any, kind: str) -> Any:
    brains = isinstance(value, str) and value == "bfloat16"
    x = tf.cast([1.0], tf.bfloat16) if brains else tf.constant(value)
    x = tf.Variable(x) if kind == "variable" else x

    def look() -> Any:
        view = memoryview(x)
        numbers = view.tobytes() if view.format != "O" else None  # addresses
        return view.format, view.shape, view.readonly, view.contiguous, numbers

    return attempt(look)


@cases(dtype=["int16", "int32", "int64"], kind=["tensor", "function"])
def gather_nd_has_a_gradient(tf: Any, dtype: str, kind: str) -> Any:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    indices = tf.constant(np.array([[0, 1], [1, 0], [0, 1]], dtype))
    rows = tf.constant(np.array([[1], [1]], dtype))

    def call(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = tf.gather_nd(x, indices), tf.gather_nd(x, rows)
        return y, z, tape.gradient(y, x), tape.gradient(z, x)

    return attempt(lambda: placed(tf, "function" if kind == "function" else "eager", call, x))


@cases(dtype=["int32", "int64"])
def gather_nd_of_a_variable_and_of_slices(tf: Any, dtype: str) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    deep = tf.Variable(np.arange(24.0, dtype="f4").reshape(2, 3, 4))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather_nd(v, np.array([[0, 1], [1, 0]], dtype))
        z = tf.gather_nd(deep, np.array([[0, 2], [1, 1]], dtype))
        batched = tf.gather_nd(deep, np.array([[[0]], [[2]]], dtype), batch_dims=1)
    return [attempt(lambda: tape.gradient(y, v)), attempt(lambda: tape.gradient(z, deep)),
            attempt(lambda: tape.gradient(batched, deep))]  # fmt: skip


@cases(
    shape={"one": [2.0], "one_by_one": [[2.0]], "row": [[2.0, 3.0]], "two": [2.0, 3.0]},
    place=["eager", "function"],
    map=["vectorized_map", "map_fn"],
)
def gradient_of_a_mapped_variable(tf: Any, shape: Any, place: str, map: str) -> Any:
    w, x = tf.Variable(shape), tf.constant(shape)

    def call(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = getattr(tf, map)(lambda row: tf.reduce_sum(row * w * w), x)
            z = getattr(tf, map)(lambda row: tf.reduce_sum(row * row), w)
        return y, tape.gradient(y, [w, x]), tape.gradient(z, w)

    return attempt(lambda: placed(tf, place, call, x))


@cases(
    value={"nan": np.nan, "inf": np.inf, "minus_inf": -np.inf},
    whole=[True, False],
    place=["eager", "function"],
)
def pinv_of_what_is_not_finite(tf: Any, value: float, whole: bool, place: str) -> Any:
    array = np.array([[1.0, 2.0], [3.0, 4.0]], "f4")
    if whole:
        array[...] = value
    else:
        array[0, 1] = value
    return attempt(lambda: placed(tf, place, tf.linalg.pinv, tf.constant(array)))


@cases(
    text={
        "xx": b"xx",
        "nothing": b"",
        "cut": lambda tf: tf.io.serialize_tensor(tf.constant([1.0, 2.0])).numpy()[:-3],
        "sound": lambda tf: tf.io.serialize_tensor(tf.constant([1.0, 2.0])).numpy(),
        "other_dtype": lambda tf: tf.io.serialize_tensor(tf.constant([1, 2])).numpy(),
        "trailing": lambda tf: tf.io.serialize_tensor(tf.constant([1.0])).numpy() + b"x",
        "long": b"\xff" * 40,
        "zeros": b"\0\0\0",
        "letters": b"hello world",
        "field_of_others": b"\x9a\x06\x02hi",
    },
    place=["eager", "function"],
)
def parse_tensor(tf: Any, text: Any, place: str) -> Any:
    text = text(tf) if callable(text) else text
    return attempt(
        lambda: placed(tf, place, lambda x: tf.io.parse_tensor(x, tf.float32), tf.constant(text))
    )


@cases(
    labels={
        "sound": ([[1, 1, 2], [2, 2, 2]], [3, 2]),
        "long": ([[1, 1, 2], [2, 2, 2]], [9, 2]),
        "negative": ([[1, 1, 2], [2, 2, 2]], [-1, 2]),
        "too_few": ([[1, 1, 2], [2, 2, 2]], [3]),
        "too_many": ([[1, 1, 2], [2, 2, 2]], [3, 2, 1]),
        "vector": ([1, 1, 2], [3]),
        "vector_and_scalar": ([1, 1, 2], 3),
        "deep": ([[[1, 1, 2]]], [1]),
        "deep_lengths": ([[1, 1, 2]], [[3]]),
        "scalar": (1, 1),
        "none": (np.zeros((0, 3), "i4"), np.zeros(0, "i4")),
        "no_time": (np.zeros((2, 0), "i4"), [0, 0]),
        "no_time_long": (np.zeros((2, 0), "i4"), [1, 0]),
        "wide": (np.array([[1, 1, 2]], "i8"), np.array([3], "i8")),
        "floats": ([[1.0, 1.0, 2.0]], [3]),
        "texts": ([["a", "a", "b"]], [3]),
        "lengths_float": ([[1, 1, 2]], [3.0]),
    }
)
def collapse_repeated(tf: Any, labels: Any) -> Any:
    return attempt(lambda: tf.nn.collapse_repeated(*labels))


@cases(
    given={
        "too_many": lambda x: (x, x),
        "too_few": lambda x: (),
        "none": lambda x: None,
        "sound": lambda x: x * 3.0,
        "wrong_shape": lambda x: x[:1],
    },
    place=["eager", "function"],
    mode=["forward", "backward"],
)
def custom_gradient_of_many_values(tf: Any, given: Any, place: str, mode: str) -> Any:
    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, given

    x = tf.constant([1.0, 2.0])

    def ask() -> Any:
        if mode == "backward":
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = placed(tf, place, lambda x: square(x), x)
            return tape.gradient(y, x)
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = placed(tf, place, lambda x: square(x), x)
        return accumulator.jvp(y)

    return attempt(ask)


DECOMPOSITIONS: dict[str, Any] = {
    "svd_values": lambda tf, x: tf.linalg.svd(x, compute_uv=False),
    "svd": lambda tf, x: [tf.shape(part) for part in tf.linalg.svd(x)],
    "svd_whole": lambda tf, x: [tf.shape(part) for part in tf.linalg.svd(x, full_matrices=True)],
    "pinv": lambda tf, x: tf.linalg.pinv(x),
    "matrix_rank": lambda tf, x: tf.linalg.matrix_rank(x),
    "norm_2": lambda tf, x: tf.norm(x, ord=2, axis=[-2, -1]),
    "eigh": lambda tf, x: tf.linalg.eigvalsh(x),
    "qr": lambda tf, x: tf.linalg.qr(x),
    "cholesky": lambda tf, x: tf.linalg.cholesky(x),
    "det": lambda tf, x: tf.linalg.det(x),
    "slogdet": lambda tf, x: tf.linalg.slogdet(x),
    "inv": lambda tf, x: tf.linalg.inv(x),
    "solve": lambda tf, x: tf.linalg.solve(x, tf.ones_like(x)),
    "lstsq": lambda tf, x: tf.linalg.lstsq(x, tf.ones_like(x)),
    "lstsq_slow": lambda tf, x: tf.linalg.lstsq(x, tf.ones_like(x), fast=False),
    "lu": lambda tf, x: tf.linalg.lu(x)[0],
    "expm": lambda tf, x: tf.linalg.expm(x),
    "sqrtm": lambda tf, x: tf.linalg.sqrtm(x),
    "eigvals": lambda tf, x: tf.linalg.eigvals(x),
}


@cases(name=DECOMPOSITIONS, value={"nan": np.nan}, whole=[True, False], excuses=True)
def decomposed(tf: Any, name: Any, value: float, whole: bool) -> Any:
    """Matrices with nan, alone and in a stack with a sound one."""
    sound = np.array([[3.0, 1.0], [1.0, 2.0]], "f4")
    broken = sound.copy()
    broken[(slice(None) if whole else 0), 0] = value
    x, stack = tf.constant(broken), tf.constant(np.stack([sound, broken]))
    return attempt(lambda: name(tf, x)), attempt(lambda: name(tf, stack))


# --- functions ------------------------------------------------------------------------------------
def traces(f: Any, calls: list[Any]) -> list[Any]:
    """How often a function was traced after each call, and the shapes that its body saw."""
    return [(attempt(call), f.experimental_get_tracing_count())[1] for call in calls]


SIZES: dict[str, list[Any]] = {
    "vectors": [(2,), (3,), (4,), (5,)],
    "one_axis": [(2, 3), (4, 3), (5, 3)],
    "both_axes": [(2, 3), (4, 3), (5, 6), (7, 8)],
    "ranks": [(2,), (2, 3), (4, 5), (1,)],
    "back": [(2,), (3,), (2,), (3,)],
    "scalar": [(), (2,), (3,)],
}


@cases(sizes=SIZES, reduce=[True, False])
def reduce_retracing(tf: Any, sizes: list[Any], reduce: bool) -> Any:
    seen = []

    @tf.function(reduce_retracing=reduce)
    def f(x: Any) -> Any:
        seen.append(x.shape)
        return tf.reduce_sum(x * 2.0), tf.shape(x)

    calls = [lambda size=size: f(tf.ones(size)) for size in sizes]
    return traces(f, calls), seen, [f(tf.ones(size)) for size in sizes]


@cases(
    values={
        "dtypes": lambda tf: [tf.ones(2), tf.ones(3, tf.int32), tf.ones(4), tf.ones(4, tf.int32)],
        "numbers": lambda tf: [1, 2, 3],
        "lists": lambda tf: [[tf.ones(2)], [tf.ones(3)], [tf.ones(4)]],
        "dicts": lambda tf: [{"a": tf.ones(2)}, {"a": tf.ones(3)}, {"a": tf.ones(4)}],
        "ragged": lambda tf: [
            tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1], [2], [3]]),
        ],
        "variables": lambda tf: [tf.Variable([1.0]), tf.Variable([1.0]), tf.Variable([1.0, 2.0])],
    }
)  # fmt: skip
def reduce_retracing_of(tf: Any, values: Any) -> Any:
    @tf.function(reduce_retracing=True)
    def f(x: Any) -> Any:
        return tf.constant(0)

    return traces(f, [lambda value=value: f(value) for value in values(tf)])


VARIABLES: dict[str, Any] = {
    "alike": lambda tf: [(tf.Variable(1.0),), (tf.Variable(2.0),), (tf.Variable(3.0),)],
    "pairs": lambda tf: [(v := tf.Variable(1.0), tf.Variable(1.0)), (v, v), (tf.Variable(2.0), v)],
    "shapes": lambda tf: [(tf.Variable([1.0]),), (tf.Variable([2.0, 3.0]),), (tf.Variable([4.0]),)],
    "trainable": lambda tf: [(tf.Variable(1.0),), (tf.Variable(2.0, trainable=False),)],
    "lists": lambda tf: [([tf.Variable(1.0)],), ([tf.Variable(2.0)],)],
    "twice": lambda tf: [(v := tf.Variable(1.0),), (tf.Variable(2.0),), (v,)],
}


@cases(variables=VARIABLES)
def one_trace_for_variables_that_are_alike(tf: Any, variables: Any) -> Any:
    runs = []

    @tf.function
    def f(*given: Any) -> Any:
        runs.append(len(given))
        flat = tf.nest.flatten(given)
        with tf.GradientTape() as tape:
            y = flat[0] * flat[0] * 3.0
        for v in flat:
            v.assign_add(tf.ones_like(v))
        return y, tape.gradient(y, flat[0])

    given = variables(tf)
    answers = [f(*one) for one in given]
    held = [tf.nest.map_structure(lambda v: v.numpy(), list(one)) for one in given]
    return answers, held, len(runs), f.experimental_get_tracing_count()


LOOPS: dict[str, Any] = {
    "tuple": lambda tf, x, **more: tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (tf.constant(0), x), **more
    ),
    "list": lambda tf, x, **more: tf.while_loop(
        lambda i, x: i < 3, lambda i, x: [i + 1, x * 2.0], [tf.constant(0), x], **more
    ),
    "growing": lambda tf, x, **more: tf.while_loop(
        lambda i, x: i < 3, lambda i, x: [i + 1, tf.concat([x, x], 0)], [tf.constant(0), x], **more
    ),
}


@cases(loop=LOOPS, shapes=[True, False], place=["eager", "function"])
def while_loop_gives_what_it_was_given(tf: Any, loop: Any, shapes: bool, place: str) -> Any:
    kind = list if loop is not LOOPS["tuple"] else tuple
    more = {"shape_invariants": kind([tf.TensorShape([]), tf.TensorShape([None])])}

    def call(x: Any) -> Any:
        return loop(tf, x, **(more if shapes else {}))

    return attempt(lambda: placed(tf, place, call, tf.constant([1.0, 2.0])))


@cases(
    invariants={
        "mixed": lambda tf: (tf.TensorShape([]), [tf.TensorShape([None])]),
        "specs": lambda tf: [tf.TensorSpec([]), tf.TensorSpec([None])],
        "dict": lambda tf: {"i": tf.TensorShape([]), "x": tf.TensorShape([None])},
        "too_few": lambda tf: [tf.TensorShape([])],
        "not_met": lambda tf: [tf.TensorShape([]), tf.TensorShape([5])],
        "one": lambda tf: None,
    },
    place=["eager", "function"],
)
def shape_invariants(tf: Any, invariants: Any, place: str) -> Any:
    given = invariants(tf)

    def call(x: Any) -> Any:
        i = tf.constant(0)
        if isinstance(given, dict):
            return tf.while_loop(
                lambda state: state["i"] < 2,
                lambda state: ({"i": state["i"] + 1, "x": state["x"] * 2.0},),
                ({"i": i, "x": x},), shape_invariants=(given,),
            )  # fmt: skip
        if given is None:
            return tf.while_loop(
                lambda x: tf.reduce_sum(x) < 9.0, lambda x: tf.concat([x, x], 0), [x],
                shape_invariants=[tf.TensorShape([None])],
            )  # fmt: skip
        if isinstance(given, tuple):
            return tf.while_loop(
                lambda i, rest: i < 2, lambda i, rest: (i + 1, [rest[0] * 2.0]), (i, [x]),
                shape_invariants=given,
            )  # fmt: skip
        return tf.while_loop(
            lambda i, x: i < 2, lambda i, x: (i + 1, x * 2.0), (i, x), shape_invariants=given
        )

    return attempt(lambda: placed(tf, place, call, tf.constant([1.0, 2.0])))


# --- pooling and losses ---------------------------------------------------------------------------
POOLS: dict[str, dict[str, Any]] = {
    "depth": {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "VALID"},
    "depth_same": {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": "SAME"},
    "whole_depth": {"ksize": [1, 1, 1, 4], "strides": [1, 1, 1, 4], "padding": "VALID"},
    "depth_overlapping": {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 1], "padding": "VALID"},
    "depth_and_rows": {"ksize": [1, 2, 1, 2], "strides": [1, 2, 1, 2], "padding": "VALID"},
    "batch": {"ksize": [2, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID"},
    "odd_depth": {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 3], "padding": "VALID"},
    "explicit": {
        "ksize": 2, "strides": 2, "padding": [[0, 0], [1, 1], [1, 0], [0, 0]],
    },
    "explicit_wide": {
        "ksize": 3, "strides": 1, "padding": [[0, 0], [2, 2], [0, 0], [0, 0]],
    },
    "explicit_too_wide": {
        "ksize": 2, "strides": 1, "padding": [[0, 0], [2, 2], [0, 0], [0, 0]],
    },
    "explicit_of_depth": {
        "ksize": 2, "strides": 2, "padding": [[0, 0], [0, 0], [0, 0], [1, 1]],
    },
    "explicit_none": {
        "ksize": 2, "strides": 2, "padding": [[0, 0], [0, 0], [0, 0], [0, 0]],
    },
    "explicit_channels_first": {
        "ksize": 2, "strides": 2, "padding": [[0, 0], [0, 0], [1, 1], [1, 0]],
        "data_format": "NCHW",
    },
    "explicit_short": {"ksize": 2, "strides": 2, "padding": [[0, 0], [1, 1]]},
}  # fmt: skip


@cases(
    name=["max_pool", "max_pool2d"],
    given=POOLS,
    place=["eager", "function"],
    excuses=True,
)
def pools(tf: Any, name: str, given: dict[str, Any], place: str) -> Any:
    x = tf.constant(np.random.RandomState(3).uniform(-2, 2, (2, 4, 5, 4)).round(2).astype("f4"))

    def call(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.nn, name)(x, **given)
        return y, attempt(lambda: tape.gradient(y[0] if isinstance(y, tuple) else y, x))

    return attempt(lambda: placed(tf, place, call, x))


@cases(
    name={
        "softmax_cross_entropy": lambda tf, labels, x, **more: (
            tf.nn.softmax_cross_entropy_with_logits(labels, x, **more)
        ),
        "softmax": lambda tf, labels, x, **more: tf.nn.softmax(x, **more),
        "log_softmax": lambda tf, labels, x, **more: tf.nn.log_softmax(x, **more),
    },
    options={
        "axis": {"axis": 0}, "dim": {"dim": 0}, "both": {"axis": 0, "dim": 0}, "last": {"dim": -1},
        "out_of_range": {"dim": 5}, "none": {"dim": None},
    },
)  # fmt: skip
def axes_of_softmax(tf: Any, name: Any, options: dict[str, Any]) -> Any:
    labels, x = tf.constant([[0.2, 0.8], [0.5, 0.5]]), tf.constant([[1.0, 2.0], [3.0, 5.0]])
    return attempt(lambda: name(tf, labels, x, **options))


# --- numbers below the smallest normal one --------------------------------------------------------
TINY: dict[str, Any] = {
    "log_softmax_of_softmax": lambda tf, x: tf.math.log(tf.nn.softmax([[0.0, 92.0]]) + 0.0 * x),
    "softmax": lambda tf, x: tf.nn.softmax([[0.0, 92.0]] + 0.0 * x),
    "exp": lambda tf, x: tf.exp(x * -92.0),
    "mul": lambda tf, x: x * 1e-20 * 1e-20,
    "div": lambda tf, x: x * 1e-30 / 1e10,
    "add": lambda tf, x: (x * 1e-40) + 0.0,
    "neg": lambda tf, x: -(x * 1e-40),
    "matmul": lambda tf, x: tf.matmul([[1e-20]], [[1e-20]]) * x,
    "reduce_sum": lambda tf, x: tf.reduce_sum([1e-40, 1e-40]) * x,
    "constant": lambda tf, x: tf.constant(1e-40),
    "log_of_constant": lambda tf, x: tf.math.log(tf.constant(1e-40)),
    "double": lambda tf, x: tf.constant(1e-200, tf.float64) * 1e-120,
}


@cases(name=TINY, floor=0, place=["eager", "function"])
def numbers_below_the_smallest_normal_one(tf: Any, name: Any, place: str) -> Any:
    return placed(tf, place, lambda x: name(tf, x), tf.constant(1.0))
