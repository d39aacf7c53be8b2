"""`tf.fftnd` and its kin: the transforms of `tf.signal` over any axes, under their ops' names.

Differs from TensorFlow: its CPU has no kernels for these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import convert, dtypes
from ..arguments import listed_dtype
from ..ops import fourier as ops
from . import fourier


def fftnd(input: Any, fft_length: Any, axes: Any, name: Any = None) -> Any:
    """The discrete Fourier transform over the given axes, cut or filled up to `fft_length`."""
    _plain_first(fft_length, axes)
    return fourier.over(ops.fft, fourier.complex_input(input, "FFTND"), fft_length, axes)


def ifftnd(input: Any, fft_length: Any, axes: Any, name: Any = None) -> Any:
    """What `fftnd` makes this of."""
    _plain_first(fft_length, axes)
    return fourier.over(ops.ifft, fourier.complex_input(input, "IFFTND"), fft_length, axes)


def rfftnd(
    input: Any, fft_length: Any, axes: Any, Tcomplex: Any = dtypes.complex64, name: Any = None
) -> Any:
    """The Fourier transform of real numbers, of the last axis only half the frequencies."""
    return fourier.rfftnd(input, fft_length, axes)


def irfftnd(
    input: Any, fft_length: Any, axes: Any, Treal: Any = dtypes.float32, name: Any = None
) -> Any:
    """What `rfftnd` makes this of."""
    listed_dtype(Treal, "Treal", ("float32", "float64"), "IRFFTND", "float32")
    return fourier.over(ops.irfft, fourier.complex_input(input, "IRFFTND"), fft_length, axes)


def _plain_first(fft_length: Any, axes: Any) -> None:
    """Beside axes that are no tensor, TensorFlow converts the lengths before it looks at dtypes."""
    if not (convert.is_tensor_like(axes) or isinstance(axes, (int, np.ndarray))):
        convert.to_tensor(fft_length, np.dtype(np.int32))
