"""What a user sees of `tf.function`: when Python runs, what stays, what is shown."""

from __future__ import annotations

import linecache
import logging
import os
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gradtape as tf
from tests.collecting import collect


def recordings(function: tf.types.experimental.GenericFunction) -> int:
    return sum(tree.recordings for tree in function._trees.values())


def test_python_runs_when_recorded_only() -> None:
    seen = []

    @tf.function
    def double(x):
        seen.append(x.shape)
        return x * 2

    for value in (1.0, 2.0, 3.0):
        assert double(tf.constant(value)).numpy() == 2 * value
    assert double(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert seen == [(), (2,)]
    assert double.experimental_get_tracing_count() == 2


def test_a_training_step_is_the_eager_one() -> None:
    def start():
        rng = np.random.default_rng(1)
        return [tf.Variable(rng.normal(size=s).astype("f4")) for s in ((3, 8), (8,), (8, 1))]

    def step(params, x, y):
        w, b, v = params
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w + b) @ v - y) ** 2)
        for p, g in zip(params, tape.gradient(loss, params), strict=True):
            p.assign_sub(0.1 * g)
        return loss

    rng = np.random.default_rng(2)
    data = [
        [tf.constant(rng.normal(size=s).astype("f4")) for s in ((16, 3), (16, 1))] for _ in range(5)
    ]
    eager, played = start(), start()
    function = tf.function(lambda x, y: step(played, x, y))
    for x, y in data * 3:
        np.testing.assert_allclose(step(eager, x, y), function(x, y), rtol=1e-5)
    for a, b in zip(eager, played, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert recordings(function) == 1


def test_results_are_not_overwritten_by_later_calls() -> None:
    function = tf.function(lambda x: (x + 1.0, tf.transpose(x), x[1:], x))
    x = tf.constant(np.arange(6.0).reshape(2, 3))
    first = function(x)
    before = [r.numpy() for r in first]
    function(x * 100)
    assert all((a == b.numpy()).all() for a, b in zip(before, first, strict=True))


def test_variables_and_constants_are_never_written_through_a_result() -> None:
    v = tf.Variable(np.ones((100, 100), "f4"))  # large enough to be written in place

    @tf.function
    def read_and_add():
        before = v.read_value()
        v.assign_add(tf.ones([100, 100]))
        return before, v.read_value()

    held = []
    for k in range(4):
        held.append(read_and_add())
        view = v.numpy()
        assert (view == k + 2).all()
    assert [(float(a[0, 0]), float(b[0, 0])) for a, b in held] == [
        (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, 5.0),
    ]  # fmt: skip


def test_an_exception_leaves_variables_as_they_were() -> None:
    v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

    @tf.function
    def update(i):
        v.assign_add(1.0)
        w.assign(w * 2.0)
        return tf.gather(w, i)

    update(tf.constant(0))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            update(tf.constant(7))
        assert float(v) == 2.0
        assert w.numpy().tolist() == [2.0, 4.0]
        assert "test_function.py" in str(getattr(raised.value, "__notes__", ""))


def test_an_exception_of_python_leaves_variables_as_they_were() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def update(x):
        v.assign_add(1.0)
        if x > 0:
            raise KeyError("positive")
        return v.read_value()

    assert float(update(tf.constant(-1.0))) == 2.0
    with pytest.raises(KeyError, match="positive"):
        update(tf.constant(1.0))
    assert float(v) == 2.0
    assert float(update(tf.constant(-1.0))) == 3.0


def test_a_tensor_that_leaks_is_out_of_scope() -> None:
    kept = []

    @tf.function
    def leak(x):
        kept.append(x * 2)
        return x

    leak(tf.constant(1.0))
    for use in (lambda t: t + 1, lambda t: t.numpy(), float, bool, tf.exp, np.asarray):
        with pytest.raises(TypeError, match="out of scope"):
            use(kept[0])
    assert "Tensor" in repr(kept[0])


def test_functions_are_freed_with_all_that_they_recorded() -> None:
    v = tf.Variable(np.ones((10, 10), "f4"))
    function = tf.function(lambda x: x @ v)
    function(tf.ones([10, 10]))
    take = next(iter(function._trees.values())).takes[0]
    watched = [weakref.ref(function), weakref.ref(take), weakref.ref(take.runner)]
    del function, take
    collect()
    assert [w() for w in watched] == [None] * 3


def test_methods_have_a_function_for_each_instance_and_do_not_keep_it() -> None:
    class Model:
        def __init__(self, factor):
            self.factor = tf.Variable(factor)

        @tf.function
        def __call__(self, x):
            return self.factor * x

    models = [Model(2.0), Model(3.0)]
    assert [float(m(tf.constant(5.0))) for m in models * 2] == [10.0, 15.0] * 2
    assert models[0].__call__ is models[0].__call__
    watched = weakref.ref(models[0])
    models.clear()
    collect()
    assert watched() is None


def test_threads_share_a_function() -> None:
    total = tf.Variable(0.0)

    @tf.function
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return tf.reduce_sum(x * x)

    def work(k):
        x = tf.constant(np.full(50, k, "f4"))
        return [float(add(x)) for _ in range(20)] == [50.0 * k * k] * 20

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))
    assert float(total) == 20 * 50 * sum(range(8))


def test_what_is_printed_and_drawn_happens_at_every_call(capfd) -> None:
    tf.random.set_seed(1)

    @tf.function
    def show(x):
        tf.print("x is", x, output_stream=sys.stdout)
        return tf.random.uniform([3])

    drawn = [show(tf.constant(k)).numpy().tolist() for k in range(3)]
    assert capfd.readouterr().out == "x is 0\nx is 1\nx is 2\n"
    assert len({tuple(d) for d in drawn}) == 3


def test_the_program_and_its_story_can_be_read() -> None:
    @tf.function
    def step(x, n):
        if x > 0:
            return tf.exp(x) * n
        return x

    assert "not called" in step.source()
    step(tf.constant(1.0), 2)
    step(tf.constant(-1.0), 2)
    step(tf.constant(1.0), 3)
    source = step.source()
    assert "exp" in source
    assert "test_function.py:" in source
    story = str(step.explain())
    assert "2 kinds of arguments, recorded 3 times" in story
    assert "argument `n`" in story
    assert "guard: bool at test_function.py:" in story
    assert "us a call" in str(step.profile(tf.constant(1.0), 2))


def test_a_python_loop_that_makes_a_long_program_says_so(caplog) -> None:
    @tf.function
    def long(x):
        for _ in range(2500):
            x = x + 1.0
        return x

    with caplog.at_level(logging.WARNING):
        assert float(long(tf.constant(0.0))) == 2500.0
    assert "tf.scan" in caplog.text


def test_eagerly_python_runs_at_every_call() -> None:
    calls = []
    function = tf.function(lambda x: calls.append(1) or x)
    tf.config.run_functions_eagerly(True)
    try:
        function(tf.constant(1.0))
        function(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(calls) == 2


@pytest.mark.parametrize(("setting", "times"), [("eager", 3), ("numpy", 1)])
def test_a_setting_for_debugging(setting: str, times: int) -> None:
    program = "import gradtape as tf\nf = tf.function(lambda x: print('ran'))\n" + "f(1)\n" * 3
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "GRADTAPE_FUNCTION": setting},
    )  # fmt: skip
    assert done.stdout.split() == ["ran"] * times


def test_structures_and_iterators_come_the_short_way() -> None:
    """The second call of a kind is played without looking at its arguments closely."""

    @tf.function
    def add(parts, more):
        a, (b, n) = parts
        return {"sum": a + b * n + more[0], "parts": parts}

    one, two = tf.constant([1.0, 2.0]), tf.constant(3.0)
    for _ in range(3):
        assert add((one, (two, 2)), [one])["sum"].numpy().tolist() == [8.0, 10.0]
    assert add((one, (two, 3)), [one])["sum"].numpy().tolist() == [11.0, 13.0]
    assert add((two, (two, 3)), [one])["sum"].numpy().tolist() == [13.0, 14.0]
    assert add((one, (two, 3)), [one, one])["sum"].numpy().tolist() == [11.0, 13.0]
    assert add.experimental_get_tracing_count() == 4

    @tf.function
    def draw(iterator):
        return tf.experimental.Optional.from_value({"b": iterator.get_next() * 2, "a": two})

    for dtype in (tf.int64, tf.int64, tf.float32):
        iterator = iter(tf.data.Dataset.range(3, output_type=dtype))
        drawn = [draw(iterator).get_value() for _ in range(3)]
        assert [list(one) for one in drawn] == [["b", "a"]] * 3
        assert [float(one["b"]) for one in drawn] == [0.0, 2.0, 4.0]
        with pytest.raises(tf.errors.OutOfRangeError):
            draw(iterator)


def test_the_profile_of_a_function_that_draws_elements() -> None:
    @tf.function
    def draw(iterator):
        return iterator.get_next() * 2

    iterator = iter(tf.data.Dataset.range(100))
    draw(iterator)
    assert "test_function.py" in str(draw.profile(iterator))


def test_lines_of_programs_stay_while_somebody_goes_through_them() -> None:
    """The collector may run at any time, also inside of `linecache.checkcache`."""
    step = tf.function(lambda x: x * 2.0)
    step(tf.constant(1.0))
    names = [name for name in linecache.cache if name.startswith("<gradtape function")]
    del step
    collect()
    assert all(name in linecache.cache for name in names)
    tf.function(lambda x: x * 3.0)(tf.constant(1.0))
    assert not all(name in linecache.cache for name in names)


def test_jacobians_of_nothing_by_ops_that_go_row_by_row() -> None:
    empty = tf.Variable(tf.zeros([0, 3]))

    @tf.function
    def curvature():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                y = tf.math.log1p(tf.tanh(tf.grad_pass_through(tf.floor)(empty)))
            first = tape.gradient(y, empty)
        return outer.jacobian(first, empty)

    assert curvature().shape == (0, 3, 0, 3)
