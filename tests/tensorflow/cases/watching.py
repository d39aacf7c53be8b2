"""What a tape watches: by hand, by access, by identity; composites and dtypes without slopes."""

import collections

import numpy as np

from tests.tensorflow.harness import attempt, case, cases, logged

Pair = collections.namedtuple("Pair", "a b")


@case
def b10_watching_is_per_tape(tf):
    x1, x2 = tf.constant(3.0), tf.constant(5.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x1)
        with tf.GradientTape() as inner:
            inner.watch(x2)
            z = x1 * x2 * x2
        dz = inner.gradient(z, x2)
    return dz, outer.gradient(dz, x1), outer.gradient(dz, x2)


@case
def b10_watching_by_both(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            z = x**3
        dz = inner.gradient(z, x)
    return dz, outer.gradient(dz, x)


@case
def b10_watched_by_the_inner_only(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x
    return outer.gradient(y, x), inner.gradient(y, x)


@case
def b10_variables_watched_by_choice(tf):
    a, b = tf.Variable(2.0, name="a"), tf.Variable(3.0, name="b")
    with tf.GradientTape(watch_accessed_variables=False) as first:
        first.watch(a)
        with tf.GradientTape(watch_accessed_variables=False) as second:
            second.watch(b)
            y = a * a * b
    names = [[v.name for v in t.watched_variables()] for t in (first, second)]
    return names, first.gradient(y, [a, b]), second.gradient(y, [a, b])


@case
def b11_trainable_variables_are_watched(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = w * w
    return tape.gradient(y, w)


@case
def b11_variables_that_are_not_trainable(tf):
    w = tf.Variable(3.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
        tape.watch(w)
        z = w * w
    return tape.gradient(y, w), tape.gradient(z, w), len(tape.watched_variables())


@case
def b11_without_watch_accessed_variables(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        y = w * w
        tape.watch(w)
        z = w * w
    return tape.gradient(y, w), tape.gradient(z, w)


@case
def b11_read_inside_a_function(tf):
    w, frozen = tf.Variable(3.0, name="w"), tf.Variable(2.0, trainable=False, name="frozen")

    @tf.function
    def f(x):
        return w * w * frozen * x

    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    return [v.name for v in tape.watched_variables()], tape.gradient(y, [w, frozen])


@case
def b11_function_traced_before_the_tape(tf):
    w = tf.Variable(3.0)
    f = tf.function(lambda x: w * w * x)
    f(tf.constant(5.0))
    with tf.GradientTape() as tape:
        y = f(tf.constant(5.0))
    return len(tape.watched_variables()), tape.gradient(y, w)


@cases(
    read={
        "numpy": lambda tf, w: w.numpy(),
        "read_value": lambda tf, w: w.read_value(),
        "value": lambda tf, w: w.value(),
        "convert": lambda tf, w: tf.convert_to_tensor(w),
        "identity": lambda tf, w: tf.identity(w),
        "index": lambda tf, w: w[0],
        "shape": lambda tf, w: w.shape,
        "dtype": lambda tf, w: w.dtype,
        "name": lambda tf, w: w.name,
        "tf_shape": lambda tf, w: tf.shape(w),
        "assign": lambda tf, w: w.assign([1.0, 2.0]),
        "assign_add": lambda tf, w: w.assign_add([1.0, 2.0]),
        "repr": lambda tf, w: repr(w),
        "len": lambda tf, w: attempt(lambda: len(w)),
        "iter": lambda tf, w: list(w),
        "ref": lambda tf, w: w.ref(),
        "array": lambda tf, w: np.asarray(w),
        "float": lambda tf, w: float(w[0]),
        "is": lambda tf, w: w is w,
        "equal": lambda tf, w: w == w,
        "stop_gradient": lambda tf, w: tf.stop_gradient(w),
        "is_variable": lambda tf, w: tf.is_tensor(w),
        "size": lambda tf, w: tf.size(w),
        "rank": lambda tf, w: tf.rank(w),
        "ones_like": lambda tf, w: tf.ones_like(w),
        "cast": lambda tf, w: tf.cast(w, tf.float32),
        "scatter": lambda tf, w: w.scatter_nd_update([[0]], [5.0]),
        "bool": lambda tf, w: attempt(lambda: bool(w)),
        "format": lambda tf, w: f"{w}",
        "zeros_like": lambda tf, w: tf.zeros_like(w),
        "gather": lambda tf, w: tf.gather(w, [0]),
        "made": lambda tf, w: tf.Variable(w),
    }
)
def b11_what_counts_as_a_read(tf, read):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        read(tf, w)
    return len(tape.watched_variables())


@case
def b11_integer_variables_are_watched_too(tf):
    w = tf.Variable(3)
    with tf.GradientTape() as tape:
        y = w * w
    return len(tape.watched_variables()), tape.gradient(y, w)


@case
def b12_watched_variables_in_order_of_construction(tf):
    a, b, c = (tf.Variable(1.0, name=name) for name in "abc")
    with tf.GradientTape() as tape:
        y = c * a + b + c
    before = tape.watched_variables()
    tape.gradient(y, a)
    after = tape.watched_variables()
    return [v.name for v in before], [v.name for v in after]


@case
def b12_watched_variables_is_a_tuple(tf):
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        empty = tape.watched_variables()
        w * w
    return type(empty).__name__, empty, type(tape.watched_variables()).__name__


@case
def b12_watched_variables_are_the_variables(tf):
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        w * w
    return tape.watched_variables()[0] is w


@case
def b12_watched_variables_of_a_tape_never_entered(tf):
    return tf.GradientTape().watched_variables()


@case
def b12_watched_by_hand_is_listed(tf):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b", trainable=False)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([b, a])
    return [v.name for v in tape.watched_variables()]


@case
def b12_watched_tensors_are_not_listed(tf):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1.0))
    return tape.watched_variables()


@case
def b12_gradient_of_watched_variables(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = b * b * a
    return tape.gradient(y, tape.watched_variables())


@case
def b12_reset_empties_the_list(tf):
    w = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        w * w
        tape.reset()
    return tape.watched_variables()


@cases(
    nest={
        "tensor": lambda a, b: a,
        "list": lambda a, b: [a, b],
        "tuple": lambda a, b: (a, b),
        "dict": lambda a, b: {"a": a, "b": b},
        "named": lambda a, b: Pair(a, b),
        "deep": lambda a, b: [{"x": (a, [b])}],
        "twice": lambda a, b: [a, a, b],
        "empty": lambda a, b: [],
    }
)
def b13_watch_a_nest(tf, nest):
    a, b = tf.constant(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(nest(a, b))
        y = a * a * b
    return tape.gradient(y, [a, b])


@cases(
    message="not tf.Tensor or tf.Variable or ExtensionType.",
    given={
        "array": np.array(1.0),
        "vector": np.array([1.0, 2.0]),
        "float": 1.0,
        "string": "x",
        "numpy_scalar": np.float32(1.0),
        "in_list": [1.0, 2.0],
    },
)
def b13_watch_something_else(tf, given):
    with tf.GradientTape() as tape:
        tape.watch(given)


@case(message="Passed in object 1.0 of type 'ndarray', not tf.Tensor or tf.Variable or Extension")
def b13_watch_an_array(tf):
    with tf.GradientTape() as tape:
        tape.watch(np.array(1.0))


@case
def b13_watch_none(tf):
    with tf.GradientTape() as tape:
        return attempt(lambda: tape.watch(None))


@case
def b13_watch_a_sparse_tensor(tf):
    x = tf.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.values * x.values
    return tape.gradient(y, x.values)


@case
def b13_watch_a_ragged_tensor(tf):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.flat_values * x.flat_values
    return tape.gradient(y, x.flat_values)


@case
def b13_watch_indexed_slices(tf):
    x = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 2]), tf.constant([3]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x.values * x.values
    return tape.gradient(y, x.values)


@case
def b13_watch_outside_the_block(tf):
    x = tf.constant(2.0)
    tape = tf.GradientTape()
    return attempt(lambda: tape.watch(x))


@case
def b13_watch_after_the_block(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    before = attempt(lambda: tape.watch(x))
    return before, attempt(lambda: tape.gradient(y, x))


@case
def b13_watch_returns_nothing(tf):
    with tf.GradientTape() as tape:
        return tape.watch(tf.constant(1.0))


@cases(dtype=["int32", "int64", "uint8", "bool"])
def b14_watching_a_dtype_without_slopes(tf, dtype):
    x = tf.cast(tf.constant([1, 0]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, tf.float32) * 2.0
    return tape.gradient(y, x)


@case
def b14_watching_a_string(tf):
    x = tf.constant("a")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.strings.join([x, x])
    return tape.gradient(y, x)


@case
def b14_the_warning_names_the_dtype(tf):
    x = tf.constant([1, 2])
    with tf.GradientTape() as tape:
        said = logged(lambda: tape.watch(x))
    words = ("The dtype of the watched tensor must be floating", "tf.int32")
    return [all(word in text for word in words) for text in said[:1]] in ([], [True])


@cases(dtype=["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def b14_watching_a_dtype_with_slopes(tf, dtype):
    x = tf.cast(tf.constant([1.0, 2.0]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@case
def b14_integer_targets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.cast(x * x, tf.int32)
        z = tf.cast(y, tf.float32)
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient([z, x * 2.0], x)


@case
def b14_integer_and_float_targets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.int32)
        z = x * x
    return tape.gradient([y, z], x)


@case
def b14_integer_sources_among_float_ones(tf):
    x, n = tf.constant(3.0), tf.constant(2)
    with tf.GradientTape() as tape:
        tape.watch([x, n])
        y = x * tf.cast(n, tf.float32)
    return tape.gradient(y, [x, n])


@case
def b14_string_and_bool_targets(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        s, b = tf.strings.as_string(x), x > 2.0
    return tape.gradient(s, x), tape.gradient(b, x)


@case
def b15_ops_before_watch(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        z = x * x * y
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)


@case
def b15_ops_after_the_block(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    z = y * 2.0
    return tape.gradient(z, x)


@case
def b15_ops_before_the_block(tf):
    x = tf.Variable(3.0)
    y = x * x
    with tf.GradientTape() as tape:
        z = y * 2.0
    return tape.gradient(z, [x, y])


@case
def b15_watching_an_intermediate(tf):
    x = tf.Variable(3.0)
    y = x * x
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = y * y
    return tape.gradient(z, [x, y])


@case
def b16_equal_constants_are_different(tf):
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * b
    return tape.gradient(y, [a, b])


@case
def b16_equal_constants_both_watched(tf):
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * a * b
    return tape.gradient(y, [a, b])


@case
def b16_the_same_tensor_twice(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, [x, x])


@case
def b16_watching_twice(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@case
def b16_zeros_are_different(tf):
    a, b = tf.zeros([2]), tf.zeros([2])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.exp(a) + 2.0 * tf.exp(b)
    return tape.gradient(y, [a, b])


@case
def b13_watch_after_the_tape_was_used(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    return attempt(lambda: tape.watch(x))


@case
def python_numbers_cannot_be_sources(tf):
    x = 3.0
    with tf.GradientTape() as tape:
        y = tf.square(x)
    return attempt(lambda: tape.gradient(y, x))


@case
def convert_of_a_watched_tensor_is_the_tensor(tf):
    x = tf.constant(3.0)
    same = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = same * same
    return same is x, tape.gradient(y, x)


@case
def constant_of_a_watched_tensor(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant(x) * 2.0
    return tape.gradient(y, x)


@case
def cast_to_its_own_dtype_is_the_tensor(tf):
    x = tf.constant(3.0)
    return tf.cast(x, tf.float32) is x, tf.identity(x) is x


@case
def variable_watched_then_used_through_a_read_before(tf):
    w = tf.Variable(3.0)
    read = w.read_value()
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = read * read
    return tape.gradient(y, w)


@case
def watch_a_python_list_of_variables(tf):
    variables = [tf.Variable(float(i)) for i in range(3)]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(variables)
        y = sum(v * v for v in variables)
    return tape.gradient(y, variables)


@case
def inner_tape_gradient_as_a_variable_source(tf):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(w**3)
        g = inner.gradient(y, w)
        penalty = tf.reduce_sum(g * g)
    return outer.gradient(penalty, w)
