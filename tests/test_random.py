"""What recorded answers do not say of randomness: moments, ranges, seeds, derivatives."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.kernels.philox import FEW, Stream, _block

N = 200_000


@pytest.fixture(autouse=True)
def seeded():
    tf.random.set_seed(1)
    yield
    tf.random.set_seed(None)


# --- the stream -----------------------------------------------------------------------------------
def test_known_answers_of_philox():
    """The test vectors of the paper's authors for 4x32-10."""
    assert _block(0, 0) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    assert _block(2**128 - 1, 2**64 - 1) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)


@pytest.mark.parametrize("counter", [0, 2**32 - 4, 2**64 - 3, 2**128 - 5])
def test_blocks_by_numpy_are_blocks_by_python(counter):
    stream = Stream(0x0123456789ABCDEF, counter)
    words = stream.words(4 * (FEW + 8)).reshape(-1, 4)
    expected = [_block((counter + k) % 2**128, stream.key) for k in range(FEW + 8)]
    assert words.tolist() == [list(block) for block in expected]


@pytest.mark.parametrize("draw", ["uniform", "normal", "truncated"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_short_draw_begins_a_long_one(draw, dtype):
    short, long = (
        getattr(Stream(7, 3), draw)(count, np.dtype(dtype)) for count in (3, 4 * 16384 + 10)
    )
    np.testing.assert_array_equal(short, long[:3])


# --- distributions --------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_moments(dtype):
    normal = tf.random.normal([N], mean=2.0, stddev=3.0, dtype=dtype).numpy().astype(float)
    assert abs(normal.mean() - 2.0) < 0.03
    assert abs(normal.std() - 3.0) < 0.03
    uniform = tf.random.uniform([N], -1.0, 3.0, dtype=dtype).numpy().astype(float)
    assert -1.0 <= uniform.min() < uniform.max() <= 3.0
    assert abs(uniform.mean() - 1.0) < 0.03
    cut = tf.random.truncated_normal([N], dtype=dtype).numpy().astype(float)
    assert np.abs(cut).max() <= 2.0
    assert abs(cut.std() - 0.880) < 0.01


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5, 40.0])
def test_gamma_moments(alpha):
    drawn = tf.random.gamma([N // 4], alpha, beta=2.0, dtype=tf.float64).numpy()
    assert drawn.min() > 0
    assert abs(drawn.mean() - alpha / 2) < 0.03 * max(alpha, 1)
    assert abs(drawn.var() - alpha / 4) < 0.05 * max(alpha, 1)


@pytest.mark.parametrize("rate", [0.5, 9.0, 10.0, 300.0])
def test_poisson_moments(rate):
    drawn = tf.random.poisson([N // 4], rate).numpy()
    assert abs(drawn.mean() / rate - 1) < 0.02
    assert abs(drawn.var() / rate - 1) < 0.05


def test_binomial_moments():
    drawn = tf.random.Generator.from_seed(3).binomial([N // 4], 10.0, 0.3, dtype=tf.float32).numpy()
    assert abs(drawn.mean() - 3.0) < 0.03
    assert abs(drawn.var() - 2.1) < 0.05


def test_categorical_frequencies():
    probabilities = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], np.float32)
    with np.errstate(divide="ignore"):
        drawn = tf.random.categorical(np.log(probabilities), N // 4).numpy()
    for row, expected in zip(drawn, probabilities, strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / row.size, expected, atol=0.01)


def test_whole_numbers_reach_both_ends():
    drawn = tf.random.uniform([1000], -2, 3, tf.int64).numpy()
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}


def test_parameterized_bounds():
    drawn = tf.random.stateless_parameterized_truncated_normal(
        [1000], [1, 2], means=1.0, stddevs=2.0, minvals=0.5, maxvals=4.0
    ).numpy()
    assert drawn.min() >= 0.5
    assert drawn.max() <= 4.0


# --- seeds ----------------------------------------------------------------------------------------
def draws():
    return [
        tf.random.normal([3]).numpy().tolist(),
        tf.random.uniform([2], seed=4).numpy().tolist(),
        tf.random.uniform([2], seed=4).numpy().tolist(),
        tf.random.shuffle(tf.range(9)).numpy().tolist(),
    ]


def test_set_seed_starts_everything_again():
    first = draws()
    assert first[1] != first[2]
    tf.random.set_seed(1)
    assert draws() == first
    assert draws() != first
    tf.random.set_seed(np.int64(1))
    assert draws() == first


def test_ops_with_a_seed_do_not_share_their_kernel():
    tf.random.set_seed(3)
    alone = tf.random.normal([2], seed=5).numpy()
    tf.random.set_seed(3)
    tf.random.uniform([2], seed=5)
    np.testing.assert_array_equal(tf.random.normal([2], seed=5), alone)


def test_without_seeds_nothing_repeats():
    tf.random.set_seed(None)
    assert not np.array_equal(tf.random.normal([4]), tf.random.normal([4]))
    tf.random.set_seed(None)
    first = tf.random.normal([2], seed=6).numpy()
    tf.random.set_seed(None)
    np.testing.assert_array_equal(tf.random.normal([2], seed=6), first)


def test_generators_are_independent():
    first = tf.random.Generator.from_seed(1)
    copy = tf.random.Generator(copy_from=first)
    expected = first.normal([3]).numpy()
    np.testing.assert_array_equal(copy.normal([3]), expected)
    parts = first.split(2)
    values = [part.uniform([2]).numpy().tolist() for part in (first, *parts)]
    assert values[0] != values[1] != values[2]
    first.reset_from_seed(1)
    np.testing.assert_array_equal(first.normal([3]), expected)


def test_the_state_is_a_variable_that_counts():
    generator = tf.random.Generator.from_seed(1)
    generator.normal([5])
    assert generator.state.numpy().tolist() == [1 + 5 * 256, 0, 0]
    generator.state.assign([2**63 - 1, -1, 0])
    generator.skip(1)
    assert generator.state.numpy().tolist() == [-(2**63) + 255, -1, 0]


def test_threads_draw_without_harm():
    results: list[float] = []
    work = lambda: results.extend(tf.random.normal([100], seed=1).numpy().tolist())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 400


# --- derivatives
# ---------------------------------------------------------------------------------------
def test_mean_and_deviation_have_grads():
    mean, deviation = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.random.normal([4, 2], mean, deviation)
        loss = tf.reduce_sum(y)
    by_mean, by_deviation = tape.gradient(loss, [mean, deviation])
    np.testing.assert_array_equal(by_mean, [4.0, 4.0])
    noise = (y.numpy() - mean.numpy()) / 3.0
    np.testing.assert_allclose(by_deviation, noise.sum(), rtol=1e-5)


def test_the_grad_of_gamma_keeps_quantiles():
    from scipy.special import gammainc, gammaincinv

    alpha = tf.constant([0.4, 1.0, 5.0], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(alpha)
        drawn = tf.random.gamma([1], alpha, dtype=tf.float64)
    x, a, h = drawn.numpy()[0], alpha.numpy(), 1e-6
    quantile = gammainc(a, x)
    expected = (gammaincinv(a + h, quantile) - gammaincinv(a - h, quantile)) / (2 * h)
    np.testing.assert_allclose(tape.gradient(drawn, alpha), expected, rtol=1e-4)


def test_poisson_has_no_grad():
    rate = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.random.poisson([2], rate)
    with pytest.raises(LookupError, match="RandomPoissonV2"):
        tape.gradient(y, rate)


# --- mistakes -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda r: r.normal(3), tf.errors.InvalidArgumentError, "written as"),
        (lambda r: r.normal([2], dtype=tf.complex64), tf.errors.InvalidArgumentError, "complex64"),
        (lambda r: r.stateless_normal([2], 7), tf.errors.InvalidArgumentError, "shape"),
        (
            lambda r: r.stateless_gamma([3], [1, 2], [1.0, 2.0]),
            tf.errors.InvalidArgumentError,
            "end",
        ),
        (lambda r: r.Generator(), AssertionError, "from_seed"),
        (lambda r: r.Generator.from_state([1, 2], "philox"), ValueError, "incompatible"),
        (lambda r: r.gamma([2], 1, dtype=tf.int32), ValueError, "inexact"),
    ],
)
def test_mistakes(call, error, words):
    with pytest.raises(error, match=words):
        call(tf.random)
