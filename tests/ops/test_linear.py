"""Linear algebra at its edges: batches that broadcast, equations, symmetry, bad shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as tf

QUICK = settings(max_examples=40)


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed).uniform(-1, 1, shape)


def gradients(call: Any, *arrays: Any) -> tuple[Any, list, Any]:
    """The value, the gradients of its sum weighted by random numbers, and the weights."""
    tensors = [tf.constant(a) for a in arrays]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = call(*tensors)
    weights = draw(*y.shape, seed=99).astype(y.numpy().dtype)
    found = tape.gradient(y, tensors, output_gradients=tf.constant(weights))
    return y.numpy(), [g.numpy() for g in found], weights


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, n in enumerate(shape):
        if n == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


# --- matmul ---------------------------------------------------------------------------------------
@st.composite
def batches(draw_: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast."""
    full = draw_(st.lists(st.integers(0, 3), max_size=3))
    shapes = []
    for _ in range(2):
        kept = full[draw_(st.integers(0, len(full))) :]
        shapes.append(tuple(draw_(st.sampled_from([n, 1])) for n in kept))
    return shapes[0], shapes[1]


@QUICK
@given(batches(), st.tuples(*[st.integers(0, 3)] * 3), st.booleans(), st.booleans())
def test_matmul_grads_are_products(batch: Any, sizes: Any, turn_a: bool, turn_b: bool) -> None:
    m, k, n = sizes
    a = draw(*batch[0], *((k, m) if turn_a else (m, k)))
    b = draw(*batch[1], *((n, k) if turn_b else (k, n)), seed=1)
    call = lambda a, b: tf.matmul(a, b, transpose_a=turn_a, transpose_b=turn_b)
    y, (ga, gb), w = gradients(call, a, b)
    left = np.swapaxes(a, -1, -2) if turn_a else a
    right = np.swapaxes(b, -1, -2) if turn_b else b
    np.testing.assert_allclose(y, left @ right, atol=1e-12)
    grad_a = unbroadcast(w @ np.swapaxes(right, -1, -2), left.shape)
    grad_b = unbroadcast(np.swapaxes(left, -1, -2) @ w, right.shape)
    np.testing.assert_allclose(ga, np.swapaxes(grad_a, -1, -2) if turn_a else grad_a, atol=1e-12)
    np.testing.assert_allclose(gb, np.swapaxes(grad_b, -1, -2) if turn_b else grad_b, atol=1e-12)


def test_matmul_takes_what_is_left_of_a_numpy_array() -> None:
    x = tf.constant([[1.0, 2.0]])
    y = np.ones((2, 1), np.float32) @ x
    assert isinstance(y, tf.Tensor)
    assert y.numpy().tolist() == [[1.0, 2.0], [1.0, 2.0]]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_matmul_of_two_bytes_adds_up_in_four(dtype: Any) -> None:
    x = tf.cast(tf.fill([1, 4096], 1.0), dtype)
    y = tf.matmul(x, x, transpose_b=True)
    assert y.dtype == dtype
    assert float(tf.cast(y, tf.float32)[0, 0]) == 4096.0


# --- einsum ---------------------------------------------------------------------------------------
LETTERS = "abcd"


@st.composite
def equations(draw_: Any) -> tuple[str, list[tuple[int, ...]]]:
    """Up to three operands, with repeated, summed and kept labels."""
    sizes = {c: draw_(st.integers(1, 3)) for c in LETTERS}
    parts = draw_(st.lists(st.text(LETTERS, max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(parts)))
    output = "".join(draw_(st.permutations(used))[: draw_(st.integers(0, len(used)))])
    return f"{','.join(parts)}->{output}", [tuple(sizes[c] for c in part) for part in parts]


@QUICK
@given(equations())
def test_einsum_is_numpys_and_its_grads_are_its_transposes(case: Any) -> None:
    equation, shapes = case
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    y, found, w = gradients(lambda *xs: tf.einsum(equation, *xs), *arrays)
    np.testing.assert_allclose(y, np.einsum(equation, *arrays), atol=1e-12)
    # Linear in each operand, so <w, y(.., d, ..)> = <derivative, d> for any d.
    for i, derivative in enumerate(found):
        d = draw(*shapes[i], seed=50 + i)
        moved = np.einsum(equation, *arrays[:i], d, *arrays[i + 1 :])
        assert np.sum(w * moved) == pytest.approx(np.sum(derivative * d), abs=1e-10)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", [(2, 1, 2, 3), (3, 3, 2)]),
        ("...i,i...->...", [(2, 3), (3, 1)]),
        ("i...,...->...i", [(3, 2), ()]),
        ("...,...", [(2, 1), (3,)]),
        ("...ii->...i", [(2, 3, 3)]),
    ],
)
def test_einsum_ellipses_broadcast(equation: str, shapes: Any) -> None:
    arrays = [draw(*shape, seed=i) for i, shape in enumerate(shapes)]
    y, found, w = gradients(lambda *xs: tf.einsum(equation, *xs), *arrays)
    np.testing.assert_allclose(y, np.einsum(equation, *arrays), atol=1e-12)
    for i, derivative in enumerate(found):
        d = draw(*shapes[i], seed=50 + i)
        moved = np.einsum(equation, *arrays[:i], d, *arrays[i + 1 :])
        assert np.sum(w * moved) == pytest.approx(np.sum(derivative * d), abs=1e-10)


def test_einsum_of_many_operands_takes_a_good_order() -> None:
    # In the order as written the middle would have 10^9 elements.
    row, wide = np.ones((1, 1000)), np.ones((1000, 1000))
    y = tf.einsum("ab,cb,cd,de->ae", row, wide, wide, np.ones((1000, 1)))
    assert float(y[0, 0]) == 1000.0**3


@QUICK
@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2))
def test_tensordot_is_numpys(rank_a: int, rank_b: int, n: int) -> None:
    a, b = draw(*[2] * rank_a), draw(*[2] * rank_b, seed=1)
    if n > min(rank_a, rank_b):
        return
    y, (ga, gb), w = gradients(lambda a, b: tf.tensordot(a, b, n), a, b)
    np.testing.assert_allclose(y, np.tensordot(a, b, n), atol=1e-12)
    back = list(range(n, rank_b))
    np.testing.assert_allclose(
        ga, np.tensordot(w, b, (list(range(rank_a - n, rank_a + rank_b - 2 * n)), back)), atol=1e-12
    )
    assert gb.shape == b.shape


# --- norms, diagonals -----------------------------------------------------------------------------
@pytest.mark.parametrize("ord", [1, 2, np.inf, "fro"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_matrix_norms_of_a_stack(ord: Any, keepdims: bool) -> None:
    a = draw(2, 3, 4)
    y = tf.norm(tf.constant(a), ord=ord, axis=[1, 2], keepdims=keepdims)
    np.testing.assert_allclose(y.numpy(), np.linalg.norm(a, ord, (1, 2), keepdims), rtol=1e-12)


@QUICK
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_bands_go_in_where_they_came_out(rows: int, columns: int, data: Any) -> None:
    low = data.draw(st.integers(1 - rows, columns - 1))
    high = data.draw(st.integers(low, columns - 1))
    align = data.draw(st.sampled_from(["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"]))
    x = tf.constant(draw(2, rows, columns))
    band = tf.linalg.diag_part(x, k=(low, high), align=align)
    back = tf.linalg.set_diag(tf.zeros_like(x), band, k=(low, high), align=align)
    k = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    np.testing.assert_array_equal(back.numpy(), np.where((k >= low) & (k <= high), x.numpy(), 0))


def test_trace_of_a_wide_matrix() -> None:
    y, (g,), w = gradients(tf.linalg.trace, draw(2, 3, 4))
    np.testing.assert_allclose(y, np.trace(draw(2, 3, 4), axis1=1, axis2=2))
    np.testing.assert_allclose(g, w[:, None, None] * np.eye(3, 4))


# --- decompositions -------------------------------------------------------------------------------
def positive(n: int, seed: int = 0) -> Any:
    a = draw(n, n, seed=seed)
    return a @ a.T + np.eye(n)


def symmetric_difference(call: Any, a: Any, d: Any, w: Any, step: float = 1e-6) -> float:
    ahead, behind = call(tf.constant(a + step * d)), call(tf.constant(a - step * d))
    return float(np.sum(w * (ahead.numpy() - behind.numpy())) / (2 * step))


@pytest.mark.parametrize(
    "call",
    [
        tf.linalg.cholesky,
        tf.linalg.logdet,
        tf.linalg.eigvalsh,
        lambda a: tf.abs(tf.linalg.eigh(a)[1]),
        lambda a: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), tf.ones([3, 1], tf.float64)),
    ],
)
def test_grads_along_symmetric_directions(call: Any) -> None:
    a, d = positive(3), draw(3, 3, seed=5)
    d = d + d.T
    _, (g,), w = gradients(call, a)
    assert np.sum(g * d) == pytest.approx(symmetric_difference(call, a, d, w), rel=1e-6)


def test_cholesky_of_a_stack_is_nan_only_where_it_must_be() -> None:
    y = tf.linalg.cholesky(tf.constant(np.stack([positive(2), -np.eye(2)]))).numpy()
    np.testing.assert_allclose(y[0], np.linalg.cholesky(positive(2)))
    assert np.isnan(y[1][np.tril_indices(2)]).all()


def test_triangles_of_a_stack_are_solved_as_single_ones() -> None:
    a, b = draw(4, 3, 3) + 2 * np.eye(3), draw(4, 3, 2, seed=1)
    for lower in (True, False):
        stacked = tf.linalg.triangular_solve(tf.constant(a), tf.constant(b), lower=lower).numpy()
        for k in range(4):
            single = tf.linalg.triangular_solve(tf.constant(a[k]), tf.constant(b[k]), lower=lower)
            np.testing.assert_allclose(stacked[k], single.numpy(), rtol=1e-10)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_decompositions_multiply_back(shape: tuple[int, int]) -> None:
    a = tf.constant(draw(2, *shape))
    q, r = tf.linalg.qr(a)
    np.testing.assert_allclose((q @ r).numpy(), a.numpy(), atol=1e-12)
    s, u, v = tf.linalg.svd(a)
    np.testing.assert_allclose(
        (u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v)).numpy(), a.numpy(), atol=1e-12
    )
    np.testing.assert_allclose((a @ tf.linalg.pinv(a) @ a).numpy(), a.numpy(), atol=1e-12)


def test_lu_multiplies_back() -> None:
    a = draw(2, 3, 3)
    lu, p = (part.numpy() for part in tf.linalg.lu(tf.constant(a)))
    for factors, order, matrix in zip(lu, p, a, strict=True):
        lower = np.tril(factors, -1) + np.eye(3)
        np.testing.assert_allclose(lower @ np.triu(factors), matrix[order], atol=1e-12)


def test_third_order_through_the_inverse() -> None:
    x = tf.constant(2.0, tf.float64)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = tf.linalg.inv(tf.reshape(x, [1, 1]))[0, 0]
            one = first.gradient(y, x)
        two = second.gradient(one, x)
    assert float(third.gradient(two, x)) == pytest.approx(-6 / 2.0**4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), "Matrix size-incompatible"),
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([3])), "different ndims"),
        (lambda: tf.linalg.inv(tf.ones([2, 3])), "must be square"),
        (lambda: tf.linalg.inv(tf.ones([2, 2])), "not invertible"),
        (lambda: tf.linalg.solve(tf.eye(2), tf.ones([2])), "same rank"),
        (lambda: tf.linalg.eigvalsh([[np.nan]]), "not successful"),
        (lambda: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 2])), "Expected dimension 3"),
    ],
)
def test_errors_say_what_is_wrong(call: Any, words: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()
