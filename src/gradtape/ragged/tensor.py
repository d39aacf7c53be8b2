"""Ragged tensors: rows of different lengths, as flat values and where each row ends."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.pickles import recipe
from ..framework.shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec
from ..framework.tensor import Tensor

_INT64 = np.dtype(np.int64)


class RaggedTensorSpec(TypeSpec):
    """The shape, dtype and depth of a ragged tensor."""

    __slots__ = ("_dtype", "_rank", "_shape", "_splits")

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64, flat_values_spec: Any = None,
    ) -> None:  # fmt: skip
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        if ragged_rank is None:
            if self._shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.rank - 1
        self._rank, self._splits = ragged_rank, dtypes.as_dtype(row_splits_dtype)

    shape = property(attrgetter("_shape"), doc="The shape, in which a ragged axis is None.")
    dtype = property(attrgetter("_dtype"), doc="The dtype of the values.")
    ragged_rank = property(attrgetter("_rank"), doc="How many axes have rows of different lengths.")
    row_splits_dtype = property(
        attrgetter("_splits"), doc="The dtype of the numbers that part the rows."
    )

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


def _ends(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


class RaggedTensor(CompositeTensor):
    """Row k is `values[row_splits[k]:row_splits[k + 1]]`; the values may be ragged themselves.

    Differs from TensorFlow: operators, reductions (but `reduce_logsumexp`), `concat`, `stack`,
    `gather` of rows, `embedding_lookup`, `cast`, `shape`, `map_fn` and functions of one argument
    take it; other functions by `tf.ragged.map_flat_values` or after `to_tensor()`.

    >>> import gradtape as tf
    >>> tf.ragged.constant([[1.0, 2.0], [3.0]])
    <tf.RaggedTensor [[1.0, 2.0], [3.0]]>
    """

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"  # libraries tell it by that
    __array_priority__ = 101
    _differentiable_part = "flat_values"
    values: Any
    row_splits: Any

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values = values if isinstance(values, RaggedTensor) else convert.to_tensor(values)
        self.row_splits = convert.to_tensor(row_splits, hint=_INT64)

    def __reduce__(self) -> tuple:
        return recipe(type(self), (self.values, self.row_splits))

    # --- from its parts ---------------------------------------------------------------------------
    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        made = cls(values, row_splits)
        count = len(made.values)

        def rise(ends: np.ndarray) -> None:
            if not len(ends) or ends[0] or ends[-1] != count or (np.diff(ends) < 0).any():
                raise errors.invalid(
                    f"row_splits must rise from 0 to the number of values, {count}; "
                    f"got {ends.tolist()}."
                )

        if validate:
            convert.examine(rise, made.row_splits._value)
        return made

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        ends = convert.computed(_ends, convert.to_tensor(row_lengths)._value)
        return cls.from_row_splits(values, tensor(ends), validate=validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None,
        validate: bool = True,
    ) -> RaggedTensor:  # fmt: skip
        made = cls(values, value_rowids)
        rows = made.row_splits._value
        if len(rows) != len(made.values):
            raise ValueError(f"Dimensions {len(rows)} and {len(made.values)} are not compatible")
        if validate and (rows.ndim != 1 or (np.diff(rows) < 0).any() or (rows < 0).any()):
            raise errors.invalid(f"value_rowids must rise from 0 or more, got {rows.tolist()}.")
        count = int(rows[-1]) + 1 if len(rows) else 0
        if nrows is not None:
            wanted = int(convert.to_tensor(nrows)._value)
            if wanted < count:
                raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={wanted}.")
            count = wanted
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
        return cls(made.values, tensor(ends.astype(rows.dtype)))

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        made = cls(values, row_starts)
        starts = made.row_splits._value
        ends = np.append(starts, starts.dtype.type(len(made.values)))
        return cls.from_row_splits(made.values, tensor(ends), validate=validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        limits = convert.to_tensor(row_limits, hint=_INT64)._value
        return cls.from_row_splits(values, tensor(np.insert(limits, 0, 0)), validate=validate)

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
        name: Any = None, row_splits_dtype: Any = dtypes.int64,
    ) -> RaggedTensor:  # fmt: skip
        """All rows of a dense tensor, or the first `lengths[k]` values of each row k, or each row
        without the `padding` at its end."""
        x = convert.to_tensor(tensor)
        if x._value.ndim < 2:
            raise ValueError(f"tensor must have rank at least 2, got shape {x.shape}.")
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        if isinstance(lengths, (list, tuple)) and lengths and np.ndim(lengths[0]):
            return cls._from_nested_lengths(x, [*lengths], ragged_rank)
        if not 0 < ragged_rank < x._value.ndim:
            raise ValueError(f"ragged_rank must be from 1 to {x._value.ndim - 1}: {ragged_rank}.")
        kind = np.dtype(dtypes.as_dtype(row_splits_dtype).as_numpy_dtype)
        shape = x._value.shape
        nested = [even(math.prod(shape[: k + 1]), shape[k + 1], kind) for k in range(ragged_rank)]
        flat = _reshape(x, (math.prod(shape[: ragged_rank + 1]), *shape[ragged_rank + 1 :]))
        rows = cls(flat, nested.pop())
        if padding is not None:
            rows = rows._cut(_lengths_before(padding, x, ragged_rank))
        elif lengths is not None:
            rows = rows._cut(np.asarray(convert.to_tensor(lengths)._value))
        return cls.from_nested_row_splits(rows, nested)

    @classmethod
    def _from_nested_lengths(cls, x: Any, lengths: list[Any], ragged_rank: int) -> RaggedTensor:
        if ragged_rank not in (1, len(lengths)):
            raise ValueError(
                "If Tensor lengths are provided as a nested list, then ragged_rank must be 1 or "
                f"the number of lists, {len(lengths)}, and not {ragged_rank}."
            )
        if x._value.ndim <= len(lengths):
            raise ValueError(f"Shape {x.shape} must have rank at least {len(lengths) + 1}")
        inner = lengths[1:]
        made = cls.from_tensor(x, lengths[0])
        if not inner:
            return made
        more = inner if len(inner) > 1 else inner[0]
        return made.with_values(cls.from_tensor(made.values, more))

    def _cut(self, lengths: np.ndarray) -> RaggedTensor:
        """The first values of each row only."""
        from ..ops.index import take

        starts = self.row_splits._value[:-1]
        if lengths.shape != starts.shape:
            raise ValueError(
                f"lengths has the shape {list(lengths.shape)} for {len(starts)} rows: it must have "
                "one number for each row."
            )
        lengths = np.clip(lengths, 0, np.diff(self.row_splits._value))
        ends = np.insert(np.cumsum(lengths), 0, 0).astype(starts.dtype)
        kept = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
        return RaggedTensor(take.apply(self.values, tensor(kept), axis=0), tensor(ends))

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        made = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            made = cls.from_row_lengths(made, lengths, validate=validate)
        return made

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

    def row_starts(self, name: Any = None) -> Any:
        """Where each row begins among the values."""
        return tensor(self.row_splits._value[:-1])

    def row_limits(self, name: Any = None) -> Any:
        """Where each row ends among the values."""
        return tensor(self.row_splits._value[1:])

    def nested_row_lengths(self, name: Any = None) -> tuple[Any, ...]:
        return tuple(tensor(np.diff(ends._value)) for ends in self.nested_row_splits)

    def get_shape(self) -> TensorShape:
        return self.shape

    def value_rowids(self, name: Any = None) -> Any:
        """The row that each value belongs to."""
        lengths = np.diff(self.row_splits._value)
        return tensor(np.repeat(np.arange(len(lengths)), lengths).astype(lengths.dtype))

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        return RaggedTensor.from_nested_row_splits(new_values, self.nested_row_splits)

    def with_values(self, new_values: Any) -> RaggedTensor:
        return RaggedTensor(new_values, self.row_splits)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Make one axis of some that follow each other; a tensor if no ragged one is left.

        >>> import gradtape as tf
        >>> tf.ragged.constant([[[1, 2], [3]], [], [[4]]]).merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [], [4]]>
        """
        from .dense import merged

        return merged(self, outer_axis, inner_axis)

    # --- what is in it ----------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        """Rows by number or slice, then slices of every row, `...` and `tf.newaxis`.

        >>> import gradtape as tf
        >>> tf.ragged.constant([[1, 2, 3], [], [4, 5]])[::-1, :2]
        <tf.RaggedTensor [[4, 5], [], [1, 2]]>
        """
        from .indexing import picked

        return picked(self, key)

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

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

    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """Dense: short rows are filled up, to the longest or to a given shape.

        >>> import gradtape as tf
        >>> tf.ragged.constant([[1, 2], [3]]).to_tensor(default_value=-1, shape=[None, 3])
        <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
        array([[ 1,  2, -1],
               [ 3, -1, -1]], dtype=int32)>
        """
        from .dense import filled

        return filled(self, default_value, shape)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()!r}>"


def even(rows: int, length: int, dtype: np.dtype) -> Any:
    """The ends of rows of one length."""
    return tensor((np.arange(rows + 1) * length).astype(dtype))


def _reshape(x: Any, shape: tuple[int, ...]) -> Any:
    from ..ops.shape import reshape

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


def _lengths_before(padding: Any, x: Any, axis: int) -> np.ndarray:
    """How long each row along an axis is without the padding at its end."""
    array = np.asarray(x._value)
    held = np.asarray(convert.to_tensor(padding, array.dtype)._value)
    if held.shape != array.shape[axis + 1 :]:
        raise ValueError(f"Shapes {held.shape} and {array.shape[axis + 1 :]} are incompatible")
    rows, length = math.prod(array.shape[:axis]), array.shape[axis]
    other = (array != held).reshape(rows, length, held.size).any(axis=2)
    return np.max(other * np.arange(1, length + 1), axis=1, initial=0)
