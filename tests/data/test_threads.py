"""Threads of pipelines: they work ahead, end when nobody waits for them, and pass on exceptions."""

from __future__ import annotations

import threading
import time
import traceback

import pytest

import gradtape as tf
from tests.collecting import collect

Dataset = tf.data.Dataset


def working() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("gradtape-")]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    collect()
    for thread in working():
        thread.join(10)
    assert not working()


def counted(started: threading.Event, count: int = 3):
    """A dataset that tells when so many elements were made."""
    made = []

    def generator():
        for k in range(100):
            made.append(k)
            if len(made) == count:
                started.set()
            yield k

    spec = tf.TensorSpec([], tf.int64)
    return Dataset.from_generator(generator, output_signature=spec), made


def test_prefetch_works_ahead() -> None:
    started = threading.Event()
    data, _ = counted(started)
    iterator = iter(data.prefetch(2))
    assert int(next(iterator)) == 0
    assert started.wait(10)  # two more were made, which nobody asked for


def test_automatic_prefetch_takes_a_thread_where_elements_take_long() -> None:
    def slow(x):
        time.sleep(0.001)
        return x

    def slowly(x):
        return tf.py_function(slow, [x], tf.int64)

    data = Dataset.range(12)
    iterator = iter(data.map(lambda x: x + 1).prefetch(tf.data.AUTOTUNE))
    found = [int(next(iterator)) for _ in range(12)]
    assert found == list(range(1, 13))
    assert not working()
    iterator = iter(data.map(slowly).prefetch(tf.data.AUTOTUNE))
    found = [int(next(iterator)) for _ in range(6)]
    assert working()
    assert found + [int(x) for x in iterator] == list(range(12))


def test_nothing_is_made_before_it_is_asked_for() -> None:
    data, made = counted(threading.Event())
    iterator = iter(data.map(lambda x: x + 1).batch(2).prefetch(1))
    assert not made
    del iterator


def test_an_iterator_that_is_dropped_ends_its_threads() -> None:
    data = Dataset.range(10**9).map(lambda x: x + 1, num_parallel_calls=2).prefetch(2).prefetch(1)
    iterator = iter(data)
    assert int(next(iterator)) == 1
    threads = working()
    assert len(threads) >= 3
    del iterator
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_loop_that_is_left_ends_its_threads() -> None:
    for x in Dataset.range(10**9).batch(2).prefetch(3):
        assert x.numpy().tolist() == [0, 1]
        break


@pytest.mark.parametrize("calls", [None, 1, 2, 5, tf.data.AUTOTUNE])
def test_parallel_calls_keep_the_order(calls) -> None:
    data = Dataset.range(100).map(lambda x: x * 2, num_parallel_calls=calls)
    assert [int(x) for x in data] == list(range(0, 200, 2))


def test_parallel_calls_may_come_as_they_are_ready() -> None:
    data = Dataset.range(50).map(lambda x: x * 2, num_parallel_calls=3, deterministic=False)
    assert sorted(int(x) for x in data) == list(range(0, 100, 2))


def test_calls_are_parallel() -> None:
    meeting, met = threading.Barrier(3, timeout=10), []

    def meet(x):
        if met:
            meeting.wait()  # three at a time, or none
        return x

    data = Dataset.range(6).map(
        lambda x: tf.numpy_function(meet, [x], tf.int64), num_parallel_calls=3
    )
    for _ in range(2):  # a program is recorded by one thread alone
        assert sorted(int(x) for x in data) == list(range(6))
        met.append(1)


def fail(x):
    return x // (x - 3)  # the line that raises


@pytest.mark.parametrize("calls", [None, 2])
@pytest.mark.parametrize("ahead", [0, 2])
def test_an_exception_reaches_the_consumer_with_the_users_line(calls, ahead) -> None:
    def function(x):
        return tf.py_function(fail, [x], tf.int64)

    data = Dataset.range(10).map(function, num_parallel_calls=calls).prefetch(ahead)
    iterator = iter(data)
    assert [int(next(iterator)) for _ in range(3)] == [0, -1, -2]
    with pytest.raises(tf.errors.OpError) as caught:
        next(iterator)
    chain = traceback.format_exception(caught.value)
    assert "return x // (x - 3)  # the line that raises" in "".join(chain)


@pytest.mark.parametrize("ahead", [0, 1])
def test_what_a_generator_raises_comes_out(ahead) -> None:
    def generator():
        yield 1
        raise KeyError("mine")

    data = Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int32))
    iterator = iter(data.prefetch(ahead))
    assert int(next(iterator)) == 1
    with pytest.raises(tf.errors.UnknownError, match="KeyError: 'mine'") as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, KeyError)  # with the user's line


def test_two_threads_share_an_iterator() -> None:
    iterator, found = iter(Dataset.range(2000)), []

    def draw():
        found.extend([int(x) for x in iterator])

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(2000))
