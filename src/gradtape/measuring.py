"""What TensorFlow's top level has to count, compare and cut: histograms, distances, patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import arguments, convert, dtypes, errors
from .arguments import alike, integer, listed, listed_dtype, number
from .arrays import cast
from .blocks import space_to_batch
from .clipping import clip_by_value
from .core.apply import tensor
from .linalg import sqrtm
from .math import floor, truediv
from .ops import constants, elementwise, index, shape
from .ops.windows import Geometry, pads_for
from .sparse import SparseTensor


# --- histograms -----------------------------------------------------------------------------------
def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """How many values fall into each of `nbins` equal parts of a range; the ends take the rest.

    >>> import gradtape as tf
    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    <tf.Tensor: shape=(5,), dtype=int32, numpy=array([2, 1, 1, 0, 2], dtype=int32)>
    """
    label = "HistogramFixedWidth"
    kind = listed_dtype(dtype, "dtype", ("int32", "int64"), label, "int32")
    x, ends = (np.asarray(t._value) for t in convert.pair(elementwise.sub, values, value_range))
    count = number(nbins)
    low, high = _ends(ends, count, label)
    if x.dtype.kind in "fV" and np.isnan(x).any():
        raise errors.invalid(f"Histogram values must not contain NaN [Op:{label}] name: ")
    # In float64, as TensorFlow divides.
    places = np.floor((x.astype(np.float64) - low) / ((high - low) / count))
    places = np.clip(np.nan_to_num(places), 0, count - 1).astype(np.int64)
    return tensor(np.bincount(places.reshape(-1), minlength=count).astype(kind))


def _ends(ends: np.ndarray, count: int, label: str) -> tuple[float, float]:
    if ends.ndim != 1:
        raise errors.invalid(f"value_range should be a vector. [Op:{label}] name: ")
    if ends.size != 2:
        raise errors.invalid(f"value_range should be a vector of 2 elements. [Op:{label}] name: ")
    low, high = ends.tolist()
    if not low < high:
        raise errors.invalid(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low}, {high}]' [Op:{label}] name: "
        )
    if count <= 0:
        raise errors.invalid(
            f"nbins should be a positive number, but got '{count}' [Op:{label}] name: "
        )
    return low, high


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The number of the part of a range, out of `nbins` equal ones, that each value falls into."""
    x, ends = convert.to_tensor(values), convert.to_tensor(value_range)
    plain = not convert.is_tensor_like(nbins)
    count = number(convert.to_tensor(nbins, np.dtype(np.int32)) if plain else nbins)
    if count <= 0:
        raise errors.invalid(f"nbins {count} must > 0 [Op:Assert] name: ")
    parts = cast(count, x.dtype)
    flat = shape.reshape.apply(x, shape=(-1,))
    scaled = truediv(flat - ends[0], ends[1] - ends[0])
    places = clip_by_value(floor(parts * scaled), 0, parts - 1)
    # int32 whatever the dtype, as TensorFlow.
    return shape.reshape.apply(cast(places, np.int32), shape=x._value.shape)


# --- places ---------------------------------------------------------------------------------------
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


def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Any:
    """How many insertions, deletions and exchanges turn each hypothesis into its truth, by default
    divided by the truth's length."""
    for given, word in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not isinstance(given, SparseTensor):
            raise TypeError(f"{word} must be a SparseTensor.")
    normalize = arguments.truth(normalize, "normalize", True)
    arguments.matching("EditDistance", [hypothesis.values, truth.values])
    ranks = len(hypothesis.dense_shape), len(truth.dense_shape)
    if min(ranks) < 2 or ranks[0] != ranks[1]:
        raise errors.invalid(
            f"Input SparseTensors must have the same rank, at least 2, got {ranks[0]} and "
            f"{ranks[1]} [Op:EditDistance]"
        )
    sizes = np.maximum(hypothesis.dense_shape._value, truth.dense_shape._value)[:-1]
    mine, theirs = _sequences(hypothesis), _sequences(truth)
    out = np.zeros(tuple(sizes.tolist()), np.float32)
    for key in {*mine, *theirs}:
        one, other = mine.get(key, []), theirs.get(key, [])
        distance = float(_steps(one, other))
        if normalize:
            distance = distance / len(other) if other else (np.inf if one else 0.0)
        out[key] = distance
    return tensor(out)


def _sequences(given: SparseTensor) -> dict[tuple, list]:
    found: dict[tuple, list] = {}
    values = given.values._value.tolist()
    for place, value in zip(given.indices._value.tolist(), values, strict=True):
        found.setdefault(tuple(place[:-1]), []).append(value)
    return found


def _steps(one: list, other: list) -> int:
    """Levenshtein's distance, row by row of its table."""
    row = np.arange(len(other) + 1)
    codes: dict = {}
    goal = np.array([codes.setdefault(v, len(codes)) for v in other])
    for k, value in enumerate(one, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (goal != codes.get(value, -1)))
        # Insertions run along the row: the least of best[j] + (i - j).
        offsets = np.concatenate([[k], best]) - np.arange(len(other) + 1)
        row = np.minimum.accumulate(offsets) + np.arange(len(other) + 1)
    return int(row[-1])


# --- patches --------------------------------------------------------------------------------------
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


# --- other names ----------------------------------------------------------------------------------
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Every `block_shape`-th entry becomes a member of the batch, after padding with zeros."""
    return space_to_batch(input, block_shape, paddings)


matrix_square_root = sqrtm


def guarantee_const(input: Any, name: str | None = None) -> Any:
    """The value itself, of which no gradient is asked."""
    return constants.guarantee_const.apply(convert.to_tensor(input))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Not without a graph: use tf.stack."""
    raise RuntimeError(
        "tf.parallel_stack() is not compatible with eager execution. Use tf.stack(values)."
    )
