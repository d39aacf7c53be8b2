"""Variables: an update changes nothing that anybody else holds; copies; errors of assignments."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings

import numpy as np
import pytest

import gradtape as tf


def test_an_update_leaves_the_tensor_that_was_assigned_alone() -> None:
    v, c = tf.Variable([1.0, 2.0]), tf.constant([5.0, 6.0])
    v.assign(c)
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(c, [5.0, 6.0])


def test_an_update_leaves_another_variable_and_its_tape_alone() -> None:
    v, other = tf.Variable([1.0, 2.0]), tf.Variable([5.0, 6.0])
    with tf.GradientTape() as tape:
        y = other * other
        v.assign(other)
        other.assign([0.0, 0.0])
        v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(tape.gradient(y, other), [10.0, 12.0])


@pytest.mark.parametrize(
    "look",
    [
        lambda v: v.value(),
        lambda v: v.read_value(),
        lambda v: tf.identity(v),
        lambda v: tf.convert_to_tensor(v),
        lambda v: v[:],
        lambda v: tf.reshape(v, [2, 1]),
        lambda v: np.asarray(v),
        lambda v: v.numpy(),
        lambda v: np.from_dlpack(v),
        lambda v: tf.Variable(v),
        lambda v: copy.deepcopy(v),
        lambda v: tf.IndexedSlices(v.value(), tf.range(2)).values,
    ],
)
def test_what_was_seen_of_a_variable_does_not_change(look) -> None:
    v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    seen = look(v)
    before = np.array(seen)
    for _ in range(3):
        v.assign_sub([1.0, 1.0])
    np.testing.assert_array_equal(seen, before)
    np.testing.assert_array_equal(v, [-1.0, 0.0])


def test_a_training_step_updates_in_place() -> None:
    # In a process of its own: beside other threads, and test runners have some, it does not.
    script = """if True:
        import numpy as np
        import gradtape as tf
        v = tf.Variable(tf.ones((64, 64)))
        v.assign_sub(tf.ones((64, 64)))
        where = np.asarray(v).ctypes.data
        v.assign_sub(tf.ones((64, 64)))
        assert np.asarray(v).ctypes.data == where
    """
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("value", [[True], ["a"]])
@pytest.mark.parametrize("update", ["assign_add", "assign_sub"])
def test_only_numbers_are_added(value, update) -> None:
    before = np.geterr()
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel"):
        getattr(tf.Variable(value), update)(value)
    assert np.geterr() == before


def test_copies() -> None:
    v = tf.Variable([1.0], constraint=tf.abs, name="v", trainable=False)
    deep, shallow = copy.deepcopy(v), copy.copy(v)
    v.assign([2.0])
    assert (float(deep[0]), float(shallow[0])) == (1.0, 2.0)
    assert (deep.constraint, deep.name, deep.trainable) == (tf.abs, "v:0", False)


def test_updates_of_half_precision_overflow_silently() -> None:
    v = tf.Variable([60000.0], dtype=tf.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v.assign_add([60000.0])
    assert np.isinf(v.numpy()).all()


@pytest.mark.parametrize("count", [40, 4000])
@pytest.mark.parametrize("most", [2, 9, 300])
@pytest.mark.parametrize("numbers", [np.int16, np.int32, np.int64])
def test_rows_that_come_several_times_are_all_added(most: int, count: int, numbers: type) -> None:
    draw = np.random.default_rng(0)
    start, places = draw.normal(size=(most, 20)), draw.integers(most, size=count).astype(numbers)
    rows = draw.normal(size=(count, 20))
    v, w = tf.Variable(start), tf.Variable(start)
    v.scatter_sub(tf.IndexedSlices(tf.constant(rows), tf.constant(places)))
    w.scatter_add(tf.IndexedSlices(tf.constant(rows), tf.constant(places)))
    for found, ufunc in ((v, np.subtract), (w, np.add)):
        expected = start.copy()
        ufunc.at(expected, places, rows)
        np.testing.assert_allclose(found.numpy(), expected, 1e-11, 1e-11)


def test_many_rows_beyond_the_end_are_an_error() -> None:
    v = tf.Variable(np.zeros((10, 20)))
    for wrong in (-1, 10):
        rows = tf.IndexedSlices(tf.ones((4000, 20), tf.float64), tf.fill([4000], wrong))
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            v.scatter_add(rows)
    assert not v.numpy().any()
