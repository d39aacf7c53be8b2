"""Compiled functions through the public door: `tf.function(jit_compile=True)`."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.backends import choice
from gradtape.compile.native.unit import Native

rng = np.random.default_rng(0)


def compiled(function: Any) -> Any:
    return tf.function(function, jit_compile=True)


def natives(function: Any) -> list[Any]:
    """The equations of the only recording, as they are played."""
    (tree,) = function._trees.values()
    return [e.op for e in tree.takes[0].runner.program.equations]


def array(*shape: int, dtype: str = "float32") -> Any:
    return tf.constant(rng.normal(size=shape).astype(dtype))


def close(found: Any, expected: Any, far: float = 1e-5) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=far, atol=far * np.abs(expected).max())


def layer_norm(x: Any) -> Any:
    mean = tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 3, 17), (4, 64), (7, 1), (33, 100)])
@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax, layer_norm])
def test_rows_are_one_nest(function: Any, shape: tuple[int, ...]) -> None:
    step, x = compiled(lambda x: function(x * 2.0)), array(*shape)
    close(step(x), function(x * 2.0))
    (native,) = natives(step)
    assert isinstance(native, Native)
    assert len(native.items) == 1


@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_mean])
def test_sums_along_any_axes(reduce: Any, axis: Any) -> None:
    for shape in [(2, 3, 4), (5, 1, 9), (16, 8, 40), (1, 70, 3)]:
        x = 3.0 + array(*shape)  # so that no sum is near 0, where rounding is all there is
        close(compiled(lambda x: reduce(x * 1.5, axis=axis))(x), reduce(x * 1.5, axis=axis))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_long_sums_lose_as_little_as_eager_ones(
    backend: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal numbers that are added one after the other are rounded to the same side each time."""
    monkeypatch.setattr(choice, "NAME", backend)
    step = compiled(lambda x: (tf.reduce_sum(x * 1.5), tf.reduce_mean(x * 1.5, 1)))
    for size in (8_191, 8_192, 31_020, 300_007):
        x = np.full((2, size), 0.1, dtype)
        exact = float(x[0, 0]) * 1.5 * size
        total, means = step(tf.constant(x))
        far = 8 * size**0.25 * np.finfo(dtype).eps
        np.testing.assert_allclose(total, 2 * exact, rtol=far)
        np.testing.assert_allclose(means, [exact / size] * 2, rtol=far)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((31_020, 8), [0]), ((5_000, 200), [0]), ((3_618, 8), [0, 1]), ((67, 541, 8), [0, 1]),
        ((4, 3_000, 3), [1, 2]), ((9_000, 3), [0, 1]), ((40, 20, 37, 5), [0, 1, 2, 3]),
    ],
)  # fmt: skip
def test_long_sums_over_several_axes_and_of_columns(
    shape: tuple[int, ...], axes: list[int], dtype: str
) -> None:
    """Sums that share loops with sums along other axes, so that the last axis is short."""
    first = list(range(len(shape) - 1))
    step = compiled(lambda x: (tf.reduce_sum(x * 1.5, axes), tf.reduce_sum(x * 1.5, first)))
    x = np.full(shape, 0.1, dtype)
    for found, over in zip(step(tf.constant(x)), (axes, first), strict=True):
        count = np.prod([shape[k] for k in over])
        far = 8 * count**0.25 * np.finfo(dtype).eps
        exact = float(x.flat[0]) * 1.5 * count
        np.testing.assert_allclose(found, np.full(found.shape, exact), rtol=far)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sums_over_the_outer_axes_of_loops_that_rows_share(dtype: str) -> None:
    """A softmax is known row by row, and what is summed of it is added up row by row."""

    def shares(x: Any) -> Any:
        y = tf.nn.softmax(x)
        return tf.reduce_sum(y), tf.reduce_sum(y, [0, 1, 2]), tf.reduce_sum(tf.sqrt(y), [0, 1])

    shape = (40, 30, 7, 5)
    x = np.zeros(shape, dtype)
    share = float(np.array(1 / 5, dtype))
    exact = 8_400.0, np.full(5, 8_400 * share), np.full((7, 5), 1_200 * share**0.5)
    for result, expected in zip(compiled(shares)(tf.constant(x)), exact, strict=True):
        np.testing.assert_allclose(result, expected, rtol=64 * np.finfo(dtype).eps)


def test_a_step_of_training_is_one_call() -> None:
    w, b = tf.Variable(array(6, 4)), tf.Variable(array(4))
    x, y = array(10, 6), tf.constant(rng.integers(0, 4, 10))

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ w + b)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        for v, g in zip((w, b), tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.1 * g)
        return loss

    begin = w.numpy(), b.numpy()
    expected = [float(step(x, y)) for _ in range(5)], w.numpy(), b.numpy()
    w.assign(begin[0])
    b.assign(begin[1])
    native = compiled(step)
    found = [float(native(x, y)) for _ in range(5)], w.numpy(), b.numpy()
    for one, other in zip(found, expected, strict=True):
        close(np.float32(one), np.float32(other))
    (op,) = natives(native)
    assert isinstance(op, Native)


def test_what_is_out_of_range_is_told_as_eagerly_and_changes_nothing() -> None:
    v, table = tf.Variable(1.0), array(3, 2)

    def pick(i: Any) -> Any:
        v.assign_add(1.0)
        return tf.gather(table, i)

    step = compiled(pick)
    close(step(tf.constant([2, 0])), tf.gather(table, [2, 0]))
    for wrong in ([0, 3], [-1, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            step(tf.constant(wrong))
        assert "test_programs.py" in str(getattr(raised.value, "__notes__", ""))
        assert float(v) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(lambda y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=table))(
            tf.constant([0, 1, 2])
        )


def test_arrays_whose_rows_lie_apart() -> None:
    x = array(6, 8)
    step = compiled(lambda x: tf.exp(x) @ tf.ones([x.shape[1], 2]))
    for part in (x[:, ::2], tf.transpose(x), x[1::2]):
        close(step(part), tf.exp(part) @ tf.ones([part.shape[1], 2]))


def test_results_are_arrays_of_their_own() -> None:
    step, x = compiled(lambda x: (x + 1.0, tf.reduce_sum(x))), array(4)
    first, total = step(x)
    kept = first.numpy().copy()
    second, _ = step(x * 2.0)
    assert not np.shares_memory(first.numpy(), second.numpy())
    np.testing.assert_array_equal(first.numpy(), kept)
    assert isinstance(total.numpy(), np.float32)


def test_threads_that_call_one_function_and_several() -> None:
    x = array(200, 300)
    one = compiled(lambda x, k: tf.reduce_sum(tf.tanh(x @ tf.transpose(x) * k), axis=0))
    others = [compiled(lambda x, k, p=p: tf.nn.softmax(x * k + float(p)) * 3.0) for p in range(8)]
    numbers = [tf.constant(np.float32(1 + k / 8)) for k in range(8)]
    expected = [(one(x, k).numpy(), f(x, k).numpy()) for f, k in zip(others, numbers, strict=True)]
    wrong: list[int] = []

    def work(p: int) -> None:
        for _ in range(20):
            found = one(x, numbers[p]).numpy(), others[p](x, numbers[p]).numpy()
            if not all(map(np.array_equal, found, expected[p])):
                wrong.append(p)

    threads = [threading.Thread(target=work, args=(p,)) for p in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_computes_alone() -> None:
    x = array(300, 300)
    step = compiled(lambda x: tf.tanh(x @ x) * 2.0)
    expected = step(x).numpy()
    child = os.fork()
    if not child:
        same = np.array_equal(step(x).numpy(), expected)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(step(x).numpy(), expected)
