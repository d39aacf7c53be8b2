"""custom_gradient, recompute_grad, functions with tapes in and around them, and forward mode."""

import collections

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

Pair = collections.namedtuple("Pair", "a b")


def gradient(tf, function, *sources, **options):
    with tf.GradientTape() as tape:
        tape.watch(sources)
        result = function(*sources)
    return result, tape.gradient(result, list(sources), **options)


@case
def b34_the_guide_example(tf):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1.0 - 1.0 / (1.0 + e))

        return tf.math.log(1.0 + e), grad

    return gradient(tf, log1pexp, tf.constant([0.0, 100.0]))


@cases(
    answer={
        "tensor": lambda g: 5.0 * g,
        "list": lambda g: [5.0 * g],
        "tuple": lambda g: (5.0 * g,),
        "none": lambda g: None,
        "list_of_none": lambda g: [None],
    }
)
def b34_form_of_the_gradient(tf, answer):
    @tf.custom_gradient
    def f(x):
        return x * x, answer

    return gradient(tf, f, tf.constant(3.0))


@cases(
    answer={
        "empty": lambda g: [],
        "two": lambda g: [g, g],
        "number": lambda g: 5.0,
        "array": lambda g: np.float32(5.0),
        "wrong_shape": lambda g: [[1.0, 2.0]],
        "wrong_dtype": lambda g: np.float64(5.0),
    }
)
def b34_odd_gradients(tf, answer):
    @tf.custom_gradient
    def f(x):
        return x * x, answer

    return attempt(lambda: gradient(tf, f, tf.constant(3.0)))


@case
def b34_exceptions_come_through(tf):
    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            raise KeyError("in the gradient")

        return x * x, grad

    return attempt(lambda: gradient(tf, f, tf.constant(3.0)))


@case
def b34_exceptions_of_the_function(tf):
    @tf.custom_gradient
    def f(x):
        raise KeyError("in the function")

    return attempt(lambda: gradient(tf, f, tf.constant(3.0)))


@case
def b34_without_a_gradient_function(tf):
    return attempt(lambda: tf.custom_gradient(lambda x: x * x)(tf.constant(3.0)))


@case
def b34_as_a_method(tf):
    class Model:
        scale = 7.0

        @tf.custom_gradient
        def f(self, x):
            return x * x, lambda upstream: self.scale * upstream

    class Other:
        def __init__(self):
            self.f = tf.custom_gradient(self.plain)

        def plain(self, x):
            return x * x, lambda upstream: 8.0 * upstream

    return [gradient(tf, made.f, tf.constant(3.0)) for made in (Model(), Other())]


@case
def b34_several_inputs(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda upstream: (10.0 * upstream, 20.0 * upstream)

    return gradient(tf, f, tf.constant(3.0), tf.constant(4.0))


@case
def b34_none_for_one_input(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda upstream: (10.0 * upstream, None)

    return gradient(tf, f, tf.constant(3.0), tf.constant(4.0))


@case
def b34_several_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return (x, x * x), lambda first, second: 2.0 * first + 3.0 * second

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b = f(x)
        c = a * 1.0 + b * 10.0
    return [tape.gradient(target, x) for target in (a, b, c, [a, b])]


@case
def b34_unused_outputs_get_zeros(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(first, second):
            seen.append((first, second))
            return first + second

        return (x * 2.0, x * 3.0), grad

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, _ = f(x)
    return tape.gradient(a, x), seen


@case
def b34_nested_inputs_and_outputs(tf):
    @tf.custom_gradient
    def f(x):
        def grad(p, q):
            return {"a": p * 2.0, "b": [q * 3.0]}

        return {"p": x["a"] + 1.0, "q": x["b"][0] + 1.0}, grad

    x = {"a": tf.constant(1.0), "b": [tf.constant(2.0)]}
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, attempt(lambda: tape.gradient(y, x))


@case
def b34_list_of_inputs(tf):
    @tf.custom_gradient
    def f(xs):
        return xs[0] * xs[1], lambda upstream: [[upstream, 2.0 * upstream]]

    xs = [tf.constant(1.0), tf.constant(2.0)]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(xs)
    return y, attempt(lambda: tape.gradient(y, xs))


@case
def b34_numpy_inputs(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 2.0

    y = f(np.array([1.0, 2.0], np.float32))
    return y, isinstance(y, tf.Tensor)


@case
def b34_python_number_as_input(tf):
    kinds = []

    @tf.custom_gradient
    def f(x):
        kinds.append(isinstance(x, tf.Tensor))
        return x * x, lambda upstream: upstream * 2.0

    return f(3.0), kinds


@case
def b34_returns_the_input_itself(tf):
    @tf.custom_gradient
    def f(x):
        return x, lambda upstream: 9.0 * upstream

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y is x, tape.gradient(y, x)


@case
def b34_keyword_arguments(tf):
    @tf.custom_gradient
    def f(x, scale=1.0):
        return x * scale, lambda upstream: upstream * scale * 100.0

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = attempt(lambda: f(x, scale=2.0))
    return y if isinstance(y, Exception) else (y, tape.gradient(y, x))


@case
def b34_variable_as_an_input(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 5.0

    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = attempt(lambda: f(w))
    return y if isinstance(y, Exception) else (y, tape.gradient(y, w))


@case
def b34_upstream_of_a_custom_gradient(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            seen.append(upstream)
            return upstream

        return tf.identity(x), grad

    return gradient(tf, lambda x: 3.0 * f(x), tf.constant([1.0, 2.0])), seen


@case
def b34_clip_the_gradient(tf):
    @tf.custom_gradient
    def clip(x):
        return tf.identity(x), lambda g: tf.clip_by_norm(g, 0.5)

    return gradient(tf, lambda v: clip(v * v), tf.constant([2.0, 3.0]))


@case
def b34_name_and_doc_are_kept(tf):
    @tf.custom_gradient
    def named(x):
        """What it does."""
        return x, lambda g: g

    return named.__name__, named.__doc__


@case
def b34_gradient_is_not_asked_without_a_tape(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        def grad(upstream):
            calls.append(1)
            return upstream

        return x * 2.0, grad

    return f(tf.constant(1.0)), len(calls)


@case
def b34_integer_input(tf):
    @tf.custom_gradient
    def f(x, n):
        return x * tf.cast(n, tf.float32), lambda upstream: (upstream * 7.0, None)

    return gradient(tf, f, tf.constant(3.0), tf.constant(2))


@case
def b35_variables_are_passed(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(upstream, variables=None):
            return 10.0 * upstream, [20.0 * upstream for _ in variables]

        return x * w, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


@case
def b35_variables_keyword_only(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(upstream, *, variables):
            return 10.0 * upstream, [20.0 * upstream for _ in variables]

        return x * w, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


@case
def b35_variables_as_any_keyword(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(upstream, **kwargs):
            return 10.0 * upstream, [20.0 * upstream for _ in kwargs["variables"]]

        return x * w, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


@case(message="grad_fn must accept keyword argument 'variables', since function uses variables")
def b35_variables_without_the_keyword(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda upstream: upstream

    with tf.GradientTape():
        f(tf.constant(3.0))


@case
def b35_variables_without_the_keyword_and_without_a_tape(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda upstream: upstream

    return attempt(lambda: f(tf.constant(3.0)))


@case
def b35_the_keyword_without_variables(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def grad(upstream, variables="not given"):
            seen.append(variables)
            return upstream

        return x * 2.0, grad

    return attempt(lambda: gradient(tf, f, tf.constant(3.0))), seen


@case
def b35_wrong_number_of_variable_gradients(tf):
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda upstream, variables: (upstream, [])

    return attempt(lambda: gradient(tf, f, tf.constant(3.0)))


@case
def b35_variables_in_order(tf):
    names = []
    a, b = tf.Variable(2.0, name="a"), tf.Variable(3.0, name="b")

    @tf.custom_gradient
    def f(x):
        def grad(upstream, variables):
            names.extend(v.name for v in variables)
            return upstream, [upstream * float(i + 1) for i in range(len(variables))]

        return x * b * a, grad

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, [x, a, b]), names


@case
def b35_variables_that_are_not_trainable(tf):
    w = tf.Variable(2.0, trainable=False)

    @tf.custom_gradient
    def f(x):
        return x * w, lambda upstream: upstream * 5.0

    return gradient(tf, f, tf.constant(3.0))


@case
def b36_gradient_of_a_custom_gradient(tf):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda upstream: upstream * 3.0 * x**2

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@case
def b36_the_gradient_is_differentiated_not_the_function(tf):
    @tf.custom_gradient
    def odd(x):
        return x * 2.0, lambda upstream: upstream * tf.sin(x)

    x = tf.constant(0.5)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = odd(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, x)


@case
def b36_gradient_that_is_itself_custom(tf):
    @tf.custom_gradient
    def f(x):
        @tf.custom_gradient
        def slope(upstream):
            return upstream * 2.0 * x, lambda second: (second * 100.0,)

        return x * x, slope

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = attempt(lambda: inner.gradient(y, x))
    return g if isinstance(g, Exception) else (g, outer.gradient(g, x))


@case
def b36_the_guide_example_of_nesting(tf):
    @tf.custom_gradient
    def op(x):
        def first_order(upstream):
            @tf.custom_gradient
            def first_order_custom(inner_x):
                def second_order(second):
                    return second * 1000.0

                return upstream * 3.0 * inner_x**2, second_order

            return first_order_custom(x)

        return x**3, first_order

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = op(x)
        g = inner.gradient(y, x)
    return y, g, outer.gradient(g, x)


@case
def b36_ops_of_the_gradient_are_recorded_by_outer_tapes(tf):
    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda upstream: upstream * w

    x, w = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as outer:
        outer.watch(w)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return g, outer.gradient(g, w)


@cases(watched=["input", "closure", "both"])
def b36_a_tensor_that_the_function_closes_over(tf, watched):
    @tf.custom_gradient
    def f(x):
        return x * w, lambda upstream: upstream * 100.0

    x, w = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch({"input": [x], "closure": [w], "both": [x, w]}[watched])
        y = f(x)
    return tape.gradient(y, [x, w])


@case
def b36_custom_gradient_inside_custom_gradient(tf):
    @tf.custom_gradient
    def inner(x):
        return x * x, lambda upstream: 100.0 * upstream

    @tf.custom_gradient
    def outer(x):
        return inner(x) + 1.0, lambda upstream: 3.0 * upstream

    return gradient(tf, outer, tf.constant(2.0))


@case
def b37_recompute_grad(tf):
    calls = []

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return tf.sin(x) * x

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    before = len(calls)
    return y, before, tape.gradient(y, x), len(calls)


@case
def b37_recompute_grad_with_variables(tf):
    w = tf.Variable(2.0)
    f = tf.recompute_grad(lambda x: x * w * w)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, [x, w])


@case
def b37_recompute_grad_with_lists_and_dicts(tf):
    f = tf.recompute_grad(lambda xs: xs["a"] * xs["b"][0])
    xs = {"a": tf.constant(3.0), "b": [tf.constant(4.0)]}
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(xs)
    return y, attempt(lambda: tape.gradient(y, xs))


@case
def b37_recompute_grad_of_a_list(tf):
    f = tf.recompute_grad(lambda xs: xs[0] * xs[1])
    xs = [tf.constant(3.0), tf.constant(4.0)]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(xs)
    return y, tape.gradient(y, xs)


@case
def b37_recompute_grad_keyword_arguments(tf):
    f = tf.recompute_grad(lambda x, scale=1.0: x * x * scale)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, scale=4.0)
    return y, tape.gradient(y, x)


@case
def b37_recompute_grad_in_a_chain(tf):
    f = tf.recompute_grad(lambda x: tf.tanh(x) * x)
    return gradient(tf, lambda x: f(f(x) * 2.0), tf.constant([0.5, 1.0]))


@case
def b37_recompute_grad_of_second_order(tf):
    f = tf.recompute_grad(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        g = inner.gradient(y, x)
    return attempt(lambda: outer.gradient(g, x))


@case(message="recompute_grad tried to transpose")
def b37_recompute_grad_refuses_forward_mode(tf):
    f = tf.recompute_grad(lambda x: tf.sin(x) * x)
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = f(x)
    return acc.jvp(y)


@cases(order=[1, 2, 3])
def b38_through_a_function(tf, order):
    @tf.function
    def f(x):
        return tf.sin(x) * x**3

    def derivative(n):
        if n == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(n - 1)
        return tape.gradient(y, x)

    x = tf.constant(0.7, tf.float64)
    return derivative(order)


@case
def b38_tape_inside_a_function(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    return slope(tf.constant(2.0)), slope(tf.constant([1.0, 3.0]))


@case
def b38_tape_inside_and_outside(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    return gradient(tf, slope, tf.constant(2.0))


@case
def b38_tape_of_the_outside_used_inside(tf):
    w = tf.Variable(3.0)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = (w - 1.0) ** 2
        g = tape.gradient(loss, w)
        w.assign_sub(0.25 * g)
        return loss

    return [train() for _ in range(3)], w


@case
def b38_nested_functions(tf):
    @tf.function
    def inner(x):
        return tf.exp(x)

    @tf.function
    def outer(x):
        return inner(x) * inner(2.0 * x)

    return gradient(tf, outer, tf.constant(0.5))


@case
def b38_none_among_the_outputs(tf):
    @tf.function
    def f(x):
        return x * x, None, {"a": x, "n": None}

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, nothing, rest = f(x)
    return nothing, rest, tape.gradient([y, rest["a"]], x)


@case
def b38_keyword_arguments(tf):
    @tf.function
    def f(x, *, scale, offset=1.0):
        return x * scale + offset

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, scale=tf.constant(5.0))
    return y, tape.gradient(y, x)


@case
def b38_while_loop(tf):
    @tf.function
    def f(x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (tf.constant(0), tf.constant(1.0))
        )[1]

    return gradient(tf, f, tf.constant(2.0))


@case
def b38_cond(tf):
    @tf.function
    def f(x):
        return tf.cond(x > 1.0, lambda: x * x, lambda: -x)

    return gradient(tf, f, tf.constant(2.0)), gradient(tf, f, tf.constant(0.5))


@case
def b38_autograph_loop_and_condition(tf):
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(3):
            if y > 5.0:
                y = y + x
            else:
                y = y * x
        return y

    return gradient(tf, f, tf.constant(2.0)), gradient(tf, f, tf.constant(3.0))


@case
def b38_autograph_while(tf):
    @tf.function
    def f(x):
        y = x
        while y < 20.0:
            y = y * x
        return y

    return gradient(tf, f, tf.constant(2.0))


@case
def b38_function_with_variables(tf):
    class Layer(tf.Module):
        def __init__(self):
            self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
            self.b = tf.Variable([0.5, -0.5])

        @tf.function
        def __call__(self, x):
            return tf.nn.relu(x @ self.w + self.b)

    layer = Layer()
    x = tf.constant([[1.0, 1.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    return loss, tape.gradient(loss, layer.trainable_variables)


@case
def b38_function_of_python_numbers_and_arrays(tf):
    f = tf.function(lambda x, n: x**n)
    return f(tf.constant(2.0), 3), f(np.float32(2.0), 2), isinstance(f(2.0, 2.0), tf.Tensor)


@case
def b38_custom_gradient_in_a_function(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 7.0

    return gradient(tf, tf.function(lambda x: f(x) * 2.0), tf.constant(3.0))


@case
def b38_stop_recording_inside_a_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = y * 100.0
            w = y + z
        return tape.gradient(w, x)

    return f(tf.constant(3.0))


@case
def b38_unconnected_inside_a_function(tf):
    @tf.function
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = x * x
        return tape.gradient(z, [x, y], unconnected_gradients="zero")

    return f(tf.constant(3.0), tf.constant([1.0, 2.0]))


@case
def b38_gather_through_a_function(tf):
    w = tf.Variable([1.0, 2.0, 3.0])
    f = tf.function(lambda: tf.reduce_sum(tf.gather(w, [0, 2, 2]) ** 2))
    with tf.GradientTape() as tape:
        y = f()
    return tf.convert_to_tensor(tape.gradient(y, w))


@case
def b38_jacobian_and_hessian_in_a_function(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x**3)
            g = inner.gradient(y, x)
        return g, outer.jacobian(g, x)

    return f(tf.constant([1.0, 2.0]))


@case
def b39_jvp(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y = tf.sin(x) * x
    return y, acc.jvp(y)


@case
def b39_jvp_of_variables(tf):
    w, b = tf.Variable([[2.0, 3.0], [1.0, 4.0]]), tf.Variable([1.0, 1.0])
    x = tf.constant([[2.0, 0.0], [1.0, 1.0]])
    tangents = [tf.ones([2, 2]), tf.zeros([2])]
    with tf.autodiff.ForwardAccumulator([w, b], tangents) as acc:
        loss = tf.reduce_mean((x @ w + b) ** 2)
    return acc.jvp(loss)


@case
def b39_jvp_of_a_nest(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    primals, tangents = {"x": x, "y": [y]}, {"x": tf.constant(1.0), "y": [tf.constant(0.5)]}
    with tf.autodiff.ForwardAccumulator(primals, tangents) as acc:
        z = {"p": x * y, "q": (x * x, y * y)}
    return acc.jvp(z)


@case
def b39_jvp_inside_the_block(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x * x
        tangent = acc.jvp(y)
        z = tangent * x
    return tangent, acc.jvp(z)


@case
def b39_jvp_of_the_primal(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        pass
    return acc.jvp(x)


@case
def b39_ops_outside_the_block(tf):
    x = tf.constant(2.0)
    before = x * x
    with tf.autodiff.ForwardAccumulator(x, tf.constant(5.0)) as acc:
        inside = x * x
    after = inside * 2.0
    return acc.jvp(before), acc.jvp(inside), acc.jvp(after)


@cases(unconnected=["none", "zero"])
def b39_unconnected(tf, unconnected):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = tf.constant([1.0, 2.0, 3.0]) * 2.0
    return acc.jvp(y, unconnected_gradients=unconnected)


@case
def b39_stop_gradient(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y, z = tf.stop_gradient(x * x), tf.stop_gradient(x) * x
    return acc.jvp(y), acc.jvp(z)


@case
def b39_unknown_unconnected_gradients(tf):
    x = tf.constant(1.0)
    with tf.autodiff.ForwardAccumulator(x, x) as acc:
        y = x * x
    return attempt(lambda: acc.jvp(y, unconnected_gradients="nonsense"))


@case(message="multiple times")
def b39_the_same_primal_twice(tf):
    x = tf.constant(1.0)
    tf.autodiff.ForwardAccumulator([x, x], [tf.constant(1.0), tf.constant(2.0)])


@case(message="already recording")
def b39_entering_twice(tf):
    x = tf.constant(1.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with acc, acc:
        pass


@case
def b39_entering_again(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    with acc:
        y = x * x
    with acc:
        z = y * x
    return acc.jvp(z)


@cases(
    tangent={
        "shape": lambda tf: tf.constant([1.0, 2.0, 3.0]),
        "dtype": lambda tf: tf.constant([1.0, 2.0], tf.float64),
        "array": lambda tf: np.array([1.0, 2.0], np.float32),
        "list": lambda tf: [1.0, 2.0],
        "none": lambda tf: None,
        "scalar": lambda tf: tf.constant(1.0),
    }
)
def b39_odd_tangents(tf, tangent):
    x = tf.constant([1.0, 2.0])

    def call():
        with tf.autodiff.ForwardAccumulator(x, tangent(tf)) as acc:
            y = x * x
        return acc.jvp(y)

    return attempt(call)


@case
def b39_integer_primal(tf):
    def call():
        x = tf.constant([1, 2])
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = x * x
        return acc.jvp(y)

    return attempt(call)


@case
def b39_accumulators_nest(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    return outer.jvp(y), first, outer.jvp(first)


@case
def b39_inner_accumulator_asked_inside_both(tf):
    x = tf.constant(2.0)
    with (
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer,
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner,
    ):
        y = tf.sin(x)
        first = inner.jvp(y)
    return first, outer.jvp(first), inner.jvp(first)


@case
def b39_hessian_vector_product_forward_over_reverse(tf):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, -1.0])
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_prod(x) ** 2
        g = tape.gradient(y, x)
    return g, acc.jvp(g)


@case
def b39_hessian_vector_product_reverse_over_forward(tf):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = tf.reduce_prod(x) ** 2
        tangent = acc.jvp(y)
    return tangent, tape.gradient(tangent, x)


@case
def b39_hessian_vector_product_reverse_over_reverse(tf):
    x, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 0.0, -1.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x) ** 2
        g = inner.gradient(y, x)
    return outer.gradient(g, x, output_gradients=v)


@case
def b39_hessian_vector_product_of_variables(tf):
    w = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(w, tf.constant([0.0, 1.0])) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w**3) * w[0]
        g = tape.gradient(y, w)
    return acc.jvp(g)


@case
def b39_through_a_function(tf):
    f = tf.function(lambda x: tf.sin(x) * x)
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y = f(x)
    return acc.jvp(y)


@case
def b39_inside_a_function(tf):
    @tf.function
    def f(x, v):
        with tf.autodiff.ForwardAccumulator(x, v) as acc:
            y = tf.exp(x)
        return acc.jvp(y)

    return f(tf.constant([0.0, 1.0]), tf.constant([1.0, 2.0]))


@case
def b39_through_a_custom_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda upstream: upstream * 7.0

    x = tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = f(x)
    return attempt(lambda: acc.jvp(y))


@case
def b39_through_a_custom_gradient_of_a_flat_function(tf):
    @tf.custom_gradient
    def f(x):
        return tf.round(x), lambda upstream: upstream

    x = tf.constant(1.2)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(2.0)) as acc:
        y = f(x)
    return attempt(lambda: acc.jvp(y))


@case
def b39_several_primals_share_a_result(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        z = x * x * y
    return acc.jvp(z), acc.jvp([z, x])


@case
def b39_variable_assigned_inside(tf):
    w = tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(w, tf.constant(1.0)) as acc:
        y = w * w
        w.assign(5.0)
        z = w * w
    return acc.jvp(y), acc.jvp(z)


@case
def b39_independent_accumulators(tf):
    x = tf.constant([1.0, 2.0])
    rows = []
    for row in np.eye(2, dtype=np.float32):
        with tf.autodiff.ForwardAccumulator(x, tf.constant(row)) as acc:
            y = x * x[0]
        rows.append(acc.jvp(y))
    return tf.stack(rows, axis=1)


@case
def b39_exception_in_the_block(tf):
    x = tf.constant(2.0)
    acc = tf.autodiff.ForwardAccumulator(x, tf.constant(1.0))
    try:
        with acc:
            y = x * x
            raise KeyError("inside")
    except KeyError:
        pass
    return acc.jvp(y), acc.jvp(y * x)


@cases(
    op={
        "matmul": lambda tf, x: x @ tf.transpose(x),
        "inverse": lambda tf, x: tf.linalg.inv(x + 3.0 * tf.eye(2)),
        "softmax": lambda tf, x: tf.nn.softmax(x),
        "max": lambda tf, x: tf.reduce_max(x, 1),
        "prod": lambda tf, x: tf.reduce_prod(x),
        "concat": lambda tf, x: tf.concat([x, x * x], 0),
        "slice": lambda tf, x: x[0] * x[:, 1],
        "where": lambda tf, x: tf.where(x > 0.0, x, x * x),
        "cast": lambda tf, x: tf.cast(x, tf.float64) * 2.0,
        "gather": lambda tf, x: tf.gather(x, [1, 1, 0]),
        "norm": lambda tf, x: tf.norm(x),
        "einsum": lambda tf, x: tf.einsum("ij,kj->ik", x, x),
        "cumsum": lambda tf, x: tf.cumsum(x, 1),
        "relu": lambda tf, x: tf.nn.relu(x),
    }
)
def b39_jvp_of_an_op(tf, op):
    x, v = tf.constant([[1.0, -2.0], [0.5, 3.0]]), tf.constant([[1.0, 0.5], [2.0, -1.0]])
    with tf.autodiff.ForwardAccumulator(x, v) as acc:
        y = op(tf, x)
    return acc.jvp(y)


@case(tolerance=2e-2)
def compute_gradient_of_tf_test(tf):
    theory, numeric = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    return theory, numeric


@case
def compute_gradient_of_several_arguments(tf):
    xs = [tf.constant([1.0, 2.0], tf.float64), tf.constant(3.0, tf.float64)]
    theory, _ = tf.test.compute_gradient(lambda x, y: x * x * y, xs)
    return theory


@case
def grad_pass_through(tf):
    f = tf.grad_pass_through(tf.round)
    return gradient(tf, f, tf.constant([1.2, 2.7]))


@case
def straight_through_by_stop_gradient(tf):
    def f(x):
        return x + tf.stop_gradient(tf.round(x) - x)

    return gradient(tf, f, tf.constant([1.2, 2.7]))


@case
def autodiff_namespace(tf):
    return tf.autodiff.GradientTape is tf.GradientTape, hasattr(tf.autodiff, "ForwardAccumulator")


@case
def tf_gradients_in_eager_mode(tf):
    x = tf.constant(3.0)
    return attempt(lambda: tf.gradients(x * x, x))


@case
def no_gradient_scopes(tf):
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape, tf.name_scope("scope"):
        y = w * w
    return tape.gradient(y, w)
