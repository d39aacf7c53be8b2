"""`tf.sparse`: tensors given by the places and values of what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes
from .core.apply import tensor
from .core.record import Value
from .ops.rows import add_rows
from .shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec

_INT64 = np.dtype(np.int64)


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a sparse tensor."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @property
    def value_type(self) -> type:
        return SparseTensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> Any:
        rank = self._shape.rank
        return (
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        )

    def _to_components(self, value: Any) -> Any:
        return value.indices, value.values, value.dense_shape

    def _from_components(self, components: Any) -> Any:
        return SparseTensor(*components)


class SparseTensor(CompositeTensor):
    """`values[k]` stands at `indices[k]` in a tensor of the shape `dense_shape`; the rest is zero.

    >>> import gradtape as tf
    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2]))
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0., 2.],
           [3., 0.]], dtype=float32)>
    """

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = _int64(indices)
        self.values = convert.to_tensor(values)
        self.dense_shape = _int64(dense_shape)
        places, count = self.indices._value.shape, self.values._value.shape[0]
        if places[0] != count:
            raise ValueError(f"Dimensions {places[0]} and {count} are not compatible")
        if places[1] != self.dense_shape._value.shape[0]:
            raise ValueError(
                f"Dimensions {places[1]} and {self.dense_shape._value.shape[0]} are not compatible"
            )

    @property
    def _type_spec(self) -> TypeSpec:  # type: ignore[override]
        return SparseTensorSpec(self.shape, self.dtype)

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.dense_shape._value.tolist())

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def dtype(self) -> dtypes.DType:
        return self.values.dtype

    def with_values(self, new_values: Any) -> SparseTensor:
        """The same places with other values."""
        return SparseTensor(self.indices, new_values, self.dense_shape)

    def __mul__(self, other: Any) -> SparseTensor:
        return self.with_values(self.values * _at(other, self))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        return self.with_values(self.values / _at(other, self))

    def __neg__(self) -> SparseTensor:
        return self.with_values(-self.values)

    def __str__(self) -> str:
        parts = (self.indices, self.values, self.dense_shape)
        return "SparseTensor(indices={!s}, values={!s}, dense_shape={!s})".format(*parts)

    __repr__ = __str__


def _int64(value: Any) -> Any:
    value = value if isinstance(value, Value) else convert.to_tensor(value, hint=_INT64)
    if value._value.dtype != _INT64:
        raise TypeError(f"indices and dense_shape must be int64, got {value.dtype.name}.")
    return value


def _at(other: Any, like: SparseTensor) -> Any:
    """What a dense factor is at the places of a sparse one."""
    other = convert.to_tensor(other, hint=like.values._value.dtype)
    if not other._value.ndim:
        return other
    from .arrays import broadcast_to, gather_nd

    return gather_nd(broadcast_to(other, like.dense_shape), like.indices)


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Any:
    """The dense tensor; repeated places are an error in TensorFlow and added up here."""
    from .arrays import scatter_nd, where

    shape = tuple(sp_input.dense_shape._value.tolist())
    dense = scatter_nd(sp_input.indices, sp_input.values, sp_input.dense_shape)
    if default_value is None:
        return dense

    taken = np.zeros(shape, bool)
    taken[tuple(sp_input.indices._value.T)] = True
    other = convert.to_tensor(default_value, hint=dense._value.dtype)
    return where(tensor(taken), dense, other)


def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """The places and values of what is not zero."""
    from .arrays import gather_nd

    x = convert.to_tensor(tensor)
    places = np.argwhere(x._value).astype(np.int64)
    return SparseTensor(places, gather_nd(x, places), np.array(x._value.shape, np.int64))


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Any = None
) -> Any:
    """A sparse matrix times a dense one: only the values that are there are multiplied."""
    from .arrays import gather
    from .linalg import adjoint

    b = convert.to_tensor(b, hint=sp_a.values._value.dtype)
    if adjoint_b:
        b = adjoint(b)
    rows, columns = sp_a.indices._value.T
    height, _ = sp_a.dense_shape._value.tolist()
    if adjoint_a:
        rows, columns, height = columns, rows, sp_a.dense_shape._value.tolist()[1]
    picked = gather(b, tensor(columns))
    terms = sp_a.values[:, None] * picked
    return add_rows.apply(terms, tensor(rows), shape=(height, b._value.shape[1]))


def reduce_sum(sp_input: Any, axis: Any = None, keepdims: bool = False, name: Any = None) -> Any:
    """The sum over axes, dense."""
    from .reductions import reduce_sum as dense_sum

    return dense_sum(to_dense(sp_input), axis, keepdims)
