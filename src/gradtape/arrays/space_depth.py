"""Blocks of an image moved into its channels or its batch, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..framework import convert
from ..framework.arguments import integer, numbers, vector, word
from ..ops import index
from ..ops import pad as pad_ops
from ..ops import shape as shape_ops


def _layout(x: Any, data_format: Any, label: str) -> bool:
    chosen = word(data_format, "data_format", ("NHWC", "NCHW"), label, "NHWC")
    if x._value.ndim != 4:
        raise errors.invalid(
            f"{label} takes a tensor of rank 4 (NHWC or NCHW), got shape {list(x._value.shape)} "
            f"[Op:{label}]"
        )
    return chosen == "NCHW"


def _side(block_size: Any) -> int:
    size = integer(block_size, "block_size")
    if size < 2:
        raise errors.invalid(f"Value for attr 'block_size' of {size} must be at least minimum 2")
    return size


def _last(x: Any) -> Any:
    return shape_ops.transpose.apply(x, axes=(0, 2, 3, 1))


def _first(x: Any) -> Any:
    return shape_ops.transpose.apply(x, axes=(0, 3, 1, 2))


def space_to_depth(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Squares of `block_size` by `block_size` pixels become the channels of one."""
    x, size = convert.to_tensor(input), _side(block_size)
    swap = _layout(x, data_format, "SpaceToDepth")
    x = _last(x) if swap else x
    n, height, width, depth = x._value.shape
    if height % size or width % size:
        raise errors.invalid(
            f"Image width {width} and height {height} should be divisible by block_size {size} "
            "[Op:SpaceToDepth]"
        )
    rows, columns = height // size, width // size
    x = shape_ops.reshape.apply(x, shape=(n, rows, size, columns, size, depth))
    x = shape_ops.transpose.apply(x, axes=(0, 1, 3, 2, 4, 5))
    x = shape_ops.reshape.apply(x, shape=(n, rows, columns, size * size * depth))
    return _first(x) if swap else x


def depth_to_space(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Any:
    """Channels become squares of `block_size` by `block_size` pixels."""
    x, size = convert.to_tensor(input), _side(block_size)
    swap = _layout(x, data_format, "DepthToSpace")
    x = _last(x) if swap else x
    n, rows, columns, channels = x._value.shape
    if channels % (size * size):
        raise errors.invalid(
            f"Input depth dimension {channels} should be divisible by: {size * size} "
            "[Op:DepthToSpace]"
        )
    depth = channels // (size * size)
    x = shape_ops.reshape.apply(x, shape=(n, rows, columns, size, size, depth))
    x = shape_ops.transpose.apply(x, axes=(0, 1, 3, 2, 4, 5))
    x = shape_ops.reshape.apply(x, shape=(n, rows * size, columns * size, depth))
    return _first(x) if swap else x


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Every `block_shape`-th entry becomes a member of the batch, after padding with zeros."""
    x = convert.to_tensor(input)
    block, pads = _block(x, block_shape, paddings, "SpaceToBatchND")
    m = len(block)
    rest = x._value.ndim - m - 1
    x = pad_ops.pad.apply(x, pads=((0, 0), *pads, *((0, 0),) * rest))
    n, *sizes = x._value.shape
    for size, b in zip(sizes, block, strict=False):
        if size % b:
            raise errors.invalid(
                f"padded_shape={size} is not divisible by block_shape={b} [Op:SpaceToBatchND]"
            )
    cut = [k for size, b in zip(sizes, block, strict=False) for k in (size // b, b)]
    x = shape_ops.reshape.apply(x, shape=(n, *cut, *sizes[m:]))
    inner, outer = range(2, 2 * m + 1, 2), range(1, 2 * m, 2)
    x = shape_ops.transpose.apply(x, axes=(*inner, 0, *outer, *range(2 * m + 1, x._value.ndim)))
    left = [size // b for size, b in zip(sizes, block, strict=False)]
    return shape_ops.reshape.apply(x, shape=(n * int(np.prod(block)), *left, *sizes[m:]))


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Members of the batch become neighbours in space, and the borders `crops` are cut off."""
    x = convert.to_tensor(input)
    block, cuts = _block(x, block_shape, crops, "BatchToSpaceND")
    m = len(block)
    n, *sizes = x._value.shape
    count = int(np.prod(block))
    if n % count:
        raise errors.invalid(
            f"Input batch dimension ({n}) is not divisible by product of block sizes ({count}) "
            "[Op:BatchToSpaceND]"
        )
    x = shape_ops.reshape.apply(x, shape=(*block, n // count, *sizes))
    pairs = [k for i in range(m) for k in (m + 1 + i, i)]
    x = shape_ops.transpose.apply(x, axes=(m, *pairs, *range(2 * m + 1, x._value.ndim)))
    whole = [size * b for size, b in zip(sizes, block, strict=False)]
    x = shape_ops.reshape.apply(x, shape=(n // count, *whole, *sizes[m:]))
    if not any(low or high for low, high in cuts):
        return x
    for (low, high), size in zip(cuts, whole, strict=True):
        if low + high > size:
            raise errors.invalid(
                f"cropped_shape={size - low - high} must be non-negative: {low} and {high} of "
                f"{size} are cut off [Op:BatchToSpaceND]"
            )
    key = tuple(slice(low, size - high) for (low, high), size in zip(cuts, whole, strict=True))
    return index.getitem.apply(x, key=(slice(None), *key))


def _block(x: Any, block_shape: Any, borders: Any, label: str) -> tuple:
    block = numbers(block_shape, label, "Tblock_shape", plain=True)
    pairs = vector(borders, label, "Tpaddings", plain=True)
    if pairs.shape != (len(block), 2) or x._value.ndim < len(block) + 1:
        raise errors.invalid(
            f"{label}: the borders must have shape [{len(block)}, 2] and the input at least "
            f"{len(block) + 1} axes, got {list(pairs.shape)} and {list(x._value.shape)} "
            f"[Op:{label}]"
        )
    if min(block, default=1) < 1 or (pairs.size and pairs.min() < 0):
        raise errors.invalid(f"{label}: block sizes must be positive, borders not negative")
    return block, tuple((int(low), int(high)) for low, high in pairs.tolist())
