"""`tf.experimental.RowPartition`: how values fall into rows, without the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from .tensor import RaggedTensor

_INT64 = np.dtype(np.int64)


class RowPartition:
    """The ends of the rows of a ragged tensor.

    >>> import gradtape as tf
    >>> tf.experimental.RowPartition.from_value_rowids([0, 0, 2], nrows=4)
    tf.RowPartition(row_splits=[0 2 2 3 3])
    """

    static_nvals: int | None = None
    static_uniform_row_length: int | None = None

    def __init__(
        self, row_splits: Any, row_lengths: Any = None, value_rowids: Any = None, nrows: Any = None,
        uniform_row_length: Any = None, nvals: Any = None, internal: bool = False,
    ) -> None:  # fmt: skip
        if not internal:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods "
                "instead (e.g., RowPartition.from_row_lengths())"
            )
        self._splits, self.static_nvals = row_splits, nvals
        self.static_uniform_row_length = uniform_row_length

    @classmethod
    def _of(cls, splits: Any, nvals: int | None = None, length: int | None = None) -> RowPartition:
        return cls(splits, uniform_row_length=length, nvals=nvals, internal=True)

    # --- from what tells the rows -----------------------------------------------------------------
    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        ends = _numbers(row_splits, dtype, dtype_hint)
        if not ends._value.size:
            raise ValueError("row_splits tensor may not be empty.")
        count = int(ends._value[-1])
        return cls._of(
            RaggedTensor.from_row_splits(_values(count), ends, validate=validate).row_splits
        )

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:  # fmt: skip
        rows = _numbers(value_rowids, dtype, dtype_hint)
        made = RaggedTensor.from_value_rowids(rows, rows, nrows, validate=validate)
        return cls._of(made.row_splits, len(rows))

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        lengths = _numbers(row_lengths, dtype, dtype_hint)._value
        if validate and (lengths < 0).any():
            raise errors.invalid(f"row_lengths must not be negative, got {lengths.tolist()}.")
        return cls._of(tensor(np.insert(np.cumsum(lengths), 0, 0).astype(lengths.dtype)))

    @classmethod
    def from_row_starts(
        cls, row_starts: Any, nvals: Any, validate: bool = True, dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:  # fmt: skip
        starts = _numbers(row_starts, dtype, dtype_hint)._value
        ends = np.append(starts, starts.dtype.type(int(nvals)))
        return cls.from_row_splits(tensor(ends), validate)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        limits = _numbers(row_limits, dtype, dtype_hint)._value
        return cls.from_row_splits(tensor(np.insert(limits, 0, 0)), validate)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: Any, nvals: Any = None, nrows: Any = None, validate: bool = True,
        dtype: Any = None, dtype_hint: Any = None,
    ) -> RowPartition:  # fmt: skip
        if nvals is None and nrows is None:
            raise ValueError("At least one of nvals or nrows must be given.")
        hint = _INT64 if dtype_hint is None else _kind(dtype_hint)
        wanted = None if dtype is None else _kind(dtype)
        length = convert.to_tensor(uniform_row_length, wanted, hint=hint)._value
        size = int(length)
        count = int(nrows) if nrows is not None else int(nvals) // size if size else 0
        if validate and (size < 0 or count < 0 or (nvals is not None and count * size != nvals)):
            raise ValueError(
                f"{nvals if nrows is None else nrows} do not fall into rows of {size} values."
            )
        ends = (np.arange(count + 1) * size).astype(length.dtype)
        return cls._of(tensor(ends), count * size, size)

    # --- what it tells ----------------------------------------------------------------------------
    @property
    def dtype(self) -> dtypes.DType:
        """That of the ends."""
        return self._splits.dtype

    @property
    def static_nrows(self) -> int:
        return len(self._splits) - 1

    def row_splits(self) -> Any:
        """Where rows end: row k is from `row_splits[k]` to `row_splits[k + 1]`."""
        return self._splits

    def row_starts(self) -> Any:
        return tensor(self._splits._value[:-1])

    def row_limits(self) -> Any:
        return tensor(self._splits._value[1:])

    def row_lengths(self) -> Any:
        return tensor(np.diff(self._splits._value))

    def nrows(self) -> Any:
        return tensor(self._splits._value.dtype.type(self.static_nrows))

    def nvals(self) -> Any:
        return tensor(self._splits._value[-1])

    def value_rowids(self) -> Any:
        """The row of each value."""
        lengths = np.diff(self._splits._value)
        return tensor(np.repeat(np.arange(len(lengths)), lengths).astype(lengths.dtype))

    def offsets_in_rows(self) -> Any:
        """The place of each value in its row."""
        ends = self._splits._value
        starts = np.repeat(ends[:-1], np.diff(ends))
        return tensor((np.arange(len(starts)) - starts).astype(ends.dtype))

    def is_uniform(self) -> bool:
        """Whether it was made of one length for all rows."""
        return self.static_uniform_row_length is not None

    def uniform_row_length(self) -> Any:
        """The length of all rows, if it was made of one."""
        length = self.static_uniform_row_length
        return None if length is None else tensor(self._splits._value.dtype.type(length))

    def with_dtype(self, dtype: Any) -> RowPartition:
        ends = tensor(self._splits._value.astype(_kind(dtype)))
        return self._of(ends, self.static_nvals, self.static_uniform_row_length)

    def __repr__(self) -> str:
        if self.static_uniform_row_length is not None:
            length = self.static_uniform_row_length
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={length})"
        return f"tf.RowPartition(row_splits={self._splits._value})"


def _kind(dtype: Any) -> np.dtype:
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"dtype must be int32 or int64, got {kind.name}.")
    return np.dtype(kind.as_numpy_dtype)


def _numbers(value: Any, dtype: Any, hint: Any) -> Any:
    """As a vector of int32 or int64, the latter if nothing is said."""
    wanted = None if dtype is None else _kind(dtype)
    found = convert.to_tensor(value, wanted, hint=_INT64 if hint is None else _kind(hint))
    if found.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Row partitions must be int32 or int64, got {found.dtype.name}.")
    if found._value.ndim != 1:
        raise ValueError(f"Shape {found.shape} must have rank 1")
    return found


def _values(count: int) -> Any:
    return tensor(np.broadcast_to(np.int8(0), (count,)))
