"""`tf.fftnd` and its kin: the transforms of `tf.signal` over any axes, under their ops' names.

Differs from TensorFlow: its CPU has no kernels for these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import allow, defaulted, listed_dtype
from ..ops import fourier as ops
from . import fourier


def fftnd(input: Any, fft_length: Any, axes: Any, name: Any = None) -> Any:
    """The discrete Fourier transform over the given axes, cut or filled up to `fft_length`."""
    return _complex(ops.fft, input, fft_length, axes)


def ifftnd(input: Any, fft_length: Any, axes: Any, name: Any = None) -> Any:
    """What `fftnd` makes this of."""
    return _complex(ops.ifft, input, fft_length, axes)


def rfftnd(
    input: Any, fft_length: Any, axes: Any, Tcomplex: Any = dtypes.complex64, name: Any = None
) -> Any:
    """The Fourier transform of real numbers, of the last axis only half the frequencies."""
    _plain_first(fft_length, axes)
    listed_dtype(Tcomplex, "Tcomplex", ("complex64", "complex128"), "RFFTND", "complex64")
    x = defaulted(input, "float32")
    allow(x, "RFFTND", "float32 float64", "Treal")
    return fourier.over(ops.rfft, x, fft_length, axes)


def irfftnd(
    input: Any, fft_length: Any, axes: Any, Treal: Any = dtypes.float32, name: Any = None
) -> Any:
    """What `rfftnd` makes this of."""
    _plain_first(fft_length, axes)
    listed_dtype(Treal, "Treal", ("float32", "float64"), "IRFFTND", "float32")
    return _complex(ops.irfft, input, fft_length, axes)


def _complex(op: Op, input: Any, fft_length: Any, axes: Any) -> Any:
    _plain_first(fft_length, axes)
    return fourier.over(op, fourier.complex_input(input, f"{op.label}ND"), fft_length, axes)


def _plain_first(fft_length: Any, axes: Any) -> None:
    """What is no tensor is converted before the op looks at dtypes, and with it all the rest."""
    quick = convert.quickly(fft_length) and convert.quickly(axes)
    for value in (fft_length, axes):
        if not (quick and convert.is_tensor_like(value)):
            convert.to_tensor(value, np.dtype(np.int32))
