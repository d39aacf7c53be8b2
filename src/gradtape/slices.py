"""`IndexedSlices`: a gradient of which only some rows are not zero, as a gather gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes
from .dtypes import DType
from .ops.rows import Slices, add_rows
from .shapes import TensorShape


class IndexedSlices:
    """Rows `values` of a larger tensor, at the places `indices` along its first axis."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape.numpy().tolist())

    @property
    def device(self) -> str:
        return self._values.device

    def __reduce__(self) -> tuple:
        return _unpickle, (self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """Dense: the rows added into zeros."""
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for argument without dense_shape: "
                f"{self}"
            )
        values = convert.to_tensor(self._values)
        indices = convert.to_tensor(self._indices)
        shape = tuple(convert.to_tensor(self._dense_shape)._value.tolist())
        if dtype is not None and dtypes.of(values._value.dtype) is not dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                f"{values.dtype.name}"
            )
        return add_rows.apply(values, indices, shape=shape)


# What `repr` and tracebacks print, as TensorFlow's.
IndexedSlices.__module__ = "tensorflow.python.framework.indexed_slices"


def _unpickle(values: Any, indices: Any, dense_shape: Any) -> IndexedSlices:
    return IndexedSlices(values, indices, dense_shape)


def from_sweep(slices: Slices, wrap: Any) -> IndexedSlices:
    """The public face of the rows that a sweep found; `wrap` makes tensors of its values."""
    shape = np.array(slices.shape, np.int32)
    return IndexedSlices(wrap(slices.values), wrap(slices.indices), wrap(shape))
