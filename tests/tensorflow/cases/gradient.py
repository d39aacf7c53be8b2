"""What `gradient` returns: structures, sums, weights, None and zeros, slices, dtypes, identity."""

import collections

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

Pair = collections.namedtuple("Pair", "a b")
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NUMBERS = [*FLOATS, "complex64", "complex128"]


def value_and_gradient(tf, function, *sources, **options):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        result = function(*sources)
    return result, tape.gradient(result, list(sources), **options)


def unary(tf, function, given, dtype="float32", **options):
    x = tf.constant(given, dtype)
    result, gradients = value_and_gradient(tf, function, x, **options)
    return result, gradients[0]


@cases(
    nest={
        "one": lambda a, b: a,
        "list": lambda a, b: [a, b],
        "tuple": lambda a, b: (a, b),
        "dict": lambda a, b: {"b": b, "a": a},
        "named": lambda a, b: Pair(a, b),
        "deep": lambda a, b: [{"x": (a, [b])}, b],
        "repeated": lambda a, b: [a, a, b, a],
        "ordered": lambda a, b: collections.OrderedDict([("z", a), ("y", b)]),
        "empty_list": lambda a, b: [],
        "empty_dict": lambda a, b: {},
        "with_empty": lambda a, b: [a, [], {}],
    }
)
def b17_structure_of_the_sources(tf, nest):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a * b
    return tape.gradient(y, nest(a, b))


@case
def b17_unconnected_entries(tf):
    a, b, c = tf.Variable(2.0), tf.Variable(3.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = a * a
    return tape.gradient(y, {"a": a, "rest": [b, c]})


@case
def b17_everything_unconnected(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.constant(1.0) * 2.0
    return tape.gradient(y, [a, b]), tape.gradient(y, a), tape.gradient(y, (a,))


@case
def b17_none_among_the_sources(tf):
    a = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a * a
    return attempt(lambda: tape.gradient(y, [a, None]))


@case
def b17_array_among_the_sources(tf):
    a = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a * a
    return attempt(lambda: tape.gradient(y, [a, np.float32(1.0)]))


@case
def b17_dict_of_targets(tf):
    a = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        targets = {"y": a * a, "z": [a * a * a]}
    return tape.gradient(targets, a)


@case
def b18_several_targets_are_summed(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y, z = x * x, 5.0 * x
    return tape.gradient([y, z], x)


@case
def b18_targets_of_different_shapes(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        targets = (x[0] * 3.0, [x * x, tf.reshape(x, [2, 1]) * tf.constant([[1.0, 1.0]])])
    return tape.gradient(targets, x)


@case
def b18_the_same_target_twice(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient([y, y], x)


@case
def b18_a_target_is_not_reduced_but_summed(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x) * x
    return tape.gradient(y, x)


@case
def b18_target_is_the_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(x, x)


@case
def b18_target_is_the_source_and_more(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient([x, y], x)


@case
def b18_target_is_the_source_with_weights(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient([x, y], x, output_gradients=[tf.constant(1.0), tf.constant(2.0)])


@case
def b18_weights_as_python_numbers(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, 5.0 * x
    return attempt(lambda: tape.gradient([y, z], x, output_gradients=[1.0, 2.0]))


@case
def b18_unwatched_target_is_the_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        pass
    return tape.gradient(x, x), tape.gradient(x, [x, x]), tape.gradient([x, x], x)


@case
def b18_target_is_the_source_of_shape(tf):
    x = tf.zeros([2, 3], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.gradient(x, x)


@case
def b18_target_is_a_variable(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = w * w
    return tape.gradient(w, w), tape.gradient([w, y], w)


@case
def b18_target_is_an_unread_variable(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(w, w)


@case
def b18_target_is_a_variable_of_the_chain(tf):
    w, v = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        v.assign(w * w)
    return tape.gradient(v, w)


@case
def b18_target_is_a_constant(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w * w
    return tape.gradient(tf.constant(1.0), w)


@case
def b18_target_is_a_python_number(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w * w
    return attempt(lambda: tape.gradient(1.0, w))


@case
def b18_target_is_an_array(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = (w * w).numpy()
    return attempt(lambda: tape.gradient(y, w))


@case
def b18_no_targets(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w * w
    return attempt(lambda: tape.gradient([], w))


@case
def b18_none_among_the_targets(tf):
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = w * w
    return attempt(lambda: tape.gradient([y, None], w))


@case
def b19_intermediate_and_source(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
    return tape.gradient(z, [x, y])


@case
def b19_intermediate_used_twice(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    return tape.gradient(z, [x, y, z])


@case
def b19_target_among_intermediates(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    return tape.gradient([y, z], [x, y])


@case
def b19_intermediate_only(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = tf.sin(y)
    return tape.gradient(z, y)


@cases(dtype=NUMBERS, shape=[(), (2,), (0,), (2, 3)])
def b20_zeros_for_what_is_unconnected(tf, dtype, shape):
    x, y = tf.zeros(shape, dtype), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = y * y
    return tape.gradient(z, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)


@cases(given=["zero", "none"])
def b20_unconnected_gradients_as_a_string(tf, given):
    x, y = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        z = y * y
    return tape.gradient(z, [x, y], unconnected_gradients=given)


@case
def b20_zero_for_integers(tf):
    x, y = tf.constant([1, 2]), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = y * y
    return tape.gradient(z, [x, y], unconnected_gradients="zero")


@case
def b20_zero_for_strings(tf):
    x, y = tf.constant("a"), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        z = y * y
    return attempt(lambda: tape.gradient(z, [x, y], unconnected_gradients="zero"))


@case
def b20_zero_when_everything_is_unconnected(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        pass
    return tape.gradient(tf.constant(1.0), x, unconnected_gradients="zero")


@case
def b20_zero_for_an_integer_target(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.int32)
    return attempt(lambda: tape.gradient(y, x, unconnected_gradients="zero"))


@case
def b20_zero_through_stop_gradient(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x) * 2.0
    return tape.gradient(y, x, unconnected_gradients="zero")


@case
def b20_zero_through_a_flat_op(tf):
    x = tf.Variable([1.5, 2.5])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.floor(x) * 2.0
    return tape.gradient(y, x), tape.gradient(y, x, unconnected_gradients="zero")


@case
def b20_zero_for_a_gathered_variable(tf):
    x, y = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    with tf.GradientTape() as tape:
        z = tf.gather(y, [0])
    return tape.gradient(z, [x, y], unconnected_gradients="zero")


@cases(message="Unknown value for unconnected_gradients", given=["nonsense", "ZERO", 1, None])
def b20_unknown_unconnected_gradients(tf, given):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, unconnected_gradients=given)


@case(message="Unknown value for unconnected_gradients: 'nonsense'")
def b20_nonsense(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, unconnected_gradients="nonsense")


@case
def b20_the_enumeration(tf):
    kind = tf.UnconnectedGradients
    return kind.NONE, kind.ZERO, kind("zero") is kind.ZERO, kind.ZERO.value, kind.NONE.value


@case(message="Argument `target` should be a list or nested structure")
def b21_target_none(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        x * x
    return tape.gradient(None, x)


@case
def b21_sources_none(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, None))


@cases(
    weights={
        "scalar": 2.0,
        "vector": [1.0, 2.0, 3.0],
        "one": [2.0],
        "matrix": [[1.0, 2.0, 3.0]],
        "taller": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        "wrong": [1.0, 2.0],
    }
)
def b22_shapes_of_output_gradients(tf, weights):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, output_gradients=tf.constant(weights))


@cases(
    weights={
        "vector": [1.0, 2.0],
        "scalar": 2.0,
    }
)
def b22_output_gradients_of_a_reduction(tf, weights):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    return attempt(lambda: tape.gradient(y, x, output_gradients=tf.constant(weights)))


@case
def b22_output_gradients_of_another_dtype(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    weights = tf.constant([1.0, 2.0], tf.float64)
    return attempt(lambda: tape.gradient(y, x, output_gradients=weights))


@cases(
    weights={
        "array": np.array([1.0, 2.0], np.float32),
        "double_array": np.array([1.0, 2.0]),
        "list": [1.0, 2.0],
        "number": 2.0,
        "none": None,
    }
)
def b22_output_gradients_that_are_not_tensors(tf, weights):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, x, output_gradients=weights))


@case
def b22_output_gradients_with_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y, z = x * x, 5.0 * x
    return tape.gradient([y, z], x, output_gradients=[None, tf.constant(2.0)])


@case
def b22_too_few_output_gradients(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y, z = x * x, 5.0 * x
    return attempt(lambda: tape.gradient([y, z], x, output_gradients=[tf.constant(1.0)]))


@case
def b22_output_gradients_as_a_dict(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        targets = {"y": x * x, "z": 5.0 * x}
    weights = {"z": tf.constant(10.0), "y": tf.constant(1.0)}
    return tape.gradient(targets, x, output_gradients=weights)


@case
def b22_output_gradients_as_a_variable(tf):
    x, weight = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = x * x
    return attempt(lambda: tape.gradient(y, x, output_gradients=weight))


@case
def b22_derivative_for_output_gradients(tf):
    x, weight = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(weight)
        with tf.GradientTape() as inner:
            y = x**3
        g = inner.gradient(y, x, output_gradients=weight)
    return outer.gradient(g, [x, weight])


@case
def b23_gather_of_a_variable(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(w, [2, 0, 2])
    return tape.gradient(y, w)


@case
def b23_gather_of_a_watched_tensor(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [2, 0, 2]) * 2.0
    return tape.gradient(y, x)


@case
def b23_gather_with_a_matrix_of_indices(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(w, [[2, 0], [2, 1]])
    return tape.gradient(y, w)


@case
def b23_gather_with_a_scalar_index(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(w, 1)
    return tape.gradient(y, w)


@case
def b23_gather_with_int64_indices(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(w, tf.constant([2, 2], tf.int64))
    return tape.gradient(y, w)


@case
def b23_gather_along_another_axis(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(w, [1, 1, 0], axis=1) * tf.constant([1.0, 2.0, 3.0])
    return tape.gradient(y, w)


@case
def b23_gather_of_nothing(tf):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.gather(w, tf.constant([], tf.int32))
    return tape.gradient(y, w)


@case
def b23_embedding_lookup(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.nn.embedding_lookup(w, [1, 1])
        loss = tf.reduce_sum(y * y)
    return tape.gradient(loss, w)


@case
def b23_two_gathers_are_concatenated(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(w, [0, 1])) + 5.0 * tf.reduce_sum(tf.gather(w, [1]))
    return tape.gradient(y, w)


@case
def b23_gather_and_a_dense_use(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(w, [0, 0])) + tf.reduce_sum(w * w)
    return tape.gradient(y, w)


@case
def b23_dense_use_and_a_gather(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(w * w) + tf.reduce_sum(tf.gather(w, [0, 0]))
    return tape.gradient(y, w)


@case
def b23_gather_behind_another_op(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(w * w, [0, 0])
    return tape.gradient(y, w)


@case
def b23_gather_behind_an_identity(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(tf.identity(w), [0, 0])
    return tape.gradient(y, w)


@case
def b23_gather_as_a_target_and_a_dense_target(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        targets = [tf.gather(w, [0, 0]), w * 3.0]
    return tape.gradient(targets, w)


@case
def b23_gather_nd_and_slices_are_dense_or_not(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y, z = tf.gather_nd(w, [[0, 1], [0, 1]]), w[1]
    return tape.gradient(y, w), tape.gradient(z, w)


@case
def b23_second_order_of_a_gather(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(w, [0, 2]) ** 3)
        g = tf.convert_to_tensor(inner.gradient(y, w))
    return g, outer.gradient(g, w)


@case
def b23_sparse_variable_reads(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = w.sparse_read([1, 1])
    return tape.gradient(y, w)


@case
def b23_apply_slices_by_hand(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(w, [2, 2])
    w.scatter_sub(tape.gradient(y, w))
    return w


@case
def b24_assign_is_invisible(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x.assign_add(y)
        z = x * x
    return z, tape.gradient(z, [x, y])


@cases(
    change={
        "assign": lambda x, y: x.assign(y),
        "assign_add": lambda x, y: x.assign_add(y),
        "assign_sub": lambda x, y: x.assign_sub(y),
    }
)
def b24_result_of_an_assignment(tf, change):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = change(x, y * 2.0) * 4.0
    return z, tape.gradient(z, [x, y])


@case
def b24_assign_after_the_read(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(10.0)
    return y, tape.gradient(y, x)


@case
def b24_assign_between_reads(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(10.0)
        z = x * x
    return tape.gradient([y, z], x)


@case
def b24_assign_after_the_block(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x**3
    x.assign(10.0)
    return tape.gradient(y, x)


@case
def b24_rebinding_the_name(tf):
    x = tf.Variable(2.0)
    found = []
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = x + 1.0
        found.append(tape.gradient(y, x))
        x = x + 1.0
    return found, isinstance(x, tf.Variable)


@cases(
    message="with `tf.Variable`s is not supported",
    operator=["iadd", "isub", "imul", "itruediv", "ipow"],
)
def b24_augmented_assignment_is_refused(tf, operator):
    return getattr(tf.Variable(2.0), f"__{operator}__")(1.0)


@case
def b24_augmented_assignment_of_a_tensor(tf):
    x = before = tf.constant(2.0)
    x += 1.0
    return x, before


@case
def b24_numpy_breaks_the_chain(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor(np.mean(x * x, axis=0))
    return tape.gradient(y, x)


@case
def b24_numpy_functions_on_tensors(tf):
    x = tf.constant([1.0, 4.0])
    return np.sqrt(x), np.add(x, x), np.sum(x), np.asarray(x), type(np.sin(x)).__name__


@case
def b24_numpy_on_the_left(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = np.array([3.0, 4.0], np.float32) * x
    return y, tape.gradient(y, x)


@case
def b25_max_of_variables(tf):
    v = [tf.Variable(value) for value in (1.0, 2.0, 3.0)]
    with tf.GradientTape() as tape:
        y = max(v)
    return y, tape.gradient(y, v)


@case
def b25_max_of_scaled_variables(tf):
    v = [tf.Variable(value) for value in (1.0, 5.0, 3.0)]
    with tf.GradientTape() as tape:
        y = max(2.0 * u for u in v)
    return tape.gradient(y, v)


@case
def b25_sum_min_and_sorted_of_variables(tf):
    v = [tf.Variable(value) for value in (3.0, 1.0, 2.0)]
    with tf.GradientTape() as tape:
        y = sum(v) * min(v) + sorted(v)[1]
    return tape.gradient(y, v)


@case
def b25_python_conditions(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x if x > 2.0 else x
    return tape.gradient(y, x)


@case
def b26_stop_gradient(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x) * x
    return y, tape.gradient(y, x)


@case
def b26_stop_gradient_everywhere(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x)
    return tape.gradient(y, x)


@case
def b26_nothing_upstream_is_called(tf):
    calls = []

    @tf.custom_gradient
    def loud(x):
        def grad(upstream):
            calls.append(1)
            return upstream

        return tf.identity(x), grad

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(loud(x)) * x
    return tape.gradient(y, x), len(calls)


@case
def b26_inside_a_function(tf):
    x = tf.Variable(3.0)

    @tf.function
    def f():
        return tf.stop_gradient(x * x) * x

    with tf.GradientTape() as tape:
        y = f()
    return tape.gradient(y, x)


@case
def b26_source_behind_stop_gradient(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x)
        tape.watch(y)
        z = y * x
    return tape.gradient(z, [x, y])


@case
def b26_source_behind_stop_gradient_unwatched(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x)
        z = y * x
    return tape.gradient(z, [x, y])


@case
def b26_stop_gradient_of_a_nest(tf):
    x = tf.Variable(3.0)
    return attempt(lambda: tf.stop_gradient([x * 1.0, x * 2.0]))


@case
def b26_prevent_gradient_by_stopping_the_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * 2.0
        w = z * x
    return tape.gradient(w, x)


@cases(
    op={
        "identity": lambda tf, x: tf.identity(x),
        "add_zero": lambda tf, x: x + 0.0,
        "times_one": lambda tf, x: x * 1.0,
        "reshape": lambda tf, x: tf.reshape(x, []),
        "positive": lambda tf, x: attempt(lambda: +x),
        "cast": lambda tf, x: tf.cast(x, tf.float32),
        "convert": lambda tf, x: tf.convert_to_tensor(x),
        "python": lambda tf, x: x,
        "index": lambda tf, x: x[...],
    }
)
def b27_what_makes_a_new_tensor(tf, op):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = op(tf, x)
        if isinstance(y, Exception):
            return y
        z = y * y + x
    return y is x, tape.gradient(z, [x, y])


@case
def b27_read_value_makes_a_new_tensor(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x.read_value()
        z = y * y + x
    return tape.gradient(z, [x, y])


@case
def b27_an_alias_is_the_same(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x
        z = y * y + x
    return tape.gradient(z, [x, y])


@cases(
    op={
        "square": lambda tf, z: z * z,
        "cube": lambda tf, z: z**3,
        "exp": lambda tf, z: tf.exp(z),
        "log": lambda tf, z: tf.math.log(z),
        "sin": lambda tf, z: tf.sin(z),
        "tanh": lambda tf, z: tf.tanh(z),
        "sqrt": lambda tf, z: tf.sqrt(z),
        "inverse": lambda tf, z: 1.0 / z,
        "abs": lambda tf, z: tf.abs(z),
        "real": lambda tf, z: tf.math.real(z),
        "imag": lambda tf, z: tf.math.imag(z),
        "angle": lambda tf, z: tf.math.angle(z),
        "conj": lambda tf, z: tf.math.conj(z),
        "norm2": lambda tf, z: tf.math.real(z * tf.math.conj(z)),
        "sum": lambda tf, z: tf.reduce_sum(z),
        "prod": lambda tf, z: tf.reduce_prod(z),
        "mean": lambda tf, z: tf.reduce_mean(z * z),
        "negative": lambda tf, z: -z,
        "slice": lambda tf, z: z[1] * z[0],
    },
    dtype=["complex64", "complex128"],
)
def b28_complex(tf, op, dtype):
    return unary(tf, lambda z: op(tf, z), [1.0 + 2.0j, -0.5 + 0.25j], dtype)


@case
def b28_complex_product(tf):
    a, b = tf.constant(1.0 + 2.0j), tf.constant(3.0 - 1.0j)
    return value_and_gradient(tf, lambda a, b: a * b, a, b)


@case
def b28_complex_matmul(tf):
    a = tf.constant([[1.0 + 2.0j, 0.5j], [1.0 + 0j, 2.0 - 1.0j]])
    b = tf.constant([[0.0 + 1.0j], [2.0 + 0j]])
    return value_and_gradient(tf, lambda a, b: a @ b, a, b)


@case
def b28_real_to_complex(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([0.5, -1.0])
    return value_and_gradient(tf, lambda x, y: tf.complex(x, y) ** 2, x, y)


@case
def b28_real_through_complex(tf):
    x = tf.constant([1.0, 2.0])
    return value_and_gradient(tf, lambda x: tf.abs(tf.exp(tf.complex(0.0 * x, x)) + 1.0), x)


@case
def b28_cast_to_complex(tf):
    x = tf.constant([1.0, 2.0])
    return value_and_gradient(tf, lambda x: tf.cast(x, tf.complex64) * (1.0 + 2.0j), x)


@case
def b28_complex_output_gradient(tf):
    z = tf.constant(1.0 + 2.0j)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    return tape.gradient(y, z, output_gradients=tf.constant(0.0 + 1.0j, tf.complex128))


@case
def b28_second_order_complex(tf):
    z = tf.Variable(1.0 + 2.0j)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = z**3
        g = inner.gradient(y, z)
    return g, outer.gradient(g, z)


@cases(dtype=NUMBERS)
def b29_dtype_of_the_source(tf, dtype):
    return unary(tf, lambda x: tf.reduce_sum(x * x), [1.0, 2.0], dtype)


@cases(source=FLOATS, through=FLOATS)
def b29_through_cast(tf, source, through):
    return unary(tf, lambda x: tf.cast(x, through) * 3.0, [1.0, 2.0], source)


@cases(
    shapes={
        "scalar_vector": ((), (3,)),
        "vector_matrix": ((3,), (2, 3)),
        "column_row": ((2, 1), (1, 3)),
        "same": ((2, 3), (2, 3)),
        "ones": ((1, 1), (2, 3)),
        "ranks": ((2, 1, 3), (4, 1)),
        "empty": ((0, 3), (3,)),
        "one_and_empty": ((1,), (0,)),
    },
    op={
        "add": lambda tf, a, b: a + b,
        "sub": lambda tf, a, b: a - b,
        "mul": lambda tf, a, b: a * b,
        "div": lambda tf, a, b: a / b,
        "pow": lambda tf, a, b: a**b,
        "maximum": lambda tf, a, b: tf.maximum(a, b),
        "where": lambda tf, a, b: tf.where(a > 1.5, a, b),
    },
)
def b29_broadcasting_is_undone(tf, shapes, op):
    a, b = (
        tf.constant(np.linspace(start, 2.5, int(np.prod(shape))).reshape(shape), tf.float32)
        for start, shape in zip((0.5, 1.0), shapes, strict=True)
    )
    return value_and_gradient(tf, lambda a, b: op(tf, a, b), a, b)


@cases(
    op={
        "sum": lambda tf, x: tf.reduce_sum(x),
        "mean": lambda tf, x: tf.reduce_mean(x),
        "max": lambda tf, x: tf.reduce_max(x),
        "prod": lambda tf, x: tf.reduce_prod(x),
        "exp": lambda tf, x: tf.exp(x),
        "matmul": lambda tf, x: tf.matmul(x, tf.ones([3, 2])),
        "matmul_back": lambda tf, x: tf.matmul(tf.transpose(x), x),
        "concat": lambda tf, x: tf.concat([x, x], 0),
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "gather": lambda tf, x: tf.gather(x, tf.constant([], tf.int32)),
    }
)
def b29_empty_tensors(tf, op):
    return unary(tf, lambda x: op(tf, x), np.zeros((0, 3)))


@cases(order=[1, 2, 3, 4])
def chain_rule_of_order(tf, order):
    x = tf.constant([0.3, 1.2], tf.float64)

    def derivative(n):
        if n == 0:
            return tf.exp(tf.sin(x)) / (1.0 + x * x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(n - 1)
        return tape.gradient(y, x)

    return derivative(order)


@case
def mixed_partial_derivatives(tf):
    x, y = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            z = x * x * y**3
        dx, dy = inner.gradient(z, [x, y])
    return [outer.gradient(d, [x, y]) for d in (dx, dy)]


@case
def second_order_unconnected(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = 3.0 * x
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x), outer.gradient(g, x, unconnected_gradients="zero")


@case
def diamond(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = x * x
        b, c = tf.sin(a), tf.cos(a)
        y = b * c + a
    return tape.gradient(y, [x, a, b, c])


@case
def x_times_x_times_x(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x * x + tf.add(x, x) + tf.concat([[x], [x]], 0)[1]
    return tape.gradient(y, x)


@case
def matmul_and_bias(tf):
    w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5, -0.5])
    x = tf.constant([[1.0, -1.0], [2.0, 0.0], [0.0, 3.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w + b)))
    return loss, tape.gradient(loss, {"w": w, "b": b})


@case
def guide_linear_layer(tf):
    w = tf.Variable(tf.ones([3, 2]), name="w")
    b = tf.Variable(tf.zeros(2, dtype=tf.float32), name="b")
    x = [[1.0, 2.0, 3.0]]
    with tf.GradientTape(persistent=True) as tape:
        y = x @ w + b
        loss = tf.reduce_mean(y**2)
    return tape.gradient(loss, [w, b])


@case
def guide_control_flow(tf):
    x, v0, v1 = tf.constant(1.0), tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    return tape.gradient(result, [v0, v1]), tape.gradient(result, x)


@case
def guide_cases_of_none(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], dtype=tf.float32)
    with tf.GradientTape() as tape:
        x2 = x**2
        y = np.mean(x2, axis=0)
        y = tf.reduce_mean(y, axis=0)
    return tape.gradient(y, x)


@case
def guide_state_is_a_wall(tf):
    x0, x1 = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        x1.assign_add(x0)
        y = x1**2
    return tape.gradient(y, x0)


@case
def guide_image_or_op_without_gradient(tf):
    x = tf.Variable([[0.5, 1.5]])
    with tf.GradientTape(persistent=True) as tape:
        y, z = tf.argmax(x, axis=1), tf.cast(tf.cast(x, tf.int32), tf.float32)
    return tape.gradient(y, x), tape.gradient(z, x)


@cases(
    index={
        "element": lambda x: x[1, 2],
        "row": lambda x: x[1],
        "column": lambda x: x[:, 1],
        "range": lambda x: x[0:1, 1:],
        "step": lambda x: x[:, ::2],
        "backwards": lambda x: x[::-1, ::-1],
        "negative": lambda x: x[-1, -2],
        "newaxis": lambda x: x[:, None, 1],
        "ellipsis": lambda x: x[..., 1],
        "empty": lambda x: x[2:, :],
        "all": lambda x: x[:],
        "sum_of_overlapping": lambda x: x[:, :2] * x[:, 1:],
    }
)
def gradient_through_an_index(tf, index):
    return unary(tf, index, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@case
def gradient_through_a_variable_index(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = w[0, 1] * w[1, 1] + tf.reduce_sum(w[1])
    return tape.gradient(y, w)


@case
def gradient_through_iteration(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 1.0
        for element in x:
            y = y * element
    return tape.gradient(y, x)


@case
def gradient_through_unpacking(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        (a, b), c = x
        y = a * b * c[1]
    return tape.gradient(y, x)


@case
def gradient_through_a_list_of_scalars(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor([a, b, a * b]) * tf.constant([1.0, 2.0, 3.0])
    return tape.gradient(y, [a, b])


@case
def gradient_through_a_nested_list(tf):
    a, b = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.linalg.det([[a, 1.0], [b, a]])
    return tape.gradient(y, [a, b])


@case
def gradient_through_constant_of_a_list(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = attempt(lambda: tf.constant([a, b]) * 2.0)
    return y if isinstance(y, Exception) else (y, tape.gradient(y, [a, b]))


@case
def gradient_through_stack_and_unstack(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        first, second = tf.unstack(tf.stack([a, b], axis=1))
        y = first * second
    return tape.gradient(y, [a, b])


@case
def gradient_through_one_of_several_results(tf):
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, second = tf.split(x, 2)
        y = second * second
    return tape.gradient(y, x)


@case
def gradient_through_moments(tf):
    def f(x):
        mean, variance = tf.nn.moments(x, 0)
        return (x - mean) / tf.sqrt(variance) * tf.constant([1.0, 2.0, -3.0])

    return unary(tf, f, [1.0, 2.0, 4.0])


@case
def gradient_of_a_while_loop_in_python(tf):
    x = tf.Variable(1.5)
    with tf.GradientTape() as tape:
        y = x
        while y < 10.0:
            y = y * x
    return y, tape.gradient(y, x)


@case
def gradient_of_float64_with_python_numbers(tf):
    return unary(tf, lambda x: 2 * x**2 + 1.5 / x - 3, [1.0, 2.0], "float64")


@case
def gradient_of_half_precision_sum(tf):
    return unary(tf, lambda x: tf.reduce_sum(tf.nn.softmax(x) * x), [1.0, 2.0, 3.0], "float16")


@case
def gradient_result_is_a_tensor(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    g = tape.gradient(y, x)
    return isinstance(g, tf.Tensor), isinstance(g, tf.Variable), g.shape, g.dtype


@case
def gradients_can_be_changed_in_place_by_nobody(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x + 0.0
        z = y + 0.0
    g, h = tape.gradient(z, [x, y])
    return g + 1.0, h


@case
def unused_outputs_get_zeros(tf):
    x = tf.constant([[2.0, 0.0], [0.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, r = tf.linalg.qr(x)
        y = tf.reduce_sum(tf.abs(r))
    return tape.gradient(y, x)


@case
def gradient_with_keywords(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(target=y, sources=x, output_gradients=tf.constant(3.0))


@case
def gradient_by_position(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    return tape.gradient(y, x, tf.constant(3.0), tf.UnconnectedGradients.ZERO)


@case
def sparse_tensor_as_a_source(tf):
    x = tf.sparse.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sparse.sparse_dense_matmul(x, tf.constant([[1.0], [2.0]]))
    return attempt(lambda: tape.gradient(y, x))


@case
def ragged_tensor_as_a_source(tf):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.gradient(y, x))


@case
def clip_and_apply(tf):
    w = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w) / 2.0
    gradients, norm = tf.clip_by_global_norm([tape.gradient(loss, w)], 1.0)
    w.assign_sub(gradients[0])
    return norm, w


PLAIN = {
    "float": 0.5, "one": 1.0, "int": 3, "large int": 100, "bool": True, "complex": 1j,
    "str": "loss", "float32": np.float32(0.5), "array": np.ones(2), "list": [0.5], "none": None,
}  # fmt: skip


@cases(value=PLAIN)
def a_plain_value_is_no_target(tf, value):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        _ = w * w
    return tape.gradient(value, w)


@cases(value=PLAIN)
def a_plain_value_is_no_source(tf, value):
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = w * w
    return tape.gradient(y, value)
