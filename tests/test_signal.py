"""`tf.signal` where TensorFlow has no answer to compare with: transforms over any axes."""

from __future__ import annotations

import numpy as np
import pytest

import gradtape as tf

RANDOM = np.random.RandomState(0)
REAL = RANDOM.uniform(-1, 1, (2, 3, 4))
COMPLEX = REAL + 1j * RANDOM.uniform(-1, 1, REAL.shape)
GIVEN = {
    "all axes": ({}, {"axes": (0, 1, 2)}),
    "one axis": ({"axes": [1]}, {"axes": (1,)}),
    "from the end": ({"axes": [-1, 0]}, {"axes": (-1, 0)}),
    "with lengths": ({"axes": [0, 2], "fft_length": [3, 5]}, {"axes": (0, 2), "s": (3, 5)}),
    "ortho": ({"axes": [0, 1], "norm": "ortho"}, {"axes": (0, 1), "norm": "ortho"}),
    "forward": ({"axes": [2], "norm": "forward"}, {"axes": (2,), "norm": "forward"}),
}


@pytest.mark.parametrize("op", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("given", GIVEN)
def test_transforms_over_any_axes(op, given):
    ours, numpys = GIVEN[given]
    x = tf.constant(REAL if op == "rfft" else COMPLEX)
    expected = getattr(np.fft, f"{op}n")(x.numpy(), **numpys)
    np.testing.assert_allclose(getattr(tf.signal, f"{op}nd")(x, **ours).numpy(), expected)


@pytest.mark.parametrize("op", ["fft", "ifft", "rfft", "irfft"])
def test_top_level_names(op):
    x = tf.constant(REAL if op == "rfft" else COMPLEX)
    found = getattr(tf, f"{op}nd")(x, [3, 4], [1, 2])
    np.testing.assert_allclose(found.numpy(), getattr(np.fft, f"{op}2")(x.numpy(), s=(3, 4)))


def test_grads_where_tensorflow_has_none():
    x = tf.constant(REAL)
    with tf.GradientTape() as tape:
        tape.watch(x)
        energy = tf.reduce_sum(tf.abs(tf.signal.fftnd(tf.cast(x, tf.complex128))) ** 2)
    np.testing.assert_allclose(tape.gradient(energy, x).numpy(), 2 * REAL.size * REAL)


@pytest.mark.parametrize("axes", [[3], [0, 0], [0, -3], []])
def test_axes_that_are_not_there(axes):
    with pytest.raises(tf.errors.InvalidArgumentError, match="FFTND"):
        tf.signal.fftnd(COMPLEX, axes=axes)


def test_norms_that_are_not_there():
    with pytest.raises(ValueError, match="ortho"):
        tf.signal.fftnd(COMPLEX, norm="x")


@pytest.mark.parametrize("size", [1 << 6, 1 << 15])  # NumPy's and SciPy's transforms
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_precision_is_kept(size, dtype):
    x = np.ones(size, dtype)
    assert tf.signal.fft(tf.constant(x)).dtype == dtype
    assert tf.signal.ifft(tf.signal.fft(tf.constant(x))).numpy() == pytest.approx(x)
