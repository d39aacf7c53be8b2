"""Convolution and pooling in compiled functions: shapes, strides, borders, NaN and ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
import gradtape as tf
from gradtape.compile.native.unit import Native

from .test_programs import array, close, compiled, natives

rng = np.random.default_rng(0)
CONVOLUTIONS = [
    # images, window, channels of the result, stride, padding, dilation
    ((2, 5, 5, 3), (3, 3), 4, 1, "SAME", 1),
    ((2, 5, 5, 3), (3, 3), 4, 2, "SAME", 1),
    ((3, 7, 6, 8), (2, 3), 16, 1, "VALID", 1),
    ((3, 7, 6, 8), (5, 3), 17, 3, "SAME", 1),
    ((2, 9, 9, 5), (3, 3), 7, 1, "SAME", 2),
    ((2, 30, 30, 1), (5, 5), 16, 1, "SAME", 1),
    ((4, 12, 2), (3,), 5, 2, "VALID", 1),
    ((2, 4, 5, 6, 3), (2, 3, 2), 9, 1, "SAME", 1),
    ((2, 4, 5, 6, 3), (2, 3, 2), 9, 2, "SAME", 1),
    ((2, 6, 6, 4), (1, 1), 8, 1, "SAME", 1),
    ((2, 6, 6, 4), (1, 1), 33, 3, "VALID", 1),  # some of the input is in no window
    ((8, 3, 3, 4), (3, 3), 8, 1, "VALID", 1),
    ((7, 2, 2, 40), (2, 2), 48, 1, "SAME", 1),
]


def all_native(step: Any) -> bool:
    return all(isinstance(op, Native) for op in natives(step))


def pulled(function: Any, weights: Any, *operands: Any) -> Any:
    """The function's value and the gradient of its weighted sum."""
    with tf.GradientTape() as tape:
        tape.watch(operands)
        y = function(*operands)
        loss = tf.reduce_sum(y * weights)
    return y, *tape.gradient(loss, operands)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolution_and_its_transposes(case: tuple, dtype: str) -> None:
    shape, window, results, strides, padding, dilations = case
    x = array(*shape, dtype=dtype)
    filters = array(*window, shape[-1], results, dtype=dtype)

    def convolve(x: Any, filters: Any) -> Any:
        return tf.nn.convolution(x, filters, strides, padding, dilations=dilations)

    weights = array(*convolve(x, filters).shape, dtype=dtype)
    step = compiled(lambda x, filters, weights: pulled(convolve, weights, x, filters))
    for found, expected in zip(
        step(x, filters, weights), pulled(convolve, weights, x, filters), strict=True
    ):
        close(found, expected, 2e-6 if dtype == "float32" else 1e-14)
    assert all_native(step)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "window", "strides", "padding"),
    [
        ((2, 5, 5, 3), (3, 3), 1, "SAME"),
        ((3, 8, 9, 17), (3, 3), 2, "SAME"),
        ((2, 7, 6, 8), (2, 3), 1, "VALID"),
        ((5, 2, 2, 40), (2, 2), 1, "SAME"),
        ((1, 9, 9, 4), (7, 7), 1, "SAME"),
    ],
)
def test_a_filter_for_each_channel(
    shape: tuple[int, ...], window: tuple[int, ...], strides: int, padding: str, dtype: str
) -> None:
    x, filters = array(*shape, dtype=dtype), array(*window, shape[-1], 1, dtype=dtype)

    def convolve(x: Any, filters: Any) -> Any:
        return tf.nn.depthwise_conv2d(x, filters, [1, strides, strides, 1], padding)

    weights = array(*convolve(x, filters).shape, dtype=dtype)
    step = compiled(lambda x, filters, weights: pulled(convolve, weights, x, filters))
    for found, expected in zip(
        step(x, filters, weights), pulled(convolve, weights, x, filters), strict=True
    ):
        close(found, expected, 2e-6 if dtype == "float32" else 1e-14)
    hosts = [op.name for op in natives(step) if not isinstance(op, Native)]
    assert not {"conv", "conv_input", "conv_filter"} & {*hosts}


def test_images_whose_channels_lie_apart() -> None:
    x, filters = array(2, 3, 8, 9), array(3, 3, 3, 16)

    def convolve(x: Any, filters: Any) -> Any:
        return tf.nn.conv2d(tf.transpose(x, [0, 2, 3, 1]), filters, 1, "SAME")

    weights = array(2, 8, 9, 16)
    step = compiled(lambda x, filters, weights: pulled(convolve, weights, x, filters))
    for found, expected in zip(
        step(x, filters, weights), pulled(convolve, weights, x, filters), strict=True
    ):
        close(found, expected)
    assert [op.name for op in natives(step) if not isinstance(op, Native)] == [
        "transpose"
    ]  # a look


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "strides"), [(2, 2), (3, 2), (3, 1), (2, 3), (5, 5)])
@pytest.mark.parametrize("pool", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_pooling_and_its_way_back(pool: Any, window: int, strides: int, padding: str) -> None:
    for shape in [(2, 6, 6, 3), (1, 5, 7, 17), (3, 8, 9, 1)]:
        for dtype in ("float32", "float64"):
            many = rng.integers(-3, 4, size=shape).astype(dtype)  # so that there are ties
            odd = many.copy()
            odd[rng.random(shape) < 0.2] = np.nan
            odd[rng.random(shape) < 0.2] = -np.inf
            apply = lambda x: pool(x, window, strides, padding)
            weights = array(*apply(tf.constant(many)).shape, dtype=dtype)
            step = compiled(lambda x, weights: pulled(apply, weights, x))  # noqa: B023
            for x in (many, odd):
                x = tf.constant(x)
                for found, expected in zip(
                    step(x, weights), pulled(apply, weights, x), strict=True
                ):
                    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)
            assert all_native(step)


def test_ties_in_three_dimensions() -> None:
    many = rng.integers(-2, 3, size=(2, 5, 4, 6, 9)).astype("float32")
    many[0, 0, 0, 0], many[1, 2, 3, 4] = np.inf, -np.inf
    for padding in ("SAME", "VALID"):
        apply = lambda x: tf.nn.max_pool3d(x, 2, 2, padding)  # noqa: B023
        weights = array(*apply(tf.constant(many)).shape)
        step = compiled(lambda x, weights: pulled(apply, weights, x))  # noqa: B023
        x = tf.constant(many)
        for found, expected in zip(step(x, weights), pulled(apply, weights, x), strict=True):
            np.testing.assert_array_equal(found, expected)
        assert all_native(step)


@pytest.mark.parametrize("number", [np.inf, np.nan])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_filter_that_is_not_finite_spoils_what_it_touches(padding: str, number: float) -> None:
    kernel = rng.normal(size=(3, 3, 2, 4)).astype("f4")
    kernel[0, 0, 0, 0] = number
    x, w = tf.constant(rng.normal(size=(2, 6, 6, 2)).astype("f4")), tf.Variable(kernel)

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, w, 1, padding)
        return tape.gradient(y, x)

    found, wanted = compiled(step)(x).numpy(), step(x).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert np.isfinite(wanted).any()
