"""The edges of picking, placing and sorting that recorded answers leave out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gradtape as tf
from gradtape.ops import rows

few = settings(max_examples=60)
INDEXED = arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5).flatmap(
    lambda shape: st.tuples(
        st.just(shape), arrays.basic_indices(shape, allow_ellipsis=True, allow_newaxis=True)
    )
)


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape) + 1.0


def pull(call: Any, x: Any, seed: Any) -> np.ndarray:
    """The cotangent of x for a cotangent of the result."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    return tf.convert_to_tensor(tape.gradient(y, x, tf.constant(seed))).numpy()


@few
@given(INDEXED)
def test_slices_are_numpys_and_pull_back_into_zeros(drawn: tuple) -> None:
    shape, key = drawn
    x = numbers(shape)
    y = np.asarray(x[key])
    np.testing.assert_array_equal(tf.constant(x)[key].numpy(), y)
    seed, expected = np.cos(y), np.zeros(shape)
    expected[key] = seed
    np.testing.assert_array_equal(pull(lambda t: t[key], x, seed), expected)


@few
@given(st.integers(1, 5), st.lists(st.integers(0, 4), max_size=6), st.integers(0, 2))
def test_gather_and_its_gradient_are_transposes(size: int, places: list[int], axis: int) -> None:
    places = np.array([k % size for k in places], np.int64)
    shape = tuple(size if k == axis else 2 for k in range(3))
    x = numbers(shape)
    y = tf.gather(x, places, axis=axis).numpy()
    np.testing.assert_array_equal(y, np.take(x, places, axis))
    seed = np.cos(numbers(y.shape))
    pulled = pull(lambda t: tf.gather(t, places, axis=axis), x, seed)
    assert np.sum(pulled * x) == pytest.approx(np.sum(seed * y))


@few
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6))
def test_scatter_nd_is_the_transpose_of_gather_nd(places: list) -> None:
    x, u = numbers((3, 4)), np.cos(numbers((len(places),)))
    picked = tf.gather_nd(x, places).numpy()
    placed = tf.scatter_nd(places, u, [3, 4]).numpy()
    assert np.sum(picked * u) == pytest.approx(np.sum(x * placed))
    np.testing.assert_allclose(pull(lambda t: tf.gather_nd(t, places), x, u), placed)


@pytest.mark.parametrize("count", [0, 3, 700, 5000])
@pytest.mark.parametrize("inner", [(), (16,), (4, 5)])
@pytest.mark.parametrize("places", ["int16", "int32", "int64"])
def test_rows_are_added_alike_however_many(count: int, inner: tuple, places: str) -> None:
    random = np.random.RandomState(0)
    a, b = random.normal(size=(count, *inner)), random.randint(0, 40, count).astype(places)
    expected = np.zeros((40, *inner))
    np.add.at(expected, b, a)
    np.testing.assert_allclose(rows.add_rows(a, b, shape=(40, *inner)), expected, atol=1e-11)


def test_a_lookup_keeps_duplicates_and_the_dtype_of_its_places() -> None:
    v = tf.Variable(np.ones((4, 2), np.float32))
    with tf.GradientTape() as tape:
        y = tf.gather(v, np.array([3, 1, 3]))
    g = tape.gradient(y, v)
    assert isinstance(g, tf.IndexedSlices)
    assert g.indices.numpy().tolist() == [3, 1, 3]
    assert (g.indices.dtype, g.dense_shape.dtype) == (tf.int64, tf.int32)
    assert tf.convert_to_tensor(g).numpy()[3].tolist() == [2.0, 2.0]


def test_slices_print_as_tensorflows() -> None:
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([2]))
    assert str(slices) == (
        "IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), "
        "values=tf.Tensor([1.], shape=(1,), dtype=float32), "
        "dense_shape=tf.Tensor([2], shape=(1,), dtype=int32))"
    )
    assert repr(slices).startswith(
        "<tensorflow.python.framework.indexed_slices.IndexedSlices object at 0x"
    )


def test_a_place_from_the_end_is_refused_with_the_reason() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not count from the end"):
        tf.gather([1.0, 2.0], [-1])


@pytest.mark.parametrize("key", [slice(0, 1), 0, (0,), (slice(None), 0)])
def test_a_scalar_has_nothing_to_slice(key: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.constant(1.0)[key]


def test_texts_are_picked_like_numbers() -> None:
    x = tf.constant(["a", "b", "c"])
    assert x[1].numpy() == b"b"
    assert tf.gather(x, 2).numpy() == b"c"
    assert [t.numpy() for t in tf.unstack(x)] == [b"a", b"b", b"c"]
    assert tf.boolean_mask(x, [True, False, True]).numpy().tolist() == [b"a", b"c"]
    assert tf.pad(x, [[1, 0]]).numpy().tolist() == [b"", b"a", b"b", b"c"]


@few
@given(arrays.arrays(np.float64, (3, 5), elements=st.integers(-3, 3)), st.integers(0, 5))
def test_the_greatest_come_first_and_of_equals_the_first(x: np.ndarray, k: int) -> None:
    found = tf.math.top_k(x, k)
    order = np.argsort(-x, axis=-1, kind="stable")[:, :k]
    np.testing.assert_array_equal(found.indices.numpy(), order)
    np.testing.assert_array_equal(found.values.numpy(), np.take_along_axis(x, order, -1))


@few
@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(-9, 9)), st.integers(-2, 1))
def test_sorting_sends_each_grad_where_its_number_came_from(x: np.ndarray, axis: int) -> None:
    np.testing.assert_array_equal(tf.sort(x, axis).numpy(), np.sort(x, axis))
    seed = np.cos(numbers((3, 4)))
    expected = np.zeros_like(x)
    np.put_along_axis(expected, np.argsort(x, axis, kind="stable"), seed, axis)
    np.testing.assert_array_equal(pull(lambda t: tf.sort(t, axis), x, seed), expected)


def test_the_least_integer_sorts_too() -> None:
    x = np.array([5, -(2**31), 2**31 - 1], np.int32)
    assert tf.argsort(x).numpy().tolist() == [1, 0, 2]
    assert tf.argsort(x, direction="DESCENDING").numpy().tolist() == [2, 0, 1]


@few
@given(st.lists(st.integers(0, 2), max_size=8))
def test_stitching_undoes_partitioning(numbers_: list[int]) -> None:
    x = np.arange(len(numbers_), dtype=np.float64)
    places = tf.dynamic_partition(np.arange(len(numbers_), dtype=np.int32), numbers_, 3)
    parts = tf.dynamic_partition(x, numbers_, 3)
    np.testing.assert_array_equal(tf.dynamic_stitch(places, parts).numpy(), x)


def test_what_is_written_over_gets_no_grad() -> None:
    x, u = tf.constant([1.0, 2.0, 3.0]), tf.constant([9.0])
    with tf.GradientTape() as tape:
        tape.watch([x, u])
        y = tf.tensor_scatter_nd_update(x, [[1]], u) ** 2
    dx, du = tape.gradient(y, [x, u])
    assert dx.numpy().tolist() == [2.0, 0.0, 6.0]
    assert du.numpy().tolist() == [18.0]


def test_distinct_values_have_no_derivative() -> None:
    x = tf.constant([1.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.unique(x).y
    with pytest.raises(LookupError, match="Unique"):
        tape.gradient(y, x)
