"""Windows: the weights of the samples in a frame, made in the dtype that is asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.reshaping import concat
from ..arrays.values import cast
from ..core.apply import QUIET, restore, silence, tensor
from ..framework import convert
from ..math.elementwise import bessel_i0e, exp, sqrt
from ..math.reductions import cumsum

_INT32 = np.dtype(np.int32)


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """A raised cosine that begins at 0: Hann's window.

    >>> import gradtape as tf
    >>> tf.signal.hann_window(4).numpy().tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """A raised cosine that begins at 0.08: Hamming's window."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(window_length: Any, periodic: Any, dtype: Any, a: float, b: float) -> Any:
    kind = _floating(dtype)
    n = _length(window_length)
    if n == 1:
        return tensor(np.ones(1, kind))
    wraps = bool(_scalar(periodic, np.dtype(bool), "periodic"))
    # A window of odd length is symmetric even if a periodic one is asked for, as in TensorFlow.
    last = kind.type(n - 1 + (wraps and n % 2 == 0))
    token = silence[QUIET]
    try:
        angle = kind.type(2 * math.pi) * _places(n).astype(kind) / last
        return tensor(kind.type(a) - kind.type(b) * np.cos(angle))
    finally:
        restore(token)


def vorbis_window(window_length: Any, dtype: Any = dtypes.float32, name: Any = None) -> Any:
    """The window of the Vorbis codec, whose squares add up to 1 half a window apart."""
    kind = _floating(dtype)
    n = _length(window_length)
    token = silence[QUIET]
    try:
        place = _places(n).astype(kind) + kind.type(0.5)
        inner = np.sin(kind.type(math.pi) / kind.type(n) * place)
        return tensor(np.sin(kind.type(math.pi / 2) * np.square(inner)))
    finally:
        restore(token)


def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """Kaiser's window: the wider its peak, the larger `beta`, through which gradients flow."""
    kind = _floating(dtype)
    n = _length(window_length, 1)
    if n == 1:
        return tensor(np.ones(1, kind))
    half = np.float32((n - 1.0) / 2.0)
    place = _places(-half, half + np.float32(0.1), dtype=np.float32).astype(kind)
    beta = cast(beta, dtype)
    token = silence[QUIET]
    try:
        arc = np.sqrt(np.maximum(kind.type(1) - np.square(place / half.astype(kind)), kind.type(0)))
    finally:
        restore(token)
    inner = beta * tensor(arc)
    return exp(inner - beta) * (bessel_i0e(inner) / bessel_i0e(beta))


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """The window made of a Kaiser window's running sum, whose squares add up as Vorbis's do."""
    _floating(dtype)
    sums = cumsum(kaiser_window(_length(window_length) // 2 + 1, beta, dtype))
    half = sqrt(sums[:-1] / sums[-1])
    return concat([half, half[::-1]], 0)


def _places(*ends: Any, **options: Any) -> Any:
    try:
        return np.arange(*ends, **options)
    except MemoryError as error:
        raise errors.exhausted("Range", error) from None


def _floating(dtype: Any) -> np.dtype:
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    return np.dtype(dtype.as_numpy_dtype)


def _length(value: Any, least: int = 0) -> int:
    n = int(_scalar(value, _INT32, "window_length"))
    if n < least:
        raise errors.invalid(f"window_length must be at least {least}, got {n} [Op:Range] name: ")
    return n


def _scalar(value: Any, dtype: np.dtype, argument: str) -> Any:
    array = convert.to_tensor(value, dtype)._value
    if array.ndim:
        raise ValueError(f"Shape {array.shape} must have rank 0: {argument} is one value.")
    return array
