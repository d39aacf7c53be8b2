"""Neural networks at their edges: kinks, overflow, convolution against a plain loop, pooling."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradtape as tf

from .test_linear import draw, gradients

QUICK = settings(max_examples=40)


# --- activations ----------------------------------------------------------------------------------
# Large arrays go other ways than small ones.
SHAPES = [(64, 14, 14, 16), (70_000,), (70_000, 2), (9, 9_000), (128, 256), (1, 70_000), (0, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_large_arrays_have_the_biases_and_relus_of_small_ones(shape: tuple[int, ...]) -> None:
    x, b = draw(*shape).astype("float32"), draw(shape[-1]).astype("float32")
    x.flat[:3] = [np.nan, -np.inf, np.inf][: x.size]
    np.testing.assert_array_equal(tf.nn.relu(x).numpy(), np.where(x < 0, 0, x))
    if x.ndim > 1:
        np.testing.assert_array_equal(tf.nn.bias_add(x, b).numpy(), x + b)


@pytest.mark.parametrize("odd", [(), (0.0, -0.0, 1e-40, -1e-38), (np.nan,), (-14, 20, -1e30)])
def test_gelu_of_large_arrays_grads_as_that_of_small_ones(odd: tuple[float, ...]) -> None:
    x = (4 * draw(70_000)).astype("float32")
    x[: len(odd)] = odd

    def derivative(part: Any) -> Any:
        part = tf.constant(part)
        with tf.GradientTape() as tape:
            tape.watch(part)
            y = tf.nn.gelu(part)
        return tape.gradient(y, part).numpy()

    few = np.concatenate([derivative(part) for part in np.split(x, 100)])
    np.testing.assert_allclose(derivative(x), few, 0, 3e-7)


@pytest.mark.parametrize(
    ("name", "at", "derivative"),
    [
        ("relu", 0.0, 0.0),
        ("relu", -0.0, 0.0),
        ("relu6", 0.0, 0.0),
        ("relu6", 6.0, 0.0),
        ("leaky_relu", 0.0, 0.2),
        ("elu", 0.0, 1.0),
        ("selu", 0.0, 1.0507009873554805),
        ("gelu", 0.0, 0.5),
        ("silu", 0.0, 0.5),
    ],
)
def test_grads_at_kinks(name: str, at: float, derivative: float) -> None:
    x = tf.Variable(at)
    with tf.GradientTape() as tape:
        y = getattr(tf.nn, name)(x)
    assert float(tape.gradient(y, x)) == pytest.approx(derivative)


@pytest.mark.parametrize("name", ["relu", "elu", "selu", "gelu", "silu", "softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_dtypes_are_kept_there_and_back(name: str, dtype: Any) -> None:
    x = tf.cast(tf.constant([[-1.5, 0.5, 2.0]]), dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(tf.nn, name)(x)
    assert y.dtype == dtype
    assert tape.gradient(y, x).dtype == dtype


@pytest.mark.parametrize("x", [-1e4, -100.0, 100.0, 1e4])
def test_losses_do_not_overflow(x: float) -> None:
    logits = tf.Variable([x, 0.0])
    with tf.GradientTape() as tape:
        losses = [
            tf.nn.sigmoid_cross_entropy_with_logits(tf.constant([1.0, 0.0]), logits),
            tf.nn.softmax_cross_entropy_with_logits([1.0, 0.0], logits),
            tf.nn.sparse_softmax_cross_entropy_with_logits(0, logits),
            tf.nn.softplus(logits),
        ]
    assert all(np.isfinite(loss.numpy()).all() for loss in losses)
    assert np.isfinite(tape.gradient(losses, logits).numpy()).all()


# --- softmax --------------------------------------------------------------------------------------
def difference(call: Any, x: Any, d: Any, w: Any, step: float = 1e-6) -> float:
    ahead, behind = call(tf.constant(x + step * d)), call(tf.constant(x - step * d))
    return float(np.sum(w * (ahead.numpy() - behind.numpy())) / (2 * step))


@QUICK
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_softmax_grads_agree_with_differences(shape: list[int], data: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x, d = 3 * draw(*shape), draw(*shape, seed=1)
    for function in (tf.nn.softmax, tf.nn.log_softmax):
        call = lambda x, function=function: function(x, axis=axis)
        y, (g,), w = gradients(call, x)
        total = np.exp(y) if function is tf.nn.log_softmax else y
        np.testing.assert_allclose(total.sum(axis), 1.0)
        assert np.sum(g * d) == pytest.approx(difference(call, x, d, w), rel=1e-6, abs=1e-8)


@QUICK
@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_sparse_and_one_hot_labels_agree(rows: int, classes: int, data: Any) -> None:
    labels = data.draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    x = 3 * draw(rows, classes)
    hot = np.eye(classes)[labels]
    sparse = lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(np.array(labels), x)
    y, (g,), w = gradients(sparse, x)
    z, (h,), _ = gradients(lambda x: tf.nn.softmax_cross_entropy_with_logits(hot, x), x)
    np.testing.assert_allclose(y, z, atol=1e-12)
    np.testing.assert_allclose(g, h, atol=1e-12)
    d = draw(rows, classes, seed=3)
    assert np.sum(g * d) == pytest.approx(difference(sparse, x, d, w), rel=1e-6, abs=1e-8)


def test_cross_entropy_bends_as_softmax_does() -> None:
    x = tf.Variable(draw(2, 3))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x)
        first = inner.gradient(losses, x)
    bend = outer.jacobian(first, x).numpy()
    for row, p in enumerate(tf.nn.softmax(x).numpy()):
        np.testing.assert_allclose(bend[row, :, row], np.diag(p) - np.outer(p, p), atol=1e-12)


# --- convolution ----------------------------------------------------------------------------------
def plainly(x: Any, f: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """Convolution, pixel by pixel."""
    x = np.pad(x, [(0, 0), *pads, (0, 0)])
    size = [(k - 1) * d + 1 for k, d in zip(f.shape[:2], dilations, strict=True)]
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[1:3], size, strides, strict=True)]
    groups = x.shape[-1] // f.shape[2]
    y = np.zeros((len(x), *counts, f.shape[-1]))
    for n, i, j, o in np.ndindex(*y.shape):
        first = o // (f.shape[-1] // groups) * f.shape[2]
        for di, dj, c in np.ndindex(*f.shape[:3]):
            at = (n, i * strides[0] + di * dilations[0], j * strides[1] + dj * dilations[1])
            y[n, i, j, o] += x[(*at, first + c)] * f[di, dj, c, o]
    return y


def same(n: int, k: int, s: int, d: int) -> tuple[int, int]:
    total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
    return total // 2, total - total // 2


pairs = lambda low, high: st.tuples(st.integers(low, high), st.integers(low, high))


@QUICK
@given(
    pairs(3, 5), pairs(1, 3), pairs(1, 3), pairs(1, 2), st.sampled_from([(1, 1), (2, 1), (2, 2)]),
    st.sampled_from(["SAME", "VALID", "EXPLICIT"]), st.booleans(),
)  # fmt: skip
def test_conv2d_is_the_plain_loop(
    inner: Any, size: Any, strides: Any, dilations: Any, channels: Any, padding: str, first: bool
) -> None:
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    pads: Any = [(0, 0), (0, 0)]
    if padding == "SAME":
        pads = [same(*case) for case in zip(inner, size, strides, dilations, strict=True)]
    elif padding == "EXPLICIT":
        pads = [(1, 2), (0, 3)]
    if any(n + sum(p) < k for n, k, p in zip(inner, spans, pads, strict=True)):
        return
    depth, groups = channels
    x, f = draw(2, *inner, depth), draw(*size, depth // groups, 2 * groups, seed=1)
    given_pads: Any = padding if padding != "EXPLICIT" else [[0, 0], *pads, [0, 0]]
    if padding == "EXPLICIT" and first:
        given_pads = [[0, 0], [0, 0], *pads]

    def call(x: Any, f: Any) -> Any:
        if first:
            x = tf.transpose(x, [0, 3, 1, 2])
        y = tf.nn.conv2d(x, f, strides, given_pads, "NCHW" if first else "NHWC", dilations)
        return tf.transpose(y, [0, 2, 3, 1]) if first else y

    y, (gx, gf), w = gradients(call, x, f)
    np.testing.assert_allclose(y, plainly(x, f, strides, dilations, pads), atol=1e-12)
    # Bilinear: <w, conv(d, f)> = <derivative, d>.
    d, e = draw(*x.shape, seed=2), draw(*f.shape, seed=3)
    along = np.sum(w * plainly(d, f, strides, dilations, pads))
    assert np.sum(gx * d) == pytest.approx(along, abs=1e-10)
    along = np.sum(w * plainly(x, e, strides, dilations, pads))
    assert np.sum(gf * e) == pytest.approx(along, abs=1e-10)


def test_large_convolutions_go_in_pieces() -> None:
    x, f = draw(5, 40, 40, 16).astype(np.float32), draw(3, 3, 16, 4, seed=1).astype(np.float32)
    y, (gx, gf), w = gradients(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, f)
    total = np.zeros_like(gf)
    for k in range(5):
        one = tf.nn.conv2d(tf.constant(x[k : k + 1]), tf.constant(f), 1, "SAME")
        np.testing.assert_allclose(y[k : k + 1], one.numpy(), atol=1e-4)
        i = tf.constant(x[k : k + 1])
        filters = tf.constant(f)
        with tf.GradientTape() as tape:
            tape.watch([i, filters])
            one = tf.nn.conv2d(i, filters, 1, "SAME")
        gi, gk = tape.gradient(one, [i, filters], output_gradients=tf.constant(w[k : k + 1]))
        np.testing.assert_allclose(gx[k : k + 1], gi.numpy(), atol=1e-4)
        total += gk.numpy()
    np.testing.assert_allclose(gf, total, atol=1e-2)


def test_depthwise_is_one_convolution_per_channel() -> None:
    x, f = draw(1, 5, 4, 3), draw(2, 2, 3, 2, seed=1)
    y = tf.nn.depthwise_conv2d(tf.constant(x), tf.constant(f), [1, 1, 1, 1], "SAME").numpy()
    for c in range(3):
        one = tf.nn.conv2d(x[..., c : c + 1], f[:, :, c : c + 1], 1, "SAME").numpy()
        np.testing.assert_allclose(y[..., 2 * c : 2 * c + 2], one, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_transposed_convolution_is_the_transpose(n: int) -> None:
    inner = (5, 4, 3)[:n]
    x, f = draw(1, *inner, 2), draw(*(2, 3, 2)[:n], 2, 3, seed=1)
    convolve = getattr(tf.nn, f"conv{n}d")
    y = convolve(tf.constant(x), tf.constant(f), [1, *[2] * n, 1], "SAME")
    g = draw(*y.shape, seed=2)
    transpose = getattr(tf.nn, f"conv{n}d_transpose")
    back = transpose(tf.constant(g), tf.constant(f), list(x.shape), 2, "SAME")
    assert np.sum(y.numpy() * g) == pytest.approx(np.sum(back.numpy() * x))


def test_convolution_has_all_orders() -> None:
    x, f = tf.constant(draw(1, 3, 3, 1)), tf.constant(draw(2, 2, 1, 1, seed=1))
    with tf.GradientTape() as third:
        third.watch([x, f])
        with tf.GradientTape() as second:
            second.watch([x, f])
            with tf.GradientTape() as first:
                first.watch([x, f])
                y = tf.reduce_sum(tf.nn.conv2d(x, f, 1, "VALID") ** 3)
            one = first.gradient(y, x)
        two = second.gradient(one, f)
    gx, gf = third.gradient(two, [x, f])
    assert gx.shape == x.shape
    assert gf.shape == f.shape
    assert np.abs(gx.numpy()).sum() > 0


# --- pooling --------------------------------------------------------------------------------------
@QUICK
@given(pairs(2, 5), pairs(1, 3), pairs(1, 3), st.sampled_from(["SAME", "VALID"]))
def test_pools_are_the_plain_loop(inner: Any, size: Any, strides: Any, padding: str) -> None:
    pads = [(0, 0), (0, 0)]
    if padding == "SAME":
        pads = [same(*case, 1) for case in zip(inner, size, strides, strict=True)]
    elif any(n < k for n, k in zip(inner, size, strict=True)):
        return
    x = draw(1, *inner, 1)
    full = np.pad(x[0, :, :, 0], pads, constant_values=np.nan)
    steps = [range(0, n - k + 1, s) for n, k, s in zip(full.shape, size, strides, strict=True)]
    windows = {(i, j): full[i : i + size[0], j : j + size[1]] for i, j in product(*steps)}
    for kind, function in (("max", np.nanmax), ("avg", np.nanmean)):
        call = lambda x, kind=kind: getattr(tf.nn, f"{kind}_pool2d")(x, size, strides, padding)
        y, (g,), w = gradients(call, x)
        expected = [function(window) for window in windows.values()]
        np.testing.assert_allclose(y.reshape(-1), expected, atol=1e-12)
        derivative = np.zeros_like(full)
        for ((i, j), window), weight in zip(windows.items(), w.reshape(-1), strict=True):
            part = window == function(window) if kind == "max" else np.isfinite(window)
            share = part * weight / (1 if kind == "max" else part.sum())
            derivative[i : i + size[0], j : j + size[1]] += share
        (top, _), (left, _) = pads
        cut = derivative[top : top + inner[0], left : left + inner[1]]
        np.testing.assert_allclose(g[0, :, :, 0], cut, atol=1e-12)


def test_of_equal_numbers_the_first_gets_the_grad() -> None:
    _, (g,), w = gradients(lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"), np.ones((1, 2, 4, 1)))
    expected = [[w[0, 0, 0, 0], 0, w[0, 0, 1, 0], 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(g[0, :, :, 0], expected)


# --- the rest -------------------------------------------------------------------------------------
def test_dropout_scales_what_it_keeps_and_its_grad_is_its_mask() -> None:
    x = tf.Variable(np.ones(200, np.float32))
    with tf.GradientTape() as tape:
        y = tf.nn.dropout(x, 0.25, seed=1)
    kept = y.numpy() != 0
    assert 0.5 < kept.mean() < 1
    np.testing.assert_allclose(y.numpy()[kept], 1 / 0.75, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), y.numpy())


def test_moments_make_mean_0_and_variance_1() -> None:
    x = tf.constant(draw(50, 3) * 4 + 2)
    mean, variance = tf.nn.moments(x, [0])
    y = tf.nn.batch_normalization(x, mean, variance, None, None, 0.0).numpy()
    np.testing.assert_allclose(y.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(y.var(0), 1)


def convolve(x: Any, filters: list[int], strides: Any = 1) -> Any:
    return tf.nn.conv2d(x, tf.ones(filters), strides, "VALID")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: convolve(x, [9, 9, 2, 1]), "InvalidArgumentError", "would be negative"),
        (lambda x: convolve(x, [2, 2, 3, 1]), "InvalidArgumentError", "divisible by filter depth"),
        (lambda x: tf.nn.max_pool2d(x[0], 2, 2, "VALID"), "InvalidArgumentError", "spatial"),
        (lambda x: convolve(x, [2, 2, 2, 1], [2, 1, 1, 1]), "UnimplementedError", "batch"),
    ],
)
def test_errors_say_what_is_wrong(call: Any, error: str, words: str) -> None:
    with pytest.raises(getattr(tf.errors, error), match=words):
        call(tf.ones([1, 3, 3, 2]))
