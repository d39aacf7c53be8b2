"""Loops in functions: one equation where they can be, the same numbers in any case."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.program import Loop

W = tf.Variable(0.9)
ROWS = np.linspace(-1, 1, 60).astype("f4").reshape(30, 2)


def power(x, n):
    return tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y * x * W), (tf.constant(0), tf.ones_like(x))
    )[1]


ALONG = {
    "scan": lambda xs: tf.scan(lambda a, r: a * 0.5 * W + tf.sin(r), xs),
    "scan_from": lambda xs: tf.scan(lambda a, r: a * W + r, xs, initializer=tf.zeros([2])),
    "scan_back": lambda xs: tf.scan(lambda a, r: a * W + r, xs, reverse=True),
    "foldl": lambda xs: tf.foldl(lambda a, r: a * 0.7 + r * W, xs),
    "foldr": lambda xs: tf.foldr(lambda a, r: a * 0.7 + r * W, xs),
    "map_fn": lambda xs: tf.map_fn(lambda r: tf.reduce_sum(r) * W, xs),
}


def loops(function) -> int:
    program = next(iter(function._trees.values())).takes[0].program
    return sum(isinstance(e.op, Loop) for e in program.equations)


def gradients(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(x) ** 2)
    return tape.gradient(y, [x, W])


def same(first, second) -> None:
    for a, b in zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_loop_whose_length_depends_on_data_is_recorded_once() -> None:
    function, x = tf.function(power), tf.constant([1.5, 2.0])
    for n in (3, 5, 0, 2, 40):
        same(function(x, tf.constant(n)), power(x, tf.constant(n)))
    assert loops(function) == 1
    assert [tree.recordings for tree in function._trees.values()] == [1]


def test_its_gradient_inside_and_outside() -> None:
    outside, x = tf.function(power), tf.constant([1.5, 2.0])
    inside = tf.function(lambda x, n: gradients(lambda x: power(x, n), x))
    for n in (3, 1, 6):
        eager = gradients(lambda x, n=n: power(x, tf.constant(n)), x)
        same(eager, gradients(lambda x, n=n: outside(x, tf.constant(n)), x))
        same(eager, inside(x, tf.constant(n)))
    assert [tree.recordings for tree in inside._trees.values()] == [1]


@pytest.mark.parametrize("name", ALONG)
def test_along_rows(name) -> None:
    plain = ALONG[name]
    function = tf.function(plain)
    inside = tf.function(lambda xs: gradients(plain, xs))
    for k in (1.0, -0.5):
        xs = tf.constant(k * ROWS)
        same(plain(xs), function(xs))
        same(gradients(plain, xs), gradients(function, xs))
        same(gradients(plain, xs), inside(xs))
    assert loops(function) == 1


def test_short_ones_are_recorded_step_by_step() -> None:
    function = tf.function(ALONG["scan"])
    xs = tf.constant(ROWS[:5])
    same(function(xs), ALONG["scan"](xs))
    assert loops(function) == 0


@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_of_higher_order(order) -> None:
    x = tf.constant(1.3)

    def derivative(f, order):
        if order == 0:
            return f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = derivative(f, order - 1)
        return tape.gradient(y, x)

    plain = lambda x: power(x, tf.constant(4))
    same(derivative(plain, order), derivative(tf.function(plain), order))
    same(derivative(plain, order), tf.function(lambda: derivative(plain, order))())


def test_a_body_that_assigns_or_looks_is_followed() -> None:
    total = tf.Variable(0.0)

    @tf.function
    def count(n):
        def body(i):
            total.assign_add(1.0)
            if i > 2:
                total.assign_add(10.0)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (tf.constant(0),))

    for n in (2, 5, 2):
        total.assign(0.0)
        count(tf.constant(n))
        assert float(total) == n + 10.0 * max(0, n - 3)


def test_nested_loops() -> None:
    def nested(x, n):
        def outer(i, y):
            inner = lambda j, z: (j + 1, z * x)
            return i + 1, tf.while_loop(lambda j, z: j < i, inner, (tf.constant(0), y))[1]

        return tf.while_loop(lambda i, y: i < n, outer, (tf.constant(0), tf.ones_like(x)))[1]

    function, x = tf.function(nested), tf.constant(1.1)
    for n in (3, 5):
        same(nested(x, tf.constant(n)), function(x, tf.constant(n)))
        same(
            gradients(lambda x, n=n: nested(x, tf.constant(n)), x)[0],
            gradients(lambda x, n=n: function(x, tf.constant(n)), x)[0],
        )


def test_an_error_in_the_body_is_the_users() -> None:
    @tf.function
    def walk(table, n):
        return tf.while_loop(
            lambda i: i < n, lambda i: (i + 1 + 0 * tf.gather(table, i),), (tf.constant(0),)
        )

    table = tf.constant([0, 0, 0])
    assert int(walk(table, tf.constant(2))[0]) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        walk(table, tf.constant(9))


def test_a_loop_under_two_tapes_is_followed_and_guarded() -> None:
    @tf.function
    def halved(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                outer.watch(x)
                inner.watch(x)
                halving = lambda v: [v * 0.5]
                y = tf.while_loop(lambda v: tf.norm(v) > 1.0, halving, [x * x])[0]
                total = tf.reduce_sum(y)
            first = inner.gradient(total, x)
        return y, outer.gradient(first, x)

    for scale, factor in ((0.5, 1.0), (2.0, 0.25), (0.5, 1.0), (4.0, 0.0625)):
        x = tf.constant([scale, 0.0])
        y, second = halved(x)
        same(y, factor * x * x)
        same(second, tf.constant([2 * factor, 2 * factor]))


# --- loops that count -----------------------------------------------------------------------------
def count(body, begin, end, loop_vars, **more):
    """`body(i, ...)` for i from `begin` on, below `end`."""
    return tf.while_loop(
        lambda i, *_: i < end, lambda i, *rest: (i + 1, *body(i, *rest)),
        (tf.constant(begin), *loop_vars), **more,
    )[1:]  # fmt: skip


def elements(xs, **more):
    return tf.TensorArray(tf.float32, len(xs), **more).unstack(xs)


def empty(size, shape=(2,), **options):
    return tf.TensorArray(tf.float32, size, element_shape=shape, **options)


def rows(xs):
    taken = elements(xs)

    def body(i, written, state):
        state = taken.read(i) * W + 0.5 * state
        return written.write(i, state * 2.0), state

    written, state = count(body, 0, 30, (empty(30), tf.zeros([2])))
    return written.stack(), state


def from_another_place(xs):
    taken = elements(xs, clear_after_read=False)

    def body(i, written, state):
        state = state * 0.9 + taken.read(i) * taken.read(i - 3) * W
        return written.write(i - 3, state), state

    written, state = count(body, 3, 30, (empty(40), tf.ones([2])))
    return written.stack(), state


def behind_others(xs):
    written = empty(30).write(0, xs[0]).write(1, xs[1] * W).write(29, xs[2])
    (written,) = count(lambda i, a: (a.write(i, xs[3] * W),), 2, 29, (written,))
    return written.stack()


def one_place(xs):
    taken = elements(xs)
    (written,) = count(lambda i, a: (a.write(1, taken.read(i) * W),), 0, 30, (empty(3),))
    return written.stack()


def with_the_number(xs):
    taken = elements(xs)
    return count(lambda i, s: (s + tf.cast(i, s.dtype) * taken.read(i) * W,), 0, 30, (xs[0],))[0]


def at_most(xs):
    taken = elements(xs)
    body = lambda i, s: (s + taken.read(i) * W,)
    return count(body, 0, 100, (xs[0],), maximum_iterations=25)[0]


def compared_the_other_way(xs):
    return tf.while_loop(
        lambda s, i: tf.constant(29) >= i,
        lambda s, i: (s * W + xs[2], i + 1),
        (xs[0], tf.constant(0)),
    )[0]


def one_by_one(xs):
    taken = tf.TensorArray(tf.float32, 30)
    for k in range(30):
        taken = taken.write(k, xs[k] * W)
    return count(lambda i, s: (s * 0.5 + taken.read(i),), 0, 30, (xs[0],))[0]


def products(xs):
    taken = elements(tf.reshape(xs, [30, 1, 2]))
    left, right, shift = tf.stack([[W, 0.5], [0.3, W]]), tf.ones([2, 2]) * W * 0.2, W * [1.0, 2.0]

    def body(i, written, state):
        state = tf.tanh((taken.read(i) * 2.0) @ left + state @ right + shift)
        return written.write(i, state), state

    written, _ = count(body, 0, 30, (empty(30, (1, 2)), tf.zeros([1, 2])))
    return written.stack()


COUNTED = {
    f.__name__: f
    for f in (
        rows, from_another_place, behind_others, one_place, with_the_number, at_most,
        compared_the_other_way, one_by_one, products,
    )
}  # fmt: skip


def total(results):
    return tf.add_n([tf.reduce_sum(r * r) for r in tf.nest.flatten(results)])


def slopes(f, xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        loss = total(f(xs))
    return [tf.convert_to_tensor(g) for g in tape.gradient(loss, [xs, W])]


@pytest.mark.parametrize("name", COUNTED)
def test_a_loop_of_a_known_length_is_one_equation_with_its_arrays(name) -> None:
    plain = COUNTED[name]
    function, inside = tf.function(plain), tf.function(lambda xs: slopes(plain, xs))
    for k in (1.0, -0.5):
        xs = tf.constant(k * ROWS)
        for _ in range(15):  # on NumPy and, where there is that, as machine code
            compiled = function(xs), inside(xs)
        same((plain(xs), slopes(plain, xs)), compiled)
        same(slopes(plain, xs), slopes(function, xs))
    assert loops(function) == 1
    assert loops(inside) == 2  # forward and backward


def test_what_does_not_depend_on_the_step_before_is_computed_for_all_at_once() -> None:
    function = tf.function(products)
    function(tf.constant(ROWS))
    program = next(iter(function._trees.values())).takes[0].program
    (loop,) = [e.op for e in program.equations if isinstance(e.op, Loop)]
    inner = [e.op.name for e in loop.state.body.program.equations]
    assert inner.count("matmul") == 1
    assert [e.inputs[0].shape for e in program.equations if e.op.name == "matmul"] == [(30, 2)]


def reads_where_numbers_say(xs):
    taken = elements(xs, clear_after_read=False)
    body = lambda i, s: (s + taken.read(tf.cast(tf.abs(s[0]), tf.int32) % 30) * W,)
    return count(body, 0, 30, (xs[0],))[0]


def reads_what_it_writes(xs):
    def body(i, array):
        return (array.write(i, array.read(i - 1) * W + xs[i]),)

    kept = empty(30, clear_after_read=False)  # eager arrays forget what was read
    return count(body, 1, 30, (kept.write(0, xs[0]),))[0].stack()


def writes_twice(xs):
    def body(i, array):
        return (array.write(i, xs[0] * W).write(i + 1, xs[1] * W),)

    return count(body, 0, 29, (empty(30),))[0].stack()


def counts_by_two(xs):
    taken = elements(xs)
    return tf.while_loop(
        lambda i, s: i < 30, lambda i, s: (i + 2, s + taken.read(i) * W), (tf.constant(0), xs[0])
    )[1]


def grows(xs):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    return count(lambda i, a: (a.write(i, xs[i] * W),), 0, 30, (array,))[0].stack()


@pytest.mark.parametrize(
    "plain",
    [reads_where_numbers_say, reads_what_it_writes, writes_twice, counts_by_two, grows],
    ids=lambda f: f.__name__,
)
def test_a_loop_with_other_arrays_is_recorded_step_by_step(plain) -> None:
    function, inside = tf.function(plain), tf.function(lambda xs: slopes(plain, xs))
    xs = tf.constant(ROWS)
    same(plain(xs), function(xs))
    same(slopes(plain, xs), inside(xs))
    assert loops(function) == 0


def test_arrays_stay_what_they_were_where_the_loop_begins() -> None:
    @tf.function
    def function(xs):
        taken = elements(xs, clear_after_read=False)
        before = empty(30).write(3, xs[3])
        written, _ = count(lambda i, a, s: (a.write(i, taken.read(i)), s), 0, 30, (before, 1.0))
        return before.stack(), written.stack(), taken.read(4), taken.size(), taken.stack()

    before, written, element, size, stacked = function(tf.constant(ROWS))
    assert np.count_nonzero(before) == 2
    same([written, element, stacked], [ROWS, ROWS[4], ROWS])
    assert int(size) == 30


def test_what_a_body_does_to_the_world_is_done_once_for_each_step() -> None:
    steps: list[int] = []

    def note(i):
        steps.append(int(i))
        return i

    @tf.function
    def function(x):
        def body(i, s):
            return (s + x + tf.cast(tf.numpy_function(note, [i], tf.int32), tf.float32),)

        return count(body, 0, 20, (tf.constant(0.0),))[0]

    assert float(function(tf.constant(1.0))) == 20 + sum(range(20))
    assert steps == [*range(20)]
    assert float(function(tf.constant(2.0))) == 40 + sum(range(20))
    assert steps == [*range(20)] * 2


def test_many_equations_are_blamed_on_a_loop_of_the_users_only(caplog) -> None:
    def chain(x):
        for _ in range(700):
            x = tf.sin(x) * 1.1 + 0.1
        return x

    @tf.function
    def short(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = chain(x)
        return tape.gradient(y, x)  # 2,000 equations that come from this place

    short(tf.constant(0.5))
    assert not caplog.records

    @tf.function
    def long(x):
        for _ in range(2100):
            x = tf.sin(x)
        return x

    @tf.function
    def around(x):
        return long(x)

    around(tf.constant(0.5))
    assert len(caplog.records) == 1
    assert "2000 equations come from one place in a function" in caplog.messages[0]
    assert __file__ in caplog.messages[0]
