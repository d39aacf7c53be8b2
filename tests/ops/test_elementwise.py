"""Edges of the element-wise ops that the recorded answers leave out: shapes, dtypes, fast paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

import gradtape as tf
from gradtape.ops import special

DTYPES = st.sampled_from(["float16", "bfloat16", "float32", "float64"])
UNARY = {
    tf.exp: np.exp, tf.sqrt: np.sqrt, tf.tanh: np.tanh, tf.square: np.square, tf.abs: np.abs,
    tf.sigmoid: lambda a: 1 / (1 + np.exp(-a)), tf.math.log1p: np.log1p, tf.atan: np.arctan,
    tf.math.softplus: lambda a: np.log1p(np.exp(a)), tf.math.rsqrt: lambda a: 1 / np.sqrt(a),
    tf.math.log_sigmoid: lambda a: -np.log1p(np.exp(-a)), tf.math.reciprocal: np.reciprocal,
}  # fmt: skip
BINARY = {
    tf.add: np.add, tf.subtract: np.subtract, tf.multiply: np.multiply, tf.divide: np.divide,
    tf.maximum: np.maximum, tf.minimum: np.minimum, tf.pow: np.power, tf.atan2: np.arctan2,
    tf.math.squared_difference: lambda a, b: (a - b) ** 2, tf.math.mod: np.mod,
    tf.math.xlogy: lambda a, b: a * np.log(b), tf.math.divide_no_nan: np.divide,
}  # fmt: skip


def draw(shape: tuple[int, ...], seed: int) -> Any:
    return np.random.RandomState(seed).uniform(0.5, 2.0, shape)


def gradients(function: Any, *operands: Any) -> tuple[Any, list]:
    with tf.GradientTape() as tape:
        tape.watch(operands)
        y = function(*operands)
    return y, list(tape.gradient(y, operands))


def close(y: Any, expected: Any) -> None:
    tolerance = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 1e-5}.get(y.dtype.name, 1e-12)
    np.testing.assert_allclose(y.numpy().astype(np.float64), expected, tolerance, tolerance)


@settings(max_examples=60)
@given(st.sampled_from(list(UNARY)), array_shapes(min_dims=0, min_side=0, max_side=3), DTYPES)
def test_a_grad_has_the_shape_and_dtype_of_its_operand(function, shape, dtype):
    x = tf.cast(tf.constant(draw(shape, 0)), dtype)
    y, (g,) = gradients(function, x)
    close(y, UNARY[function](x.numpy().astype(np.float64)))
    assert (y.shape, y.dtype) == (g.shape, g.dtype) == (x.shape, x.dtype)


@settings(max_examples=80)
@given(
    st.sampled_from(list(BINARY)),
    mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    DTYPES,
)
def test_broadcasting_is_undone(function, shapes, dtype):
    x, y = (tf.cast(tf.constant(draw(s, i)), dtype) for i, s in enumerate(shapes.input_shapes))
    z, derivatives = gradients(function, x, y)
    if function is not tf.math.mod or dtype in ("float32", "float64"):
        close(z, BINARY[function](*(v.numpy().astype(np.float64) for v in (x, y))))
    assert tuple(z.shape) == shapes.result_shape
    for g, operand in zip(derivatives, (x, y), strict=True):
        assert (g.shape, g.dtype) == (operand.shape, operand.dtype)


@pytest.mark.parametrize("function", [tf.exp, tf.abs, tf.math.is_nan, tf.math.real, tf.round])
def test_whatever_holds_numbers_is_accepted(function):
    numbers = [0.5, 1.5]
    expected = function(tf.constant(numbers)).numpy()
    for given_ in (numbers, tuple(numbers), np.float32(numbers), tf.Variable(numbers)):
        np.testing.assert_array_equal(function(given_).numpy(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_is_exact_in_large_arrays_too(dtype):
    a = np.linspace(-80, 80, 5000).astype(dtype)
    exact = np.logaddexp(a.astype(np.longdouble), np.longdouble(0))
    y = tf.math.softplus(tf.constant(a)).numpy()
    np.testing.assert_allclose(y, exact.astype(dtype), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5])
def test_small_exponents_agree_with_the_general_power(exponent):
    a = np.array([-np.inf, -2.0, -0.0, 0.0, 0.3, 3.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = np.power(a, np.full_like(a, exponent))
    np.testing.assert_allclose(tf.pow(tf.constant(a), exponent).numpy(), expected, rtol=1e-15)


def test_a_test_has_no_derivative_but_may_be_used():
    x = tf.constant([1.0, np.nan])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        test = tf.math.is_nan(x)
        number = tf.cast(test, tf.float32)
        safe = tf.where(test, 0.0, x)
    with pytest.raises(LookupError, match="IsNan"):
        tape.gradient(test, x)
    assert tape.gradient(number, x) is None
    np.testing.assert_array_equal(tape.gradient(safe, x).numpy(), [1.0, 0.0])


@pytest.mark.parametrize("function", [tf.sqrt, tf.math.rsqrt, tf.math.reciprocal, tf.math.log])
def test_where_hides_some_poles(function):
    x = tf.constant([0.0, 4.0])
    _, (g,) = gradients(lambda x: tf.where(x > 0.0, function(x), 0.0), x)
    assert np.isfinite(g.numpy()[1])
    assert np.isnan(g.numpy()[0]) if function is tf.math.log else g.numpy()[0] == 0.0


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("function", [tf.sigmoid, tf.sqrt, lambda x: tf.maximum(x, 1.0)])
def test_coarse_dtypes_stay_without_an_outer_tape(function, dtype):
    x = tf.cast(tf.constant([0.5, 1.5]), dtype)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    assert tape.gradient(y, x).dtype == tape.jacobian(y, x).dtype == x.dtype


def test_igamma_has_the_grad_by_its_first_argument():
    from scipy.special import gammainc

    a, x = np.meshgrid([0.1, 0.7, 1.0, 3.0, 20.0, 150.0], [0.05, 0.9, 1.5, 4.0, 30.0, 160.0])
    h = 1e-5 * a
    expected = (gammainc(a + h, x) - gammainc(a - h, x)) / (2 * h)
    np.testing.assert_allclose(special.igamma_grad.forward(a, x), expected, 1e-6, 1e-10)
    edges = special.igamma_grad.forward(np.array([1.0, 1.0, -1.0]), np.array([0.0, np.inf, 1.0]))
    np.testing.assert_array_equal(edges, [0.0, 0.0, np.nan])


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (tf.math.floordiv, tf.errors.InvalidArgumentError),
        (tf.math.mod, tf.errors.InvalidArgumentError),
        (tf.truncatediv, tf.errors.InternalError),  # as TensorFlow
        (tf.truncatemod, tf.errors.InternalError),
    ],
)
def test_whole_numbers_are_not_divided_by_zero(function, error):
    with pytest.raises(error, match="division by zero"):
        function(tf.constant([1, 2]), tf.constant([1, 0]))


def test_shifts_stay_within_the_width():
    shifted = tf.bitwise.left_shift(tf.constant([1, 1, -8]), tf.constant([3, 40, -1]))
    np.testing.assert_array_equal(shifted.numpy(), [8, -(2**31), -8])
    shifted = tf.bitwise.right_shift(tf.constant([8, -8, 8]), tf.constant([1, 1, 40]))
    np.testing.assert_array_equal(shifted.numpy(), [4, -4, 0])
