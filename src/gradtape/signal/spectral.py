"""Transforms of a signal frame by frame, and back: short-time Fourier and modified cosine."""

from __future__ import annotations

import math
from typing import Any

from ..arrays.creation import zeros_like
from ..arrays.gathering import where
from ..arrays.reshaping import concat, pad, reshape, reverse, split, tile
from ..framework import convert
from ..math.elementwise import square
from ..math.reductions import reduce_sum
from .cosine import dct
from .fourier import at_least, irfft, rfft
from .frames import frame, overlap_and_add, scalar
from .windows import hann_window, vorbis_window


def stft(
    signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Any = hann_window, pad_end: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The short-time Fourier transform: the frequencies of each frame.

    >>> import gradtape as tf
    >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
    TensorShape([3, 5])
    """
    x = convert.to_tensor(signals)
    at_least(x, 1)
    length = scalar(frame_length, "frame_length")
    size = _power_of_two(length) if fft_length is None else fft_length
    frames = frame(x, frame_length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(convert.to_tensor(frame_length), dtype=frames.dtype)
    return rfft(frames, [size])


def inverse_stft(
    stfts: Any, frame_length: Any, frame_step: Any, fft_length: Any = None,
    window_fn: Any = hann_window, name: Any = None,
) -> Any:  # fmt: skip
    """The signal of which these are the frequencies of each frame.

    It is the signal that `stft` was given if `window_fn` is `inverse_stft_window_fn(frame_step)`.
    """
    x = convert.to_tensor(stfts)
    at_least(x, 2)
    length, step = scalar(frame_length, "frame_length"), scalar(frame_step, "frame_step")
    size = _power_of_two(length) if fft_length is None else scalar(fft_length, "fft_length")
    frames = irfft(x, [size])
    if size > length:
        frames = frames[..., :length]
    elif size < length:
        frames = pad(frames, [[0, 0]] * (frames._value.ndim - 1) + [[0, length - size]])
    if window_fn is not None:
        frames = frames * window_fn(convert.to_tensor(frame_length), dtype=x.dtype.real_dtype)
    return overlap_and_add(frames, step)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Any = hann_window, name: Any = None
) -> Any:
    """The window for `inverse_stft` that gives back what `stft` had, with the window it had."""

    def window_fn(frame_length: Any, dtype: Any) -> Any:
        step, length = scalar(frame_step, "frame_step"), scalar(frame_length, "frame_length")
        window = forward_window_fn(frame_length, dtype=dtype)
        # What the squared windows of all frames add up to, sample by sample.
        overlaps = -(-length // step)
        squares = pad(square(window), [[0, overlaps * step - length]])
        total = reduce_sum(reshape(squares, [overlaps, step]), 0)
        total = tile(total, [overlaps])[:length]
        return where(total == 0.0, zeros_like(window), window / total)

    return window_fn


def mdct(
    signals: Any, frame_length: Any, window_fn: Any = vorbis_window, pad_end: bool = False,
    norm: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """The modified cosine transform of frames that overlap by half: half as many numbers each.

    >>> import gradtape as tf
    >>> tf.signal.mdct(tf.ones([16]), frame_length=8).shape
    TensorShape([3, 4])
    """
    x = convert.to_tensor(signals)
    at_least(x, 1)
    if scalar(frame_length, "frame_length") % 4:
        raise ValueError(f"The frame length must be a multiple of 4, got {frame_length!r}.")
    length = convert.to_tensor(frame_length)
    frames = frame(x, length, length // 2, pad_end=pad_end)
    frames = frames * _window(window_fn, length, frames.dtype)
    a, b, c, d = split(frames, 4, axis=-1)
    folded = concat([-reverse(c, [-1]) - d, a - reverse(b, [-1])], axis=-1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(
    mdcts: Any, window_fn: Any = vorbis_window, norm: Any = None, name: Any = None
) -> Any:
    """The signal of which this is the modified cosine transform, made with the same window."""
    x = convert.to_tensor(mdcts)
    at_least(x, 2)
    half = x._value.shape[-1]
    folded = dct(x, type=4, norm=norm)
    if norm is None:
        folded = (0.5 / half) * folded
    first, second = split(folded, 2, axis=-1)
    parts = [second, -reverse(second, [-1]), -reverse(first, [-1]), -first]
    frames = concat(parts, axis=-1)
    frames = frames * _window(window_fn, convert.to_tensor(2 * half), x.dtype)
    return overlap_and_add(frames, half)


def _window(window_fn: Any, length: Any, dtype: Any) -> Any:
    return math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=dtype)


def _power_of_two(n: int) -> int:
    if n < 0:
        raise ValueError(f"frame_length must not be negative, got {n}.")
    return 1 << (n - 1).bit_length() if n else 0
