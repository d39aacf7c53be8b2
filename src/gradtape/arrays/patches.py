"""Windows of volumes laid out as rows, and places in an array by their flat numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import alike, integer, listed
from ..ops import constants, index, shape
from ..ops.kernels.windows import Geometry, pads_for
from .space_depth import space_to_batch


def extract_volume_patches(
    input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None
) -> Any:
    """The windows of volumes, each laid out along the last axis."""
    label = "ExtractVolumePatches"
    for given, word in ((ksizes, "ksizes"), (strides, "strides")):
        for n in listed(given, word, "extract_volume_patches"):
            integer(n, word)
    x = convert.to_tensor(input)
    for given, word in ((ksizes, "ksizes"), (strides, "strides")):
        if len(given) != 5 or given[0] != 1 or given[-1] != 1:
            raise errors.invalid(
                f"{word} must be [1, planes, rows, columns, 1], got {list(given)} [Op:{label}]"
            )
    if x._value.ndim != 5:
        raise errors.invalid(f"input must be 5-dimensional{list(x._value.shape)} [Op:{label}]")
    if padding not in ("SAME", "VALID"):
        raise errors.invalid(
            f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
            f'"SAME", "VALID" [Op:{label}]'
        )
    size, steps, ones = tuple(ksizes[1:-1]), tuple(strides[1:-1]), (1, 1, 1)
    inner = x._value.shape[1:-1]
    return patches(x, Geometry(size, steps, ones, pads_for(padding, inner, size, steps, ones)))


def patches(x: Any, geometry: Geometry) -> Any:
    """The windows of a tensor (batch, *inner, channels), by their places; 0 beyond the border."""
    batch, *inner, channels = x._value.shape
    counts = geometry.counts(tuple(inner))
    grids = [
        (np.arange(n) * s)[:, None] + np.arange(k) * d - low
        for n, k, s, d, (low, _) in zip(counts, *geometry, strict=True)
    ]
    axes = len(inner)
    flat: Any = 0
    inside: Any = True
    for k, (grid, size) in enumerate(zip(grids, inner, strict=True)):
        spread = [1] * (2 * axes)
        spread[k], spread[axes + k] = grid.shape
        where = grid.reshape(spread)
        flat = flat * size + np.clip(where, 0, size - 1)
        inside = inside & (where >= 0) & (where < size)
    rows = shape.reshape.apply(x, shape=(batch, int(np.prod(inner)), channels))
    taken = index.take.apply(rows, tensor(flat.reshape(-1)), axis=1)
    if not np.all(inside):
        zero = tensor(x._value.dtype.type(0))
        taken = index.select.apply(tensor(inside.reshape(-1, 1)), taken, zero)
    depth = int(np.prod(geometry.size)) * channels
    return shape.reshape.apply(taken, shape=(batch, *counts, depth))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """The coordinates, one row for each axis, of flat places in an array of the shape `dims`."""
    label = "[Op:UnravelIndex] name: "
    kind, places, sizes = _indices(indices, dims)
    if (sizes < 0).any():
        raise errors.invalid(f"Input dims cannot be negative, got {sizes.tolist()} {label}")
    if sizes.ndim != 1:
        raise errors.invalid(
            f'The indices can only be 1-D shape, got dims of shape "{list(sizes.shape)}" {label}'
        )
    if places.ndim > 1:
        raise errors.invalid(
            f'The indices can only be scalar or vector, got "{list(places.shape)}" {label}'
        )
    if not places.size:
        raise errors.invalid(f"received empty tensor indices {label}")
    if (sizes == 0).any():
        raise errors.invalid(
            f"Input dims cannot contain a dim of zero, got {sizes.tolist()} {label}"
        )
    if not sizes.size and places.max() < 1:
        return tensor(np.zeros((0, *places.shape), kind))
    if places.max() >= sizes.prod():
        raise errors.invalid(
            f"index is out of bound as with dims {sizes.tolist()}: {places.max()} {label}"
        )
    steps = np.concatenate([np.cumprod(sizes[:0:-1])[::-1], [1]]).astype(kind)
    column = (len(sizes), *[1] * places.ndim)
    # Towards zero, as C divides.
    whole = np.trunc(places / steps.reshape(column)).astype(kind)
    found = np.fmod(whole, sizes.reshape(column))
    found[0] = whole[0]
    return tensor(found.astype(kind))


def _indices(indices: Any, dims: Any) -> Any:
    """Both as whole numbers, and the dtype that they share."""
    given: Any = next((v for v in (indices, dims) if convert.is_tensor_like(v)), None)
    if given is None and not all(map(convert.quickly, (indices, dims))):
        given = indices if isinstance(indices, (np.ndarray, np.generic)) else None
    kind = np.dtype(np.int32) if given is None else convert.to_tensor(given)._value.dtype
    return kind, *alike([indices, dims], "UnravelIndex", "Tidx", kind)


def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Every `block_shape`-th entry becomes a member of the batch, after padding with zeros."""
    return space_to_batch(input, block_shape, paddings)


def guarantee_const(input: Any, name: str | None = None) -> Any:
    """The value itself, of which no gradient is asked."""
    return constants.guarantee_const.apply(convert.to_tensor(input))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Not without a graph: use tf.stack."""
    raise RuntimeError(
        "tf.parallel_stack() is not compatible with eager execution. Use tf.stack(values)."
    )
