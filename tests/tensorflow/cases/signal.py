"""Signals: Fourier and cosine transforms, frames, windows and spectrograms."""

from __future__ import annotations

import numpy as np

from tests.tensorflow.cases._common import REAL, fill, first_only, grads, named, tensor
from tests.tensorflow.harness import attempt, case, cases

# A frequency may be the small difference of large terms.
NEAR = {"tolerance": 1e-4, "floor": 2e-5}
COMPLEX = ["complex64", "complex128"]


def numbers(tf, shape, dtype="float32", seed=0):
    return tensor(tf, fill(shape, seed=seed), dtype)


# ----------------------------------------------------------------------- complex transforms


@cases(
    op=["fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"],
    shape=[(1,), (5,), (2, 3), (2, 3, 4), (2, 1, 2, 3), (), (0,), (2, 0), (0, 2, 3)],
    dtype=COMPLEX,
    **NEAR,
)
def complex_transforms(tf, op, shape, dtype):
    return grads(tf, getattr(tf.signal, op), numbers(tf, shape, dtype))


@cases(op=["fft", "ifft", "fft2d", "ifft2d", "fft3d"], **NEAR)
def complex_transforms_twice(tf, op):
    call = getattr(tf.signal, op)
    return grads(tf, lambda x: call(x * x) ** 2, numbers(tf, (2, 3, 2), "complex128"))


@cases(
    given={
        "list": lambda tf: tf.signal.fft([1.0, 2.0]),
        "whole_numbers": lambda tf: tf.signal.fft([1, 2]),
        "complex_list": lambda tf: tf.signal.fft([1.0 + 2j, 2.0]),
        "numpy": lambda tf: tf.signal.fft(np.array([1.0, 2.0])),
        "numpy_complex": lambda tf: tf.signal.fft(np.array([1.0, 2.0j])),
        "real": lambda tf: tf.signal.fft(tf.constant([1.0, 2.0])),
        "int": lambda tf: tf.signal.ifft(tf.constant([1, 2])),
        "text": lambda tf: tf.signal.fft("a"),
        "name": lambda tf: tf.signal.fft(input=tf.constant([1j]), name="f"),
        "rank_2d": lambda tf: tf.signal.fft2d(tf.constant([1j])),
        "rank_3d": lambda tf: tf.signal.ifft3d(tf.constant([[1j]])),
        "variable": lambda tf: tf.signal.fft(tf.Variable([1j, 2.0])),
    }
)
def complex_given(tf, given):
    return given(tf)


# -------------------------------------------------------------------------- real transforms


@cases(
    op=["rfft", "rfft2d", "rfft3d"],
    shape=[(1,), (4,), (5,), (2, 3), (3, 4), (2, 3, 4), (), (0, 3), (2, 0)],
    dtype=REAL,
    **NEAR,
)
def real_transforms(tf, op, shape, dtype):
    return grads(tf, getattr(tf.signal, op), numbers(tf, shape, dtype))


@cases(
    op=["irfft", "irfft2d", "irfft3d"],
    shape=[(2,), (4,), (5,), (2, 3), (3, 4), (2, 3, 4), (), (0, 3)],
    dtype=COMPLEX,
    **NEAR,
)
def back_to_real(tf, op, shape, dtype):
    return grads(tf, getattr(tf.signal, op), numbers(tf, shape, dtype))


@cases(op=["rfft", "irfft"], length=[[1], [2], [3], [4], [6], [7], [9], (6,)], **NEAR)
def lengths(tf, op, length):
    x = numbers(tf, (2, 4), "float64" if op == "rfft" else "complex128")
    return getattr(tf.signal, op)(x, length)


@cases(op=["rfft2d", "irfft2d"], length=[[1, 2], [2, 4], [3, 4], [2, 6], [4, 5], [3, 9]], **NEAR)
def lengths_2d(tf, op, length):
    x = numbers(tf, (2, 2, 4), "float64" if op == "rfft2d" else "complex128")
    return getattr(tf.signal, op)(x, fft_length=length)


LENGTHS = {
    "rfft": [4], "rfft_odd": [5], "rfft_longer": [8], "rfft_cut": [3], "irfft": [6],
    "irfft_odd": [7], "irfft_longer": [10], "irfft_cut": [4], "rfft2d": [2, 4],
    "rfft2d_odd": [2, 5], "rfft2d_longer": [3, 6], "irfft2d": [2, 6], "irfft2d_odd": [2, 7],
    "irfft2d_longer": [3, 9],
}  # fmt: skip


@cases(given={name: (name.split("_")[0], length) for name, length in LENGTHS.items()}, **NEAR)
def slopes_by_length(tf, given):
    op, length = given
    x = numbers(tf, (2, 2, 4), "float64" if op[0] == "r" else "complex128")
    return grads(tf, lambda x: getattr(tf.signal, op)(x, length) ** 2, x)


@cases(op=["rfft", "rfft2d", "irfft", "irfft2d"], **NEAR)
def real_twice(tf, op):
    x = numbers(tf, (2, 3, 4), "float64" if op[0] == "r" else "complex128")
    return grads(tf, lambda x: getattr(tf.signal, op)(x * x) ** 3, x)


@cases(
    given={
        "list": lambda tf: tf.signal.rfft([1.0, 2.0]),
        "whole_numbers": lambda tf: tf.signal.rfft([1, 2, 3]),
        "int": lambda tf: tf.signal.rfft(tf.constant([1, 2])),
        "half": lambda tf: tf.signal.rfft(tf.constant([1, 2], tf.float16)),
        "complex": lambda tf: tf.signal.rfft(tf.constant([1j, 2])),
        "numpy": lambda tf: tf.signal.rfft(np.array([1.0, 2.0])),
        "numpy_int": lambda tf: tf.signal.rfft(np.array([1, 2])),
        "scalar_length": lambda tf: tf.signal.rfft([1.0, 2.0], 4),
        "tensor_length": lambda tf: tf.signal.rfft([1.0, 2.0], tf.constant([4])),
        "tensors_length": lambda tf: tf.signal.rfft([1.0, 2.0], [tf.constant(4)]),
        "long_length": lambda tf: tf.signal.rfft([1.0, 2.0], tf.constant([4], tf.int64)),
        "numpy_length": lambda tf: tf.signal.rfft([1.0, 2.0], np.array([4])),
        "float_length": lambda tf: tf.signal.rfft([1.0, 2.0], [4.0]),
        "shape_length": lambda tf: tf.signal.rfft([1.0, 2.0], tf.TensorShape([4])),
        "negative_length": lambda tf: tf.signal.rfft([1.0, 2.0], [-1]),
        "two_lengths": lambda tf: tf.signal.rfft([1.0, 2.0], [2, 2]),
        "matrix_length": lambda tf: tf.signal.rfft([1.0, 2.0], [[2]]),
        "one_length_2d": lambda tf: tf.signal.rfft2d([[1.0, 2.0]], [2]),
        "text": lambda tf: tf.signal.rfft(["a"]),
        "rank_2d": lambda tf: tf.signal.rfft2d([1.0, 2.0]),
        "back_list": lambda tf: tf.signal.irfft([1.0, 2.0, 3.0]),
        "back_real": lambda tf: tf.signal.irfft(tf.constant([1.0, 2.0])),
        "back_int": lambda tf: tf.signal.irfft(tf.constant([1, 2])),
        "back_rank": lambda tf: tf.signal.irfft2d(tf.constant([1j, 2])),
        "back_scalar": lambda tf: tf.signal.irfft(tf.constant(1j)),
        "back_name": lambda tf: tf.signal.irfft(input_tensor=[1.0, 2.0], fft_length=[3], name="i"),
        "empty_with_length": lambda tf: tf.signal.irfft(tf.zeros([0, 3], tf.complex64), [4]),
        "there_and_back": lambda tf: tf.signal.irfft(tf.signal.rfft([1.0, 5.0, 2.0]), [3]),
    }
)
def real_given(tf, given):
    return given(tf)


@case(tolerance=1e-4)
def through_the_spectrum(tf):
    x = numbers(tf, (2, 8))

    def power(x):
        return tf.reduce_sum(tf.math.log(1.0 + tf.abs(tf.signal.rfft(x)) ** 2), -1)

    return grads(tf, power, x)


@cases(op=["fft", "ifft", "rfft", "irfft", "dct", "fftshift"], **NEAR)
def forward_mode(tf, op):
    dtype = "complex128" if op in ("fft", "ifft", "irfft") else "float64"
    x, t = numbers(tf, (2, 4), dtype), numbers(tf, (2, 4), dtype, seed=3)
    with tf.autodiff.ForwardAccumulator(x, t) as acc:
        y = getattr(tf.signal, op)(x * x)
    return y, acc.jvp(y)


@cases(op=["rfft", "dct"], **NEAR)
def jacobians(tf, op):
    x = numbers(tf, (2, 3), "float64")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.abs(getattr(tf.signal, op)(x)) ** 2
    return tape.jacobian(y, x)


# ----------------------------------------------------------------------------------- shifts


@cases(
    op=["fftshift", "ifftshift"],
    axes={
        "all": None, "first": 0, "last": -1, "pair": (0, 1), "list": [1], "negative": [-1, 0],
        "tensor": np.array([1]), "none": [], "outside": 2, "outside_list": [2],
    },
    shape=[(2, 3), (5, 4), (0, 3)],
)  # fmt: skip
def shifts(tf, op, axes, shape):
    return first_only(tf, lambda x: getattr(tf.signal, op)(x, axes), numbers(tf, shape))


@cases(op=["fftshift", "ifftshift"], value={"ints": [0, 1, 2, 3, 4], "scalar": 1.0, "one": [2.0]})
def shifts_of(tf, op, value):
    return getattr(tf.signal, op)(value, name="s")


# ---------------------------------------------------------------------------------- cosines


@cases(
    op=["dct", "idct"],
    type=[1, 2, 3, 4],
    norm=[None, "ortho"],
    shape=[(2,), (5,), (2, 4), (2, 1), (0, 3)],
    dtype=REAL,
    **NEAR,
)
def cosines(tf, op, type, norm, shape, dtype):
    call = getattr(tf.signal, op)
    return grads(tf, lambda x: call(x, type=type, norm=norm), numbers(tf, shape, dtype))


@cases(op=["dct", "idct"], type=[1, 2, 3, 4], n=[1, 2, 4, 6, 0, -1], **NEAR)
def cosines_of_length(tf, op, type, n):
    call = getattr(tf.signal, op)
    return grads(tf, lambda x: call(x, type, n) ** 2, numbers(tf, (2, 4), "float64"))


@cases(
    given={
        "axis": lambda tf, x: tf.signal.dct(x, axis=0),
        "axis_last": lambda tf, x: tf.signal.dct(x, axis=1),
        "type_5": lambda tf, x: tf.signal.dct(x, type=5),
        "type_0": lambda tf, x: tf.signal.idct(x, type=0),
        "norm": lambda tf, x: tf.signal.dct(x, norm="forward"),
        "half": lambda tf, x: tf.signal.dct(tf.cast(x, tf.float16)),
        "int": lambda tf, x: tf.signal.dct(tf.constant([1, 2])),
        "scalar": lambda tf, x: tf.signal.dct(tf.constant(1.0)),
        "list": lambda tf, x: tf.signal.dct([1.0, 2.0]),
        "numpy": lambda tf, x: tf.signal.dct(np.array([1.0, 2.0])),
        "numpy_type_1": lambda tf, x: tf.signal.dct(np.array([1.0, 2.0]), type=1),
        "tensor_n": lambda tf, x: tf.signal.dct(x, n=tf.constant(3)),
        "there_and_back": lambda tf, x: tf.signal.idct(tf.signal.dct(x)) / 8,
        "name": lambda tf, x: tf.signal.idct(input=x, norm="ortho", name="d"),
    },
    **NEAR,
)
def cosines_given(tf, given):
    return given(tf, numbers(tf, (2, 4)))


# ----------------------------------------------------------------------------------- frames


@cases(
    sizes={
        "overlap": (3, 2), "touch": (2, 2), "gaps": (2, 3), "step_1": (4, 1), "one": (1, 1),
        "all": (7, 3), "longer": (9, 2), "longer_step": (2, 9), "coprime": (5, 3), "empty": (0, 2),
    },
    pad_end=[False, True],
)  # fmt: skip
def frames(tf, sizes, pad_end):
    return grads(
        tf, lambda x: tf.signal.frame(x, *sizes, pad_end) ** 2, numbers(tf, (2, 7), "float64")
    )


@cases(axis=[0, 1, 2, -1, -2, -3, 3], pad_end=[False, True])
def frames_along(tf, axis, pad_end):
    def call(x):
        return tf.signal.frame(x, 2, 1, pad_end=pad_end, pad_value=0.5, axis=axis)

    return first_only(tf, call, numbers(tf, (3, 2, 4)))


@cases(
    given={
        "ints": lambda tf: tf.signal.frame([1, 2, 3, 4], 2, 1),
        "text": lambda tf: tf.signal.frame(["a", "b", "c"], 2, 1),
        "bool": lambda tf: tf.signal.frame([True, False, True], 2, 1),
        "half": lambda tf: tf.signal.frame(tf.constant([1, 2, 3], tf.float16), 2, 1),
        "bfloat16": lambda tf: tf.signal.frame(tf.constant([1, 2, 3], tf.bfloat16), 2, 1),
        "scalar": lambda tf: tf.signal.frame(1.0, 2, 1),
        "no_samples": lambda tf: tf.signal.frame(tf.zeros([0]), 2, 1),
        "no_samples_padded": lambda tf: tf.signal.frame(tf.zeros([0]), 2, 1, True),
        "tensors": lambda tf: tf.signal.frame([1.0, 2.0, 3.0], tf.constant(2), tf.constant(1)),
        "long": lambda tf: tf.signal.frame([1.0, 2.0], np.int64(2), np.int64(1)),
        "float_length": lambda tf: tf.signal.frame([1.0, 2.0], 2.0, 1),
        "list_length": lambda tf: tf.signal.frame([1.0, 2.0], [2], 1),
        "list_step": lambda tf: tf.signal.frame([1.0, 2.0], 2, [1]),
        "pad_value": lambda tf: tf.signal.frame([1.0, 2.0, 3.0], 2, 2, True, -1.0),
        "pad_tensor": lambda tf: tf.signal.frame(
            [1.0, 2.0, 3.0], 2, 2, pad_end=True, pad_value=tf.constant(9.0)
        ),
        "pad_list": lambda tf: tf.signal.frame([1.0, 2.0], 2, 1, True, [1.0]),
        "pad_dtype": lambda tf: tf.signal.frame([1, 2], 2, 1, True, 1.5),
        "names": lambda tf: tf.signal.frame(
            signal=[1.0, 2.0], frame_length=1, frame_step=1, axis=0, name="f"
        ),
    }
)
def frames_given(tf, given):
    return given(tf)


@cases(
    shape=[(3, 5), (2, 3, 5), (1, 4), (4, 1), (0, 3), (2, 0, 3), (5, 2, 2, 3)],
    step=[1, 2, 3, 5, 7],
)
def overlaps(tf, shape, step):
    return grads(
        tf, lambda x: tf.signal.overlap_and_add(x, step) ** 2, numbers(tf, shape, "float64")
    )


@cases(
    given={
        "ints": lambda tf: tf.signal.overlap_and_add([[1, 2], [3, 4]], 1),
        "vector": lambda tf: tf.signal.overlap_and_add([1.0, 2.0], 1),
        "float_step": lambda tf: tf.signal.overlap_and_add([[1.0, 2.0]], 1.0),
        "list_step": lambda tf: tf.signal.overlap_and_add([[1.0, 2.0]], [1]),
        "tensor_step": lambda tf: tf.signal.overlap_and_add([[1.0, 2.0]], tf.constant(1)),
        "half": lambda tf: tf.signal.overlap_and_add(tf.ones([2, 3], tf.float16), 2),
        "complex": lambda tf: tf.signal.overlap_and_add(tf.ones([2, 3], tf.complex64), 2),
        "name": lambda tf: tf.signal.overlap_and_add(signal=[[1.0]], frame_step=1, name="o"),
    }
)
def overlaps_given(tf, given):
    return given(tf)


# ---------------------------------------------------------------------------------- windows


@cases(
    op=["hann_window", "hamming_window"],
    length=[0, 1, 2, 3, 4, 7],
    periodic=[True, False],
    dtype=["float16", "bfloat16", "float32", "float64"],
)
def cosine_windows(tf, op, length, periodic, dtype):
    return getattr(tf.signal, op)(length, periodic, getattr(tf, dtype))


@cases(
    op=["vorbis_window", "kaiser_window", "kaiser_bessel_derived_window"],
    length=[0, 1, 2, 3, 4, 7],
    dtype=["float16", "float32", "float64"],
    tolerance=None,
)
def other_windows(tf, op, length, dtype):
    return getattr(tf.signal, op)(length, dtype=getattr(tf, dtype))


@cases(op=["kaiser_window", "kaiser_bessel_derived_window"], beta=[0.0, 1.0, 4.0, 30.0])
def beta(tf, op, beta):
    beta = tf.constant(beta, tf.float64)
    call = getattr(tf.signal, op)
    return first_only(tf, lambda b: call(6, b, dtype=tf.float64), beta)


@cases(
    op=["hann_window", "kaiser_window", "vorbis_window", "kaiser_bessel_derived_window"],
    given={
        "int_dtype": lambda tf, f: f(3, dtype=tf.int32),
        "complex_dtype": lambda tf, f: f(3, dtype=tf.complex64),
        "text_dtype": lambda tf, f: f(3, dtype="float32"),
        "tensor": lambda tf, f: f(tf.constant(3)),
        "long": lambda tf, f: f(tf.constant(3, tf.int64)),
        "float": lambda tf, f: f(3.0),
        "list": lambda tf, f: f([3]),
        "name": lambda tf, f: f(window_length=3, name="w"),
        "negative": lambda tf, f: f(-2),
    },
)
def windows_given(tf, op, given):
    return given(tf, getattr(tf.signal, op))


@cases(
    periodic={"int": 1, "none": None, "tensor": np.array(False), "list": [True], "text": "a"},
)
def periodic_given(tf, periodic):
    return tf.signal.hann_window(4, periodic=periodic)


# ------------------------------------------------------------------------------ spectrograms

STFT = {
    "plain": {},
    "padded": {"pad_end": True},
    "longer": {"fft_length": 16},
    "exact": {"fft_length": 5},
    "no_window": {"window_fn": None},
}


@cases(options=STFT, dtype=REAL, **NEAR)
def stft(tf, options, dtype):
    x = numbers(tf, (2, 13), dtype)
    return first_only(tf, lambda x: tf.signal.stft(x, 5, 2, **options), x)


@cases(options={k: v for k, v in STFT.items() if k != "padded"}, dtype=COMPLEX, **NEAR)
def inverse_stft(tf, options, dtype):
    size = options.get("fft_length", 8)
    x = numbers(tf, (2, 3, size // 2 + 1), dtype)
    return first_only(tf, lambda x: tf.signal.inverse_stft(x, 5, 2, **options), x)


@cases(
    given={
        "hamming": lambda tf, x: tf.signal.stft(x, 4, 2, window_fn=tf.signal.hamming_window),
        "own": lambda tf, x: tf.signal.stft(
            x, 4, 2, window_fn=lambda n, dtype: tf.ones([n], dtype)
        ),
        "window_of": lambda tf, x: tf.signal.stft(
            x, 4, 2, window_fn=lambda n, dtype: tf.cast(n, dtype) * tf.ones([4], dtype)
        ),
        "tensors": lambda tf, x: tf.signal.stft(x, tf.constant(4), tf.constant(2), tf.constant(8)),
        "ints": lambda tf, x: tf.signal.stft([1, 2, 3, 4], 2, 1),
        "half": lambda tf, x: tf.signal.stft(tf.cast(x, tf.float16), 4, 2),
        "list": lambda tf, x: tf.signal.stft([1.0, 2.0, 3.0, 4.0], 2, 1),
        "scalar": lambda tf, x: tf.signal.stft(1.0, 2, 1),
        "too_short": lambda tf, x: tf.signal.stft([1.0], 2, 1),
        "list_length": lambda tf, x: tf.signal.stft(x, [4], 2),
        "list_fft_length": lambda tf, x: tf.signal.stft(x, 4, 2, [8]),
        "power": lambda tf, x: tf.abs(tf.signal.stft(x, 4, 2)) ** 2,
        "shorter": lambda tf, x: tf.signal.stft(tf.stop_gradient(x), 5, 2, fft_length=3),
        "inverse_vector": lambda tf, x: tf.signal.inverse_stft(tf.constant([1j, 1j]), 2, 1),
        "inverse_real": lambda tf, x: tf.signal.inverse_stft(tf.ones([2, 3]), 4, 2),
        "round_trip": lambda tf, x: tf.signal.inverse_stft(
            tf.signal.stft(x, 4, 2), 4, 2, window_fn=tf.signal.inverse_stft_window_fn(2)
        ),
        "round_trip_hamming": lambda tf, x: tf.signal.inverse_stft(
            tf.signal.stft(x, 4, 1, window_fn=tf.signal.hamming_window),
            4,
            1,
            window_fn=tf.signal.inverse_stft_window_fn(
                1, forward_window_fn=tf.signal.hamming_window
            ),
        ),
        "window_fn": lambda tf, x: tf.signal.inverse_stft_window_fn(2)(5, dtype=tf.float64),
        "window_fn_large_step": lambda tf, x: tf.signal.inverse_stft_window_fn(7)(5, tf.float32),
        "window_fn_tensors": lambda tf, x: tf.signal.inverse_stft_window_fn(tf.constant(3))(
            tf.constant(8), dtype=tf.float32
        ),
        "names": lambda tf, x: tf.signal.stft(signals=x, frame_length=4, frame_step=2, name="s"),
    },
    **NEAR,
)
def stft_given(tf, given):
    return first_only(tf, lambda x: given(tf, x), numbers(tf, (12,)))


@cases(
    length=[4, 8],
    norm=[None, "ortho"],
    window={"vorbis": "vorbis_window", "kaiser": "kaiser_bessel_derived_window", "none": None},
    **NEAR,
)
def mdct(tf, length, norm, window):
    window = window and getattr(tf.signal, window)

    def there(x):
        return tf.signal.mdct(x, length, window, norm=norm)

    def back(x):
        return tf.signal.inverse_mdct(x, window, norm)

    x, y = numbers(tf, (2, 18), "float64"), numbers(tf, (2, 3, length // 2), "float64")
    return first_only(tf, there, x), first_only(tf, back, y)


@cases(
    given={
        "padded": lambda tf, x: tf.signal.mdct(x, 8, pad_end=True),
        "not_four": lambda tf, x: tf.signal.mdct(x, 6),
        "tensor": lambda tf, x: tf.signal.mdct(x, tf.constant(4)),
        "list_length": lambda tf, x: tf.signal.mdct(x, [4]),
        "scalar": lambda tf, x: tf.signal.mdct(1.0, 4),
        "norm": lambda tf, x: tf.signal.mdct(x, 4, norm="x"),
        "inverse_vector": lambda tf, x: tf.signal.inverse_mdct(tf.ones([2])),
        "inverse_odd": lambda tf, x: tf.signal.inverse_mdct(tf.ones([2, 3])),
        "round_trip": lambda tf, x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8)),
        "names": lambda tf, x: tf.signal.mdct(signals=x, frame_length=4, name="m"),
    },
    **NEAR,
)
def mdct_given(tf, given):
    return first_only(tf, lambda x: given(tf, x), numbers(tf, (14,)))


@cases(
    options={
        "default": {},
        "small": {"num_mel_bins": 4, "num_spectrogram_bins": 17},
        "rate": {"num_mel_bins": 3, "num_spectrogram_bins": 9, "sample_rate": 16000.0},
        "edges": {"num_mel_bins": 3, "num_spectrogram_bins": 9, "lower_edge_hertz": 0.0},
        "upper": {"num_mel_bins": 3, "num_spectrogram_bins": 9, "upper_edge_hertz": 4000.0},
        "double": {"num_mel_bins": 3, "num_spectrogram_bins": 9, "dtype": "float64"},
        "half": {"num_mel_bins": 3, "num_spectrogram_bins": 9, "dtype": "float16"},
        "no_bins": {"num_mel_bins": 0},
        "no_bins_in": {"num_spectrogram_bins": 0},
        "one_bin_in": {"num_spectrogram_bins": 1},
        "negative": {"lower_edge_hertz": -1.0},
        "crossed": {"lower_edge_hertz": 100.0, "upper_edge_hertz": 10.0},
        "no_rate": {"sample_rate": 0},
        "nyquist": {"upper_edge_hertz": 5000.0},
        "int": {"dtype": "int32"},
    },
    tolerance=1e-4,
    floor=1e-5,
)
def mel(tf, options):
    options = dict(options)
    if "dtype" in options:
        options["dtype"] = getattr(tf, options["dtype"])
    return tf.signal.linear_to_mel_weight_matrix(**options)


@cases(
    given={
        "tensor_rate": lambda tf: tf.signal.linear_to_mel_weight_matrix(
            3, 9, tf.constant(8000.0), name="m"
        ),
        "tensor_int_rate": lambda tf: tf.signal.linear_to_mel_weight_matrix(
            3, 9, tf.constant(8000)
        ),
        "tensor_bins": lambda tf: tf.signal.linear_to_mel_weight_matrix(3, tf.constant(9)),
        "text_dtype": lambda tf: tf.signal.linear_to_mel_weight_matrix(3, 9, dtype="float32"),
        "int_edges": lambda tf: tf.signal.linear_to_mel_weight_matrix(3, 9, 8000, 100, 3000),
    },
    tolerance=1e-4,
    floor=1e-5,
)
def mel_given(tf, given):
    return given(tf)


@cases(shape=[(4,), (2, 3), (2, 2, 5), (2, 0), (0, 3), (1,)], dtype=[*REAL, "float16"], **NEAR)
def mfccs(tf, shape, dtype):
    return grads(tf, tf.signal.mfccs_from_log_mel_spectrograms, numbers(tf, shape, dtype))


@case(tolerance=1e-3)
def speech_features(tf):
    """What speech recognition computes from samples, with its gradient."""
    x = numbers(tf, (2, 64), "float64")

    def features(x):
        spectrum = tf.abs(tf.signal.stft(x, 16, 8))
        matrix = tf.signal.linear_to_mel_weight_matrix(6, 9, dtype=tf.float64)
        logs = tf.math.log(tf.tensordot(spectrum, matrix, 1) + 1e-6)
        return tf.signal.mfccs_from_log_mel_spectrograms(logs)[..., :3]

    return first_only(tf, features, x)


# --------------------------------------------------- any axes: TensorFlow's CPU has no kernels


@cases(
    given={
        "fft_real": lambda tf: tf.signal.fftnd(tf.constant([1.0])),
        "rfft_int": lambda tf: tf.signal.rfftnd(tf.constant([1])),
        "irfft_real": lambda tf: tf.signal.irfftnd(tf.constant([1.0])),
        "raw_real": lambda tf: tf.fftnd(tf.constant([1.0]), [1], [0]),
    }
)
def over_any_axes(tf, given):
    return attempt(lambda: given(tf)), named(tf, "signal.ifftnd") is not None
