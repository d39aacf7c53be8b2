"""Images seen through a projective map: each pixel of the result is looked up in the image."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..autodiff.custom import custom_gradient
from ..core.apply import QUIET, restore, silence, tensor
from ..framework import convert

_FILLED = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")


def image_projective_transform(
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Any:
    """TensorFlow's op ImageProjectiveTransformV3.

    The place of (x, y) in the image is ((a x + b y + c) / k, (d x + e y + f) / k) where k is
    g x + h y + 1, for a row (a, b, c, d, e, f, g, h) of `transforms`, one for all or for each.
    """
    label = "ImageProjectiveTransformV3"
    for argument, value in (("interpolation", interpolation), ("fill_mode", fill_mode)):
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    given = convert.to_tensor(images)
    maps = convert.to_tensor(transforms, np.dtype(np.float32))
    size = np.asarray(convert.to_tensor(output_shape)._value).tolist()
    fill = convert.to_tensor(fill_value, np.dtype(np.float32))
    method, mode = _word(interpolation).upper(), _word(fill_mode).upper()
    if method not in ("NEAREST", "BILINEAR") or mode not in _FILLED:
        raise errors.invalid(
            f"interpolation {interpolation!r} must be NEAREST or BILINEAR, and fill_mode "
            f"{fill_mode!r} one of {', '.join(_FILLED)} [Op:{label}]"
        )
    shape = given._value.shape
    if len(shape) != 4 or maps._value.ndim != 2 or maps._value.shape[1] != 8:
        raise errors.invalid(
            f"images must be [batch, height, width, channels], got {list(shape)}, and transforms "
            f"[batch or 1, 8], got {list(maps._value.shape)} [Op:{label}]"
        )
    if maps._value.shape[0] not in (1, shape[0]):
        raise errors.invalid(f"Input transforms should be num_images x 8 or 1 x 8 [Op:{label}]")
    seen = partial(_seen, tuple(size), method, mode)

    @custom_gradient
    def call(images: Any) -> Any:
        values = images._value, maps._value, fill._value
        made = tensor(convert.computed(seen, *values))

        def grad(g: Any) -> Any:  # TensorFlow's: the gradient seen through the inverse map
            back = tensor(convert.computed(_inverse, maps._value))
            return image_projective_transform(g, back, shape[1:3], 0.0, method, mode)

        return made, grad

    return call(given)


def _word(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _inverse(maps: Any) -> Any:
    matrices = np.concatenate([maps, np.ones((len(maps), 1), maps.dtype)], 1).reshape(-1, 3, 3)
    inverse = np.linalg.inv(matrices).reshape(-1, 9)
    return (inverse[:, :8] / inverse[:, 8:]).astype(np.float32)


def _seen(size: tuple[int, int], method: str, mode: str, images: Any, maps: Any, fill: Any) -> Any:
    one = np.float32(1)
    y, x = (a.astype(np.float32) for a in np.meshgrid(*map(np.arange, size), indexing="ij"))
    made = np.empty((len(images), *size, images.shape[3]), images.dtype)
    for at, image in enumerate(images):
        a, b, c, d, e, f, g, h = maps[at if len(maps) > 1 else 0]
        token = silence[QUIET]
        try:
            below = g * x + h * y + one
            across, down = (a * x + b * y + c) / below, (d * x + e * y + f) / below
        finally:
            restore(token)
        lost = (below == 0) | ~np.isfinite(across) | ~np.isfinite(down)
        across = _mapped(np.where(lost, 0, across), image.shape[1], mode)
        down = _mapped(np.where(lost, 0, down), image.shape[0], mode)
        look = _nearest if method == "NEAREST" else _between
        found = look(image, down, across, fill)
        made[at] = np.where(lost[..., None], fill.astype(found.dtype), found)
    return made


def _mapped(at: Any, length: int, mode: str) -> Any:
    """Places outside of an axis, moved into it."""
    if mode == "CONSTANT":
        return at
    last = length - 1
    if mode == "NEAREST" or length <= 1:
        return np.clip(at, 0, last)
    if mode == "REFLECT":
        twice = np.float32(2 * length)
        low = np.where(at < twice, twice * np.trunc(-at / twice) + at, at)
        low = np.where(low < -length, low + twice, -low - 1)
        high = at - twice * np.trunc(at / twice)
        high = np.where(high >= length, twice - high - 1, high)
    else:
        low = at + length * (np.trunc(-at / last) + 1)
        high = at - length * np.trunc(at / last)
    return np.clip(np.where(at < 0, low, np.where(at > last, high, at)), 0, last)


def _read(image: Any, down: Any, across: Any, fill: Any, kind: Any = np.float32) -> Any:
    """Pixels at whole places; outside of the image, the value to fill with."""
    height, width = image.shape[:2]
    inside = (down >= 0) & (down < height) & (across >= 0) & (across < width)
    row = np.where(inside, down, 0).astype(np.int64)
    column = np.where(inside, across, 0).astype(np.int64)
    return np.where(inside[..., None], image[row, column].astype(kind), fill.astype(kind))


def _nearest(image: Any, down: Any, across: Any, fill: Any) -> Any:
    def rounded(at: Any) -> Any:  # halves away from 0
        return np.trunc(at + np.copysign(np.float32(0.5), at))

    return _read(image, rounded(down), rounded(across), fill, image.dtype)


def _between(image: Any, down: Any, across: Any, fill: Any) -> Any:
    top, left = np.floor(down), np.floor(across)
    right = (across - left)[..., None]
    bottom = (down - top)[..., None]
    rows = [
        (1 - right) * _read(image, row, left, fill) + right * _read(image, row, left + 1, fill)
        for row in (top, top + 1)
    ]
    return (1 - bottom) * rows[0] + bottom * rows[1]
