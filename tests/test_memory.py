"""What is kept and what is freed: tapes own their records, rules keep only what they name."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import gradtape as tf


@pytest.fixture
def no_cycles():
    """What is freed must be freed by reference counting, not by a later collection."""
    gc.collect()
    gc.freeze()  # what other tests left is looked through once, and not for every test
    gc.disable()
    yield
    gc.enable()


def chain(x, n):
    for _ in range(n):
        x = x * 1.0
    return x


def test_a_result_that_no_rule_needs_is_not_kept(no_cycles) -> None:
    x = tf.Variable(tf.ones((3,)))
    with tf.GradientTape() as tape:
        y = 2.0 * x
        z = tf.exp(y)
        dead = weakref.ref(y)
        del y
        assert dead() is None
    np.testing.assert_allclose(tape.gradient(z, x), 2 * np.exp(2 * np.ones(3)), rtol=1e-6)


def test_deleting_a_tape_frees_what_it_kept(no_cycles) -> None:
    x = tf.Variable(tf.ones((1000,)))
    with tf.GradientTape() as tape:
        y = x * x
        kept = weakref.ref(y)
        z = y * y
    del y
    assert kept() is not None
    del tape
    assert kept() is None
    assert z is not None


def test_a_used_tape_frees_what_it_kept(no_cycles) -> None:
    x = tf.Variable(tf.ones((1000,)))
    with tf.GradientTape() as tape:
        y = x * x
        kept = weakref.ref(y)
        z = y * y
    del y
    tape.gradient(z, x)
    assert kept() is None


@pytest.mark.parametrize("persistent", [False, True])
def test_steps_leave_nothing_behind(persistent, no_cycles) -> None:
    w = tf.Variable(tf.ones((8, 8)))
    x = tf.ones((4, 8))

    def step():
        with tf.GradientTape(persistent=persistent) as tape:
            loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    for _ in range(20):
        step()
    before = len(gc.get_objects())
    for _ in range(200):
        step()
    assert len(gc.get_objects()) - before < 20


def test_watching_the_same_constant_in_many_tapes_keeps_none_of_them(no_cycles) -> None:
    x = tf.constant(2.0)
    dead = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        tape.gradient(y, x)
        dead.append(weakref.ref(tape))
        del tape
    assert all(ref() is None for ref in dead)
    assert len(x._mark.recorders) == 1


def test_a_long_program_neither_recurses_nor_grows_per_op() -> None:
    def bytes_per_op(n: int) -> float:
        x = tf.Variable(1.0)
        tracemalloc.start()
        with tf.GradientTape() as tape:
            y = chain(x, n)
        used = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert float(tape.gradient(y, x)) == 1.0
        return used / n

    assert bytes_per_op(20_000) < 1.2 * bytes_per_op(10_000)


def test_the_collector_has_its_setting_back_after_every_kind_of_end() -> None:
    before = gc.get_threshold()
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            assert gc.get_threshold() == before
        tape.reset()
    assert gc.get_threshold() == before
    with pytest.raises(TypeError), tf.GradientTape() as tape:
        tf.exp(x, 1, 2, 3)
    assert gc.get_threshold() == before
    with tf.GradientTape() as tape:
        tape.gradient(x * x, x)
    assert gc.get_threshold() == before
    tape = tf.GradientTape()
    tape.__enter__()  # and never left
    del tape
    assert gc.get_threshold() == before


def test_who_sets_the_collector_while_a_tape_records_is_heard() -> None:
    young, middle, full = gc.get_threshold()
    try:
        with tf.GradientTape():
            gc.set_threshold(0)
        assert gc.get_threshold() == (0, middle, full)
    finally:
        gc.set_threshold(young, middle, full)


def test_a_gone_accumulator_keeps_no_tangents(no_cycles) -> None:
    x = tf.constant([1.0, 2.0])
    tangent = tf.constant([1.0, 0.0])
    kept = weakref.ref(tangent)
    accumulator = tf.autodiff.ForwardAccumulator(x, tangent)
    with accumulator:
        x * x
    del accumulator, tangent
    assert kept() is None


def test_inner_tapes_leave_nothing_on_a_long_outer_one(no_cycles) -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        for _ in range(50):
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x
            inner.gradient(y, x)
            y * y
        assert len(outer._tape.marks) < 5
