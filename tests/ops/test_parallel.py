"""Large arrays, which are computed in parts and in threads: the same as small ones."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.kernels import parallel
from gradtape.ops.kernels.choose import choose, only
from gradtape.ops.rows import add_at

SIZE = parallel.MANY + 12345
UNARY = {
    "erf": tf.math.erf, "erfc": tf.math.erfc, "gelu": tf.nn.gelu, "exp": tf.exp, "tanh": tf.tanh,
    "sigmoid": tf.sigmoid, "sin": tf.sin, "log1p": lambda x: tf.math.log1p(tf.abs(x)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: Any) -> None:
    monkeypatch.setattr(parallel, "limit", 2)


def numbers(dtype: str = "float32") -> Any:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3.93, -3.93, 12.0, -12.0]
    drawn = np.random.default_rng(0).normal(scale=3, size=SIZE - len(special))
    return np.concatenate([special, drawn]).astype(dtype)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_array_has_the_values_of_its_parts(name: str, dtype: str) -> None:
    x, f = numbers(dtype), UNARY[name]
    parts = [f(tf.constant(part)).numpy() for part in np.array_split(x, 200)]
    np.testing.assert_allclose(f(tf.constant(x)).numpy(), np.concatenate(parts), 3e-5, 1e-30)


@pytest.mark.parametrize("name", UNARY)
def test_and_its_grads(name: str) -> None:
    x, f = numbers()[10:], UNARY[name]

    def derivative(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x).numpy()

    parts = [derivative(tf.constant(part)) for part in np.array_split(x, 200)]
    np.testing.assert_allclose(derivative(tf.constant(x)), np.concatenate(parts), 3e-5, 1e-7)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("columns", [3, 64, 1500])
def test_softmax_of_many_rows_is_that_of_each(columns: int, dtype: str) -> None:
    x = numbers(dtype)[: SIZE // columns * columns].reshape(-1, columns)
    parts = [tf.nn.softmax(tf.constant(part)).numpy() for part in np.array_split(x, 50)]
    close = 1e-3 if dtype == "float16" else 1e-6
    np.testing.assert_allclose(tf.nn.softmax(tf.constant(x)), np.concatenate(parts), close, 1e-30)


def test_an_array_that_is_not_contiguous() -> None:
    x = np.random.default_rng(0).normal(size=(600, 700)).astype("float32")
    np.testing.assert_array_equal(tf.exp(tf.constant(x.T)).numpy(), np.exp(x.T))
    np.testing.assert_allclose(
        tf.math.erf(tf.transpose(tf.constant(x))).numpy(), tf.math.erf(x).numpy().T
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex64", "float16"])
def test_choosing_by_bits(dtype: str) -> None:
    b, c = np.random.default_rng(0).normal(size=(2, 50, 60)).astype(dtype)
    a = np.random.default_rng(1).random((50, 60)) < 0.5
    if dtype == "float32":
        b[0, :3] = np.nan, np.inf, -0.0
    for yes, no in ((b, c), (b, c[0, 0]), (b[0, 0], c), (b.T.copy().T, c)):
        found = choose(a, yes, no)
        assert found.dtype == b.dtype
        np.testing.assert_array_equal(found, np.where(a, yes, no))
    np.testing.assert_array_equal(only(a, b), np.where(a, b, np.zeros((), dtype)))


def test_rows_that_come_several_times_are_all_added() -> None:
    rng = np.random.default_rng(0)
    for rows, count, width in ((100, 80, 16), (5, 80, 20), (100, 80, 3), (1000, 20, 64)):
        places, added = rng.integers(rows, size=count), rng.normal(size=(count, width))
        start = rng.normal(size=(rows, width))
        expected = start.copy()
        np.subtract.at(expected, places, added)
        np.testing.assert_allclose(add_at(start.copy(), places, added, np.subtract), expected)


def test_the_greatest_of_many_in_the_order_of_places() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 5000)).astype("float32")
    ties = rng.integers(4, size=(3, 5000)).astype("float32")
    for values in (x, ties, x.astype("int32")):  # NaN has an order of its own: cases/edges.py
        for k in (1, 7, 100):
            places = tf.math.top_k(values, k).indices.numpy()
            order = np.argsort(values[:, ::-1], axis=-1, kind="stable")[:, ::-1]
            np.testing.assert_array_equal(places, (4999 - order)[:, :k])


def test_an_error_in_a_part_is_raised() -> None:
    def task(start: int, stop: int) -> None:
        raise ValueError(start)

    with pytest.raises(ValueError, match=r"^[0-9]"):
        parallel.share(task, SIZE)


def test_every_part_is_done_once() -> None:
    done = np.zeros(SIZE, int)

    def task(start: int, stop: int) -> None:
        done[start:stop] += 1

    for threads in (1, 2, 5):
        parallel.limit = threads
        done[:] = 0
        parallel.share(task, SIZE)
        assert (done == 1).all()


def test_the_setting_is_tensorflows() -> None:
    tf.config.threading.set_intra_op_parallelism_threads(3)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 3
    assert parallel.threads() == 3


IN_PLACE = """
import numpy as np, gradtape as tf
from gradtape.ops.kernels import parallel
parallel.limit = 2
size = parallel.MANY + 1
v = tf.Variable(np.zeros(size, "float32"))
tf.exp(tf.ones(size))  # our own threads wait from now on
assert parallel.workers
v.assign_add(tf.ones(size))
before = v._value.ctypes.data
v.assign_add(tf.ones(size))
assert v._value.ctypes.data == before
"""


def test_a_variable_is_still_changed_in_place() -> None:
    # In a process of its own: a test runner may have threads, and those are not ours.
    subprocess.run([sys.executable, "-c", IN_PLACE], check=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    x = tf.constant(numbers())
    tf.exp(x)
    child = os.fork()
    if not child:
        os._exit(0 if parallel.workers == 0 and np.isfinite(tf.tanh(x).numpy()[20]) else 1)
    assert os.waitpid(child, 0)[1] == 0
