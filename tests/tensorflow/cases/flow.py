"""Control flow and structure: branches, loops, maps, scans, tensor arrays, modules and nests."""

from __future__ import annotations

import collections

import numpy as np

from tests.tensorflow.cases._common import fill, first_only, grads, tensor
from tests.tensorflow.harness import attempt, case, cases

Point = collections.namedtuple("Point", "x y")


@cases(condition={"true": True, "false": False, "tensor": None, "number": 1.0, "whole": 0})
def cond(tf, condition):
    def call(x):
        chosen = tf.reduce_sum(x) > 0.0 if condition is None else condition
        return tf.cond(chosen, lambda: x * x, lambda: -x)

    return grads(tf, call, tf.constant([1.0, -3.0]))


@cases(values={"first": [1.0, 3.0], "second": [1.0, -3.0]})
def cond_compiled(tf, values):
    @tf.function
    def call(x):
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x, lambda: -x)

    return first_only(tf, call, tf.constant(values))


@cases(
    given={
        "nest": lambda tf: tf.cond(tf.constant(True), lambda: {"a": 1.0}, lambda: {"a": 2.0}),
        "pair": lambda tf: tf.cond(
            tf.constant(False), lambda: (tf.constant(1), 2.0), lambda: (tf.constant(3), 4.0)
        ),
        "one_branch": lambda tf: tf.cond(True, lambda: 1.0),
        "none": lambda tf: tf.cond(tf.constant(True), lambda: None, lambda: None),
        "not_callable": lambda tf: tf.cond(True, 1.0, 2.0),
        "vector": lambda tf: tf.cond(tf.constant([True, False]), lambda: 1.0, lambda: 2.0),
        "python_value": lambda tf: tf.cond(tf.constant(True), lambda: 5, lambda: 6),
        "name": lambda tf: tf.cond(
            pred=tf.constant(True), true_fn=lambda: 1.0, false_fn=lambda: 2.0, name="c"
        ),
        "case": lambda tf: tf.case([(tf.constant(False), lambda: 1.0)], default=lambda: 2.0),
        "switch": lambda tf: tf.switch_case(tf.constant(1), [lambda: 1.0, lambda: 2.0]),
        "switch_out": lambda tf: tf.switch_case(tf.constant(7), [lambda: 1.0, lambda: 2.0]),
    }
)
def branches(tf, given):
    return given(tf)


@cases(
    compiled=[False, True],
    options={
        "plain": {},
        "bounded": {"maximum_iterations": 2},
        "named": {"parallel_iterations": 1, "name": "w"},
    },
)
def while_loop(tf, compiled, options):
    def call(x):
        start = (tf.constant(0), x)
        step = lambda i, y: (i + 1, y * x)
        return tf.while_loop(lambda i, y: i < 3, step, start, **options)[1]

    if compiled:
        call = tf.function(call)
    return grads(tf, call, tf.constant([1.5, -2.0], tf.float64))


@cases(
    given={
        "list": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)]),
        "single": lambda tf: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)]),
        "tuple": lambda tf: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + i), (0, 0)),
        "dict": lambda tf: tf.while_loop(
            lambda d: d["i"] < 3, lambda d: [{"i": d["i"] + 1}], [{"i": tf.constant(0)}]
        ),
        "never": lambda tf: tf.while_loop(lambda i: i < 0, lambda i: (i + 1,), (tf.constant(5),)),
        "keywords": lambda tf: tf.while_loop(
            cond=lambda i: i < 2, body=lambda i: (i + 1,), loop_vars=(tf.constant(0),)
        ),
        "growing": lambda tf: tf.while_loop(
            lambda x: tf.size(x) < 5, lambda x: [tf.concat([x, x], 0)], [tf.constant([1.0])]
        ),
        "no_variables": lambda tf: tf.while_loop(lambda: False, lambda: (), []),
        "body_not_callable": lambda tf: tf.while_loop(lambda i: i < 3, 5, [0]),
        "structure": lambda tf: tf.while_loop(
            lambda i: i < 1, lambda i: (i + 1, i), [tf.constant(0)]
        ),
    }
)
def loops(tf, given):
    return given(tf)


@cases(
    given={
        "plain": lambda tf, x: tf.map_fn(lambda r: r * r, x),
        "reduced": lambda tf, x: tf.map_fn(tf.reduce_sum, x),
        "pair": lambda tf, x: tf.map_fn(
            lambda p: p[0] * p[1], (x, x + 1.0), fn_output_signature="float32"
        ),
        "keywords": lambda tf, x: tf.map_fn(fn=lambda r: r + 1.0, elems=x, dtype=tf.float32),
        "signature": lambda tf, x: tf.map_fn(
            lambda r: (r, r * 2.0), x, fn_output_signature=(tf.float32, tf.float32)
        ),
        "cast": lambda tf, x: tf.map_fn(
            lambda r: tf.cast(r, tf.int32), x, fn_output_signature=tf.int32
        ),
        "spec": lambda tf, x: tf.map_fn(
            lambda r: r[:1], x, fn_output_signature=tf.TensorSpec([1], tf.float32)
        ),
        "wrong_type": lambda tf, x: tf.map_fn(lambda r: tf.cast(r, tf.int32), x),
        "scalar": lambda tf, x: tf.map_fn(lambda r: r, x[0, 0]),
        "empty": lambda tf, x: tf.map_fn(lambda r: r * 2.0, x[:0]),
        "dict": lambda tf, x: tf.map_fn(
            lambda r: {"a": r}, x, fn_output_signature={"a": tf.float32}
        ),
        "vectorized": lambda tf, x: tf.vectorized_map(lambda r: r * tf.reduce_sum(r), x),
        "vectorized_pair": lambda tf, x: tf.vectorized_map(
            lambda p: p[0] @ p[1], (x[:, :, None] * tf.ones([1, 1, 2]), tf.ones([2, 2, 1]))
        ),
        "vectorized_nest": lambda tf, x: tf.vectorized_map(lambda r: {"a": r, "b": r[0]}, x),
        "vectorized_no_loop": lambda tf, x: tf.vectorized_map(
            lambda r: r + 1.0, x, fallback_to_while_loop=False
        ),
        "scan": lambda tf, x: tf.scan(lambda a, r: a + r * a, x),
        "scan_start": lambda tf, x: tf.scan(
            lambda a, r: a * 0.5 + tf.reduce_sum(r), x, initializer=1.0
        ),
        "scan_reverse": lambda tf, x: tf.scan(lambda a, r: a + r, x, reverse=True),
        "scan_free": lambda tf, x: tf.scan(lambda a, r: a + r, x, tf.zeros([3]), infer_shape=False),
        "scan_pair": lambda tf, x: tf.scan(
            lambda a, r: (a[0] + r, a[1] * 2.0), x, initializer=(tf.zeros([3]), 1.0)
        ),
        "foldl": lambda tf, x: tf.foldl(lambda a, r: a * r + r, x),
        "foldl_start": lambda tf, x: tf.foldl(lambda a, r: a - r, x, initializer=tf.ones([3])),
        "foldr": lambda tf, x: tf.foldr(lambda a, r: a * 2.0 - r, x),
        "foldr_start": lambda tf, x: tf.foldr(lambda a, r: a - r, x, initializer=tf.ones([3])),
    }
)
def maps(tf, given):
    return first_only(tf, lambda x: given(tf, x), tensor(tf, fill((2, 3))))


@cases(compiled=[False, True])
def tensor_array(tf, compiled):
    def call(x):
        array = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            array = array.write(i, x * float(i))
        return array.stack(), array.concat(), array.read(1)

    return first_only(tf, tf.function(call) if compiled else call, tf.constant([1.0, 2.0]))


@cases(
    given={
        "dynamic": lambda tf: (
            tf.TensorArray(tf.int32, size=0, dynamic_size=True).write(2, 5).stack()
        ),
        "fixed": lambda tf: tf.TensorArray(tf.float32, size=1).write(2, 5.0),
        "unwritten": lambda tf: tf.TensorArray(tf.float32, size=2).write(0, 1.0).stack(),
        "unstack": lambda tf: tf.TensorArray(tf.float32, 2).unstack([[1.0], [2.0]]).read(1),
        "gather": lambda tf: tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0]).gather([2, 0]),
        "scatter": lambda tf: tf.TensorArray(tf.float32, 2).scatter([1, 0], [1.0, 2.0]).stack(),
        "split": lambda tf: tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 2]).read(1),
        "size": lambda tf: tf.TensorArray(tf.float32, 2).size(),
        "dtype": lambda tf: tf.TensorArray(tf.float32, 2).write(0, tf.constant(1)),
        "shapes": lambda tf: (
            tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, [1.0, 2.0]).stack()
        ),
        "element_shape": lambda tf: tf.TensorArray(tf.float32, 2, element_shape=[1]).write(
            0, [1.0, 2.0]
        ),
        "read_twice": lambda tf: read_twice(tf, True),
        "read_once": lambda tf: read_twice(tf, False),
        "properties": lambda tf: [
            tf.TensorArray(tf.float32, 2, element_shape=[1]).dtype,
            tf.TensorArray(tf.float32, 2, element_shape=[1]).element_shape,
            tf.TensorArray(tf.float32, 2, dynamic_size=True).dynamic_size,
        ],
        "negative": lambda tf: tf.TensorArray(tf.float32, 2).write(-1, 1.0),
    }
)
def tensor_arrays(tf, given):
    return given(tf)


def read_twice(tf, clear):
    array = tf.TensorArray(tf.float32, 1, clear_after_read=clear).write(0, 3.0)
    return array.read(0), array.read(0)


@cases(
    given={
        "py_function": lambda tf, x: tf.py_function(func=lambda x: x * x, inp=[x], Tout=tf.float32),
        "py_function_two": lambda tf, x: tf.py_function(
            lambda x: (x, x + 1.0), [x], [tf.float32, tf.float32]
        ),
        "py_function_log": lambda tf, x: tf.py_function(lambda x: tf.math.log(x), [x], tf.float32),
        "numpy_function": lambda tf, x: tf.numpy_function(lambda x: np.sin(x), [x], tf.float32),
        "numpy_function_list": lambda tf, x: tf.numpy_function(
            lambda x: [x, x], [x], [tf.float32] * 2
        ),
        "numpy_wrong_type": lambda tf, x: tf.numpy_function(
            lambda x: x.astype("float64"), [x], tf.float32
        ),
        "py_wrong_type": lambda tf, x: tf.py_function(
            lambda x: tf.cast(x, tf.int32), [x], tf.float32
        ),
        "nothing": lambda tf, x: tf.py_function(lambda x: None, [x], []),
    }
)
def python_functions(tf, given):
    return attempt(lambda: first_only(tf, lambda x: given(tf, x), tf.constant([1.0, 2.0])))


@case
def python_function_raises(tf):
    def fail(x):
        raise ValueError("on purpose")

    return attempt(lambda: tf.py_function(fail, [1.0], tf.float32)), attempt(
        lambda: tf.numpy_function(fail, [1.0], tf.float32)
    )


@case
def small_things(tf):
    x = tf.constant([1.0, 2.0])
    with tf.name_scope("scope") as scope, tf.control_dependencies([x]):
        y = tf.identity(x, name="y")
    with tf.device("/CPU:0"), tf.init_scope():
        z = x + y
    with tf.name_scope("outer"), tf.name_scope("inner") as inner:
        v = tf.Variable(1.0, name="v")
    return [
        scope,
        inner,
        v.name,
        y,
        z,
        tf.group(x, y),
        tf.executing_eagerly(),
        tf.no_op(),
        tf.get_static_value(x),
        tf.get_static_value(tf.constant(3)),
        attempt(lambda: tf.identity_n([x, 1.0])),
        tf.tuple([x, y]),
    ]


@case
def variable_names(tf):
    first, second, third = tf.Variable(1.0), tf.Variable(1.0, name="w"), tf.Variable(1.0, name="w")
    return [v.name for v in (first, second, third)]


@cases(kind=["plain", "named", "nested", "lists", "not_trainable", "scope", "bad_name", "no_init"])
def module(tf, kind):
    class Dense(tf.Module):
        def __init__(self, name=None):
            if kind != "no_init":
                super().__init__(name=name)
            self.w = tf.Variable([[1.0]], name="w")
            self.b = tf.Variable([0.0], name="b", trainable=kind != "not_trainable")

        @tf.Module.with_name_scope
        def __call__(self, x):
            self.made = tf.Variable(2.0, name="made")
            return x * self.made

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.z = Dense()
            self.layers = [Dense(), {"k": Dense("inner")}]
            self.a = tf.Variable(3.0, name="a")

    if kind == "bad_name":
        return attempt(lambda: Dense("1 bad"))
    if kind == "no_init":
        made = Dense()
        return attempt(lambda: made.name), [v.name for v in made.variables]
    if kind in ("nested", "lists"):
        net = Net()
        return [
            [v.name for v in net.variables],
            [m.name for m in net.submodules],
            net.name,
            len(net.trainable_variables),
        ]
    made = Dense("mine" if kind == "named" else None)
    if kind == "scope":
        made(tf.constant(1.0))
        with made.name_scope:
            inside = tf.Variable(1.0, name="inside")
        return made.made.name, inside.name, [v.name for v in made.variables]
    return [
        made.name,
        made.name_scope.name,
        [v.name for v in made.variables],
        [v.name for v in made.trainable_variables],
        [v.name for v in made.non_trainable_variables],
        isinstance(made.variables, tuple),
        made.submodules,
    ]


@case
def camel_case_names(tf):
    names = ["MyModule", "HTTPThing", "dense", "Conv2D", "A", "ABTest", "_Private"]
    return [type(name, (tf.Module,), {})().name for name in names]


@case
def module_gradient(tf):
    class Line(tf.Module):
        def __init__(self):
            super().__init__()
            self.w, self.b = tf.Variable(2.0), tf.Variable(1.0)

        def __call__(self, x):
            return self.w * x + self.b

    line, x = Line(), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((line(x) - 5.0) ** 2)
    return loss, tape.gradient(loss, line.trainable_variables), tape.watched_variables()


NESTS = {
    "list": [1, [2, 3]],
    "tuple": (1, (2, 3)),
    "dict": {"b": 1, "a": [2, 3]},
    "record": Point(1, [2, 3]),
    "leaf": 5,
    "text": "abc",
    "none": None,
    "empty": [[], {}],
    "array": [np.array([1, 2])],
    "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
    "set": {1},
    "nones": [None, 1],
}


@cases(given=NESTS)
def nest(tf, given):
    flat = tf.nest.flatten(given)
    return [
        len(flat),
        flat,
        attempt(lambda: tf.nest.map_structure(lambda leaf: [leaf], given)),
        attempt(lambda: tf.nest.pack_sequence_as(given, list(range(len(flat))))),
        tf.nest.is_nested(given),
        attempt(lambda: tf.nest.assert_same_structure(given, given)),
    ]


@cases(
    given={
        "two": lambda nest: nest.map_structure(
            lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 3, "y": [4]}
        ),
        "clash": lambda nest: nest.map_structure(lambda a, b: a, [1, 2], [1]),
        "types": lambda nest: nest.map_structure(lambda a, b: a + b, [1, 2], (1, 2)),
        "types_allowed": lambda nest: nest.map_structure(
            lambda a, b: a + b, [1, 2], (3, 4), check_types=False
        ),
        "keys": lambda nest: nest.map_structure(lambda a, b: a, {"a": 1}, {"b": 1}),
        "not_callable": lambda nest: nest.map_structure(3, [1]),
        "nothing": lambda nest: nest.map_structure(lambda: 1),
        "keyword": lambda nest: nest.map_structure(lambda a: a, [1], foo=1),
        "expand": lambda nest: nest.map_structure(lambda a: a + 1, (1, 2), expand_composites=True),
        "pack_few": lambda nest: nest.pack_sequence_as([1, 2], [3]),
        "pack_many": lambda nest: nest.pack_sequence_as([1, 2], [3, 4, 5]),
        "pack_leaf": lambda nest: nest.pack_sequence_as(1, [9]),
        "pack_leaf_many": lambda nest: nest.pack_sequence_as(1, [9, 8]),
        "pack_not_list": lambda nest: nest.pack_sequence_as([1], 5),
        "same_clash": lambda nest: nest.assert_same_structure([1, [2]], [1, 2]),
        "same_types": lambda nest: nest.assert_same_structure([1, 2], (1, 2)),
        "same_types_free": lambda nest: nest.assert_same_structure(
            [1, 2], (1, 2), check_types=False
        ),
        "same_names": lambda nest: nest.assert_same_structure(nest1=[1], nest2=[2]),
        "leaf_list": lambda nest: nest.assert_same_structure(1, [1]),
        "sorted": lambda nest: nest.flatten({"b": 1, "a": 2, "c": {"z": 3, "y": 4}}),
        "mixed_keys": lambda nest: nest.flatten({"b": 1, 3: 2}),
        "deep": lambda nest: nest.pack_sequence_as({"b": (0, [0]), "a": Point(0, 0)}, [1, 2, 3, 4]),
    }
)
def nests(tf, given):
    return given(tf.nest)


@cases(grad=["one", "list", "upstream_two", "none_inside", "wrong_count"])
def custom_gradient(tf, grad):
    @tf.custom_gradient
    def call(x, y):
        def backward(g):
            if grad == "none_inside":
                return g * 3.0, None
            if grad == "wrong_count":
                return g
            return [g * 3.0, g * y] if grad == "list" else (g * 3.0, g * x)

        return x * y, backward

    x, y = tf.constant(2.0), tf.constant(5.0)
    if grad == "one":
        single = tf.custom_gradient(lambda x: (tf.exp(x), lambda g: g * 10.0))
        return grads(tf, single, x)
    return attempt(lambda: grads(tf, call, x, y))


@case
def stop_and_recompute(tf):
    x = tf.constant([0.5, 2.0])
    again = tf.recompute_grad(lambda x: tf.sin(x) * x)
    return [
        grads(tf, lambda x: tf.stop_gradient(x) * x, x),
        first_only(tf, again, x),
        first_only(tf, lambda x: tf.grad_pass_through(tf.round)(x), x),
    ]
