"""Images of another size: each result is a weighted mean of pixels near its place.

Along each axis a result takes from a few pixels, so resizing is two such sums (`ops/resample.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .. import errors
from ..arrays.reshaping import reshape
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import truth
from ..ops import index, shape
from ..ops.resample import Taps, resample
from .layout import check_size, pad_to_bounding_box, picture, size_of

_FLOAT = np.dtype(np.float32)


class ResizeMethod:
    """The kinds of interpolation that `tf.image.resize` knows."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# --- kernels: their radius, and their weight at a distance ----------------------------------------
def _cubic(x: Any) -> Any:
    near = ((1.5 * x - 2.5) * x) * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


def _mitchell(x: Any) -> Any:
    near = ((7.0 / 6.0 * x - 2.0) * x) * x + 8.0 / 9.0
    far = ((-7.0 / 18.0 * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0
    return np.where(x >= 2, 0.0, np.where(x >= 1, far, near))


def _lanczos(radius: float) -> Callable[[Any], Any]:
    def weight(x: Any) -> Any:
        far = np.float32(np.pi) * np.maximum(x, np.float32(1e-3))
        inside = radius * np.sin(far) * np.sin(far / radius) / (far * far)
        return np.where(x > radius, 0.0, np.where(x <= 1e-3, 1.0, inside))

    return weight


def _bell(x: Any) -> Any:
    return np.where(x >= 1.5, 0.0, np.exp(-(x**2) / (2.0 * 0.5**2)))


_KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bilinear": (1.0, lambda x: np.maximum(1.0 - x, 0.0)),
    "bicubic": (2.0, _cubic),
    "mitchellcubic": (2.0, _mitchell),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _bell),
}


def _pair(taps: Taps, old: int) -> tuple[Taps, Taps]:
    return taps, taps.turned(old)


def _by_kernel(old: int, new: int, method: str, antialias: bool) -> tuple[Taps, Taps]:
    """Weights by distance, from a wider neighbourhood where pixels are lost and `antialias`."""
    radius, kernel = _KERNELS[method]
    step = np.float32(1.0) / (np.float32(new) / np.float32(old))
    wide = np.float32(max(float(step), 1.0) if antialias else 1.0)
    place = ((np.arange(new, dtype=np.float32) + np.float32(0.5)) * step)[:, None]
    first, last = (
        np.clip(edge(place + sign * radius * wide - np.float32(0.5)), 0, old - 1).astype(int)
        for edge, sign in ((np.ceil, -1), (np.floor, 1))
    )
    pixel = first + np.arange(min(2 * math.ceil(radius * wide) + 1, old))
    # In float32, as TensorFlow: the sign of a weight near 0 is that of inf times it.
    distance = np.abs(pixel.astype(np.float32) + np.float32(0.5) - place)
    weights = kernel(distance * (np.float32(1.0) / wide))
    weights = np.where(pixel <= last, weights, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(np.abs(total) > 1e-35, weights / np.where(total == 0, 1.0, total), 0.0)
    taps = _spans(first[:, 0], weights, old)
    return taps, _turned_spans(taps, old)


def _spans(first: Any, weights: Any, size: int) -> Taps:
    """Pixels side by side, as far as there are any."""
    places = first[:, None] + np.arange(weights.shape[1])
    return Taps(np.where(places < size, places, -1), weights)


def _turned_spans(taps: Taps, old: int) -> Taps:
    """Results side by side, from the first to the last that a pixel has a part in.

    All spans are as long as the longest, as TensorFlow's, where 0 times inf in them is nan.
    """
    new = len(taps.places)
    full = np.zeros((old, new))
    result, tap = np.nonzero(taps.places >= 0)
    full[taps.places[result, tap], result] = taps.weights[result, tap]
    has = full != 0
    first = np.argmax(has, axis=1)
    last = np.where(has.any(axis=1), new - 1 - np.argmax(has[:, ::-1], axis=1), -1)
    width = int((last - first + 1).max(initial=0))
    places = first[:, None] + np.arange(width)
    weights = np.take_along_axis(full, np.minimum(places, new - 1), axis=1)
    return _spans(first, weights, new)


def _places(old: int, new: int) -> tuple[Any, Any]:
    """Where the results lie among the pixels, and the part of the way to the next."""
    place = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)
    place = place - np.float32(0.5)
    return place, place - np.floor(place)


def _bilinear(old: int, new: int) -> tuple[Taps, Taps]:
    place, part = _places(old, new)
    places = np.stack([np.maximum(np.floor(place), 0), np.minimum(np.ceil(place), old - 1)], axis=1)
    return _pair(Taps(places.astype(int), np.stack([1.0 - part, part], axis=1), between=True), old)


def _bicubic(old: int, new: int) -> tuple[Taps, Taps]:
    place, part = _places(old, new)
    # TensorFlow reads the weights from a table with 1024 steps.
    part = np.rint(part * 1024.0) / 1024.0
    offsets = np.arange(-1, 3)
    pixel = np.floor(place)[:, None].astype(int) + offsets
    places = np.clip(pixel, 0, old - 1)
    weights = np.where(pixel == places, _cubic(np.abs(offsets - part[:, None])), 0.0)
    return _pair(Taps(places, weights / weights.sum(axis=1, keepdims=True)), old)


def _area(old: int, new: int) -> tuple[Taps, Taps]:
    step = np.float32(old / new)
    start = (np.arange(new, dtype=np.float32) * step)[:, None]
    end = (np.arange(1, new + 1, dtype=np.float32) * step)[:, None]
    first, last = np.floor(start).astype(int), np.ceil(end).astype(int)
    pixel = first + np.arange(int((last - first).max(initial=0)))
    weights = np.minimum(pixel + 1, end) - np.maximum(pixel, start)
    places = np.where(pixel < last, np.minimum(pixel, old - 1), -1)
    return _pair(Taps(places, weights / step), old)


@lru_cache(maxsize=64)
def _taps(old: int, new: int, method: str, antialias: bool) -> tuple[Taps, Taps]:
    """What each row of the result takes of which rows, and the transpose of that."""
    if method == "area":
        return _area(old, new)
    if not antialias and method == "bilinear":
        return _bilinear(old, new)
    if not antialias and method == "bicubic":
        return _bicubic(old, new)
    return _by_kernel(old, new, method, antialias)


def _nearest(x: Any, rows: int, columns: int) -> Any:
    height, width = size_of(x)
    for axis, old, new in ((1, height, rows), (2, width, columns)):
        step = np.float32(old / new)
        place = np.floor((np.arange(new, dtype=np.float32) + np.float32(0.5)) * step)
        places = np.minimum(place, old - 1).astype(np.int64)
        x = index.take.apply(x, tensor(places), axis=axis)
    return x


# --- the functions --------------------------------------------------------------------------------
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size, as float32 unless the nearest pixels are taken.

    Differs from TensorFlow: resizing by area has a gradient too.

    >>> import gradtape as tf
    >>> tf.image.resize(tf.reshape([0.0, 1.0], [1, 2, 1]), [1, 4])[0, :, 0]
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([0.  , 0.25, 0.75, 1.  ], dtype=float32)>
    """
    x = convert.to_tensor(images)
    if x._value.ndim not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    batch = x._value.ndim == 4
    rows, columns = check_size(size)
    height, width = size_of(x)
    if preserve_aspect_ratio:
        scale = min(np.float32(rows / height), np.float32(columns / width))
        rows, columns = (int(np.rint(np.float32(scale) * n)) for n in (height, width))
    if (rows, columns) == (height, width):
        same = method == "nearest" or x._value.dtype == _FLOAT
        return x if same else shape.cast.apply(x, dtype=_FLOAT)
    if method not in ("nearest", "area", *_KERNELS):
        raise ValueError(f"Resize method is not implemented: {method}")
    if rows <= 0 or columns <= 0:
        raise errors.invalid(f"output dimensions must be positive, got [{rows}, {columns}]")
    if not batch:
        x = reshape(x, (1, *x._value.shape))
    y = _resized(x, rows, columns, method, truth(antialias, "antialias"))
    return y if batch else reshape(y, y._value.shape[1:])


def _resized(x: Any, rows: int, columns: int, method: str, antialias: bool) -> Any:
    if method == "nearest":
        return _nearest(x, rows, columns)
    if x._value.dtype != _FLOAT:
        x = shape.cast.apply(x, dtype=_FLOAT)
    height, width = size_of(x)
    # Along the rows first, as TensorFlow: inf among two pixels of a row is nan already.
    for axis, old, new in ((-2, width, columns), (-3, height, rows)):
        taps, turned = _taps(old, new, method, antialias)
        x = resample.apply(x, axis=axis, taps=taps, turned=turned)
    return x


def resize_with_pad(
    image: Any, target_height: Any, target_width: Any, method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:  # fmt: skip
    """Images of another size with their proportions kept, and zeros around."""
    x, _ = picture(image)
    rows, columns = check_size([int(target_height), int(target_width)])
    if rows <= 0 or columns <= 0:
        raise ValueError(f"target_{'height' if rows <= 0 else 'width'} must be > 0.")
    height, width = size_of(x)
    ratio = max(height / rows, width / columns)
    high, wide = height / ratio, width / ratio
    # By the sizes before they are rounded down, as TensorFlow.
    top, left = (max(int((new - size) // 2), 0) for new, size in ((rows, high), (columns, wide)))
    y = resize(x, [int(high), int(wide)], method, antialias=antialias)
    if max(rows, columns) >= 2**31:
        raise errors.invalid(f"an image of {rows} by {columns} is too large [Op:ResizeBilinear]")
    above, before = tensor(np.array(top, np.int32)), tensor(np.array(left, np.int32))
    return pad_to_bounding_box(y, above, before, target_height, target_width)
