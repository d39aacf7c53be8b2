"""`IndexedSlices`: a gradient of which only some rows are not zero, as a gather gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import DType
from ..ops.rows import Slices, add_rows
from . import convert
from .pickles import made
from .shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec


class IndexedSlices(CompositeTensor):
    """Rows `values` of a larger tensor, at the places `indices` along its first axis."""

    _differentiable_part = "values"

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
        if convert.is_recorded(self._dense_shape._value):  # it may be another at the next call
            return TensorShape([None] * self._dense_shape.shape[0])
        return TensorShape(self._dense_shape.numpy().tolist())

    @property
    def device(self) -> str:
        return self._values.device

    @property
    def _type_spec(self) -> IndexedSlicesSpec:  # type: ignore[override]
        shape = self._dense_shape
        return IndexedSlicesSpec(
            self.shape, self.dtype, self._indices.dtype, None if shape is None else shape.dtype,
            self._indices.shape,
        )  # fmt: skip

    def __reduce__(self) -> tuple:
        return made, ("IndexedSlices", self._values, self._indices, self._dense_shape)

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


class IndexedSlicesSpec(TypeSpec):
    """The shapes and dtypes of IndexedSlices."""

    __slots__ = ("_parts",)

    def __init__(
        self, shape: Any = None, dtype: Any = dtypes.float32, indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None, indices_shape: Any = None,
    ) -> None:  # fmt: skip
        self._parts = (
            TensorShape(shape), dtypes.as_dtype(dtype), dtypes.as_dtype(indices_dtype),
            dense_shape_dtype and dtypes.as_dtype(dense_shape_dtype), TensorShape(indices_shape),
        )  # fmt: skip

    @property
    def value_type(self) -> type:
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    @property
    def _component_specs(self) -> Any:
        shape, dtype, indices, dense, places = self._parts
        specs = (TensorSpec([None, *shape[1:]], dtype), TensorSpec(places, indices))
        return specs if dense is None else (*specs, TensorSpec([shape.rank], dense))

    def _to_components(self, value: Any) -> Any:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components: Any) -> Any:
        return IndexedSlices(*components)


# What `repr` and tracebacks print, as TensorFlow's.
IndexedSlices.__module__ = "tensorflow.python.framework.indexed_slices"


def from_sweep(slices: Slices, wrap: Any) -> IndexedSlices:
    """The public face of the rows that a sweep found; `wrap` makes tensors of its values."""
    shape = np.array(slices.shape, slices.sizes)
    return IndexedSlices(wrap(slices.values), wrap(slices.indices), wrap(shape))
