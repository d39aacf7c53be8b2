"""Rows of variables that compiled functions look up and change."""

from __future__ import annotations

import threading
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.native.composites import InRange
from gradtape.compile.native.storing import Rows
from gradtape.compile.native.unit import Native
from gradtape.compile.program import Check, Store

ROWS = 1500  # so that the variable is large enough to be written to
METHODS = [f"scatter_{name}" for name in ("add", "sub", "mul", "div", "max", "min", "update")]


def compiled(function: Any) -> Any:
    return tf.function(function, jit_compile=True)


def ops(function: Any) -> list[Any]:
    (tree,) = function._trees.values()
    return [e.op for e in tree.takes[0].runner.program.equations]


def start(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(3)
    if dtype.startswith("int"):
        return rng.integers(-9, 9, shape).astype(dtype)
    return (rng.integers(-40, 40, shape) / 8).astype(dtype)  # whose sums are exact in any order


def both(function: Any, shape: tuple[int, ...], dtype: str, *args: Any, calls: int = 2) -> Any:
    """The variable after some calls, eagerly and compiled; and what was compiled."""
    found = []
    for how in (lambda f: f, compiled):
        table = tf.Variable(start(shape, dtype))
        step = how(lambda *args, table=table: function(table, *args))
        for _ in range(calls):
            step(*args)
        found.append(table.numpy())
    return *found, ops(step)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(METHODS), st.sampled_from([(13,), (64,), (3, 7), (1, 16)]),
    st.sampled_from(["float32", "float64"]), st.sampled_from(["int32", "int64"]), st.data(),
)  # fmt: skip
def test_rows_as_eagerly(method: str, row: Any, dtype: str, kind: str, data: Any) -> None:
    places = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=40))
    places = np.array(places, kind) * (ROWS // 10)
    if data.draw(st.booleans()) and len(places) % 2 == 0:
        places = places.reshape(2, -1)
    values = start((*places.shape, *row), dtype)
    if data.draw(st.booleans()):
        values.flat[::5] = data.draw(st.sampled_from([np.nan, np.inf, -0.0, 0.0]))

    def change(table: Any, places: Any, values: Any) -> None:
        getattr(table, method)(tf.IndexedSlices(values, places))

    args = tf.constant(places), tf.constant(values)
    expected, found, made = both(change, (ROWS, *row), dtype, *args)
    np.testing.assert_array_equal(found, expected)
    assert any(isinstance(op, Store) and isinstance(op.forward, Rows) for op in made)
    assert not any(isinstance(op, Check) for op in made)


@pytest.mark.parametrize("dtype", ["float16", "int32", "int64", "complex64"])
def test_other_dtypes(dtype: str) -> None:
    places, values = tf.constant([4, 0, 4]), tf.cast(tf.constant(start((3, 99), "int32")), dtype)

    def change(table: Any, places: Any, values: Any) -> None:
        table.scatter_add(tf.IndexedSlices(values, places))

    expected, found, _ = both(change, (ROWS, 99), dtype, places, values)
    np.testing.assert_array_equal(found, expected)


def test_one_number_for_all_rows_and_single_numbers() -> None:
    def change(table: Any, places: Any, values: Any) -> None:
        table.scatter_sub(tf.IndexedSlices(values, places))

    args = tf.constant([7, 7, 2]), tf.constant(0.5)
    expected, found, _ = both(change, (ROWS, 40), "float32", *args)
    np.testing.assert_array_equal(found, expected)
    args = tf.constant([7, 7, 2]), tf.constant([1.0, 2.0, 3.0])
    expected, found, _ = both(change, (70_000,), "float32", *args)
    np.testing.assert_array_equal(found, expected)
    scalar = tf.constant(7), tf.ones(40)
    expected, found, _ = both(change, (ROWS, 40), "float32", *scalar)
    np.testing.assert_array_equal(found, expected)


def test_rows_that_lie_apart_and_none_at_all() -> None:
    def change(table: Any, i: Any, x: Any) -> None:
        table.scatter_add(tf.IndexedSlices(tf.transpose(x), i))

    args = tf.constant([3, 1, 3]), tf.constant(start((64, 3), "float32"))
    expected, found, _ = both(change, (ROWS, 64), "float32", *args)
    np.testing.assert_array_equal(found, expected)
    args = tf.zeros([0], tf.int32), tf.zeros([64, 0])
    expected, found, _ = both(change, (ROWS, 64), "float32", *args)
    np.testing.assert_array_equal(found, expected)


def lookup(table: Any, places: Any, target: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, places) - target))
    g = tape.gradient(loss, table)
    table.scatter_sub(tf.IndexedSlices(0.5 * g.values, g.indices))
    return loss


def test_places_are_checked_once() -> None:
    args = tf.constant([5, 1, 5, 9]), tf.constant(start((4, 64), "float32"))
    expected, found, made = both(lookup, (ROWS, 64), "float32", *args)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    native, store = made
    assert isinstance(native, Native)
    assert isinstance(store.forward, Rows)
    assert sum(isinstance(e.op, InRange) for e in native.body) == 1


def test_places_out_of_range_change_nothing() -> None:
    begin, count = start((ROWS, 64), "float32"), tf.Variable(0)
    table = tf.Variable(begin)

    def change(places: Any, values: Any) -> None:
        count.assign_add(1)
        table.scatter_add(tf.IndexedSlices(values, places))

    step = compiled(change)
    step(tf.constant([0, 1]), tf.zeros((2, 64)))
    for wrong in ([0, ROWS], [-1, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError) as told:
            step(tf.constant(wrong), tf.ones((2, 64)))
        with pytest.raises(tf.errors.InvalidArgumentError) as eagerly:
            change(tf.constant(wrong), tf.ones((2, 64)))
        assert str(told.value) == str(eagerly.value)
        count.assign_sub(1)
    np.testing.assert_array_equal(table.numpy(), begin)
    assert int(count) == 1


def test_a_smaller_table_checks_again() -> None:
    large, small = tf.Variable(start((ROWS, 64), "float32")), tf.Variable(tf.zeros((1100, 64)))

    def change(places: Any) -> None:
        small.scatter_add(tf.IndexedSlices(tf.gather(large, places), places))

    step = compiled(change)
    step(tf.constant([0, 1099]))
    before = small.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="1100"):
        step(tf.constant([0, 1100]))
    np.testing.assert_array_equal(small.numpy(), before)


def test_who_holds_the_table_keeps_its_numbers() -> None:
    table = tf.Variable(start((ROWS, 64), "float32"))

    @compiled
    def step(places: Any, values: Any) -> None:
        table.scatter_add(tf.IndexedSlices(values, places))

    for _ in range(3):
        kept = table.read_value()
        before = kept.numpy().copy()
        step(tf.constant([2, 2]), tf.ones((2, 64)))
        np.testing.assert_array_equal(kept.numpy(), before)
        np.testing.assert_array_equal(table.numpy()[2], before[2] + 2)


def test_threads_lose_no_row() -> None:
    table, count = tf.Variable(tf.zeros((ROWS, 64))), tf.Variable(0)

    @compiled
    def step(places: Any, values: Any) -> Any:
        count.assign_add(1)
        table.scatter_add(tf.IndexedSlices(values, places))
        return tf.reduce_sum(values)

    args = tf.constant([1, 1, 4]), tf.ones((3, 64))
    step(*args)

    def work() -> None:
        for _ in range(100):
            step(*args)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(count) == 601
    np.testing.assert_array_equal(table.numpy()[[1, 4, 5], 0], [1202, 601, 0])
