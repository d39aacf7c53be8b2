"""What `tf.function` does to the world: variables, Python state, printing, random numbers, results.

Functions are defined one to a line: TensorFlow's converter reads their source.
"""

from __future__ import annotations

import collections
import pathlib
import tempfile
from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

Point = collections.namedtuple("Point", "x y")


class Kept:
    """A place for what a function makes once."""

    def __init__(self) -> None:
        self.v: Any = None
        self.many: dict[Any, Any] = {}
        self.seen: list[Any] = []


def printed(call: Any) -> list[str]:
    """The lines that the call, given a stream of `tf.print`, prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out"
        call(f"file://{path}")
        return path.read_text().splitlines() if path.exists() else []


# --- variables ------------------------------------------------------------------------------------
@case
def variable_made_on_the_first_call(tf):
    kept = Kept()

    @tf.function
    def f(x):
        kept.seen.append("traced")
        if kept.v is None:
            kept.v = tf.Variable(2.0)
        return kept.v.assign_add(x)

    results = [f(tf.constant(n)) for n in (1.0, 10.0)]
    counts = [f.experimental_get_tracing_count(), len(kept.seen)]
    return results, counts, kept.v, f(tf.constant(1.0, tf.float32)), f(1.0), len(kept.seen)


@case
def variable_made_on_every_call(tf):
    f = tf.function(lambda x: tf.Variable(1.0) * x)
    tries = [attempt(lambda: f(tf.constant(1.0))) for _ in range(2)]
    return tries, f.experimental_get_tracing_count()


@case
def variable_made_later(tf):
    kept = Kept()

    @tf.function
    def f(x, make=False):
        if make and kept.v is None:
            kept.v = tf.Variable(1.0)
        return x if kept.v is None else x + kept.v

    x = tf.constant(1.0)
    return f(x), attempt(lambda: f(x, True)), f.experimental_get_tracing_count(), f(x)


@case
def another_variable_made_later(tf):
    kept = Kept()

    @tf.function
    def f(x, key):
        if key not in kept.many:
            kept.many[key] = tf.Variable(float(len(kept.many)))
        return kept.many[key] + x

    x = tf.constant(1.0)
    return f(x, "a"), attempt(lambda: f(x, "b")), f(x, "a"), f.experimental_get_tracing_count()


@case
def variable_made_of_an_argument(tf):
    kept = Kept()

    @tf.function
    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(x * 2.0)
        return kept.v + x

    return f(tf.constant(1.0)), kept.v, f(tf.constant(5.0)), f.experimental_get_tracing_count()


@case
def variable_made_of_an_initializer(tf):
    kept = Kept()

    @tf.function
    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(lambda: 3.0 * tf.ones([2]))
        return kept.v * x

    return f(tf.constant(2.0)), kept.v, f.experimental_get_tracing_count()


@case
def variable_made_of_random_numbers(tf):
    kept = Kept()
    tf.random.set_seed(1)

    @tf.function
    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(tf.random.uniform([2]))
        return kept.v * x + tf.random.uniform([2])

    return f(tf.constant(2.0)), kept.v, f(tf.constant(2.0)), kept.v


@case
def variable_made_in_an_inner_function(tf):
    kept = Kept()

    @tf.function
    def inner(x):
        if kept.v is None:
            kept.v = tf.Variable(3.0)
        return kept.v * x

    outer = tf.function(lambda x: inner(x) + 1.0)
    x = tf.constant(1.0)
    results = outer(x), outer(x), inner(x)
    return results, [f.experimental_get_tracing_count() for f in (outer, inner)]


@case
def variable_made_for_a_concrete_function(tf):
    kept = Kept()

    @tf.function
    def f(x):
        if kept.v is None:
            kept.v = tf.Variable(3.0)
        return kept.v * x

    x = tf.constant(2.0)
    concrete = f.get_concrete_function(x)
    counts = [f.experimental_get_tracing_count()]
    results = concrete(x), f(x)
    return results, [*counts, f.experimental_get_tracing_count()], len(concrete.variables)


@case
def variable_made_by_each_instance(tf):
    class Layer(tf.Module):
        def __init__(self, start):
            self.start, self.w = start, None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(self.start)
            return self.w * x

    layers = Layer(2.0), Layer(3.0)
    x = tf.constant(5.0)
    results = [layer(x) for layer in layers] + [layer(x) for layer in layers]
    return results, [len(layer.trainable_variables) for layer in layers]


@case
def variables_as_arguments(tf):
    v, w = tf.Variable(1.0), tf.Variable(10.0)

    @tf.function
    def f(a, b):
        a.assign_add(1.0)
        b.assign_add(a)
        return a + b, a is b

    results = [f(v, w), f(w, v), f(v, v), f(w, w)]
    return results, v, w, f.experimental_get_tracing_count()


@case
def variable_as_argument_and_captured(tf):
    """Of `f(v)` TensorFlow gives 3.0 or 4.0: it does not know that both are one variable."""
    v, w = tf.Variable(1.0), tf.Variable(10.0)

    @tf.function
    def f(a):
        a.assign_add(1.0)
        return v + a

    results = f(w), f(w)
    f(v)
    return results, v, w, f.experimental_get_tracing_count()


@case
def variables_in_structures(tf):
    v, w = tf.Variable(1.0), tf.Variable(10.0)
    f = tf.function(lambda d, x: d["a"].assign_add(x) + d["b"])
    x = tf.constant(2.0)
    return f({"a": v, "b": w}, x), f({"a": w, "b": v}, x), f({"a": v, "b": v}, x), v, w


@case
def reads_and_writes_in_order(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        before = v.read_value()
        v.assign(x)
        middle = v * 2.0
        v.assign_add(1.0)
        return before, middle, v, v.read_value()

    return f(tf.constant(5.0)), f(tf.constant(7.0)), v


@case
def state_between_calls(tf):
    v = tf.Variable(0.0)
    f = tf.function(lambda: v.assign_add(1.0))
    first = f()
    v.assign(10.0)
    return first, f(), v, tf.function(lambda: v + 1.0)()


@case
def an_exception_in_the_middle(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(100.0)
        tf.debugging.assert_positive(x)
        return v + x

    fine = f(tf.constant(1.0))
    v.assign(1.0)
    return fine, type(attempt(lambda: f(tf.constant(-1.0)))).__name__


# --- Python state ---------------------------------------------------------------------------------
@case
def python_runs_when_tracing(tf):
    kept = Kept()

    @tf.function
    def f(x):
        kept.seen.append(len(kept.seen))
        return x + len(kept.seen)

    calls = [f(tf.constant(1.0)), f(tf.constant(2.0)), f(tf.constant([1.0])), f(tf.constant(3.0))]
    return calls, kept.seen


@case
def python_state_is_frozen(tf):
    kept = Kept()
    kept.v = 1.0
    f = tf.function(lambda x: x + kept.v)
    first = f(tf.constant(1.0))
    kept.v = 100.0
    return first, f(tf.constant(1.0)), f(tf.constant([1.0]))


@case
def captured_tensors_are_frozen_too(tf):
    kept = Kept()
    kept.v = tf.constant(1.0)
    f = tf.function(lambda x: x + kept.v)
    first = f(tf.constant(1.0))
    kept.v = tf.constant(100.0)
    return first, f(tf.constant(1.0))


@case
def a_failed_trace_does_not_count(tf):
    kept = Kept()

    @tf.function
    def f(x):
        kept.seen.append(1)
        if len(kept.seen) == 1:
            raise KeyError("first")
        return x

    x = tf.constant(1.0)
    failed, count = attempt(lambda: f(x)), f.experimental_get_tracing_count()
    return failed, count, f(x), f.experimental_get_tracing_count(), len(kept.seen)


@case
def arguments_may_not_be_changed(tf):
    @tf.function
    def grow(items):
        items.append(1)
        return tf.constant(0)

    @tf.function
    def fill(named):
        named["new"] = 1
        return tf.constant(0)

    x = tf.constant(1.0)
    return attempt(lambda: grow([x])), attempt(lambda: fill({"a": x}))


@case(message="should not modify its Python input arguments")
def arguments_may_not_be_changed_message(tf):
    @tf.function
    def grow(items):
        items.append(1)
        return tf.constant(0)

    return grow([tf.constant(1.0)])


@case
def recursion(tf):
    @tf.function
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    return factorial(5), factorial.experimental_get_tracing_count()


@case
def inner_functions_are_traced_once(tf):
    square = tf.function(lambda x: x * x)
    both = tf.function(lambda x: square(x) + square(2.0 * x))
    x, counts = tf.constant(3.0), []
    for call in (lambda: both(x), lambda: square(x), lambda: both(tf.ones(2)), lambda: square(2.0)):
        call()
        counts.append([f.experimental_get_tracing_count() for f in (both, square)])
    return both(x), counts


@case
def init_scope(tf):
    kept = Kept()

    @tf.function
    def f(x):
        with tf.init_scope():
            kept.seen.append(tf.executing_eagerly())
            outside = tf.constant(2.0) * 3.0
            kept.v = outside.numpy()
        kept.seen.append(tf.executing_eagerly())
        return x * outside

    return f(tf.constant(1.0)), f(tf.constant(2.0)), kept.seen, kept.v, tf.executing_eagerly()


@case
def run_functions_eagerly(tf):
    kept = Kept()

    @tf.function
    def f(x):
        kept.seen.append(tf.executing_eagerly())
        return x + 1.0, 5, None, [x]

    x = tf.constant(1.0)
    compiled = f(x)
    tf.config.run_functions_eagerly(True)
    try:
        state = tf.config.functions_run_eagerly()
        eager = f(x)
        same = eager[3][0] is x, type(eager[1]).__name__, f(2.0)[0]
    finally:
        tf.config.run_functions_eagerly(False)
    f(x)
    return compiled, eager, same, state, kept.seen, f.experimental_get_tracing_count()


@case
def do_not_convert(tf):
    kept = Kept()

    @tf.autograph.experimental.do_not_convert
    def helper(x):
        kept.seen.append(1)
        return x * 2.0

    f = tf.function(lambda x: helper(x) + 1.0)
    g = tf.function(lambda x: x + 1.0, autograph=False)
    return f(tf.constant(1.0)), f(tf.constant(2.0)), g(tf.constant(1.0)), len(kept.seen)


@case
def control_flow_is_traced_once(tf):
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0.0:
            y = x * 2.0
        else:
            y = -x
        while tf.reduce_sum(y) < 20.0:
            y = y * 2.0
        for row in tf.range(3):
            y += tf.cast(row, tf.float32)
        return y

    values = [1.0, -1.0, 3.0, -50.0, 1.0]
    return [f(tf.constant([v, v])) for v in values], f.experimental_get_tracing_count()


@case
def prints_at_every_call(tf):
    kept = Kept()

    def call(stream):
        @tf.function
        def f(x):
            kept.seen.append("traced")
            tf.print("before", x, output_stream=stream)
            y = x * 2.0
            tf.print("after", y, output_stream=stream)
            return y

        for n in (1.0, 2.0, 3.0):
            f(tf.constant(n))

    return printed(call), kept.seen


@case
def prints_of_state_and_branches(tf):
    v = tf.Variable(0.0)

    def call(stream):
        @tf.function
        def f(x):
            v.assign_add(x)
            tf.print("v:", v, output_stream=stream)
            if x > 1.0:
                tf.print("large", output_stream=stream)
            return v + x

        for n in (1.0, 2.0, 1.0):
            f(tf.constant(n))

    return printed(call), v


@case
def python_functions_run_at_every_call(tf):
    kept = Kept()

    def note(x):
        kept.seen.append(float(x))
        return np.float32(2.0) * x

    @tf.function
    def f(x):
        y = tf.numpy_function(note, [x], tf.float32)
        return y + tf.py_function(lambda z: z * 10.0, [x], tf.float32)

    return f(tf.constant(1.0)), f(tf.constant(2.0)), kept.seen


# --- results --------------------------------------------------------------------------------------
RESULTS = {
    "none": lambda tf, v: lambda x: None,
    "whole": lambda tf, v: lambda x: 3,
    "large": lambda tf, v: lambda x: 2**40,
    "number": lambda tf, v: lambda x: 1.5,
    "truth": lambda tf, v: lambda x: True,
    "complex": lambda tf, v: lambda x: 1j,
    "text": lambda tf, v: lambda x: "a",
    "bytes": lambda tf, v: lambda x: b"a",
    "argument": lambda tf, v: lambda x: x,
    "twice": lambda tf, v: lambda x: (x, x),
    "list": lambda tf, v: lambda x: [x, 1, None],
    "tuple": lambda tf, v: lambda x: (x, None),
    "dict": lambda tf, v: lambda x: {"b": x, "a": 2},
    "ordered": lambda tf, v: lambda x: collections.OrderedDict(b=x, a=2),
    "record": lambda tf, v: lambda x: Point(x, 2),
    "nested": lambda tf, v: lambda x: {"a": [x, (x, {"b": 1})], "c": None},
    "empty_list": lambda tf, v: lambda x: [],
    "empty_dict": lambda tf, v: lambda x: {},
    "array": lambda tf, v: lambda x: np.arange(3.0),
    "numpy_scalar": lambda tf, v: lambda x: np.float64(2.5),
    "range": lambda tf, v: lambda x: range(3),
    "shape": lambda tf, v: lambda x: x.shape,
    "variable": lambda tf, v: lambda x: v,
    "assigned": lambda tf, v: lambda x: v.assign(x),
    "slices": lambda tf, v: lambda x: tf.IndexedSlices(tf.reshape(x, [1]), tf.constant([0])),
    "ragged": lambda tf, v: lambda x: tf.RaggedTensor.from_row_splits(tf.stack([x, x]), [0, 2, 2]),
    "sparse": lambda tf, v: lambda x: tf.sparse.from_dense(tf.stack([x, 0.0])),
    "set": lambda tf, v: lambda x: {1},
    "object": lambda tf, v: lambda x: object(),
    "function": lambda tf, v: lambda x: len,
    "dtype": lambda tf, v: lambda x: x.dtype,
    "spec": lambda tf, v: lambda x: tf.TensorSpec([2]),
    "module": lambda tf, v: lambda x: tf.Module(),
}


@cases(given=RESULTS)
def results(tf, given):
    v = tf.Variable(4.0)
    f = tf.function(given(tf, v))
    return attempt(lambda: (f(tf.constant(1.0)), f(tf.constant(2.0))))


@case
def results_of_slices(tf):
    f = tf.function(lambda s: (tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape), s))
    given = tf.constant([[1.0], [2.0]]), tf.constant([3, 3]), tf.constant([4, 1])
    found = [*f(tf.IndexedSlices(*given)), *f(tf.IndexedSlices(*given[:2]))]
    return [(s.values, s.indices, s.dense_shape) for s in found]


@case(message="Python functions must return zero or more Tensors")
def results_message(tf):
    return tf.function(lambda x: object())(tf.constant(1.0))


@case
def results_are_new(tf):
    x, v = tf.constant(1.0), tf.Variable(1.0)
    f = tf.function(lambda x: x)
    g = tf.function(lambda: v)
    pair = tf.function(lambda x: (x, x))(x)
    listed = [x]
    again = tf.function(lambda one: one)(listed)
    kept = f(x), g()
    v.assign(5.0)
    same = f(x) is x, f(x) is f(x), pair[0] is pair[1], again is listed
    return same, isinstance(g(), tf.Variable), kept


# --- random numbers -------------------------------------------------------------------------------
def draws(f: Any, times: int = 3, *args: Any) -> list[Any]:
    return [f(*args) for _ in range(times)]


@case
def random_global_seed(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2]))
    first = draws(f)
    tf.random.set_seed(7)
    again = draws(f)
    tf.random.set_seed(7)
    new = draws(tf.function(lambda: tf.random.uniform([2])))
    return first, again, new


@case
def random_two_functions(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2]))
    g = tf.function(lambda: tf.random.uniform([2]))
    return [f(), g(), f(), g(), f()]


@case
def random_beside_eager(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2]))
    return [tf.random.uniform([2]), f(), tf.random.uniform([2]), f(), tf.random.uniform([2])]


@case
def random_several_ops(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: [tf.random.uniform([2]) for _ in range(3)])
    return draws(f)


@case
def random_after_other_ops(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda a: tf.sin(a) * 0.0 + 2.0 * tf.random.uniform([2]) + a)
    return draws(f, 2, tf.constant(1.0))


@case
def random_op_seed(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2], seed=5))
    first = draws(f)
    tf.random.set_seed(7)
    return first, draws(f, 2), draws(lambda: tf.random.uniform([2], seed=5), 2)


@case
def random_same_op_seed_twice(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: [tf.random.uniform([2], seed=5), tf.random.uniform([2], seed=5)])
    return draws(f)


@case
def random_seeds_mixed(tf):
    tf.random.set_seed(7)

    @tf.function
    def f():
        a = tf.random.uniform([2])
        b = tf.random.uniform([2], seed=5)
        return a, b, tf.random.uniform([2])

    return draws(f)


@case
def random_two_signatures(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda x: tf.random.uniform([2]) * x)
    given = [1.0, tf.constant(1.0), tf.ones(2)]
    return [f(x) for x in given + given]


@case
def random_seed_is_read_when_traced(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2]))
    first = f()
    tf.random.set_seed(8)
    second = f()
    tf.random.set_seed(8)
    return first, second, draws(f, 2), tf.function(lambda: tf.random.uniform([2]))()


@case
def random_set_seed_inside(tf):
    @tf.function
    def f():
        tf.random.set_seed(9)
        return tf.random.uniform([2])

    tf.random.set_seed(7)
    return f(), f(), tf.random.uniform([2])


@case
def random_nested(tf):
    tf.random.set_seed(7)
    inner = tf.function(lambda: tf.random.uniform([2]))

    @tf.function
    def outer():
        return inner(), inner(), tf.random.uniform([2])

    return draws(outer, 2), inner(), outer(), inner()


@case
def random_nested_two_inner(tf):
    tf.random.set_seed(7)
    first = tf.function(lambda: [tf.random.uniform([2]), tf.random.uniform([2])])
    second = tf.function(lambda: tf.random.normal([2]))

    @tf.function
    def outer():
        return tf.random.uniform([2]), first(), second(), tf.random.uniform([2])

    return draws(outer, 2)


@case
def random_under_a_tape(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda x: x * tf.random.uniform([2]))
    x = tf.constant(1.0)

    def taped():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return y, tape.gradient(y, x)

    plain = lambda: f(x)
    return [call() for call in (plain, taped, plain, taped, taped, plain)]


@case
def random_under_all_kinds_of_tapes(tf):
    """Each kind has a forward function of its own in TensorFlow, with a stream of its own."""
    tf.random.set_seed(7)
    f = tf.function(lambda x: x * tf.random.uniform([2]))
    x = tf.constant(1.0)

    def plain():
        return f(x)

    def taped():
        with tf.GradientTape() as tape:
            tape.watch(x)
            return f(x)

    def unwatched():
        with tf.GradientTape():
            return f(x)

    def persistent():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            return f(x)

    def twice():
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            outer.watch(x)
            inner.watch(x)
            return f(x)

    def forward():
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)):
            return f(x)

    kinds = plain, taped, unwatched, persistent, twice, forward
    return [call() for call in kinds + kinds]


@case
def random_op_seeds_are_counted(tf):
    """The op seeds in a function are 0, 1, 2, … where none is given."""
    tf.random.set_seed(7)

    @tf.function
    def f():
        return tf.random.uniform([2]), tf.random.uniform([2]), tf.random.uniform([2], seed=5)

    return f(), [tf.random.uniform([2], seed=seed) for seed in (0, 1, 5)]


@case
def random_seeds_of_zero(tf):
    tf.random.set_seed(0)
    f = tf.function(lambda: (tf.random.uniform([2]), tf.random.uniform([2], seed=0)))
    return draws(f, 2)


@case
def random_tape_inside(tf):
    tf.random.set_seed(7)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * tf.random.uniform([])
        return y, tape.gradient(y, x), tf.random.uniform([])

    return draws(f, 3, tf.constant(2.0))


@case
def random_in_branches(tf):
    tf.random.set_seed(7)

    @tf.function
    def f(x):
        if x > 0.0:
            y = tf.random.uniform([2])
        else:
            y = tf.random.uniform([2]) + 10.0
        return y, tf.random.uniform([2])

    return [f(tf.constant(x)) for x in (1.0, -1.0, 1.0, -1.0)]


@case
def random_in_tensorflow_branches(tf):
    tf.random.set_seed(7)

    @tf.function
    def f(x):
        first = lambda: tf.random.uniform([2])
        second = lambda: tf.random.uniform([2]) + 10.0
        return tf.cond(x > 0.0, first, second), tf.random.uniform([2])

    return [f(tf.constant(x)) for x in (1.0, -1.0, 1.0, -1.0)]


@case
def random_in_a_loop(tf):
    tf.random.set_seed(7)

    @tf.function
    def f():
        s = tf.zeros([2])
        for _ in tf.range(3):
            s += tf.random.uniform([2])
        return s, tf.random.uniform([2])

    return draws(f, 2)


def one_after_the_other(tf, x):
    """Draws that depend on what was drawn before: TensorFlow's turns cannot overlap."""
    drawn = tf.random.categorical(tf.stack([[0.0, 0.2, 0.1 * x, 0.0, 0.5]]), 1)[0, 0]
    return 10.0 * x % 1e6 + tf.cast(drawn, x.dtype)


def _range(tf, x):
    for _ in tf.range(3):
        x = one_after_the_other(tf, x)
    return x


def _stopped(tf, x):
    for k in tf.range(5):
        x = one_after_the_other(tf, x)
        if tf.cast(k, x.dtype) >= x % 4.0:
            break
    return x


def _nested(tf, x):
    for row in tf.constant([[1.0, 2.0], [3.0, 4.0]]):
        x = one_after_the_other(tf, x)
        for number in row:
            x = one_after_the_other(tf, x + number)
        x = one_after_the_other(tf, x)
    return x


@cases(
    loop={
        "range": _range,
        "stopped": _stopped,
        "nested": _nested,
        "while": lambda tf, x: tf.while_loop(
            lambda k, x: k < 3, lambda k, x: (k + 1, one_after_the_other(tf, x)), (0, x)
        )[1],
        "many": lambda tf, x: tf.while_loop(
            lambda k, x: k < 20, lambda k, x: (k + 1, one_after_the_other(tf, x)), (0, x)
        )[1],
        "condition": lambda tf, x: tf.while_loop(
            lambda x: one_after_the_other(tf, x) < 1e4,
            lambda x: (one_after_the_other(tf, x + 1.0),), (x,),
        )[0],
        "scan": lambda tf, x: tf.scan(lambda x, y: one_after_the_other(tf, x + y), tf.ones(4), x),
        "fold": lambda tf, x: tf.foldl(lambda x, y: one_after_the_other(tf, x + y), tf.ones(4)),
        "branch": lambda tf, x: tf.foldl(
            lambda x, y: tf.cond(
                y > 1.5,
                lambda: one_after_the_other(tf, one_after_the_other(tf, x)),
                lambda: one_after_the_other(tf, x),
            ),
            tf.constant([1.0, 2.0, 1.0, 2.0]), x,
        ),
    },
    taped=[False, True],
)  # fmt: skip
def random_in_turns(tf, loop, taped):
    tf.random.set_seed(7)

    @tf.function
    def f(x):
        first = one_after_the_other(tf, x)
        return first, loop(tf, first), one_after_the_other(tf, x)

    def call(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = f(x)
        return found

    return draws(call if taped else f, 3, tf.constant(1.0))


@case
def random_after_branches(tf):
    tf.random.set_seed(7)

    @tf.function
    def f(p):
        two = lambda: tf.random.uniform([2]) + 10.0 * tf.random.uniform([2])
        one = lambda: tf.random.uniform([2])
        return tf.cond(p, two, one), tf.random.uniform([2]), tf.cond(p, one, one)

    return [f(tf.constant(p)) for p in (True, False, True, False)]


@case
def python_is_called_once_where_variables_are_made(tf):
    calls, kept = [], {}

    def count(x):
        calls.append(float(x))
        return x

    @tf.function
    def f(x):
        if "v" not in kept:
            kept["v"] = tf.Variable(2.0)
        return kept["v"] * tf.numpy_function(count, [x], tf.float32)

    return [f(tf.constant(1.0)), f(tf.constant(3.0))], calls


@case
def random_in_a_python_loop(tf):
    tf.random.set_seed(7)

    @tf.function
    def f():
        s = tf.zeros([2])
        for _ in range(3):
            s += tf.random.uniform([2])
        return s

    return draws(f, 2)


@cases(
    op={
        "normal": lambda tf: tf.random.normal([3]),
        "truncated": lambda tf: tf.random.truncated_normal([3]),
        "whole": lambda tf: tf.random.uniform([3], maxval=100, dtype=tf.int32),
        "double": lambda tf: tf.random.uniform([3], dtype=tf.float64),
        "shuffle": lambda tf: tf.random.shuffle(tf.range(5)),
        "categorical": lambda tf: tf.random.categorical([[0.0, 0.0, 0.0]], 5),
        "gamma": lambda tf: tf.random.gamma([2], 2.0),
        "poisson": lambda tf: tf.random.poisson([3], 4.0),
        "dropout": lambda tf: tf.nn.dropout(tf.ones(6), 0.5),
        "stateless": lambda tf: tf.random.stateless_uniform([2], [1, 2]),
    }
)
def random_kinds(tf, op):
    tf.random.set_seed(7)
    f = tf.function(lambda: op(tf))
    return draws(f)


@case
def random_sizes_of_an_argument(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda x: x + tf.random.uniform(tf.shape(x)))
    return f(tf.zeros(2)), f(tf.zeros(3)), f(tf.zeros(2)), f(tf.zeros(3))


@case
def random_with_a_signature(tf):
    """One trace in TensorFlow, whatever the size: one stream."""
    tf.random.set_seed(7)
    spec = [tf.TensorSpec([None])]
    f = tf.function(lambda x: x + tf.random.uniform(tf.shape(x)), input_signature=spec)
    return f(tf.zeros(2)), f(tf.zeros(3)), f(tf.zeros(2)), f(tf.zeros(3))


@case
def random_concrete(tf):
    tf.random.set_seed(7)
    f = tf.function(lambda: tf.random.uniform([2]))
    c = f.get_concrete_function()
    return c(), f(), c(), f()


@case
def random_methods(tf):
    class Noise:
        @tf.function
        def draw(self):
            return tf.random.uniform([2])

    tf.random.set_seed(7)
    one, other = Noise(), Noise()
    return one.draw(), other.draw(), one.draw(), other.draw()


@case
def random_generator(tf):
    generator = tf.random.Generator.from_seed(3)
    f = tf.function(lambda: generator.uniform([2]))
    g = tf.function(lambda source: source.normal([2]))
    return draws(f, 2), generator.uniform([2]), generator.state, draws(g, 2, generator), f()


@case
def random_generator_made_inside(tf):
    kept = Kept()

    @tf.function
    def f():
        if kept.v is None:
            kept.v = tf.random.Generator.from_seed(3)
        return kept.v.uniform([2])

    return draws(f, 2), f.experimental_get_tracing_count()


@case
def random_in_init_scope(tf):
    tf.random.set_seed(7)

    @tf.function
    def f():
        with tf.init_scope():
            a = tf.random.uniform([2])
        return a, tf.random.uniform([2])

    return draws(f, 2), tf.random.uniform([2])


@case
def random_run_eagerly(tf):
    f = tf.function(lambda: tf.random.uniform([2]))
    tf.random.set_seed(7)
    tf.config.run_functions_eagerly(True)
    try:
        found = draws(f, 2)
    finally:
        tf.config.run_functions_eagerly(False)
    return found, f()
