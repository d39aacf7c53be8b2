"""The mel scale, on which tones sound equally far apart, and what is computed on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.creation import linspace
from ..arrays.reshaping import pad
from ..arrays.values import cast
from ..core.apply import tensor
from ..framework import convert
from ..math.elementwise import log, maximum, minimum
from .cosine import dct


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0, dtype: Any = dtypes.float32,
    name: Any = None,
) -> Any:  # fmt: skip
    """The matrix of triangles that turns a spectrogram's frequencies into bands of the mel scale.

    >>> import gradtape as tf
    >>> tf.signal.linear_to_mel_weight_matrix(4, 9).shape
    TensorShape([9, 4])
    """
    rate = getattr(sample_rate, "_value", sample_rate)
    _check(num_mel_bins, rate, lower_edge_hertz, upper_edge_hertz, dtype)
    rate = cast(rate, dtype)
    zero, low, high = (
        convert.to_tensor(edge, np.dtype(dtype.as_numpy_dtype))
        for edge in (0.0, lower_edge_hertz, upper_edge_hertz)
    )
    # The frequency zero is in no band, as in the Hidden Markov Model Toolkit.
    bins = _mel(linspace(zero, rate / 2.0, num_spectrogram_bins)[1:])[:, None]
    edges = linspace(_mel(low), _mel(high), num_mel_bins + 2)
    before, middle, after = edges[:-2], edges[1:-1], edges[2:]
    rise, fall = (bins - before) / (middle - before), (after - bins) / (after - middle)
    return pad(maximum(zero, minimum(rise, fall)), [[1, 0], [0, 0]])


def _mel(hertz: Any) -> Any:
    return 1127.0 * log(1.0 + hertz / 700.0)


def _check(bins: Any, rate: Any, low: Any, high: Any, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if high > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {high} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: Any = None) -> Any:
    """The cepstral coefficients of spectrograms on the mel scale, scaled as the HTK does."""
    x = convert.to_tensor(log_mel_spectrograms)
    if not x._value.ndim:
        raise errors.invalid("slice index -1 of dimension 0 out of bounds. [Op:StridedSlice]")
    bins = x._value.shape[-1]
    if not bins:
        raise ValueError(f"num_mel_bins must be positive. Got: {x!r}")
    return dct(x, type=2) * tensor(x._value.dtype.type(1.0 / math.sqrt(2.0 * bins)))
