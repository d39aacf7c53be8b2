"""Programs played by the backend for NumPy: values, guards, effects, updates, errors, threads."""

from __future__ import annotations

import sys
import time
from threading import Thread

import numpy as np
import pytest

import gradtape as tf
from gradtape import errors
from gradtape.compile.backends.numpy import build
from gradtape.compile.program import Effect, Equation, Failed, Guard, Python
from gradtape.ops import chance, elementwise, index, linear, reduce, shape
from gradtape.ops.kernels.philox import Stream

from .making import Making


def array(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype="f4").reshape(shape)


def test_results_are_those_of_the_ops():
    p = Making()
    x, w = p.input(2, 3), p.input(3, 4)
    y = p(linear.matmul, x, w)
    first, second = p(shape.split, y, sizes=(1, 3), axis=-1)
    total = p(reduce.sum, second, axis=None, keepdims=False)
    run = build(p.give(first, total, p(elementwise.mul, total, p.constant(0.5))))
    one, two, three = run([array(2, 3), array(3, 4)])
    expected = array(2, 3) @ array(3, 4)
    assert np.array_equal(one, expected[:, :1])
    assert two == expected[:, 1:].sum()
    assert type(two) is type(three) is np.float32


def test_a_tuple_of_one_is_unpacked():
    p = Making()
    (part,) = p(shape.split, p.input(3), sizes=(3,), axis=-1)
    assert np.array_equal(build(p.give(part))([array(3)])[0], array(3))


def test_a_guard_that_does_not_hold_stops_everything():
    v, done = tf.Variable(1.0), []
    p = Making()
    x, old = p.input(), p.variable(v)
    p.do(Guard("float", float, outcome=2.0), x)
    p.do(Effect("note", done.append), x)
    p.do(Guard("float", float, outcome=1.0), old)
    p.update(v, p(elementwise.add, old, x))
    run = build(p.give())
    failed = run([np.float32(3)])
    assert isinstance(failed, Failed)
    assert (failed.index, failed.read, v.numpy(), done) == (0, 3.0, 1.0, [])
    assert run([np.float32(2)]) == []
    assert (v.numpy(), done) == (3.0, [2.0])
    failed = run([np.float32(2)])
    assert (failed.index, failed.read, v.numpy(), done) == (1, 3.0, 3.0, [2.0, 2.0])


@pytest.mark.parametrize(
    ("outcome", "same", "other"),
    [
        (float("nan"), float("nan"), 1.0),
        (0.0, 0.0, float("nan")),
        (np.float32(0), np.float32(0), np.float32(-0.0)),
        (array(2), array(2), array(3)),
        (np.array([np.nan, 1]), np.array([np.nan, 1]), np.array([np.nan, 2])),
        (True, True, False),
        (None, None, 1),
        ((1, 2), (1, 2), (1, 3)),
    ],
)
def test_what_a_guard_takes_for_the_same(outcome, same, other):
    box = [same]
    p = Making()
    p.do(Guard("read", lambda x: box[0], outcome=outcome), p.input())
    run = build(p.give())
    assert run([np.float32(0)]) == []
    box[0] = other
    assert run([np.float32(0)]).read is other


def test_random_streams_are_read_first_and_move_on_last():
    stream = Stream(7, 100)
    p = Making()
    place = p.program.new(None, None)
    p.program.streams = ((stream, place),)
    p.program.advances = ((stream, 5),)
    drawn = p(chance.uniform, key=7, counter=place, shape=(3,), dtype=np.dtype("f4"))
    run = build(p.give(drawn))
    one, two = run([])[0], run([])[0]
    assert np.array_equal(one, Stream(7, 100).uniform(3, np.dtype("f4")))
    assert np.array_equal(two, Stream(7, 105).uniform(3, np.dtype("f4")))
    assert stream.counter == 110


def test_an_error_is_the_ops_own_names_the_line_and_leaves_variables_alone():
    v = tf.Variable(1.0)
    p = Making()
    old = p.variable(v)
    p.update(v, p(elementwise.add, old, old))
    p(index.gather, p.input(3), p.input(2, dtype="i4"))
    here = sys._getframe()
    p.program.equations[-1].place = (here.f_code, here.f_lasti)
    run = build(p.give())
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[1\] = 7") as caught:
        run([array(3), np.array([0, 7], "i4")])
    assert any("test_numpy_backend.py:" in note for note in caught.value.__notes__)
    assert v.numpy() == 1.0


def test_the_source_names_the_users_lines():
    p = Making()
    y = p(elementwise.exp, p.input(3))
    here = sys._getframe()
    p.program.equations[-1].place = (here.f_code, here.f_lasti)
    assert f"# test_numpy_backend.py:{here.f_lineno - 1}" in build(p.give(y)).source


def test_threads_share_a_runner():
    p = Making()
    x = p.input(50, 50)
    y = p(linear.matmul, x, x)
    slow = Python("slow", lambda a: (np.linalg.svd(a), a)[1])
    p.program.equations[-1].op = linear.matmul
    z = p.program.new((50, 50), np.dtype("f4"))
    p.program.equations.append(Equation(slow, (y,), {}, (z,)))
    run = build(p.give(p(elementwise.add, y, z)))
    rng = np.random.default_rng(0)
    wrong = []

    def work(a):
        for _ in range(20):
            (got,) = run([a])
            if not np.array_equal(got, 2 * (a @ a)):
                wrong.append(a)

    threads = [Thread(target=work, args=(rng.normal(size=(50, 50)).astype("f4"),)) for _ in "123"]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong


def test_updates_of_threads_are_not_lost():
    v = tf.Variable(np.zeros(3, "f4"))
    p = Making()
    old = p.variable(v)
    pause = Python("pause", lambda a: (time.sleep(0.001), a)[1])
    delta = p.program.new((3,), np.dtype("f4"))
    p.program.equations.append(Equation(pause, (p.input(3),), {}, (delta,)))
    p.update(v, p(elementwise.add, old, delta))
    run = build(p.give())

    def work():
        for _ in range(20):
            run([np.ones(3, "f4")])

    threads = [Thread(target=work) for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert v.numpy().tolist() == [60, 60, 60]


def test_a_profile_leaves_everything_as_it_is():
    v = tf.Variable(1.0)
    p = Making()
    old = p.variable(v)
    p.update(v, p(elementwise.add, old, old))
    here = sys._getframe()
    p.program.equations[-1].place = (here.f_code, here.f_lasti)
    times = build(p.give()).timed([], time.perf_counter, 0.0)
    (where,) = times
    assert where.startswith("test_numpy_backend.py:")
    assert times[where] > 0
    assert v.numpy() == 1.0


def test_a_look_in_steps_is_never_flattened_once_for_all() -> None:
    x = np.arange(12.0, dtype="f4").reshape(4, 3)

    @tf.function
    def function(x):
        part = tf.sin(x)[::2]
        return tf.reduce_sum(part * part), tf.reduce_sum(part)

    for values in (x, x + 1, x * 2):
        part = np.sin(values)[::2]
        total, plain = function(tf.constant(values))
        np.testing.assert_allclose(total.numpy(), (part * part).sum(), rtol=1e-5)
        np.testing.assert_allclose(plain.numpy(), part.sum(), rtol=1e-5)
