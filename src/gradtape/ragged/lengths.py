"""What `tf.shape` gives of a ragged tensor: a size for each axis, or the lengths of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..core.apply import tensor
from ..framework.arguments import listed_dtype, number
from ..ops.shape import cast
from .tensor import RaggedTensor


class DynamicRaggedShape:
    """The sizes of a ragged tensor's axes; one with rows of different lengths has no size.

    >>> import gradtape as tf
    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    def __init__(self, x: RaggedTensor, out_type: Any = None) -> None:
        self._kind = listed_dtype(out_type, "out_type", ("int32", "int64"), "Shape", "int32")
        self._splits, self._inner = x.nested_row_splits, x.flat_values._value.shape
        self._rows = [np.diff(ends._value) for ends in x.nested_row_splits]
        self._sizes = (len(x), *self._rows, *x.flat_values._value.shape[1:])

    @property
    def rank(self) -> int:
        return len(self._sizes)

    @property
    def num_row_partitions(self) -> int:
        return len(self._rows)

    @property
    def dtype(self) -> Any:
        return dtypes.of(self._kind)

    @property
    def inner_shape(self) -> Any:
        """The shape of the values of all rows."""
        return tensor(np.array(self._inner, self._kind))

    def fill(self, values: Any) -> RaggedTensor:
        """A ragged tensor of this shape, whose rows hold these values."""
        splits = [cast.apply(ends, dtype=self._kind) for ends in self._splits]
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows along an axis are known to have one length."""
        return not isinstance(self._sizes[axis], np.ndarray)

    def static_lengths(self) -> list:
        return [tuple(n.tolist()) if isinstance(n, np.ndarray) else n for n in self._sizes]

    def __getitem__(self, index: Any) -> Any:
        axis = number(index)
        if axis < 0:
            axis += self.rank
        if not 0 <= axis < self.rank:
            raise IndexError(f"Index is too big: {axis}>={self.rank}")
        if not self.is_uniform(axis):
            raise ValueError(f"Index {axis} is not uniform")
        return tensor(self._kind.type(self._sizes[axis]))

    def __repr__(self) -> str:
        lengths = ", ".join(map(str, self.static_lengths()))
        rows = self.num_row_partitions
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={rows}>"
