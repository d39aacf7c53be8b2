"""Gradients through calls of `tf.function`: outer tapes, forward mode, higher order, None."""

from __future__ import annotations

from typing import Any

from tests.tensorflow.harness import attempt, case, cases


def taped(tf: Any, call: Any, sources: Any, **options: Any) -> Any:
    """The value of the call and its gradient."""
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = call()
    return y, tape.gradient(y, sources, **options)


@case
def simple(tf):
    f = tf.function(lambda x: tf.sin(x) * x)
    x = tf.constant([1.0, 2.0])
    return taped(tf, lambda: f(x), x), taped(tf, lambda: f(2.0 * x), x), taped(tf, lambda: f(x), x)


@case
def several_outputs(tf):
    f = tf.function(lambda x, y: (x * y, x + y, x * 2.0, 5.0))
    x, y = tf.constant(3.0), tf.constant(4.0)
    found = []
    for at in range(4):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        found.append(tape.gradient(z[at], [x, y]))
    return found


@cases(how=["none", "zero"])
def unconnected(tf, how):
    """An output that does not depend on an argument, and arguments that nothing depends on."""
    f = tf.function(lambda x, y: (x * x, tf.constant(1.0), tf.stop_gradient(y)))
    x, y = tf.constant(3.0), tf.constant([4.0, 5.0])
    found = []
    for at in range(3):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        found.append(tape.gradient(z[at], [x, y], unconnected_gradients=how))
    return found


@case
def unconnected_beside_eager(tf):
    """The same without a function."""

    def f(x, y):
        return x * x, tf.constant(1.0), tf.stop_gradient(y)

    x, y = tf.constant(3.0), tf.constant([4.0, 5.0])
    found = []
    for at in range(3):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = f(x, y)
        found.append(tape.gradient(z[at], [x, y]))
    return found


@case
def unconnected_variables(tf):
    v, w, unused = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(4.0)

    @tf.function
    def f(x):
        w.assign_add(1.0)
        tf.stop_gradient(w)
        return v * x, x * x

    with tf.GradientTape(persistent=True) as tape:
        a, b = f(tf.constant(5.0))
    pairs = tape.gradient(a, [v, w, unused]), tape.gradient(b, [v, w, unused])
    return pairs, [v is seen or w is seen for seen in tape.watched_variables()]


@case
def integer_parts(tf):
    f = tf.function(lambda x, n: (x * tf.cast(n, tf.float32), n * 2, tf.cast(x, tf.int32)))
    x, n = tf.constant(3.0), tf.constant(4)
    found = []
    for at in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = f(x, n)
        found.append(tape.gradient(z[at], [x, n]))
    return found


@case
def the_argument_itself(tf):
    x = tf.constant(3.0)
    f = tf.function(lambda x: x)
    g = tf.function(lambda x: (x, x))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, (a, b) = f(x), g(x)
        z = y * a
    return [tape.gradient(t, x) for t in (y, a, b, z)], tape.gradient(z, [y, a, b])


@case
def inner_values_are_not_seen(tf):
    kept: list[Any] = []

    @tf.function
    def f(x):
        y = x * x
        kept.append(y)
        return y * 2.0

    x = tf.constant(3.0)
    return taped(tf, lambda: f(x), x), len(kept)


@case
def the_same_argument_twice(tf):
    f = tf.function(lambda a, b: a * a * b)
    x = tf.constant(3.0)
    return taped(tf, lambda: f(x, x), x)


@case
def persistent(tf):
    f = tf.function(lambda x: (x * x, tf.exp(x)))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = f(x)
        c = f(a)[0]
    return [tape.gradient(t, x) for t in (a, b, c, [a, b, c])], tape.gradient(c, a)


@case
def output_gradients(tf):
    f = tf.function(lambda x: (x * x, x * 3.0))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x, output_gradients=[tf.constant([10.0, 1.0]), tf.constant([0.0, 2.0])])


@cases(order=[1, 2, 3])
def higher_order(tf, order):
    f = tf.function(lambda x: tf.sin(x) * x**3)
    x = tf.constant([0.7, 1.1], tf.float64)

    def derivative(n):
        if n == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(n - 1)
        return tape.gradient(y, x)

    return derivative(order)


@case
def tape_inside_and_outside(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return y, tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, dy = slope(x)
    return tape.gradient(y, x), tape.gradient(dy, x)


@case
def tape_from_outside_used_inside(tf):
    x = tf.constant(3.0)

    def run():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x

            @tf.function
            def f():
                return tape.gradient(y, x)

            return f()

    return attempt(run)


@cases(method=["jacobian", "batch_jacobian"])
def jacobians(tf, method):
    f = tf.function(lambda x: tf.stack([x[:, 0] * x[:, 1], tf.sin(x[:, 1])], 1))
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return getattr(tape, method)(y, x)


@case
def jacobian_inside(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[0] * x[1], x[1] ** 2])
        return tape.jacobian(y, x)

    return f(tf.constant([1.0, 2.0])), f(tf.constant([3.0, 4.0]))


@case
def hessian(tf):
    f = tf.function(lambda x: tf.reduce_sum(x**3))
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return outer.jacobian(g, x)


@case
def forward_mode(tf):
    f = tf.function(lambda x, y: (tf.sin(x) * y, x * x, tf.constant(1.0)))
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator([x, y], [tf.ones(2), 2.0 * tf.ones(2)]) as acc:
        z = f(x, y)
    return [acc.jvp(part) for part in z]


@case
def forward_over_backward(tf):
    f = tf.function(lambda x: tf.reduce_sum(x**3))
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        g = tape.gradient(y, x)
    return acc.jvp(y), acc.jvp(g)


@case
def forward_inside(tf):
    @tf.function
    def f(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.sin(x) * x
        return acc.jvp(y)

    return f(tf.constant([1.0, 2.0])), f(tf.constant([3.0, 4.0]))


@case
def variables_as_sources(tf):
    w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5, -0.5])
    f = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(x @ w + b) ** 2))
    x = tf.constant([[1.0, 1.0], [2.0, -1.0]])
    with tf.GradientTape() as tape:
        loss = f(x)
    return loss, tape.gradient(loss, [w, b]), len(tape.watched_variables())


@case
def variables_as_arguments(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    f = tf.function(lambda a, b: a * a * b)
    found = []
    for pair in ((v, w), (w, v), (v, v)):
        with tf.GradientTape() as tape:
            y = f(*pair)
        found.append((y, tape.gradient(y, [v, w])))
    return found, f.experimental_get_tracing_count()


@case
def variables_not_watched(tf):
    v, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    f = tf.function(lambda x: v * fixed * x)
    x = tf.constant(5.0)
    with tf.GradientTape(watch_accessed_variables=False) as blind:
        y = f(x)
    with tf.GradientTape() as tape:
        z = f(x)
    with tf.GradientTape(watch_accessed_variables=False) as chosen:
        chosen.watch(fixed)
        u = f(x)
    return (
        blind.gradient(y, [v, fixed]), tape.gradient(z, [v, fixed]), chosen.gradient(u, [v, fixed])
    )  # fmt: skip


@case
def captured_tensors(tf):
    c = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: x * c * c)
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch([c, x])
        y = f(x)
    return tape.gradient(y, [c, x])


@case
def captured_results_of_the_tape(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        f = tf.function(lambda: y * 2.0)
        z = f()
    return tape.gradient(z, x)


@case
def assigned_inside(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        v.assign(x * x)
        return v * x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, v]), v


@case
def assigned_between_reads(tf):
    v = tf.Variable(2.0)

    @tf.function
    def f():
        a = v * v
        v.assign_add(1.0)
        return a + v * 10.0

    with tf.GradientTape() as tape:
        y = f()
    return y, tape.gradient(y, v), v


@case
def training(tf):
    w = tf.Variable([1.0, -1.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w * x - 1.0) ** 2)
        g = tape.gradient(loss, w)
        w.assign_sub(0.1 * g)
        return loss, g

    return [step(tf.constant([1.0, float(n)])) for n in range(4)], w


@case
def nothing_inside(tf):
    v, unused = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = v * x
        return tape.gradient(y, [v, unused, x])

    return f(tf.constant(5.0))


@case
def custom_gradients(tf):
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda up: tf.clip_by_value(up * 2.0 * x, -1.0, 1.0)

    inside = tf.function(lambda x: clipped(x) * 2.0)
    around = tf.custom_gradient(lambda x: (inside(x), lambda up: up * 7.0))
    x = tf.constant([0.1, 3.0])
    return taped(tf, lambda: inside(x), x), taped(tf, lambda: around(x), x)


@case
def stop_gradient_and_recording(tf):
    @tf.function
    def f(x):
        return x * tf.stop_gradient(x)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        with tape.stop_recording():
            z = f(x)
        u = y + z
    return u, tape.gradient(u, x)


@case
def gathered(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    f = tf.function(lambda i: tf.reduce_sum(tf.gather(w, i) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([0, 2, 2]))
    g = tape.gradient(y, w)
    return type(g).__name__, tf.convert_to_tensor(g)


@case
def gathered_inside(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def f(i):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(w, i) ** 2)
        return tape.gradient(y, w)

    g = f(tf.constant([0, 2, 2]))
    return type(g).__name__, tf.convert_to_tensor(g)


@case
def control_flow(tf):
    @tf.function
    def f(x):
        y = x
        while tf.reduce_sum(y) < 20.0:
            if tf.reduce_sum(y) > 5.0:
                y = y + x
            else:
                y = y * x
        return y

    return [taped(tf, lambda x=x: f(x), x) for x in map(tf.constant, (2.0, 3.0, 1.5, 30.0))]


@case
def nested_functions(tf):
    inner = tf.function(lambda x: tf.exp(x) * x)
    outer = tf.function(lambda x: inner(x) * inner(2.0 * x))
    x = tf.constant(0.5)
    with tf.GradientTape() as second:
        second.watch(x)
        y, g = taped(tf, lambda: outer(x), x)
    return y, g, second.gradient(g, x)


@case
def tape_around_inner_functions(tf):
    inner = tf.function(lambda x: (x * x, None, {"n": 3}))

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)[0]
        return tape.gradient(y, x)

    return outer(tf.constant(3.0)), outer(tf.constant([1.0, 2.0]))


@case
def concrete_functions(tf):
    w = tf.Variable(2.0)
    c = tf.function(lambda x: w * x * x).get_concrete_function(tf.TensorSpec([]))
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = c(x)
    return y, tape.gradient(y, [x, w])


@case
def complex_numbers(tf):
    f = tf.function(lambda z: tf.abs(z) ** 2)
    z = tf.constant([1.0 + 2.0j, 3.0 - 1.0j])
    return taped(tf, lambda: f(z), z)


@case
def doubles_and_halves(tf):
    f = tf.function(lambda x: tf.cast(x, tf.float64) ** 2)
    return [
        taped(tf, lambda x=x: f(x), x) for x in (tf.constant(3.0), tf.constant(3.0, tf.float16))
    ]


@case
def composites(tf):
    f = tf.function(lambda r: tf.reduce_sum(r.flat_values**2))
    values = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = f(tf.RaggedTensor.from_row_splits(values, [0, 1, 3]))
    return y, tape.gradient(y, values)


@case
def after_the_tape(tf):
    """Called again with other values before the gradient is asked for."""
    f = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    f(tf.constant(100.0))
    return tape.gradient(y, x)


@case
def variable_changed_after_the_tape(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: v * v * x)
    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    v.assign(100.0)
    return tape.gradient(y, v)
