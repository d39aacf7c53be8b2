"""Images of another size: each result is a weighted mean of pixels near its place.

Along each axis the weights are a matrix, so resizing is two products and so is its gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import convert, errors
from ..core.apply import tensor
from ..ops import index, linear, shape
from ..rearranging import reshape
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
        inside = np.sinc(x) * np.sinc(x / radius)
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


def _by_kernel(old: int, new: int, method: str, antialias: bool) -> Any:
    """Weights by distance, from a wider neighbourhood where pixels are lost and `antialias`."""
    radius, kernel = _KERNELS[method]
    step = 1.0 / np.float64(np.float32(new) / np.float32(old))
    wide = max(step, 1.0) if antialias else 1.0
    place = ((np.arange(new) + 0.5) * step)[:, None]
    pixel = np.arange(old) + 0.5
    distance = np.abs(pixel - place) / wide
    weights = np.where(np.abs(pixel - place) <= radius * wide, kernel(distance), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return np.where(np.abs(total) > 1e-30, weights / np.where(total == 0, 1.0, total), 0.0)


def _bilinear(old: int, new: int) -> Any:
    place = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)
    place = place - np.float32(0.5)
    below = np.floor(place)
    part = place - below
    low = np.maximum(below, 0).astype(int)
    high = np.minimum(np.ceil(place), old - 1).astype(int)
    weights = np.zeros((new, old))
    rows = np.arange(new)
    np.add.at(weights, (rows, low), 1.0 - part)
    np.add.at(weights, (rows, high), part)
    return weights


def _bicubic(old: int, new: int) -> Any:
    place = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)
    place = place - np.float32(0.5)
    below = np.floor(place)
    # TensorFlow reads the weights from a table with 1024 steps.
    part = np.rint((place - below) * 1024.0) / 1024.0
    weights = np.zeros((new, old))
    for offset in (-1, 0, 1, 2):
        pixel = (below + offset).astype(int)
        inside = (pixel >= 0) & (pixel < old)
        rows = np.flatnonzero(inside)
        weights[rows, pixel[inside]] = _cubic(np.abs(offset - part[inside]))
    return weights / weights.sum(axis=1, keepdims=True)


def _area(old: int, new: int) -> Any:
    step = np.float32(old / new)
    start = (np.arange(new) * step)[:, None]
    pixel = np.arange(old)
    overlap = np.minimum(pixel + 1, start + step) - np.maximum(pixel, start)
    return np.maximum(overlap, 0.0) / step


def _weights(old: int, new: int, method: str, antialias: bool) -> Any:
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
    if rows <= 0 or columns <= 0:
        raise errors.invalid(f"output dimensions must be positive, got [{rows}, {columns}]")
    if not batch:
        x = reshape(x, (1, *x._value.shape))
    y = _resized(x, rows, columns, method, antialias)
    return y if batch else reshape(y, y._value.shape[1:])


def _resized(x: Any, rows: int, columns: int, method: str, antialias: bool) -> Any:
    if method == "nearest":
        return _nearest(x, rows, columns)
    if method not in _KERNELS and method != "area":
        raise ValueError(f"Resize method is not implemented: {method}")
    if x._value.dtype != _FLOAT:
        x = shape.cast.apply(x, dtype=_FLOAT)
    height, width = size_of(x)
    down = tensor(_weights(height, rows, method, antialias).astype(_FLOAT))
    across = tensor(_weights(width, columns, method, antialias).astype(_FLOAT))
    y = linear.contract.apply(down, x, equation="ih,bhwc->biwc")
    return linear.contract.apply(across, y, equation="jw,biwc->bijc")


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
    return pad_to_bounding_box(y, top, left, rows, columns)
