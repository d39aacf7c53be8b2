"""Tapes in odd company: nested and closed, paused, with bfloat16 in the middle, with slices."""

from __future__ import annotations

import inspect
import logging
import warnings

import numpy as np
import pytest

import gradtape as tf


def test_what_a_used_up_inner_tape_saw_is_still_paused_with_the_outer_one() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        inner.gradient(y, x)
        with outer.stop_recording():
            paused = y * y
        here = y * y
    after = y * y
    assert outer.gradient(paused, x) is None
    assert outer.gradient(after, x) is None
    assert float(outer.gradient(here, x)) == 108.0


def test_an_inner_tape_used_up_while_the_outer_one_is_paused_cuts_nothing() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        with outer.stop_recording():
            inner.gradient(y, x)
        z = y * y
    assert float(outer.gradient(z, x)) == 108.0


def test_the_jacobian_of_what_the_tape_does_not_follow_is_none() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        pass
    assert tape.jacobian(x, x) is None
    np.testing.assert_array_equal(tape.gradient(x, x), [1.0, 1.0])
    with tape:
        tape.watch(x)
    np.testing.assert_array_equal(tape.jacobian(x, x), np.eye(2))


@pytest.mark.parametrize("batch", [False, True])
def test_a_jacobian_in_parts_is_that_in_one(batch, monkeypatch) -> None:
    x = tf.Variable(np.arange(1.0, 7.0).reshape(2, 3))

    def jacobian() -> np.ndarray:
        with tf.GradientTape() as tape:
            y = tf.sin(x) * tf.reduce_sum(x, axis=1, keepdims=True)
        return (tape.batch_jacobian if batch else tape.jacobian)(y, x).numpy()

    whole = jacobian()
    monkeypatch.setattr("gradtape.autodiff.tape._STACK", 12)
    np.testing.assert_allclose(jacobian(), whole, rtol=1e-12)


@pytest.mark.parametrize("rule", [tf.square, tf.atan, lambda h: tf.clip_by_value(h, -1, 1)])
def test_a_cotangent_in_the_bfloat16_part_of_a_float32_program_is_bfloat16(rule) -> None:
    w = tf.Variable([[0.5, 2.0]])
    seen = []

    @tf.custom_gradient
    def watched(h):
        def grad(g):
            seen.append(g.dtype)
            return g * tf.ones_like(h)

        return tf.identity(h), grad

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(rule(watched(tf.cast(w, tf.bfloat16))), tf.float32))
    assert tape.gradient(loss, w).dtype == tf.float32
    assert seen == [tf.bfloat16]


def test_tangents_of_bfloat16_are_bfloat16() -> None:
    x = tf.constant([1.0, 2.0], tf.bfloat16)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.square(x)
    assert accumulator.jvp(y).dtype == tf.bfloat16


def test_forward_mode_is_silent_about_infinities() -> None:
    x = tf.constant([0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as accumulator:
            y = tf.math.log(x)
        np.testing.assert_array_equal(accumulator.jvp(y), [np.inf, 1.0])


@pytest.mark.parametrize("dense_shape", [None, [3, 2]])
def test_slices_from_a_custom_gradient_stay_slices(dense_shape) -> None:
    table = tf.Variable(tf.ones((3, 2)))

    @tf.custom_gradient
    def total(a):
        return tf.reduce_sum(a), lambda g: tf.IndexedSlices(g * tf.ones((1, 2)), [1], dense_shape)

    with tf.GradientTape(persistent=True) as tape:
        alone = total(table)
        beside = total(table) + tf.reduce_sum(table)
    slices = tape.gradient(alone, table)
    assert isinstance(slices, tf.IndexedSlices)
    np.testing.assert_array_equal(slices.indices, [1])
    np.testing.assert_array_equal(tape.gradient(beside, table), [[1, 1], [2, 2], [1, 1]])


def test_a_gradient_inside_the_block_of_a_persistent_tape_warns_once_a_line(caplog) -> None:
    x = tf.Variable(2.0)
    with caplog.at_level(logging.WARNING), tf.GradientTape(persistent=True) as tape:
        for _ in range(3):
            tape.gradient(x * x, x)
            tape.gradient(x * x * x, x)
    assert len(caplog.records) == 2


def test_rows_and_a_dense_cotangent_meet_in_a_recorded_sweep() -> None:
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(), tf.GradientTape() as tape:
        y = [tf.gather(x, [0, 1]) ** 2, x * x]
        g = tape.gradient(y, x)
    np.testing.assert_allclose(g, [4.0, 8.0, 6.0])


def test_forward_mode_through_a_part_of_a_variable() -> None:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
        y = x[0] * 2.0
    np.testing.assert_allclose(acc.jvp(y), [2.0, 2.0])


def test_what_an_earlier_tape_watched_is_a_constant_to_the_next() -> None:
    x, w = tf.constant([[2.0]]), tf.Variable([[3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        before = x * w
    tape.gradient(before, x)
    with tf.GradientTape() as tape:
        y = (x @ w) * before + tf.concat([x, w], 0)[0]
    assert tape._tape is not None
    followed = {i for record in tape._tape.records for i in tf.nest.flatten(record[2:4])}
    assert not followed & {x._id, before._id}
    assert tape.gradient(y, w).numpy() == 2 * 6


def test_a_result_among_several_may_be_a_source() -> None:
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        a, b, c = tf.split(x, 3)
        y = tf.reduce_sum(a * b)
    found = tape.gradient(y, [a, x, c])
    np.testing.assert_array_equal(found[0], [[3, 4]])
    np.testing.assert_array_equal(found[1], [[3, 4], [1, 2], [0, 0]])
    assert found[2] is None
    np.testing.assert_array_equal(tape.gradient(a, x), [[1, 1], [0, 0], [0, 0]])


def test_whole_numbers_have_a_gradient_with_respect_to_themselves_only():
    """As in TensorFlow, which seeds any target and looks at dtypes on the way back."""
    w, whole, text = tf.Variable(1.0), tf.constant([1, 2]), tf.constant("a")
    with tf.GradientTape(persistent=True) as tape:
        made = tf.cast(w, tf.int32)
    itself, none = tape.gradient(whole, [whole, w])
    assert (itself.numpy().tolist(), itself.dtype, none) == ([1, 1], tf.int32, None)
    assert [g if g is None else g.numpy() for g in tape.gradient(made, [w, made])] == [None, 1]
    assert tape.gradient(text, text) is None


def test_functions_with_gradients_of_their_own_tell_their_arguments() -> None:
    @tf.custom_gradient
    def scaled(x, factor=2.0):
        return x * factor, lambda g: (g, None)

    assert inspect.getfullargspec(scaled).args == ["x", "factor"]
    assert list(inspect.signature(tf.recompute_grad(lambda a, b: a * b)).parameters) == ["a", "b"]


@pytest.mark.parametrize("where", ["eager", "function"])
def test_no_sources_have_no_gradient_and_nothing_is_computed(where) -> None:
    """What TensorFlow prunes: `tape.gradient(loss, [])` in a step that trains nothing."""
    pulled = []

    @tf.custom_gradient
    def noted(x):
        return x * 2.0, lambda g: pulled.append(g) or g * 2.0

    w = tf.Variable([1.0, 2.0])

    def step(sources):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(noted(w * 3.0))
        return loss, tape.gradient(loss, sources)

    run = tf.function(step) if where == "function" else step
    loss, gradients = run([])
    assert float(loss) == 18.0
    assert gradients == []
    assert pulled == []
    run([w])
    assert pulled != []
