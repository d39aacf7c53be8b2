"""Tapes belong to the thread that entered them; threads do not see each other's."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import numpy as np

import gradtape as tf
from gradtape.core.record import threads


def in_thread(function):
    results = []
    thread = Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_ops_of_another_thread_are_not_recorded() -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        elsewhere = in_thread(lambda: y * y)
        here = y * y
    assert tape.gradient(elsewhere, x) is None
    assert float(tape.gradient(here, x)) == 108.0


def test_a_variable_read_in_another_thread_is_not_watched() -> None:
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        in_thread(lambda: x * x)
    assert tape.watched_variables() == ()


def test_threads_differentiate_the_same_variables_at_once() -> None:
    x = tf.Variable(2.0)
    together = Barrier(4)

    def power(n: int) -> float:
        together.wait()
        for _ in range(200):
            with tf.GradientTape() as tape:
                y = x**n
            slope = float(tape.gradient(y, x))
        return slope

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(power, [1, 2, 3, 4])) == [1.0, 4.0, 12.0, 32.0]


def test_one_tensor_watched_by_tapes_of_two_threads() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as mine:
        mine.watch(x)

        def other() -> float:
            with tf.GradientTape() as theirs:
                theirs.watch(x)
                y = x * x
            return float(theirs.gradient(y, x))

        assert in_thread(other) == 6.0
        z = x * x * x
    assert float(mine.gradient(z, x)) == 27.0


def test_a_tape_may_move_to_another_thread() -> None:
    x = tf.Variable(2.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = x * x

    def go_on() -> float:
        with tape:
            z = y * x
        return float(tape.gradient(z, x))

    assert in_thread(go_on) == 12.0


def test_a_tape_stopped_by_another_thread_leaves_this_one_clean() -> None:
    x = tf.Variable(3.0)

    def recording():
        with tf.GradientTape():
            yield

    open_block = recording()
    next(open_block)
    in_thread(open_block.close)
    with tf.GradientTape() as tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0
    assert not threads.active


def test_a_value_read_while_another_thread_updates_the_variable_is_whole_and_stays() -> None:
    v = tf.Variable(tf.zeros(100_000))
    done, changed = Event(), []

    def read() -> None:
        while not done.is_set():
            seen = v.value()
            first, again = np.array(seen), np.array(seen)
            changed.append((first != again).any() or first.min() != first.max())

    reader = Thread(target=read)
    reader.start()
    for _ in range(300):
        v.assign_add(tf.ones(100_000))
    done.set()
    reader.join()
    assert not any(changed)
