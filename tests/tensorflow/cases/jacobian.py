"""jacobian and batch_jacobian: shapes, structures, both ways of computing, unconnected sources."""

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

PFOR = [True, False]


def matrix(*shape, dtype=np.float32):
    return np.linspace(-1.0, 2.0, int(np.prod(shape))).reshape(shape).astype(dtype)


@cases(message="persistent", query=["jacobian", "batch_jacobian"])
def b30_without_pfor_a_persistent_tape_is_needed(tf, query):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return getattr(tape, query)(y, x, experimental_use_pfor=False)


@cases(pfor=PFOR, query=["jacobian", "batch_jacobian"])
def b30_both_ways_are_equal(tf, pfor, query):
    x = tf.constant(matrix(2, 3))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.sin(x) @ tf.constant(matrix(3, 2))
    return getattr(tape, query)(y, x, experimental_use_pfor=pfor)


@cases(query=["jacobian", "batch_jacobian"])
def b30_pfor_uses_the_tape_up(tf, query):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return getattr(tape, query)(y, x), attempt(lambda: tape.gradient(y, x))


@cases(pfor=PFOR, iterations=[1, 4])
def b30_parallel_iterations(tf, pfor, iterations):
    x = tf.constant(matrix(3))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return tape.jacobian(y, x, parallel_iterations=iterations, experimental_use_pfor=pfor)


@case
def b30_parallel_iterations_without_persistence(tf):
    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.jacobian(y, x, parallel_iterations=2))


@case
def b30_parallel_iterations_in_a_function_without_persistence(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x, parallel_iterations=2)

    return attempt(lambda: f(tf.constant(matrix(3))))


@cases(query=["jacobian", "batch_jacobian"])
def b30_inside_a_function(tf, query):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return getattr(tape, query)(y, x)

    return f(tf.constant(matrix(2, 2)))


@cases(pfor=PFOR, unconnected=["none", "zero"])
def b31_jacobian_of_what_is_unconnected(tf, pfor, unconnected):
    x, y = tf.constant(matrix(2)), tf.constant(matrix(3))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * x
    return tape.jacobian(z, [x, y], unconnected_gradients=unconnected, experimental_use_pfor=pfor)


@cases(pfor=PFOR, unconnected=["none", "zero"])
def b31_batch_jacobian_of_what_is_unconnected(tf, pfor, unconnected):
    x, y = tf.constant(matrix(2, 3)), tf.constant(matrix(2, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = x * x
    return tape.batch_jacobian(z, y, unconnected_gradients=unconnected, experimental_use_pfor=pfor)


@cases(unconnected=["none", "zero"])
def b31_batch_jacobian_of_another_dtype(tf, unconnected):
    x, y = tf.constant(matrix(2, 3)), tf.constant(matrix(2, 4), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = x * x
    return tape.batch_jacobian(z, y, unconnected_gradients=unconnected)


@case
def b31_jacobian_when_everything_is_unconnected(tf):
    x, y = tf.Variable(matrix(2)), tf.Variable(matrix(3))
    with tf.GradientTape() as tape:
        z = tf.constant([1.0, 2.0])
    return tape.jacobian(z, {"x": x, "y": [y]})


@cases(message="Need first dimension", pfor=PFOR)
def b32_batch_sizes_that_differ(tf, pfor):
    x = tf.constant(matrix(3, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x[:2] * 2.0
    return tape.batch_jacobian(y, x, experimental_use_pfor=pfor)


@case(message="must have rank at least 2")
def b32_rank_of_the_target(tf):
    x = tf.constant(matrix(3, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x, axis=1)
    return tape.batch_jacobian(y, x)


@case(message="must have rank at least 2")
def b32_rank_of_the_source(tf):
    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[:, None] * tf.constant([[1.0, 2.0]])
    return tape.batch_jacobian(y, x)


@case
def b32_a_list_as_the_source(tf):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.batch_jacobian(y, [x]))


@case
def b32_unknown_unconnected_gradients(tf):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return [
        attempt(lambda query=query: query(y, x, unconnected_gradients="nonsense"))
        for query in (tape.jacobian, tape.batch_jacobian)
    ]


@case
def b32_a_refused_batch_jacobian_and_the_tape(tf):
    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return attempt(lambda: tape.batch_jacobian(y, x)), attempt(lambda: tape.gradient(y, x))


@cases(query=["jacobian", "batch_jacobian"], persistent=[True, False])
def b33_inside_the_block(tf, query, persistent):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x * x
        return getattr(tape, query)(y, x)


# Without pfor, and for batches of no rows, TensorFlow fails on sizes of zero: not recorded.
@cases(shapes={"target": (0, 3), "both": (0, 0), "batch": (1, 0)})
def b33_jacobian_of_size_zero(tf, shapes):
    x = tf.zeros(shapes)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.jacobian(y, x)


@cases(pfor=PFOR)
def b33_batch_jacobian_of_size_zero(tf, pfor):
    x = tf.zeros([1, 0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    return tape.batch_jacobian(y, x, experimental_use_pfor=pfor)


@case
def b33_source_of_size_zero(tf):
    x, w = tf.zeros([0, 3]), tf.constant(matrix(2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = tf.reduce_sum(x) * w
    return tape.jacobian(y, x)


@cases(pfor=PFOR)
def b33_jacobian_of_a_gather_is_dense(tf, pfor):
    w = tf.Variable(matrix(3, 2))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather(w, [2, 0, 2])
    return tape.jacobian(y, w, experimental_use_pfor=pfor)


@cases(
    shapes={"scalar": (), "vector": (3,), "matrix": (2, 2), "cube": (2, 1, 2)},
    pfor=PFOR,
)
def jacobian_shapes(tf, shapes, pfor):
    x = tf.constant(matrix(*shapes))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.exp(x) * tf.reduce_sum(x)
    return tape.jacobian(y, x, experimental_use_pfor=pfor)


@case
def jacobian_of_a_scalar_by_a_matrix(tf):
    x = tf.Variable(matrix(2, 3))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    return tape.jacobian(y, x)


@case
def jacobian_of_a_matrix_by_a_scalar(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * tf.constant(matrix(2, 3))
    return tape.jacobian(y, x)


@case
def jacobian_of_several_sources(tf):
    w, b = tf.Variable(matrix(3, 2)), tf.Variable(matrix(2))
    x = tf.constant(matrix(2, 3))
    with tf.GradientTape() as tape:
        y = tf.tanh(x @ w + b)
    return tape.jacobian(y, {"w": w, "rest": (b, x)})


@case
def jacobian_of_a_nested_target(tf):
    x = tf.Variable(matrix(2))
    with tf.GradientTape() as tape:
        y = [x * x, x]
    return attempt(lambda: tape.jacobian(y, x))


@case
def jacobian_of_an_integer_target(tf):
    x = tf.Variable(matrix(2))
    with tf.GradientTape() as tape:
        y = tf.cast(x, tf.int32)
    return attempt(lambda: tape.jacobian(y, x))


@case
def jacobian_of_a_none_target(tf):
    x = tf.Variable(matrix(2))
    with tf.GradientTape() as tape:
        x * x
    return attempt(lambda: tape.jacobian(None, x))


@case
def jacobian_target_is_the_source(tf):
    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
    return tape.jacobian(x, x)


@cases(dtype=["float16", "float64", "complex64", "complex128"])
def jacobian_dtypes(tf, dtype):
    x = tf.cast(tf.constant(matrix(3)), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x[0]
    return tape.jacobian(y, x)


@case
def jacobian_of_a_complex_target_by_a_real_source(tf):
    x = tf.constant([0.5, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.exp(tf.complex(0.0 * x, x))
    return tape.jacobian(y, x)


@case
def jacobian_through_a_variable(tf):
    w = tf.Variable(matrix(2, 2))
    with tf.GradientTape() as tape:
        y = tf.linalg.inv(w + 3.0 * tf.eye(2))
    return tape.jacobian(y, w)


@case
def jacobian_with_stop_gradient(tf):
    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stop_gradient(x) * x
    return tape.jacobian(y, x)


@case
def hessian_by_jacobian_of_gradient(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3) + x[0] * x[1]
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


@case
def hessian_of_a_layer(tf):
    w = tf.Variable(matrix(2, 2))
    x = tf.constant(matrix(3, 2))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        g = inner.gradient(y, w)
    return outer.jacobian(g, w)


@case
def jacobian_of_a_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * x[0]
        j = inner.jacobian(y, x)
    return j, outer.jacobian(j, x)


@case
def gradient_of_a_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        j = inner.jacobian(y, x)
        trace = tf.linalg.trace(j)
    return outer.gradient(trace, x)


@case
def hessian_by_batch_jacobian(tf):
    x = tf.constant(matrix(3, 2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[:, 0] ** 2 * x[:, 1] ** 3
        g = inner.gradient(y, x)
    return outer.batch_jacobian(g, x)


@cases(pfor=PFOR)
def batch_jacobian_shapes(tf, pfor):
    x = tf.constant(matrix(2, 3, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=1, keepdims=True) * tf.ones([1, 2, 1])
    return tape.batch_jacobian(y, x, experimental_use_pfor=pfor)


@case
def batch_jacobian_of_a_variable(tf):
    w = tf.Variable(matrix(2, 3))
    with tf.GradientTape() as tape:
        y = w**2
    return tape.batch_jacobian(y, w)


@case
def batch_jacobian_that_mixes_rows(tf):
    x = tf.constant(matrix(2, 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * tf.reduce_sum(x, axis=0)
    return tape.batch_jacobian(y, x)


@case
def batch_jacobian_of_complex(tf):
    x = tf.constant([[1.0 + 2.0j, 0.5j]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x[:, :1]
    return tape.batch_jacobian(y, x)


@case
def jacobian_of_a_custom_gradient(tf):
    @tf.custom_gradient
    def tripled(x):
        return x * x, lambda upstream: 3.0 * upstream

    x = tf.constant(matrix(3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tripled(x)
    return tape.jacobian(y, x)


@cases(
    op={
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "cumsum": lambda tf, x: tf.cumsum(x),
        "sort": lambda tf, x: tf.sort(x),
        "reverse": lambda tf, x: x[::-1],
        "reduce_max": lambda tf, x: tf.reduce_max(x) * x,
        "where": lambda tf, x: tf.where(x > 0.5, x * x, -x),
        "concat": lambda tf, x: tf.concat([x, 2.0 * x], 0),
        "outer": lambda tf, x: x[:, None] * x[None, :],
        "einsum": lambda tf, x: tf.einsum("i,j->ij", x, x),
        "norm": lambda tf, x: x / tf.norm(x),
        "pad": lambda tf, x: tf.pad(x, [[1, 1]]),
        "tile": lambda tf, x: tf.tile(x, [2]),
        "matvec": lambda tf, x: tf.linalg.matvec(tf.eye(3) * 2.0, x),
    },
    pfor=PFOR,
)
def jacobian_of_an_op(tf, op, pfor):
    x = tf.constant([0.2, 1.0, 0.6])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = op(tf, x)
    return tape.jacobian(y, x, experimental_use_pfor=pfor)


PLAIN = {"float": 0.5, "int": 3, "str": "loss", "list": [0.5], "none": None, "complex": 1j}


@cases(method=["jacobian", "batch_jacobian"], value=PLAIN)
def a_plain_value_is_no_target(tf, method, value):
    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        _ = x * x
    return getattr(tape, method)(value, x)


@cases(method=["jacobian", "batch_jacobian"], value=PLAIN)
def a_plain_value_is_no_source(tf, method, value):
    x = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = x * x
    return getattr(tape, method)(y, value)
