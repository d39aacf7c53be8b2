"""Sparse tensors: the places and values of what is not zero, and the shape of the whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.record import Value, threads
from ..framework import convert
from ..framework.arguments import known, quickly
from ..framework.pickles import recipe
from ..framework.shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec

_INT64 = np.dtype(np.int64)


class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a sparse tensor."""

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._dtype

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

    __module__ = "tensorflow.python.framework.sparse_tensor"  # libraries tell it by that
    indices: Any
    values: Any
    dense_shape: Any

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = _int64(indices)
        self.values = convert.to_tensor(values)
        self.dense_shape = _int64(dense_shape)
        if (sketch := sketching()) is not None:
            self._outline(sketch)
            return
        places, count = self.indices._value.shape, self.values._value.shape[0]
        if places[0] != count:
            raise ValueError(f"Dimensions {places[0]} and {count} are not compatible")
        if places[1] != self.dense_shape._value.shape[0]:
            raise ValueError(
                f"Dimensions {places[1]} and {self.dense_shape._value.shape[0]} are not compatible"
            )

    def _outline(self, sketch: Any) -> None:
        """Where only shapes are told nothing is in it, so that it is done with at once."""
        sizes = self.dense_shape._value
        if convert.is_recorded(sizes):
            open_sizes = sketch.placeholder([None] * len(sizes), _INT64)
            self.dense_shape = tensor(np.array(open_sizes._value.shape, np.int64))
        self.indices = tensor(np.zeros((0, len(sizes)), np.int64))
        self.values = tensor(np.zeros(0, self.values._value.dtype))

    def __reduce__(self) -> tuple:
        return recipe(type(self), (self.indices, self.values, self.dense_shape))

    @property
    def _type_spec(self) -> TypeSpec:  # type: ignore[override]
        return SparseTensorSpec(self.shape, self.dtype)

    @property
    def shape(self) -> TensorShape:
        sizes = self.dense_shape._value.tolist()
        if threads.recording is not None:
            return threads.recording.known(tuple(sizes))
        return TensorShape(sizes)

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Say what the shape is, which is known already: another one is an error."""
        self.shape.assert_is_compatible_with(TensorShape(shape))

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

    def __str__(self) -> str:
        parts = (self.indices, self.values, self.dense_shape)
        return "SparseTensor(indices={!s}, values={!s}, dense_shape={!s})".format(*parts)

    __repr__ = __str__


def sketching() -> Any:
    """What tells shapes in place of numbers, if that is all that is asked for."""
    recording = threads.recording
    return recording if recording is not None and recording.sketches else None


def _int64(value: Any) -> Any:
    if isinstance(value, TensorShape):
        value = np.array(known(value), np.int64)
    if isinstance(value, (list, tuple)) and convert.holds_tensor(value):
        # Tensors in a list are cast, such as sizes in int32.
        found = quickly(value)
        value = convert.pack(value, _INT64) if found is None else np.array(found, np.int64)
    value = value if isinstance(value, Value) else convert.to_tensor(value, hint=_INT64)
    if value._value.dtype != _INT64:
        raise TypeError(f"indices and dense_shape must be int64, got {value.dtype.name}.")
    return value


def _at(other: Any, like: SparseTensor) -> Any:
    """What a dense factor is at the places of a sparse one."""
    other = convert.to_tensor(other, hint=like.values._value.dtype)
    if not other._value.ndim:
        return other
    from ..arrays.gathering import gather_nd
    from ..arrays.reshaping import broadcast_to

    return gather_nd(broadcast_to(other, like.dense_shape), like.indices)


def number_of(places: Any, shape: Any) -> Any:
    """The places counted through, in the order of a dense tensor's entries."""
    if not len(places):
        return np.zeros(0, np.int64)
    return np.ravel_multi_index(tuple(places.T), tuple(shape)).astype(np.int64)


def places_of(numbers: Any, shape: Any) -> Any:
    """The inverse of `number_of`."""
    if not len(numbers):
        return np.zeros((0, len(shape)), np.int64)
    return np.stack(np.unravel_index(numbers, tuple(shape)), 1).astype(np.int64)


def check_places(x: SparseTensor, label: str, order: bool = True) -> Any:
    """The places, counted through; an error if one is outside or if they do not rise."""
    places, shape = x.indices._value, x.dense_shape._value
    outside = ((places < 0) | (places >= shape)).any(axis=1)
    if outside.any():
        k = int(outside.argmax())
        raise errors.invalid(
            f"indices[{k}] = {places[k].tolist()} is out of bounds: need 0 <= index < "
            f"{shape.tolist()} [Op:{label}] name: "
        )
    numbers = number_of(places, shape)
    steps = np.diff(numbers)
    if order and (steps <= 0).any():
        k = int((steps <= 0).argmax()) + 1
        where = f"indices[{k}] = {places[k].tolist()} is"
        if steps[k - 1] < 0:
            raise errors.invalid(
                f"{where} out of order. Many sparse ops require sorted indices: tf.sparse.reorder "
                f"makes a correctly ordered copy. [Op:{label}] name: "
            )
        raise errors.invalid(f"{where} repeated [Op:{label}] name: ")
    return numbers
