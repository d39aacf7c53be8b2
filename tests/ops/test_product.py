"""Products of matrices next to other shared work: the same as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.kernels import jobs, parallel, product

SHAPES = {
    "halves": ((80, 70), (70, 60)),
    "alone": ((150, 80), (80, 90)),
    "tall": ((700, 130), (130, 90)),
    "wide": ((90, 130), (130, 700)),
    "stacks": ((5, 3, 70, 60), (5, 3, 60, 80)),
    "broadcast": ((6, 1, 70, 60), (4, 60, 80)),
    "broadcast first": ((1, 4, 70, 60), (6, 1, 60, 80)),
    "stack of one": ((1, 1, 300, 200), (1, 1, 200, 100)),
    "stack and matrix": ((5, 70, 130), (130, 130)),
    "matrix and stack": ((130, 130), (5, 130, 90)),
    "vectors": ((3, 1200, 1200), (3, 1200, 1)),
}


@pytest.fixture(autouse=True, params=[0, 100])
def after_convolutions(request: Any, monkeypatch: Any) -> int:
    """With and without convolutions before."""
    monkeypatch.setattr(jobs.here, "in_one_thread", request.param, raising=False)
    return request.param


def numbers(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape)


@pytest.mark.parametrize("name", SHAPES)
def test_a_product_is_numpys(name: str) -> None:
    a, b = (numbers(*shape) for shape in SHAPES[name])
    expected = np.matmul(a, b)
    assert expected.size * a.shape[-1] > product.ALONE
    np.testing.assert_allclose(tf.matmul(a, b), expected, rtol=1e-12, atol=1e-12)
    turned = np.swapaxes(a, -1, -2).copy(), np.swapaxes(b, -1, -2).copy()
    found = tf.matmul(*turned, transpose_a=True, transpose_b=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_two_runs_agree_to_the_last_bit(monkeypatch: Any) -> None:
    monkeypatch.setattr(parallel, "limit", 2)
    a, b = numbers(700, 130).astype("float32"), numbers(130, 90).astype("float32")
    first = product.product(a, b)
    for _ in range(20):
        np.testing.assert_array_equal(product.product(a, b), first)


def test_the_number_of_openblas_threads_is_as_before(monkeypatch: Any) -> None:
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    monkeypatch.setattr(parallel, "limit", 2)
    count = jobs.blas._functions[0]
    before = count()
    for m in (80, 400):
        product.product(numbers(m, m), numbers(m, m))
        assert count() == before
    with pytest.raises(ValueError, match="aligned"):
        product.product(numbers(80, 80), numbers(81, 80))
    assert count() == before


def test_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
        tf.matmul(numbers(300, 301), numbers(300, 300))


def test_products_next_to_a_convolution_keep_to_one_thread(monkeypatch: Any) -> None:
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    monkeypatch.setattr(parallel, "limit", 2)
    monkeypatch.setattr(jobs, "NEXT_PRODUCTS", 3)
    tf.nn.conv2d(tf.ones([8, 32, 32, 16]), tf.ones([3, 3, 16, 32]), 1, "SAME")
    assert jobs.here.in_one_thread == 3
    a = numbers(300, 300).astype("float32")
    for left in (2, 1, 0, 0):
        product.product(a, a)
        assert jobs.here.in_one_thread == left
