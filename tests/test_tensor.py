"""Tensors out of Python's numbers: what is too large, and which error a mix of dtypes gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant(1.0) * 1e300,
        lambda: 1e300 * tf.constant(1.0),
        lambda: tf.add(tf.constant(1.0), [1e300]),
        lambda: tf.constant(1e300, tf.float32),
        lambda: tf.constant([1e300], tf.float16),
        lambda: tf.constant(1.0, tf.float16) * 100_000,
        lambda: tf.constant(1.0) * 10**40,
        lambda: tf.constant(float("inf")),
    ],
)
def test_too_large_for_the_dtype_asked_for_is_infinite_and_silent(make) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(make().numpy()).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.constant(1e300),
        lambda: tf.constant([1.0, 1e300]),
        lambda: tf.Variable(1e300),
        lambda: tf.fill([2], 1e300),
    ],
)
def test_too_large_for_float32_that_nobody_asked_for_is_an_error(make) -> None:
    with pytest.raises(ValueError, match="out of range"):
        make()


def test_too_large_for_any_float_is_an_error() -> None:
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant(1.0) * 10**400


def test_dividing_unequal_dtypes_is_the_same_error_for_tensors_and_variables() -> None:
    half = tf.constant(1.0, tf.float16)
    for x in (tf.constant(1.0), tf.Variable(1.0)):
        with pytest.raises(TypeError, match="must have the same dtype"):
            x / half


@pytest.mark.parametrize(
    "call",
    [
        tf.convert_to_tensor,
        tf.constant,
        tf.Variable,
        tf.rank,
        lambda value: tf.constant(value, tf.float32),
        lambda value: tf.convert_to_tensor([value, tf.constant(1.0)]),
        lambda value: tf.constant(1.0) + value,
        tf.experimental.numpy.array,
    ],
)
@pytest.mark.parametrize("depth", [65, 100_000])
def test_a_list_nested_too_deep_is_an_error(call, depth):
    value = 1.0
    for _ in range(depth):
        value = [value]
    with pytest.raises(ValueError, match="nested more than 64 deep"):
        call(value)
