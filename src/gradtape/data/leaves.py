"""Rows and batches of the leaves of elements: dense, ragged and sparse tensors."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.record import Value
from ..framework.shapes import NoneTensorSpec, TypeSpec
from ..ragged.tensor import RaggedTensor, RaggedTensorSpec
from ..sparse.tensor import SparseTensor
from .node import row_of


def size(leaf: Any) -> int | None:
    """The number of rows, None for what has none of its own."""
    if leaf is None:
        return None
    if isinstance(leaf, SparseTensor):
        return int(leaf.dense_shape._value[0])
    return len(leaf) if isinstance(leaf, RaggedTensor) else len(leaf._value)


def rows(leaf: Any, count: int) -> Iterator[Any]:
    """The rows of a leaf."""
    if leaf is None:
        return iter([None] * count)
    if isinstance(leaf, SparseTensor):
        return _sparse_rows(leaf, count)
    if isinstance(leaf, RaggedTensor):
        return iter(leaf)
    at = row_of(leaf._value)
    return (tensor(at(k)) for k in range(count))


def _sparse_rows(leaf: SparseTensor, count: int) -> Iterator[Any]:
    where, shape = leaf.indices._value, tensor(leaf.dense_shape._value[1:])
    order = np.argsort(where[:, 0], kind="stable")
    ends = np.searchsorted(where[order, 0], np.arange(count + 1))
    for start, end in pairwise(ends.tolist()):
        mine = order[start:end]
        yield SparseTensor(tensor(where[mine, 1:]), tensor(leaf.values._value[mine]), shape)


def batch(leaves: list[Any], spec: TypeSpec, number: int) -> Any:
    """One leaf whose rows are these; `number` is its own among those of the element."""
    first = leaves[0]
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, RaggedTensorSpec):
        return _ragged(leaves, spec)
    if isinstance(first, Value):
        return tensor(stacked([leaf._value for leaf in leaves], number))
    if isinstance(first, SparseTensor):
        return _sparse(leaves)
    raise TypeError(f"Elements of {type(first).__name__} cannot be batched.")


def stacked(values: list[Any], number: int) -> Any:
    """The array of arrays of one shape."""
    shape = values[0].shape
    for k, value in enumerate(values):
        if value.shape != shape:
            raise errors.invalid(
                f"Cannot batch tensors with different shapes in component {number}. First element "
                f"had shape {list(shape)} and element {k} had shape {list(value.shape)}."
            )
    made = np.empty((len(values), *shape), values[0].dtype)
    for k, value in enumerate(values):
        made[k, ...] = value  # without the dots, a text would be put in as an array
    return made


def _sparse(leaves: list[Any]) -> SparseTensor:
    places = [leaf.indices._value for leaf in leaves]
    numbers = np.repeat(np.arange(len(leaves)), list(map(len, places)))[:, None]
    indices = np.concatenate([numbers, np.concatenate(places)], axis=1)
    largest = np.max([leaf.dense_shape._value for leaf in leaves], axis=0)
    return SparseTensor(
        tensor(indices.astype(np.int64)),
        tensor(np.concatenate([leaf.values._value for leaf in leaves])),
        tensor(np.concatenate([[len(leaves)], largest]).astype(np.int64)),
    )


def _ragged(leaves: list[Any], spec: RaggedTensorSpec) -> RaggedTensor:
    """Rows of different lengths; a dense leaf is a ragged one without ragged axes, or with those
    of its spec."""
    if spec.ragged_rank and isinstance(leaves[0], Value):
        leaves = [RaggedTensor.from_tensor(leaf, ragged_rank=spec.ragged_rank) for leaf in leaves]
    depth = spec.ragged_rank
    levels = [list(leaf.nested_row_splits) if depth else [] for leaf in leaves]
    flat = [leaf.flat_values if depth else leaf for leaf in leaves]
    dtype = spec.row_splits_dtype.as_numpy_dtype
    made = [_ends([size(leaf) or 0 for leaf in leaves], dtype)]
    for level in range(depth):
        lengths = [np.diff(splits[level]._value) for splits in levels]
        made.append(_ends(np.concatenate(lengths), dtype))
    values = tensor(np.concatenate([one._value for one in flat]))
    return RaggedTensor.from_nested_row_splits(values, made)


def _ends(lengths: Any, dtype: Any) -> Any:
    return tensor(np.concatenate([[0], np.cumsum(lengths)]).astype(dtype))
