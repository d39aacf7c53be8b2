"""Control flow: gradients through loops equal those of the unrolled program; errors of misuse."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf


def both(call, unrolled, x):
    """The value and the first two derivatives of a program and of the same one written out."""
    results = []
    for function in (call, unrolled):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x)
        results.append((y, first, outer.gradient(first, x)))
    for got, expected in zip(*results, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


X = tf.constant([0.5, -1.5, 2.0], tf.float64)


def test_while_loop_as_unrolled():
    both(
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.sin(y) * x), (0, x))[1],
        lambda x: tf.sin(tf.sin(tf.sin(x) * x) * x) * x,
        X,
    )


def test_map_fn_as_unrolled():
    both(lambda x: tf.map_fn(lambda v: v**3, x), lambda x: tf.stack([v**3 for v in x]), X)
    both(lambda x: tf.vectorized_map(lambda v: v**3, x), lambda x: x**3, X)


def test_scan_as_unrolled():
    def unrolled(x):
        a = x[0]
        b = tf.sin(a) * x[1]
        return tf.stack([a, b, tf.sin(b) * x[2]])

    both(lambda x: tf.scan(lambda a, v: tf.sin(a) * v, x), unrolled, X)


def test_folds_as_unrolled():
    step = lambda a, v: tf.cos(a) * v
    both(lambda x: tf.foldl(step, x), lambda x: step(step(x[0], x[1]), x[2]), X)
    both(lambda x: tf.foldr(step, x), lambda x: step(step(x[2], x[1]), x[0]), X)


def test_cond_follows_the_branch_taken():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        up = tf.cond(x > 0, lambda: x * x, lambda: -x)
        down = tf.cond(x < 0, lambda: x * x, lambda: -x)
    assert float(tape.gradient(up, x)) == 6.0
    assert float(tape.gradient(down, x)) == -1.0


def test_only_one_branch_is_called():
    called = []
    tf.cond(tf.constant(True), lambda: called.append("yes"), lambda: called.append("no"))
    assert called == ["yes"]


def test_tensor_array_in_a_loop():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        _, array, _ = tf.while_loop(
            lambda i, a, y: i < 4,
            lambda i, a, y: (i + 1, a.write(i, y), y * x),
            (0, array, tf.constant(1.0)),
        )
        y = array.stack()
    np.testing.assert_array_equal(y, [1.0, 2.0, 4.0, 8.0])
    assert float(tape.gradient(y, x)) == 1.0 + 4.0 + 12.0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: a(tf.float32), ValueError),
        (lambda a: a(tf.float32, 2).write(2, 1.0), tf.errors.OutOfRangeError),
        (lambda a: a(tf.float32, 2).read(2), tf.errors.OutOfRangeError),
        (lambda a: a(tf.float32, 2).read(-1), tf.errors.OutOfRangeError),
        (lambda a: a(tf.float32, 2).read(0), ValueError),
        (lambda a: a(tf.float32, 2).write(0, tf.constant(1)), tf.errors.InvalidArgumentError),
        (lambda a: a(tf.float32, 2).write(0, [1.0]).write(1, 1.0), ValueError),
        (lambda a: a(tf.float32, 2).unstack([1.0, 2.0, 3.0]), ValueError),
        (lambda a: a(tf.float32, 2).unstack([1.0, 2.0]).concat(), tf.errors.InvalidArgumentError),
        (lambda a: a(tf.float32, 2).split([1.0, 2.0], [1, 2]), tf.errors.InvalidArgumentError),
        (lambda a: a(tf.float32, 2).write(0.5, 1.0), TypeError),
    ],
)
def test_misuse_of_tensor_arrays(call, error):
    with pytest.raises(error):
        call(tf.TensorArray)


def test_writing_makes_a_read_element_readable():
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="clear_after_read"):
        array.read(0)
    assert float(array.write(0, 3.0).read(0)) == 3.0


def test_vectorized_map_of_nothing_knows_its_shape():
    assert tf.vectorized_map(lambda v: v[:1], tf.zeros([0, 3])).shape == (0, 1)


def test_py_function_takes_grads_to_its_inputs_only():
    x, v = tf.constant(3.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a * a * v, [x], tf.float32)
    by_x, by_v = tape.gradient(y, [x, v])
    assert float(by_x) == 12.0
    assert by_v is None


def test_py_function_leaves_the_tape_with_zeros():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a.numpy() ** 2, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 0.0
    assert tf.py_function(lambda a: "text", [x], tf.string).numpy() == b"text"


def test_py_function_decorates():
    @tf.py_function(Tout=tf.float32)
    def double(x):
        return x * 2.0

    assert float(double(4.0)) == 8.0


def test_init_scope_pauses_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.init_scope():
            y = x * x
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize(
    "name", ["/CPU:0", "/GPU:1", "cpu:0", "/job:w/replica:0/task:1/device:CPU:0"]
)
def test_device_names(name):
    with tf.device(name):
        assert float(tf.constant(1.0)) == 1.0


@pytest.mark.parametrize("name", ["nonsense", 3])
def test_bad_device_names(name):
    with pytest.raises(ValueError, match="device"), tf.device(name):
        pass


def test_graphs_say_what_to_do_instead():
    with pytest.raises(NotImplementedError, match=r"tf\.function"), tf.Graph().as_default():
        pass


def test_compute_gradient():
    exact, differences = tf.test.compute_gradient(
        lambda a, b: tf.sin(a) * b,
        [tf.constant([0.5, 1.0], tf.float64), tf.constant(2.0, tf.float64)],
    )
    assert [j.shape for j in exact] == [(2, 2), (2, 1)]
    for one, other in zip(exact, differences, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    exact, differences = tf.test.compute_gradient(lambda z: z * z, [tf.constant([1 + 2j])])
    np.testing.assert_allclose(exact[0], [[2, -4], [4, 2]])
    np.testing.assert_allclose(differences[0], exact[0])


def test_test_case():
    case = tf.test.TestCase()
    case.assertAllClose(tf.constant([1.0]), [1.0 + 1e-7])
    case.assertAllClose({"a": tf.constant(1.0)}, {"a": 1.0})
    case.assertAllEqual(tf.range(3), [0, 1, 2])
    case.assertAllInRange(tf.constant([0.5]), 0, 1)
    with case.assertRaisesOpError("shapes"):
        tf.ones([2]) + tf.ones([3])
    for fail in (
        lambda: case.assertAllClose([1.0], [1.1]),
        lambda: case.assertAllEqual([1], [1, 2]),
        lambda: case.assertAllInSet([1, 2], [1]),
        lambda: case.assertNotAllClose([1.0], [1.0]),
    ):
        with pytest.raises(AssertionError):
            fail()


def test_config_lists_one_cpu():
    assert [d.device_type for d in tf.config.list_physical_devices()] == ["CPU"]
    assert tf.config.list_physical_devices("GPU") == []
    tf.config.set_visible_devices([], "GPU")
    with pytest.raises(ValueError, match="memory growth"):
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices()[0], True)
    tf.config.run_functions_eagerly(True)
    assert tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(False)


def test_check_numerics_checks_grads():
    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sqrt(tf.debugging.check_numerics(x, "before the root"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="before the root"):
        tape.gradient(y, x)
