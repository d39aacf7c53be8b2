"""Variables: an update changes nothing that anybody else holds; copies; errors of assignments."""

from __future__ import annotations

import copy
import ctypes
import subprocess
import sys
import threading
import warnings
import weakref

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


# --- every way to hold the numbers of a variable --------------------------------------------------
def generated(v):
    def frame():
        value = v.value()
        yield
        yield value

    running = frame()
    next(running)
    return lambda: next(running)


def kept_by_a_tape(v):
    with tf.GradientTape() as tape:
        y = v * v
    return lambda: tape.gradient(y, v) / 2.0


def raised(v):
    def fail():
        value = v.value()
        raise LookupError(value.shape)

    with pytest.raises(LookupError) as caught:
        fail()
    return lambda: caught.traceback[-1].frame.f_locals["value"]


def pointer(v):
    array = np.asarray(v)
    held = array.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    size, shape = array.size, array.shape
    del array
    return lambda: np.ctypeslib.as_array(held, (size,)).reshape(shape)


class Interface:
    """What another library does: it keeps the object and reads its memory by the protocol."""

    def __init__(self, array, name):
        self.array = array
        setattr(self, name, getattr(array, name))


def by_interface(name):
    def hold(v):
        other = Interface(np.asarray(v), name)
        return lambda: np.asarray(other)

    return hold


def simply(look):
    def hold(v):
        held = look(v)
        return lambda: held

    return hold


HOLDERS = {
    "tensor": simply(lambda v: v.value()),
    "read_value": simply(lambda v: v.read_value()),
    "converted": simply(tf.convert_to_tensor),
    "identity": simply(tf.identity),
    "slice": simply(lambda v: v[:]),
    "rows": simply(lambda v: v[1:]),
    "reshaped": simply(lambda v: tf.reshape(v, [-1])),
    "numpy": simply(lambda v: v.numpy()),
    "asarray": simply(np.asarray),
    "view": simply(lambda v: np.asarray(v)[1:]),
    "view of views": simply(lambda v: np.asarray(v).T[1:].reshape(-1)[::2][3:]),
    "subclass": simply(lambda v: np.asarray(v).view(np.matrix)),
    "strided": simply(lambda v: np.lib.stride_tricks.as_strided(np.asarray(v), (2, 2))),
    "windows": simply(lambda v: np.lib.stride_tricks.sliding_window_view(np.asarray(v), 3, 0)),
    "broadcast": simply(lambda v: np.broadcast_to(np.asarray(v), (2, 80, 64))),
    "frombuffer": simply(lambda v: np.frombuffer(np.asarray(v), np.float32)),
    "memoryview": simply(lambda v: memoryview(np.asarray(v))),
    "cast memoryview": simply(lambda v: memoryview(np.asarray(v)).cast("B")[8:]),
    "flat": simply(lambda v: np.asarray(v).flat),
    "base": simply(lambda v: np.asarray(v)[2:].base),
    "dlpack": simply(np.from_dlpack),
    "capsule": simply(
        lambda v: tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(v.value()))
    ),
    "__array_interface__": by_interface("__array_interface__"),
    "__array_struct__": by_interface("__array_struct__"),
    "pointer": pointer,
    "tape": kept_by_a_tape,
    "generator": generated,
    "closure": lambda v: (lambda value: lambda: value)(v.value()),
    "traceback": raised,
    "another variable": simply(tf.Variable),
    "assigned": simply(lambda v: tf.Variable(tf.zeros([80, 64])).assign(v)),
    "deep copy": simply(copy.deepcopy),
    "its only weak reference": lambda v: (
        lambda value: (lambda weak: lambda: (value, weak()._value)[1])(weakref.ref(value))
    )(v.value()),
}
ROWS = tf.constant([1, 3, 3])
UPDATES = {
    "assign": lambda v: v.assign(tf.zeros([80, 64])),
    "assign_add": lambda v: v.assign_add(tf.ones([80, 64])),
    "assign_sub": lambda v: v.assign_sub(tf.ones([80, 64])),
    "slice": lambda v: v[1:].assign_add(tf.ones([79, 64])),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(tf.ones([3, 64]), ROWS)),
    "scatter_sub": lambda v: v.scatter_sub(tf.IndexedSlices(tf.ones([3, 64]), ROWS)),
    "scatter_mul": lambda v: v.scatter_mul(tf.IndexedSlices(tf.zeros([3, 64]), ROWS)),
    "scatter_update": lambda v: v.scatter_update(tf.IndexedSlices(tf.ones([3, 64]), ROWS)),
    "scatter_nd_add": lambda v: v.scatter_nd_add(ROWS[:, None], tf.ones([3, 64])),
    "scatter_nd_update": lambda v: v.scatter_nd_update(ROWS[:, None], tf.ones([3, 64])),
}


def large() -> tf.Variable:
    """A variable that has memory of its own, as every large one after its first update."""
    v = tf.Variable(np.random.default_rng(0).normal(size=(80, 64)).astype(np.float32))
    v.assign_add(tf.ones([80, 64]))
    return v


if np.lib.NumpyVersion(np.__version__) >= "2.1.0":  # NumPy 2.0 lends nobody a read-only array
    HOLDERS["dlpack of a view"] = simply(lambda v: np.from_dlpack(np.asarray(v).view()))


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_an_update_changes_nothing_that_anybody_holds(hold, update) -> None:
    v, other = large(), large()
    look = hold(v)
    before = np.array(hold(other)())
    for _ in range(2):
        update(v)
        update(other)
    np.testing.assert_array_equal(np.array(look()), before)
    np.testing.assert_array_equal(v, other)


@pytest.mark.parametrize("update", [u for n, u in UPDATES.items() if n not in ("assign", "slice")])
def test_an_update_of_a_large_variable_is_in_place_beside_other_threads_too(update) -> None:
    v, stop = large(), threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    where = np.asarray(v).ctypes.data
    for _ in range(3):
        update(v)
        assert np.asarray(v).ctypes.data == where
    stop.set()
    other.join()


@pytest.mark.parametrize("write", UPDATES.values(), ids=UPDATES)
def test_what_comes_in_the_middle_of_an_update(write) -> None:
    """A finalizer or a signal: it sees whole numbers, and what it writes is not lost."""
    v, expected, seen = large(), large(), []

    def meddle(old, out):
        seen.append(v.value())
        seen.append(v.numpy())
        write(v)
        return np.add(old, 1.0, out=out)

    before = v.numpy()
    v._rewrite(meddle)
    expected.assign_add(tf.ones([80, 64]))
    write(expected)
    np.testing.assert_array_equal(v, expected)
    for value in seen:
        np.testing.assert_array_equal(value, before)


def test_an_update_that_fails_leaves_a_variable_that_works() -> None:
    v = large()
    before = v.numpy()

    def fail(old, out):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        v._rewrite(fail)
    np.testing.assert_array_equal(v, before)
    v.assign_add(tf.ones([80, 64]))
    np.testing.assert_array_equal(v, before + 1)
