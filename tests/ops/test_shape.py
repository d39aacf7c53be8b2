"""The edges of reshaping, joining, cutting, padding and casting that recorded answers leave out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gradtape as tf

few = settings(max_examples=60)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


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
@given(SHAPES)
def test_flattening_and_back_is_the_identity(shape: tuple[int, ...]) -> None:
    x = numbers(shape)
    back = lambda t: tf.reshape(tf.reshape(t, [-1]), shape)
    np.testing.assert_array_equal(back(tf.constant(x)).numpy(), x)
    np.testing.assert_array_equal(pull(back, x, 2 * x), 2 * x)


@few
@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), st.permutations(range(len(s))))))
def test_a_transpose_is_undone_by_its_inverse(drawn: tuple) -> None:
    shape, perm = drawn
    x = numbers(shape)
    y = tf.transpose(x, list(perm))
    np.testing.assert_array_equal(y.numpy(), np.transpose(x, perm))
    np.testing.assert_array_equal(tf.transpose(y, np.argsort(perm)).numpy(), x)
    seed = numbers(y.numpy().shape)
    expected = np.transpose(seed, np.argsort(perm))
    np.testing.assert_array_equal(pull(lambda t: tf.transpose(t, list(perm)), x, seed), expected)


@few
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(-2, 1))
def test_split_undoes_concat(sizes: list[int], axis: int) -> None:
    shapes = [(n, 2) if axis in (0, -2) else (2, n) for n in sizes]
    parts = [numbers(s) for s in shapes]
    joined = tf.concat([tf.constant(p) for p in parts], axis)
    for part, back in zip(parts, tf.split(joined, sizes, axis), strict=True):
        np.testing.assert_array_equal(back.numpy(), part)


@few
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3))
@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_pads_are_numpys_and_pull_back_their_transpose(mode: str, pads: list) -> None:
    x = numbers((4,) * len(pads))
    y = tf.pad(x, pads, mode).numpy()
    np.testing.assert_array_equal(y, np.pad(x, pads, mode.lower()))
    # <seed, pad(x)> = <pulled, x>, for a map that is linear.
    seed = np.cos(numbers(y.shape))
    pulled = pull(lambda t: tf.pad(t, pads, mode), x, seed)
    assert np.sum(pulled * x) == pytest.approx(np.sum(seed * y))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tf.reshape(x, [0]),
        lambda x: tf.transpose(x),
        lambda x: tf.concat([x, x], 0),
        lambda x: tf.stack([x, x]),
        lambda x: tf.tile(x, [2, 3]),
        lambda x: tf.repeat(x, 2, axis=1),
        lambda x: tf.repeat(x, 0, axis=1),
        lambda x: tf.reverse(x, [0, 1]),
        lambda x: tf.roll(x, 1, 0),
        lambda x: tf.split(x, 3, axis=1)[1],
        lambda x: tf.broadcast_to(x, [2, 0, 3]),
    ],
)
def test_nothing_stays_nothing(call: Any) -> None:
    x = np.zeros((0, 3))
    y = call(tf.constant(x)).numpy()
    assert y.size == 0
    assert pull(call, x, np.zeros(y.shape)).shape == (0, 3)


def test_an_empty_tensor_tells_the_rest_by_its_other_sizes() -> None:
    assert tf.reshape(tf.zeros([0, 3]), [-1, 0]).shape == (3, 0)
    assert tf.reshape(tf.zeros([0, 3]), [-1, 3]).shape == (0, 3)


def test_parts_that_nobody_uses_count_as_zero() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, second, _ = tf.unstack(x)
        y = second * second
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 4.0, 0.0]


def test_casts_of_the_same_dtype_are_the_thing_itself() -> None:
    x, v = tf.constant(1.0), tf.Variable(1.0)
    assert tf.cast(x, tf.float32) is x
    assert tf.cast(v, "float32") is v


def test_whole_numbers_cut_the_path_and_floats_do_not() -> None:
    x = tf.constant([1.5, 2.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        through = tf.cast(tf.cast(x, tf.float64), tf.float32)
        cut = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tape.gradient(through, x).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient(cut, x) is None


def test_a_constant_of_a_tensor_is_that_tensor_and_of_a_variable_a_copy() -> None:
    x, v = tf.constant(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = tf.constant(x) * 2.0, tf.constant(v) * 2.0
    assert tape.gradient(y, x).numpy() == 2.0
    assert tape.gradient(z, v) is None


def test_a_constant_of_tensors_says_what_to_call_instead() -> None:
    with pytest.raises(ValueError, match=r"tf\.stack"):
        tf.constant([tf.constant(1.0), 2.0])


@pytest.mark.parametrize("block", [[2, 2], [1, 3]])
def test_batch_to_space_undoes_space_to_batch(block: list[int]) -> None:
    x = numbers((2, 4, 6, 3))
    pads = [[0, 0], [0, 0]]
    there = tf.space_to_batch(x, block, pads)
    np.testing.assert_array_equal(tf.batch_to_space(there, block, pads).numpy(), x)


@few
@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(1, 9))
def test_linspace_meets_both_ends(start: float, stop: float, num: int) -> None:
    y = tf.linspace(np.float64(start), np.float64(stop), num).numpy()
    assert y[0] == start
    assert num == 1 or y[-1] == stop
    np.testing.assert_allclose(y, np.linspace(start, stop, num), rtol=1e-12, atol=1e-12)
