"""`ragged[rows, columns, ...]`: rows by number or slice, and slices of every row."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.record import Value
from .functions import pick
from .tensor import RaggedTensor


def picked(x: Any, key: Any) -> Any:
    """What stands at a key, as it is written between brackets."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(k is ... for k in keys):
        place = next(n for n, k in enumerate(keys) if k is ...)
        count = sum(k is not None and k is not ... for k in keys)
        keys = (*keys[:place], *[slice(None)] * (_rank(x) - count), *keys[place + 1 :])
    return _at(x, keys)


def _at(x: Any, keys: tuple) -> Any:
    """The keys applied to the first axes."""
    if not keys or not isinstance(x, RaggedTensor):
        return x[keys] if keys else x
    first, rest = keys[0], keys[1:]
    if first is None:
        inner = _at(x, rest)
        return RaggedTensor(inner, tensor(np.array([0, len(inner)], x.row_splits._value.dtype)))
    if isinstance(first, slice):
        rows = _range(first, len(x))
        whole = rows == range(len(x))
        return _inside(x if whole else pick(x, np.array(rows, np.int64)), rest)
    row = _number(first, len(x))
    start, stop = x.row_splits._value[row : row + 2].tolist()
    return _at(x.values[start:stop], rest)


def _inside(x: Any, keys: tuple) -> Any:
    """The keys applied to the axes after the first."""
    if not keys:
        return x
    if not isinstance(x, RaggedTensor):
        return x[(slice(None), *keys)]
    first, rest = keys[0], keys[1:]
    ends = x.row_splits._value
    if first is None:
        return RaggedTensor(_inside(x, rest), tensor(np.arange(len(x) + 1, dtype=ends.dtype)))
    if not isinstance(first, slice):
        raise ValueError(
            "Cannot index into an inner ragged dimension: rows have different lengths, got "
            f"{first!r}; a slice takes what there is."
        )
    chosen = [
        np.arange(start, stop)[_plain(first)]
        for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
    places = np.concatenate([np.zeros(0, np.int64), *chosen])
    splits = np.cumsum([0, *map(len, chosen)]).astype(ends.dtype)
    return RaggedTensor(_inside(pick(x.values, places), rest), tensor(splits))


def _rank(x: Any) -> int:
    return 1 + _rank(x.values) if isinstance(x, RaggedTensor) else x._value.ndim


def _plain(part: slice) -> slice:
    """A slice of Python's own numbers."""
    numbers = [k if k is None else _whole(k) for k in (part.start, part.stop, part.step)]
    if numbers[2] == 0:
        raise errors.invalid("strides[0] must be non-zero [Op:StridedSlice] name: ")
    return slice(*numbers)


def _range(part: slice, size: int) -> range:
    return range(size)[_plain(part)]


def _number(value: Any, size: int) -> int:
    row = _whole(value)
    if row >= size:
        raise IndexError(f"Index {row} out of bounds: there are {size} rows")
    if row < -size:
        raise errors.invalid(f"slice index {row} of dimension 0 out of bounds. [Op:StridedSlice]")
    return row % size


def _whole(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(f"A ragged tensor is indexed by whole numbers and slices, got {value!r}")
    if isinstance(value, Value) or hasattr(value, "_read"):
        value = value.numpy()
    return operator.index(value)
