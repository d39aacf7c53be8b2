"""Products of matrices next to other shared work: the same as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.kernels import jobs, parallel, product
from gradtape.ops.kernels.accumulate import add_product

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


STACKS: dict[str, tuple[tuple[int, ...], ...]] = {
    "of one shape": ((16, 4, 200, 32), (16, 4, 32, 90)),
    "one for all": ((40, 200, 32), (1, 32, 90)),
    "fewer axes": ((3, 40, 100, 32), (40, 32, 90)),
    "along other axes": ((1, 40, 100, 32), (3, 1, 32, 90)),
}


@pytest.mark.parametrize("name", STACKS)
def test_blas_does_not_share_the_small_products_of_a_stack(name: str, monkeypatch: Any) -> None:
    """Its threads would wait for each other at every one of them."""
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    a, b = (numbers(*shape).astype("float32") for shape in STACKS[name])
    expected = product.product_of_stacks(a, b)
    np.testing.assert_allclose(expected, np.matmul(a, b), rtol=1e-3, atol=1e-4)
    threads_of_blas = []

    def matmul(*operands: Any) -> Any:
        threads_of_blas.append(jobs.blas._functions[0]())
        return plain(*operands)

    plain = np.matmul
    monkeypatch.setattr(np, "matmul", matmul)
    for threads in (1, 2, 3):
        monkeypatch.setattr(parallel, "limit", threads)
        for out in (None, np.full(expected.shape, np.nan, "float32")):
            found = product.product_of_stacks(a, b, out)
            assert found is out or out is None
            np.testing.assert_array_equal(found, expected)  # whoever computed them
    assert {*threads_of_blas} == {1}


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


@pytest.mark.parametrize("shapes", [((700, 130), (130, 90)), ((90, 700), (700, 130))])
def test_large_products_are_shared_by_threads_of_ours_and_blas_has_one(
    shapes: Any, monkeypatch: Any
) -> None:
    """Those of BLAS would wait for each other wherever other programs are at work."""
    if not jobs.blas.found():
        pytest.skip("NumPy has another BLAS")
    threads_of_blas: list[int] = []
    plain = np.matmul

    def matmul(*operands: Any, **more: Any) -> Any:
        threads_of_blas.append(jobs.blas._functions[0]())
        return plain(*operands, **more)

    monkeypatch.setattr(np, "matmul", matmul)
    a, b = (numbers(*shape).astype("float32") for shape in shapes)
    expected = plain(a, b)
    for x, y in ((a, b), (a.T.copy().T, b.T.copy().T)):
        for limit in (1, 2, 3):
            monkeypatch.setattr(parallel, "limit", limit)
            threads_of_blas.clear()
            np.testing.assert_allclose(product.product(x, y), expected, rtol=1e-3, atol=1e-3)
            assert threads_of_blas == [1] * (limit if limit > 1 else 0)
            total = np.ones_like(expected)
            add_product(total, x, y, -0.5)
            np.testing.assert_allclose(total, 1 - 0.5 * expected, rtol=1e-3, atol=1e-3)
