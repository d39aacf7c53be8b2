"""`tf.ragged`: rows of different lengths, as flat values and where each row ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes
from .core.apply import tensor
from .ops.rows import add_rows
from .shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec
from .tensor import Tensor


class RaggedTensorSpec(TypeSpec):
    """The shape, dtype and depth of a ragged tensor."""

    __slots__ = ("_dtype", "_rank", "_shape", "_splits")

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: int = 1,
        row_splits_dtype: Any = dtypes.int64,
    ) -> None:  # fmt: skip
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._rank, self._splits = ragged_rank, dtypes.as_dtype(row_splits_dtype)

    @property
    def value_type(self) -> type:
        return RaggedTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._rank, self._splits

    @property
    def _component_specs(self) -> Any:
        flat = TensorSpec([None, *self._shape[self._rank + 1 :]], self._dtype)
        return [flat, *[TensorSpec([None], self._splits)] * self._rank]

    def _to_components(self, value: Any) -> Any:
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components: Any) -> Any:
        return RaggedTensor.from_nested_row_splits(components[0], components[1:])


class RaggedTensor(CompositeTensor):
    """Row k is `values[row_splits[k]:row_splits[k + 1]]`; the values may be ragged themselves.

    >>> import gradtape as tf
    >>> tf.ragged.constant([[1.0, 2.0], [3.0]])
    <tf.RaggedTensor [[1.0, 2.0], [3.0]]>
    """

    __array_priority__ = 101
    _sloping = "flat_values"

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values = values if isinstance(values, RaggedTensor) else convert.to_tensor(values)
        hint = np.dtype(np.int64)
        self.row_splits = convert.to_tensor(row_splits, hint=hint)

    # --- from its parts ---------------------------------------------------------------------------
    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        made = cls(values, row_splits)
        ends = made.row_splits._value
        count = len(made.values)
        if validate and (
            not len(ends) or ends[0] or ends[-1] != count or (np.diff(ends) < 0).any()
        ):
            from .errors import invalid

            raise invalid(
                f"row_splits must rise from 0 to the number of values, {count}; "
                f"got {ends.tolist()}."
            )
        return made

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        lengths = convert.to_tensor(row_lengths)._value
        ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls.from_row_splits(values, ends, validate=validate)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        made = flat_values
        for ends in reversed(list(nested_row_splits)):
            made = cls(made, ends)
        return made

    # --- what it is -------------------------------------------------------------------------------
    @property
    def _type_spec(self) -> TypeSpec:  # type: ignore[override]
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    @property
    def flat_values(self) -> Any:
        """The values without any rows, as one tensor: what gradients are taken of."""
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        inner = self.values
        deeper = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return (self.row_splits, *deeper)

    @property
    def ragged_rank(self) -> int:
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> dtypes.DType:
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape([len(self.row_splits) - 1, None, *self.values.shape[1:]])

    def nrows(self, out_type: Any = None, name: Any = None) -> Any:
        return tensor(self.row_splits._value.dtype.type(len(self.row_splits) - 1))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        return tensor(np.diff(self.row_splits._value))

    def value_rowids(self, name: Any = None) -> Any:
        """The row that each value belongs to."""
        lengths = np.diff(self.row_splits._value)
        return tensor(np.repeat(np.arange(len(lengths)), lengths).astype(lengths.dtype))

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        return RaggedTensor.from_nested_row_splits(new_values, self.nested_row_splits)

    def with_values(self, new_values: Any) -> RaggedTensor:
        return RaggedTensor(new_values, self.row_splits)

    # --- what is in it ----------------------------------------------------------------------------
    def __getitem__(self, row: Any) -> Any:
        ends = self.row_splits._value
        if isinstance(row, slice):
            start, stop, _ = row.indices(len(self))
            ends = ends[start : max(start, stop) + 1]
            return RaggedTensor(self.values[int(ends[0]) : int(ends[-1])], ends - ends[0])
        if row < 0:
            row += len(ends) - 1
        start, stop = int(ends[row]), int(ends[row + 1])
        if isinstance(self.values, RaggedTensor):
            inner = self.values
            ends = inner.row_splits._value[start : stop + 1]
            return RaggedTensor(inner.values[int(ends[0]) : int(ends[-1])], ends - ends[0])
        return self.values[start:stop]

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def to_list(self) -> list:
        return [
            row.to_list() if isinstance(row, RaggedTensor) else row.numpy().tolist() for row in self
        ]

    def numpy(self) -> Any:
        rows = np.empty(len(self), object)
        rows[:] = [row.numpy() for row in self]
        return rows

    def to_tensor(self, default_value: Any = 0, name: Any = None, shape: Any = None) -> Any:
        """Dense: short rows are filled up."""
        if isinstance(self.values, RaggedTensor):
            raise NotImplementedError("RaggedTensor.to_tensor of more than one ragged axis.")
        lengths = np.diff(self.row_splits._value)
        width = int(lengths.max(initial=0))
        columns = np.arange(len(self.values)) - np.repeat(self.row_splits._value[:-1], lengths)
        places = self.value_rowids()._value * width + columns
        tail = self.values._value.shape[1:]
        flat = add_rows.apply(self.values, tensor(places), shape=(len(lengths) * width, *tail))
        dense = _reshape(flat, (len(lengths), width, *tail))
        missing = np.arange(width) >= lengths[:, None]
        fill = convert.to_tensor(default_value, hint=dense._value.dtype)
        from .arrays import where

        return where(tensor(missing.reshape(*missing.shape, *[1] * len(tail))), fill, dense)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()!r}>"


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    from .ops.shape import reshape

    return reshape.apply(x, shape=shape)


def _operator(name: str) -> Any:
    method = getattr(Tensor, name)

    def operator(self: RaggedTensor, *others: Any) -> RaggedTensor:
        flat = [o.flat_values if isinstance(o, RaggedTensor) else o for o in others]
        return self.with_flat_values(method(self.flat_values, *flat))

    operator.__name__ = name
    return operator


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow", "neg", "abs",
):  # fmt: skip
    setattr(RaggedTensor, f"__{_name}__", _operator(f"__{_name}__"))


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
    name: Any = None, row_splits_dtype: Any = dtypes.int64,
) -> Any:  # fmt: skip
    """A ragged tensor of nested lists."""
    levels: list[list[int]] = []
    rows = list(pylist)
    while rows and any(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        if not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
            raise ValueError("all scalar values must have the same nesting depth")
        levels.append([0, *np.cumsum([len(row) for row in rows]).tolist()])
        rows = [value for row in rows for value in row]
    wanted = None if dtype is None else np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    flat = convert.to_tensor(rows, wanted)
    splits = np.dtype(dtypes.as_dtype(row_splits_dtype).as_numpy_dtype)
    return RaggedTensor.from_nested_row_splits(flat, [np.array(ends, splits) for ends in levels])
