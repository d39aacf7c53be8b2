"""`tf.function` from the outside: what is traced anew, what is refused, and concrete functions."""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from typing import Any

import numpy as np

from tests.tensorflow.harness import attempt, case, cases

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int


@dataclasses.dataclass
class Plain:
    x: int


class Thing:
    pass


def said(call: Any) -> Any:
    """The result, or the exception's class and what it says first."""
    result = attempt(call)
    if not isinstance(result, Exception):
        return result
    line = str(result).split(". Received args:")[0].split("\n")[0]
    return [type(result).__name__, re.sub(r"(__inference_.+?)_\d+", r"\1", line)]


def counted(f: Any, calls: list[Any]) -> list[Any]:
    """The number of traces after each call, or what was said against it."""

    def count(call: Any) -> Any:
        call(f)
        return f.experimental_get_tracing_count()

    return [said(lambda call=call: count(call)) for call in calls]


def ignore(tf: Any, **options: Any) -> Any:
    """A function of anything that does nothing."""

    def body(*args: Any, **kwargs: Any) -> Any:
        return tf.constant(0)

    return tf.function(body, **options)


# --- what is traced anew --------------------------------------------------------------------------
@cases(
    values={
        "numbers": lambda tf: [1, 1.0, True, 2],
        "truths": lambda tf: [True, 1, False, 0],
        "zeros": lambda tf: [0, False, -0.0, 0j],
        "nans": lambda tf: [float("nan"), float("nan"), 1.0],
        "texts": lambda tf: ["a", b"a", "a", "b"],
        "numpy_scalars": lambda tf: [np.float32(1), np.float32(2), np.float64(2), np.int64(2)],
        "numpy_texts": lambda tf: [np.str_("a"), "a", np.str_("b")],
        "arrays": lambda tf: [np.zeros(2), tf.zeros(2, tf.float64), np.zeros(3), np.zeros(2)],
        "shapes": lambda tf: [tf.zeros(s) for s in ([], [2], [3], [2, 1], [2])],
        "dtypes": lambda tf: [tf.zeros(2, d) for d in ("float32", "float64", "int32", "float32")],
        "lists": lambda tf: [[1, 2], [1, 2], (1, 2), [1, 3], []],
        "lists_of_tensors": lambda tf: [[tf.zeros(2)], [tf.ones(2)], (tf.ones(2),), [tf.ones(3)]],
        "dicts": lambda tf: [{"a": 1, "b": 2}, {"b": 2, "a": 1}, collections.OrderedDict(a=1, b=2)],
        "dicts_of_tensors": lambda tf: [{"a": tf.zeros(1)}, {"a": tf.ones(1)}, {"b": tf.ones(1)}],
        "odd_keys": lambda tf: [{"a": 1, 2: 3}],
        "records": lambda tf: [Point(1, 2), (1, 2), Point(1, 2), Point(1, 3)],
        "ranges": lambda tf: [range(3), range(3), [0, 1, 2], range(4)],
        "frozen": lambda tf: [Frozen(1), Frozen(2)],
        "none": lambda tf: [None, None, 0, False],
        "types": lambda tf: [tf.float32, tf.float32, tf.int32, int, int],
        "tensor_shapes": lambda tf: [tf.TensorShape([n]) for n in (1, 1, 2, None)],
        "unhashable": lambda tf: [{1}, [{1}], Plain(1), slice(1, 2)],
        "ragged": lambda tf: [tf.ragged.constant(r) for r in ([[1], [2, 3]], [[1], [2]], [[1]])],
        "sparse": lambda tf: [tf.sparse.from_dense(m) for m in ([[1, 0]], [[1, 1]], [[1, 1, 1]])],
    }
)
def tracing_by_value(tf, values):
    given = values(tf)
    return counted(ignore(tf), [lambda f, value=value: f(value) for value in given])


@case
def tracing_by_identity(tf):
    one, other = Thing(), Thing()
    frozen = Frozen(1), Frozen(1)
    double = lambda x: x + x
    values = [[one, other, one], frozen, [double, double, lambda x: x], [tf.Module(), tf.Module()]]
    return [counted(ignore(tf), [lambda f, v=v: f(v) for v in some]) for some in values]


@case
def tracing_by_variable(tf):
    v, w, vector = tf.Variable(1.0), tf.Variable(2.0), tf.Variable([1.0])
    fixed = tf.Variable(1.0, trainable=False)
    rows = [
        [(v,), (w,), (vector,), (fixed,), (v,), (tf.constant(1.0),)],
        [(v, w), (w, v), (v, v), (w, w)],
        [([v, w],), ([w, v],), ((v, w),)],
    ]
    return [counted(ignore(tf), [lambda f, a=a: f(*a) for a in row]) for row in rows]


@case
def keywords_and_defaults(tf):
    @tf.function
    def f(x, y=2, *, z=3):
        return x

    x = tf.constant(1.0)
    calls = [
        lambda f: f(x),
        lambda f: f(x, 2),
        lambda f: f(x=x),
        lambda f: f(y=2, x=x),
        lambda f: f(x, z=3),
        lambda f: f(x, 3),
        lambda f: f(x, y=3),
        lambda f: f(x, z=tf.constant(3)),
    ]
    return counted(f, calls)


@case
def stars(tf):
    @tf.function
    def f(*args, **kwargs):
        return len(args), sorted(kwargs)

    calls = [
        lambda f: f(1),
        lambda f: f(1, 1),
        lambda f: f(1, a=1),
        lambda f: f(1, b=1),
        lambda f: f(1, b=1, a=1),
        lambda f: f(1, a=1, b=1),
    ]
    return counted(f, calls), f(1, 2, b=3, a=4)


@case
def python_values_of_the_first_trace(tf):
    """1, 1.0 and True share a trace: the first of them is what all get."""
    f = tf.function(lambda x: x + x)
    g = tf.function(lambda x: tf.constant(x))
    return f(1), f(1.0), f(True), f(2.0), f(2), g(0.0), g(-0.0), g(False)


@case
def wrong_arguments(tf):
    @tf.function
    def f(x, y=2, *, z=3):
        return x

    calls = [
        lambda f: f(),
        lambda f: f(1, 2, 3),
        lambda f: f(1, q=1),
        lambda f: f(1, x=1),
        lambda f: f({1}),
    ]
    return counted(f, calls)


@case
def a_spec_is_no_argument(tf):
    return tf.function(lambda x: x)(tf.TensorSpec([2]))


@case
def underscored_names(tf):
    f = tf.function(lambda _x: _x)
    g = tf.function(lambda **named: sorted(named))
    return f(1), said(lambda: f(_x=1)), g(_x=1), said(lambda: g(**{"a-b": 1, "a_b": 2}))


@case
def reduced_retracing(tf):
    shapes = [[2], [3], [4], [2], [2, 2], [3, 2], [2, 3], []]
    calls = [lambda f, s=s: f(tf.zeros(s)) for s in shapes]
    calls += [lambda f, n=n: f(tf.zeros(n, tf.float64)) for n in (2, 3, 4)]
    first = counted(ignore(tf, reduce_retracing=True), calls)
    pairs = [(2, 1), (3, 2), (4, 1), (5, 2), (6, 2)]
    more = [lambda f, n=n, k=k: f(tf.zeros(n), k) for n, k in pairs]
    return first, counted(ignore(tf, reduce_retracing=True), more)


@case
def reduced_retracing_still_computes(tf):
    f = tf.function(
        lambda x: tf.reduce_sum(x) + tf.cast(tf.rank(x), tf.float32), reduce_retracing=True
    )
    return [f(tf.ones(n)) for n in (2, 3, 4, [2, 2], [3, 3], [])]


@case
def methods(tf):
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def step(self, x):
            return self.factor * x

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def fixed(self, x):
            return self.factor * x

    one, other, x = Model(2.0), Model(3.0), tf.constant(5.0)
    results = one.step(x), other.step(x), one.step(x + 1.0), one.fixed([1.0]), one.fixed([1.0, 2.0])
    found = [f.experimental_get_tracing_count() for f in (one.step, other.step, Model.step)]
    one.factor = 10.0  # read when it was traced
    same = one.step is one.step, one.step is other.step
    return results, found, one.step(x), Model.step(one, x), same, one.fixed.input_signature is None


@case
def partials_and_objects(tf):
    class Adder:
        def __call__(self, x, y=1.0):
            return x + y

    x = tf.constant(1.0)
    f = tf.function(functools.partial(lambda a, b, c=1.0: a + b * c, 1.0, c=5.0))
    g = tf.function(Adder())
    first = counted(f, [lambda f: f(x), lambda f: f(b=x), lambda f: f(x, c=6.0), lambda f: f(x, 6)])
    second = counted(g, [lambda g: g(x), lambda g: g(x, 1.0), lambda g: g(x, y=1.0)])
    return first, second, f(x), f(x, c=2.0), g(x, 3.0)


@case
def not_functions(tf):
    return [said(lambda: tf.function(3)), said(lambda: tf.function(max)(1.0, 2.0))]


@case
def decorated_callbacks_lose_their_decorator(tf):
    def plain(x):
        return x + 1.0

    @functools.wraps(plain)
    def decorated(x):
        return 100.0 * plain(x)

    f = tf.function(lambda call, x: call(x))
    return f(decorated, tf.constant(1.0)), f(plain, tf.constant(1.0))


# --- input_signature ------------------------------------------------------------------------------
@case
def with_an_input_signature(tf):
    f = tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([None], tf.float32)])
    calls = [
        lambda f: f(tf.zeros(2)),
        lambda f: f(tf.zeros(3)),
        lambda f: f([1.0, 2.0]),
        lambda f: f([1, 2]),
        lambda f: f(np.zeros(2)),
        lambda f: f(tf.Variable([1.0])),
        lambda f: f(x=tf.zeros(2)),
        lambda f: f(tf.zeros(2, tf.float64)),
        lambda f: f(tf.zeros(2, tf.int32)),
        lambda f: f(tf.zeros([])),
        lambda f: f(1.0),
        lambda f: f(),
        lambda f: f(None),
        lambda f: f("a"),
        lambda f: f(tf.zeros(2), tf.zeros(2)),
    ]
    return counted(f, calls), f([1, 2]), f(np.array([3.0])), f(tf.Variable([4.0]))


@case
def input_signature_and_defaults(tf):
    f = tf.function(lambda x, y=3: x * y, input_signature=[tf.TensorSpec([], tf.float32)])
    calls = [
        lambda f: f(1),
        lambda f: f(1.5),
        lambda f: f(1, 3),
        lambda f: f(1, y=3),
        lambda f: f(1, 3.0),
        lambda f: f(1, 4),
    ]
    return counted(f, calls), f(2)


@cases(
    given={
        "missing": lambda tf, s: tf.function(lambda x, y: x, input_signature=[s]),
        "extra": lambda tf, s: tf.function(lambda x: x, input_signature=[s, s]),
        "number": lambda tf, s: tf.function(lambda x: x, input_signature=[1]),
        "bare": lambda tf, s: tf.function(lambda x: x, input_signature={"x": s}),
        "starred": lambda tf, s: tf.function(lambda *a: a[0] + a[1], input_signature=[s, s])(1, 2),
        "too_few": lambda tf, s: tf.function(lambda *a: a[0], input_signature=[s, s])(1),
        "no_keywords": lambda tf, s: tf.function(lambda x, **k: x, input_signature=[s])(1, y=2),
        "empty": lambda tf, s: tf.function(lambda: 1.0, input_signature=[])(),
        "unranked": lambda tf, s: tf.function(
            lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec(None)]
        )([[1.0, 2.0]]),
    }
)
def input_signatures(tf, given):
    return said(lambda: given(tf, tf.TensorSpec([], tf.float32)))


@case
def nested_input_signature(tf):
    spec = tf.TensorSpec([], tf.float32)
    f = tf.function(lambda d: d["a"] + d["b"][0], input_signature=[{"a": spec, "b": [spec]}])
    calls = [
        lambda f: f({"a": 1.0, "b": [2]}),
        lambda f: f({"a": 1.0, "b": (2,)}),
        lambda f: f(1.0),
    ]
    return counted(f, calls), f({"a": 1, "b": [5.0]})


# --- concrete functions ---------------------------------------------------------------------------
def described(tf: Any, structure: Any) -> Any:
    """Tensors without numbers, by shape and dtype."""

    def one(x: Any) -> Any:
        if x is None or isinstance(x, int | float | str):
            return x
        # Sizes that TensorFlow leaves open are known here; its rank is the same.
        shape = None if x.shape.rank is None else x.shape.rank
        return (type(x).__name__ if "Spec" in type(x).__name__ else "tensor"), shape, x.dtype.name

    return tf.nest.map_structure(one, structure)


@case
def concrete_attributes(tf):
    w, constant = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    fixed = tf.Variable(1.0, trainable=False)

    @tf.function
    def f(x, n=2, *, k=None):
        return {"y": x * w * fixed + constant, "n": n, "none": k}

    concrete = f.get_concrete_function(tf.TensorSpec([2]))
    x = tf.constant([5.0, 6.0])
    return {
        "structured_input_signature": described(tf, concrete.structured_input_signature),
        "names": [s.name for s in tf.nest.flatten(concrete.structured_input_signature)[:1]],
        "own_inputs": described(tf, concrete.inputs[:1]),
        "outputs": described(tf, concrete.outputs),
        "structured_outputs": described(tf, concrete.structured_outputs),
        "variables": [v is w or v is fixed for v in concrete.variables],
        "trainable_variables": [v is w for v in concrete.trainable_variables],
        "captured_inputs": len(concrete.captured_inputs),
        "output_shapes": concrete.output_shapes,
        "output_dtypes": concrete.output_dtypes,
        "name": concrete.name.decode().rpartition("_")[0],
        "called": concrete(x),
        "by_name": concrete(x=x),
        "same": f.get_concrete_function(tf.TensorSpec([2])) is concrete,
        "for_a_tensor": f.get_concrete_function(x) is concrete,
        "count": f.experimental_get_tracing_count(),
    }


@case
def concrete_calls(tf):
    c = tf.function(lambda x, n=2: x * n).get_concrete_function(tf.TensorSpec([None]))
    x = tf.constant([1.0, 2.0])
    calls = [
        lambda: c(x),
        lambda: c(x=x),
        lambda: c(x, 2),
        lambda: c(x, n=2),
        lambda: c(x, 3),
        lambda: c([1.0]),
        lambda: c(np.zeros(2)),
        lambda: c(tf.zeros(2, tf.int32)),
        lambda: c(),
        lambda: c(x, 2, 3),
        lambda: c(x, q=3),
    ]
    return [said(call) for call in calls]


@case
def concrete_of_a_structure(tf):
    f = tf.function(lambda d: d["a"] - d["b"])
    c = f.get_concrete_function({"a": tf.constant(1.0), "b": tf.constant(1.0)})
    x, y = tf.constant(5.0), tf.constant(3.0)
    calls = [
        lambda: c({"a": x, "b": y}),
        lambda: c({"b": x, "a": 2.0}),
        lambda: c(x, y),
        lambda: c(d=x, d_1=y),
        lambda: c(a=x, b=y),
    ]
    return [said(call) for call in calls]


@case
def concrete_of_a_variable(tf):
    v, w = tf.Variable(1.0), tf.Variable(10.0)
    c = tf.function(lambda v, x: v.assign_add(x)).get_concrete_function(v, tf.constant(1.0))
    results = c(w, tf.constant(5.0)), c(v, tf.constant(7.0))
    return results, v, w, len(c.variables), len(c.captured_inputs)


@case
def traces_for_specs(tf):
    f = tf.function(lambda x: x)
    asked = [
        lambda f: f.get_concrete_function(tf.TensorSpec([None])),
        lambda f: f(tf.zeros(2)),
        lambda f: f(tf.zeros([])),
        lambda f: f.get_concrete_function(tf.TensorSpec([2], name="n")),
        lambda f: f.get_concrete_function(tf.TensorSpec([2], tf.int32, name="n")),
        lambda f: f(tf.zeros(2, tf.int32)),
        lambda f: f.get_concrete_function(tf.zeros(2)),
    ]
    return counted(f, asked)


@case
def signature_and_concrete(tf):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], name="inp")])
    c = f.get_concrete_function()
    return {
        "same": [f.get_concrete_function(tf.zeros(2)) is c, f.get_concrete_function([1.0]) is c],
        "names": [s.name for s in tf.nest.flatten(c.structured_input_signature)],
        "signature": [s.name for s in f.input_signature],
        "count": f.experimental_get_tracing_count(),
        "called": c(tf.constant([1.0])),
        "refused": said(lambda: f.get_concrete_function(tf.TensorSpec([2], tf.int32))),
    }


@case
def printed_signatures(tf):
    @tf.function
    def f(x, n=2, *, k=None):
        return x * n, {"k": k}

    f(tf.zeros([2, 3]))
    f(tf.zeros([2, 3]), 3, k=[tf.constant(1), "s"])
    return (
        f.pretty_printed_concrete_signatures(),
        f.pretty_printed_concrete_signatures(verbose=False),
        str(f.get_concrete_function(tf.zeros([2, 3]))),
        repr(f.get_concrete_function(tf.zeros([2, 3]))).rpartition(" at ")[0],
    )


@case
def attributes(tf):
    def body(x):
        """What it does."""
        return x

    f = tf.function(body)
    return f.python_function is body, f.__name__, f.__doc__, f.__wrapped__ is body, callable(f)


@case
def quotients_of_two_dtypes(tf):
    a, b = tf.constant(1.0), tf.constant([1.0, 2.0], "float64")
    divide = tf.function(lambda x, y: x / y)
    calls = [lambda: divide(a, b), lambda: divide(b, a), lambda: a / b]
    return [type(attempt(call)).__name__ for call in calls]
