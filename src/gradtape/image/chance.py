"""Images changed at random, by the numbers that TensorFlow draws for a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..arrays.gathering import where
from ..arrays.reshaping import slice as part_of
from ..core.apply import tensor
from ..framework import convert
from ..random import stateless_uniform, uniform
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .layout import flip_left_right, flip_up_down, picture


def _draw(seed: Any, stateless: bool) -> Callable[..., Any]:
    if stateless:
        return lambda shape, low=0.0, high=1.0: stateless_uniform(shape, seed, low, high)
    return lambda shape, low=0.0, high=1.0: uniform(shape, low, high, seed=seed)


# --- flips ----------------------------------------------------------------------------------------
def _flipped(image: Any, flip: Callable[..., Any], draw: Callable[..., Any]) -> Any:
    x, batch = picture(image)
    if batch:
        stays = draw([x._value.shape[0]]) < 0.5
        return where(stays[:, None, None, None], x, flip(x))
    turns = draw([]) < 0.5
    if convert.is_recorded(turns._value):
        return where(turns, flip(x), x)
    return flip(x) if turns else x


def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """The image or, half of the time, its mirror image."""
    return _flipped(image, flip_left_right, _draw(seed, False))


def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """The image or, half of the time, the same upside down."""
    return _flipped(image, flip_up_down, _draw(seed, False))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """random_flip_left_right that is the same for the same seed."""
    return _flipped(image, flip_left_right, _draw(seed, True))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """random_flip_up_down that is the same for the same seed."""
    return _flipped(image, flip_up_down, _draw(seed, True))


# --- colours --------------------------------------------------------------------------------------
def _brightness(image: Any, max_delta: Any, draw: Callable[..., Any]) -> Any:
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, draw([], -max_delta, max_delta))


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """The image with a random number within max_delta of 0 added."""
    return _brightness(image, max_delta, _draw(seed, False))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """random_brightness that is the same for the same seed."""
    return _brightness(image, max_delta, _draw(seed, True))


def _contrast(image: Any, lower: Any, upper: Any, draw: Callable[..., Any]) -> Any:
    _bounds(lower, upper)
    return adjust_contrast(image, draw([], lower, upper))


def _bounds(lower: Any, upper: Any) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """The image with its contrast times a random factor."""
    return _contrast(image, lower, upper, _draw(seed, False))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """random_contrast that is the same for the same seed."""
    return _contrast(image, lower, upper, _draw(seed, True))


def _hue(image: Any, max_delta: Any, draw: Callable[..., Any]) -> Any:
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, draw([], -max_delta, max_delta))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """The image with its colours turned by a random part of the circle."""
    return _hue(image, max_delta, _draw(seed, False))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """random_hue that is the same for the same seed."""
    return _hue(image, max_delta, _draw(seed, True))


def _saturation(image: Any, lower: Any, upper: Any, draw: Callable[..., Any]) -> Any:
    _bounds(lower, upper)
    return adjust_saturation(image, draw([], lower, upper))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """The image with its saturation times a random factor."""
    return _saturation(image, lower, upper, _draw(seed, False))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """random_saturation that is the same for the same seed."""
    return _saturation(image, lower, upper, _draw(seed, True))


# --- crops ----------------------------------------------------------------------------------------
def _cropped(value: Any, size: Any, draw: Callable[..., Any]) -> Any:
    x = convert.to_tensor(value)
    whole = convert.to_tensor(size)._value.dtype.kind in "iu"
    wanted = np.asarray(convert.to_tensor(size, None if whole else np.dtype(np.int32))._value)
    wanted = wanted.astype(np.int32)
    shape = np.array(x._value.shape, np.int32)
    if wanted.shape != shape.shape or (wanted > shape).any():
        raise errors.invalid(
            f"Need value.shape >= size, got {shape.tolist()} and {wanted.tolist()}"
        )  # fmt: skip
    choices = shape - wanted + 1
    offsets = convert.computed(lambda drawn: drawn % choices, draw([len(shape)])._value)
    return part_of(x, tensor(offsets), wanted)


_LARGEST = np.iinfo(np.int32).max


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of this size at a random place."""
    draw = lambda shape: uniform(shape, maxval=_LARGEST, dtype="int32", seed=seed)
    return _cropped(value, size, draw)


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """random_crop that is the same for the same seed."""
    draw = lambda shape: stateless_uniform(shape, seed, 0, _LARGEST, "int32")
    return _cropped(value, size, draw)
