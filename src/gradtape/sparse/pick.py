"""Sparse tensors joined, cut, thinned out and filled up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..arrays.gathering import boolean_mask, gather
from ..arrays.reshaping import broadcast_to
from ..core.apply import tensor
from ..core.record import Value
from ..framework import convert
from ..framework.arguments import matching, number
from ..framework.indexed_slices import IndexedSlices
from ..ops import sparse as ops
from ..ops.index import take
from ..ops.shape import cast
from ..ops.shape import concat as join
from .dense import sparse
from .tensor import SparseTensor, number_of


def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: Any = None
) -> SparseTensor:
    """Sparse tensors joined along an axis; no gradient flows through it, as in TensorFlow."""
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError(f"Inputs must be a list or tuple, got {sp_inputs!r}.")
    parts = [sparse(x) for x in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    shapes = np.stack([x.dense_shape._value for x in parts])
    rank, place = shapes.shape[1], number(axis)
    if not -rank <= place < rank:
        raise errors.invalid(
            f"Concat dimension must be in range [{-rank}, {rank}), got {place} [Op:SparseConcat]"
        )
    place %= rank
    others = np.delete(shapes, place, 1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise errors.invalid(
            f"Input shapes must match but along the axis {place}, got {shapes.tolist()} "
            "[Op:SparseConcat] name: "
        )
    shape = shapes.max(axis=0)
    shape[place] = shapes[:, place].sum()
    starts = np.cumsum(shapes[:, place]) - shapes[:, place]
    along = np.arange(rank) == place
    places = np.concatenate(
        [x.indices._value + start * along for x, start in zip(parts, starts, strict=True)]
    )
    order = np.argsort(number_of(places, shape), kind="stable")
    values = np.concatenate([x.values._value for x in parts])[order]
    return SparseTensor(places[order], tensor(values), shape)


class Rows:
    """The slices of a sparse tensor along the first axis."""

    def __init__(self, x: SparseTensor) -> None:
        self._x = x
        rows = x.indices._value[:, 0]
        self._order = np.argsort(rows, kind="stable")
        self._ends = np.searchsorted(rows[self._order], np.arange(len(self) + 1))

    def __len__(self) -> int:
        return int(self._x.dense_shape._value[0])

    def __getitem__(self, k: int) -> SparseTensor:
        if k >= len(self):
            raise IndexError(k)
        inside = self._order[self._ends[k] : self._ends[k + 1]]
        values = take.apply(self._x.values, tensor(inside), axis=0)
        places = self._x.indices._value[inside, 1:]
        return SparseTensor(places, values, self._x.dense_shape._value[1:])


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: Any = None
) -> SparseTensor:
    """Ones on the diagonal.

    >>> import gradtape as tf
    >>> tf.sparse.eye(2, 3).values.numpy().tolist()
    [1.0, 1.0]
    """
    height = _size(num_rows, "num_rows")
    width = height if num_columns is None else _size(num_columns, "num_columns")
    if min(height, width) < 0:
        raise errors.invalid(
            f"Requires start <= limit when delta > 0: 0/{min(height, width)} [Op:Range] name: "
        )
    on = np.arange(min(height, width), dtype=np.int64)
    ones = np.ones(len(on), dtypes.as_dtype(dtype).as_numpy_dtype)
    return SparseTensor(np.stack([on, on], 1), tensor(ones), np.array([height, width], np.int64))


def fill_empty_rows(sp_input: Any, default_value: Any, name: Any = None) -> tuple:
    """A value at the beginning of each row that has none, and which rows these are."""
    x = sparse(sp_input)
    default = convert.to_tensor(default_value, x.values._value.dtype)
    if default._value.ndim:
        raise errors.invalid(
            f"default_value must be a scalar, saw: {list(default._value.shape)} "
            "[Op:SparseFillEmptyRows] name: "
        )
    places, rank = x.indices._value, len(x.dense_shape)
    empty = np.ones(int(x.dense_shape._value[0]), bool)
    empty[places[:, 0]] = False
    new = np.zeros((int(empty.sum()), rank), np.int64)
    new[:, 0] = np.flatnonzero(empty)
    places = np.concatenate([places, new])
    order = np.argsort(places[:, 0], kind="stable")
    values = join.apply(x.values, broadcast_to(default, [len(new)]), axis=-1)
    values = take.apply(values, tensor(order), axis=0)
    return SparseTensor(places[order], values, x.dense_shape), tensor(empty)


def _size(given: Any, name: str) -> int:
    """A number of rows or columns: Python's or NumPy's, or a tensor of any numbers."""
    if isinstance(given, Value):
        return number(cast.apply(given, dtype=np.dtype(np.int64)))
    if not isinstance(given, (int, np.integer)):
        raise TypeError(f"{name} must be an integer value, got {given!r}")
    return int(given)


def mask(a: Any, mask_indices: Any, name: Any = None) -> IndexedSlices:
    """Rows of `IndexedSlices` but for those with the given indices."""
    indices, dropped = matching("ListDiff", [a.indices, mask_indices])
    if dropped._value.ndim != 1:
        raise errors.invalid(
            f"mask_indices should be a 1D vector, got shape {dropped.shape} [Op:ListDiff]"
        )
    kept = np.flatnonzero(~np.isin(indices._value, dropped._value)).astype(np.int32)
    return IndexedSlices(gather(a.values, kept), gather(indices, kept), a.dense_shape)


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The values for which `to_retain` is true.

    >>> import gradtape as tf
    >>> tf.sparse.retain(tf.sparse.eye(2), [True, False]).indices.numpy().tolist()
    [[0, 0]]
    """
    x = sparse(sp_input)
    kept = convert.to_tensor(to_retain)
    if kept._value.ndim != 1:
        raise ValueError(f"Shape {kept.shape} must have rank 1")
    if kept._value.shape != x.values._value.shape:
        sizes = x.values._value.shape[0], kept._value.shape[0]
        raise ValueError(f"Dimensions {sizes[0]} and {sizes[1]} are not compatible")
    where = np.flatnonzero(kept._value)
    return SparseTensor(x.indices._value[where], boolean_mask(x.values, kept), x.dense_shape)


def slice(sp_input: Any, start: Any, size: Any, name: Any = None) -> SparseTensor:
    """The part that begins at `start`, at most of the shape `size`."""
    x = sparse(sp_input)
    wide = np.dtype(np.int64)
    first, sizes = (np.asarray(convert.to_tensor(v, wide)._value) for v in (start, size))
    shape = x.dense_shape._value
    if first.shape != shape.shape or sizes.shape != shape.shape:
        raise errors.invalid(
            f"start and size must have one number for each of {len(shape)} axes, got {start} and "
            f"{size} [Op:SparseSlice] name: "
        )
    if (sizes < 0).any():
        raise errors.invalid(f"Expected a non-negative size, got {size} [Op:SparseSlice] name: ")
    sizes = np.maximum(np.minimum(sizes, shape - first), 0)
    places = x.indices._value - first
    kept = np.flatnonzero(((places >= 0) & (places < sizes)).all(axis=1))
    return SparseTensor(places[kept], take.apply(x.values, tensor(kept), axis=0), sizes)


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: Any = None
) -> list[SparseTensor]:
    """Parts of (almost) equal size along an axis; TensorFlow has no gradient for it."""
    for argument, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{argument} is required")
    x, count, place = sparse(sp_input), number(num_split), number(axis)
    shape = x.dense_shape._value
    if not -len(shape) <= place < len(shape):
        raise errors.invalid(
            f"Input axis should be in range [{-len(shape)}, {len(shape)}), got {place} "
            "[Op:SparseSplit] name: "
        )
    total = int(shape[place])
    if not 1 <= count <= total:
        raise errors.invalid(
            f"Input num_split should be between 1 and the splitting dimension size ({total}), got "
            f"{count} [Op:SparseSplit] name: "
        )
    ends = np.cumsum([total // count + (k < total % count) for k in range(count)])
    owner = np.searchsorted(ends, x.indices._value[:, place], side="right")
    return [_part(x, place, np.flatnonzero(owner == k), ends, k) for k in range(count)]


def _part(x: SparseTensor, place: int, kept: Any, ends: Any, k: int) -> SparseTensor:
    start = ends[k - 1] if k else 0
    places, shape = x.indices._value[kept], x.dense_shape._value.copy()
    places[:, place] -= start
    shape[place] = ends[k] - start
    return SparseTensor(places, ops.split.apply(x.values, key=kept), shape)
