"""Images turned, flipped, cut and framed: [height, width, channels], or a batch of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..arrays.reshaping import pad, reshape, stack
from ..arrays.reshaping import reverse as reversed_along
from ..arrays.reshaping import transpose as permuted
from ..framework import convert
from ..framework.arguments import number
from ..ops.index import getitem


def picture(image: Any, label: str = "image") -> tuple[Any, bool]:
    """A tensor of three or four axes, and whether it is a batch."""
    x = convert.to_tensor(image)
    if x._value.ndim not in (3, 4):
        raise ValueError(
            f"'{label}' (shape {x.shape}) must have either 3 or 4 dimensions: "
            "[height, width, channels], or a batch of them."
        )
    if 0 in x._value.shape[-3:]:
        raise ValueError(f"inner 3 dims of '{label}.shape' must be > 0: {x.shape}")
    return x, x._value.ndim == 4


def size_of(x: Any) -> tuple[int, int]:
    height, width = x._value.shape[-3:-1]
    return height, width


def flip_left_right(image: Any) -> Any:
    """The mirror image.

    >>> import gradtape as tf
    >>> tf.image.flip_left_right(tf.reshape([1.0, 2.0, 3.0], [1, 3, 1]))[0, :, 0]
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([3., 2., 1.], dtype=float32)>
    """
    x, _ = picture(image)
    return reversed_along(x, [x._value.ndim - 2])


def flip_up_down(image: Any) -> Any:
    """The image upside down."""
    x, _ = picture(image)
    return reversed_along(x, [x._value.ndim - 3])


def transpose(image: Any, name: str | None = None) -> Any:
    """Rows for columns."""
    x, batch = picture(image)
    return permuted(x, [0, 2, 1, 3] if batch else [1, 0, 2])


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """The image turned to the left, k times."""
    x, _ = picture(image)
    turns = number(k) % 4
    if turns == 1:
        return flip_up_down(transpose(x))
    if turns == 2:
        return flip_up_down(flip_left_right(x))
    return flip_left_right(transpose(x)) if turns == 3 else x


# --- cutting and framing --------------------------------------------------------------------------
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """The part of an image with this corner and size."""
    x, _ = picture(image)
    top, left = number(offset_height), number(offset_width)
    rows, columns = number(target_height), number(target_width)
    height, width = size_of(x)
    _require(left >= 0, "offset_width must be >= 0.", offset_width)
    _require(top >= 0, "offset_height must be >= 0.", offset_height)
    _require(columns > 0, "target_width must be > 0.", target_width)
    _require(rows > 0, "target_height must be > 0.", target_height)
    across, down = (target_width, offset_width), (target_height, offset_height)
    _require(width >= columns + left, "width must be >= target + offset.", *across)
    _require(height >= rows + top, "height must be >= target + offset.", *down)
    return _cut(x, top, left, rows, columns)


def _require(holds: bool, message: str, *given: Any) -> None:
    """A condition on arguments, which TensorFlow leaves to an op if tensors are among them."""
    if not holds:
        by_op = any(map(convert.is_tensor_like, given))
        raise errors.invalid(f"{message} [Op:Assert]") if by_op else ValueError(message)


def _cut(x: Any, top: int, left: int, rows: int, columns: int) -> Any:
    key = (slice(top, top + rows), slice(left, left + columns), slice(None))
    return getitem.apply(x, key=(..., *key))


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """An image of this size with zeros around the given one."""
    x, _ = picture(image)
    height, width = size_of(x)
    right = target_width - offset_width - width
    below = target_height - offset_height - height
    _require(_single(offset_height) >= 0, "offset_height must be >= 0", offset_height)
    _require(_single(offset_width) >= 0, "offset_width must be >= 0", offset_width)
    across, down = (target_width, offset_width), (target_height, offset_height)
    _require(_single(right) >= 0, "width must be <= target - offset", *across)
    _require(_single(below) >= 0, "height must be <= target - offset", *down)
    frame = stack([0, 0, offset_height, below, offset_width, right, 0, 0])
    return pad(x, reshape(frame, [4, 2])[4 - x._value.ndim :])


def _single(value: Any) -> Any:
    """A number to compare, which may be a fraction still."""
    held = np.asarray(getattr(value, "_value", value))
    return held.reshape(()) if held.size == 1 and held.dtype.kind in "biuf" else number(value)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """The middle part of an image, a fraction of each side."""
    held = convert.to_tensor(central_fraction)._value
    if np.size(held) != 1:
        raise ValueError(f"central_fraction must be a single number, got {central_fraction!r}")
    fraction = float(np.reshape(held, ()))
    if not 0 < fraction <= 1:
        message = f"central_fraction must be within (0, 1], got {fraction}"
        raise ValueError(message)
    x, _ = picture(image)
    if fraction == 1:
        return x
    height, width = size_of(x)
    top, left = (int((n - n * fraction) / 2) for n in (height, width))
    return _cut(x, top, left, height - 2 * top, width - 2 * left)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """An image of this size, cut or framed about its middle."""
    x, _ = picture(image)
    rows, columns = number(target_height), number(target_width)
    _require(columns > 0, "target_width must be > 0.")
    _require(rows > 0, "target_height must be > 0.")
    height, width = size_of(x)
    top, left = max((height - rows) // 2, 0), max((width - columns) // 2, 0)
    x = _cut(x, top, left, min(rows, height), min(columns, width))
    above, before = max((rows - height) // 2, 0), max((columns - width) // 2, 0)
    return pad_to_bounding_box(x, above, before, rows, columns)


def check_size(size: Any) -> tuple[int, int]:
    """Two whole numbers: a new height and a new width."""
    found = convert.to_tensor(size)._value
    if found.ndim != 1 or found.shape[0] != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if found.dtype.kind not in "iu":
        raise ValueError(f"'size' must be a 1-D int32 Tensor, and is of {found.dtype}")
    rows, columns = found.tolist()
    return rows, columns
