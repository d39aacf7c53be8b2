"""Edges of reductions that the recorded answers leave out: any axes, zeros, segments, clipping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

import gradtape as tf

REDUCTIONS = {
    tf.reduce_sum: np.sum,
    tf.reduce_mean: np.mean,
    tf.reduce_prod: np.prod,
    tf.reduce_max: np.max,
    tf.reduce_min: np.min,
    tf.math.reduce_variance: np.var,
    tf.reduce_logsumexp: lambda a, **how: np.log(np.sum(np.exp(a), **how)),
    tf.math.reduce_euclidean_norm: lambda a, **how: np.sqrt(np.sum(a * a, **how)),
}


@st.composite
def reductions(draw: Any) -> Any:
    shape = draw(array_shapes(min_dims=0, max_dims=4, max_side=3))
    axes = draw(st.lists(st.integers(-len(shape), len(shape) - 1), max_size=4)) if shape else []
    axes = list({k % len(shape): k for k in axes}.values())
    values = np.random.RandomState(draw(st.integers(0, 99))).uniform(0.5, 2.0, shape)
    return values, draw(st.sampled_from([None, axes, tuple(axes)])), draw(st.booleans())


@settings(max_examples=150)
@given(st.sampled_from(list(REDUCTIONS)), reductions(), st.sampled_from(["float32", "float64"]))
def test_any_axes_as_numpy(function, reduction, dtype):
    values, axis, keepdims = reduction
    x = tf.constant(values.astype(dtype))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x, axis=axis, keepdims=keepdims)
    numpy_axis = axis if axis is None else tuple(axis)
    expected = np.asarray(REDUCTIONS[function](values, axis=numpy_axis, keepdims=keepdims))
    g = tape.gradient(y, x)
    assert tuple(y.shape) == expected.shape
    np.testing.assert_allclose(y.numpy(), expected, 1e-5, 1e-6)
    assert (g.shape, g.dtype, y.dtype) == (x.shape, x.dtype, x.dtype)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([0.0, 0.0, -1.5, 0.5, 2.0]), min_size=6, max_size=6),
    st.sampled_from([None, 0, 1, [0, 1]]),
)
def test_a_product_has_its_grads_with_zeros_too(numbers, axis):
    values = np.array(numbers).reshape(2, 3)
    x = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.reduce_prod(x, axis))
    found, step = tape.gradient(y, x).numpy(), 1e-6
    for place in np.ndindex(2, 3):
        move = np.zeros((2, 3))
        move[place] = step
        numpy_axis = tuple(axis) if isinstance(axis, list) else axis
        ahead, behind = (np.prod(values + s * move, numpy_axis).sum() for s in (1, -1))
        assert found[place] == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=9))
def test_a_mean_of_whole_numbers_goes_towards_zero(numbers):
    assert int(tf.reduce_mean(tf.constant(numbers))) == int(sum(numbers) / len(numbers))


@pytest.mark.parametrize("columns", [7, 8, 128, 1024, 1025])
@pytest.mark.parametrize("keepdims", [False, True])
def test_rows_of_a_large_array_as_numpy(columns, keepdims):
    x = np.random.default_rng(0).normal(size=(3, 300, columns)).astype("float32")
    exact = x.astype("float64")
    for array, expected in ((x, exact), (np.asfortranarray(x), exact), (x[:, ::2], exact[:, ::2])):
        for function, reference in ((tf.reduce_sum, np.sum), (tf.reduce_mean, np.mean)):
            found = function(tf.constant(array), axis=-1, keepdims=keepdims)
            wanted = reference(expected, axis=-1, keepdims=keepdims)
            assert found.dtype == tf.float32
            np.testing.assert_allclose(found, wanted, 1e-5, 2e-5)


def test_nan_is_neither_the_largest_nor_the_smallest():
    x = tf.constant([[np.nan, 1.0, 3.0], [2.0, np.nan, 0.0]])
    np.testing.assert_array_equal(tf.argmax(x, axis=1).numpy(), [2, 0])
    np.testing.assert_array_equal(tf.argmin(x, axis=1).numpy(), [1, 2])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_coarse_sums_are_rounded_once(dtype):
    x = tf.cast(tf.fill([4096], 1.0), dtype)
    assert float(tf.reduce_sum(x)) == 4096.0
    assert float(tf.reduce_mean(x)) == 1.0


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_reductions_from_either_end(exclusive, reverse):
    values = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]])
    how = {"axis": 1, "exclusive": exclusive, "reverse": reverse}
    for function, accumulate, start in [
        (tf.cumsum, np.add.accumulate, 0.0),
        (tf.math.cumprod, np.multiply.accumulate, 1.0),
        (tf.math.cumulative_logsumexp, np.logaddexp.accumulate, -np.inf),
    ]:
        rows = values[:, ::-1] if reverse else values
        expected = accumulate(rows, axis=1)
        if exclusive:
            expected = np.hstack([np.full((2, 1), start), expected[:, :-1]])
        expected = expected[:, ::-1] if reverse else expected
        np.testing.assert_allclose(function(tf.constant(values), **how).numpy(), expected)


@settings(max_examples=60)
@given(st.lists(st.integers(-1, 3), max_size=8), st.sampled_from([(), (2,)]))
def test_segments_as_numpy_row_by_row(ids, tail):
    ids = np.array(ids, np.int32)
    rows = np.random.RandomState(0).uniform(-2, 2, (len(ids), *tail))
    for name, reduce, empty in [
        ("sum", np.add.reduce, 0.0),
        ("prod", np.multiply.reduce, 1.0),
        ("max", np.maximum.reduce, np.finfo(np.float64).min),
        ("min", np.minimum.reduce, np.finfo(np.float64).max),
        ("mean", lambda a, axis: np.mean(a, axis=axis), 0.0),
    ]:
        x = tf.constant(rows)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 4)
        for k, found in enumerate(y.numpy()):
            own = rows[ids == k]
            expected = reduce(own, axis=0) if len(own) else np.full(tail, empty)
            np.testing.assert_allclose(found, expected)
        g = tape.gradient(y, x)
        assert g.shape == x.shape
        assert not np.any(g.numpy()[ids < 0])


def test_segments_must_be_in_order():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not increasing"):
        tf.math.segment_sum(tf.constant([1.0, 2.0]), tf.constant([1, 0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.math.unsorted_segment_sum(tf.constant([1.0, 2.0]), tf.constant([1, 5]), 3)


def test_a_segment_between_others_may_be_empty():
    x = tf.constant([-1.0, -2.0, -3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.segment_max(x, [0, 0, 2])
    np.testing.assert_array_equal(y.numpy(), [-1.0, 0.0, -3.0])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [1.0, 0.0, 1.0])


def test_counts_and_confusion():
    counted = tf.math.bincount([[1, 1], [3, 0]], axis=-1)
    np.testing.assert_array_equal(counted.numpy(), [[0, 2, 0, 0], [1, 0, 0, 1]])
    weights = tf.constant([0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(weights)
        matrix = tf.math.confusion_matrix([1, 0], [1, 1], weights=weights, dtype=tf.float32)
        loss = tf.reduce_sum(matrix * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(matrix.numpy(), [[0.0, 2.0], [0.0, 0.5]])
    np.testing.assert_array_equal(tape.gradient(loss, weights).numpy(), [4.0, 2.0])


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=5), st.floats(0.125, 10))
def test_clipping_bounds_the_norm_and_keeps_the_direction(numbers, limit):
    x = tf.constant(np.array(numbers))
    (clipped, none), norm = tf.clip_by_global_norm([x, None], limit)
    assert none is None
    assert float(norm) == pytest.approx(np.linalg.norm(numbers))
    scale = min(1.0, limit / float(norm)) if float(norm) else 1.0
    for found in (clipped, tf.clip_by_norm(x, limit)) if float(norm) else (tf.clip_by_norm(x, 1),):
        np.testing.assert_allclose(found.numpy(), scale * x.numpy(), 1e-9, 1e-12)


@pytest.mark.parametrize("axis", [2, -3, [0, 5], 0.5, "x"])
def test_a_wrong_axis_is_named(axis):
    wrong = (tf.errors.InvalidArgumentError, TypeError)
    with pytest.raises(wrong, match=r"axis|dimension|Cannot convert"):
        tf.reduce_sum(tf.constant([[1.0, 2.0]]), axis=axis)


@pytest.mark.parametrize(
    "shape", [(1 << 15,), (1 << 15, 3), (7, 2048, 16), (1 << 22,), (3, 1 << 21)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_sums_are_as_exact_as_numpys(shape, dtype):
    values = np.random.default_rng(0).uniform(0, 1, shape).astype(dtype)
    exact = np.sum(values, dtype=np.longdouble)
    # What sums in pairs may be off by; how many partial sums there are, is a matter of the BLAS.
    bound = np.log2(values.size) * np.finfo(dtype).eps
    for array in (values, values.T):
        assert abs(float(tf.reduce_sum(array)) / exact - 1) < bound
        assert abs(float(tf.reduce_mean(array)) * values.size / exact - 1) < bound
