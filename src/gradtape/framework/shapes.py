"""Shapes and descriptions of tensors: `tf.TensorShape`, `tf.TensorSpec`, `tf.TypeSpec`.

>>> import gradtape as tf
>>> tf.TensorShape([2, None]).is_compatible_with([2, 3])
True
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from .. import dtypes
from ..core.apply import tensor
from ..dtypes import DType
from .pickles import made, recipe

_INT32_MAX = 2**31 - 1


def _whole(value: Any) -> int | None:
    """One dimension as an int, or None when it is not known."""
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    if not isinstance(value, int):
        try:
            value = int(value.__index__())
        except AttributeError:
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, "
                f"got value '{value!r}' with type '{type(value)!r}'"
            ) from None
    if value < 0:
        raise ValueError(f"Dimension {value} must be >= 0")
    return value


def _whole_numbers(dims: Any) -> tuple[int | None, ...] | None:
    """What `TensorShape` accepts, as a tuple; None when even the rank is not known."""
    if dims is None:
        return None
    if isinstance(dims, (tuple, list)):
        return tuple([_whole(d) for d in dims])
    if isinstance(dims, TensorShape):
        return dims._dims
    try:
        values = iter(dims)
    except TypeError:
        return (_whole(dims),)
    found: list[int | None] = []
    for value in values:
        try:
            found.append(_whole(value))
        except TypeError as cause:
            raise TypeError(
                f"Failed to convert '{dims!r}' to a shape: '{value!r}'could not be converted to a "
                "dimension. A shape should either be single dimension (e.g. 10), or an iterable "
                "of dimensions (e.g. [1, 10, None])."
            ) from cause
    return tuple(found)


def _arithmetic(function: Callable[[int, int], int], swap: bool = False) -> Any:
    def method(self: Dimension, other: Any) -> Any:
        try:
            a, b = self.value, _whole(other)
        except (TypeError, ValueError):
            return NotImplemented
        if a is None or b is None:
            return Dimension(None)
        return Dimension(function(b, a) if swap else function(a, b))

    return method


def _comparison(function: Callable[[int, int], bool]) -> Any:
    def method(self: Dimension, other: Any) -> Any:
        try:
            a, b = self.value, _whole(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if a is None or b is None else function(a, b)

    return method


class Dimension:
    """One entry of `TensorShape.dims`: a size, or None when it is not known.

    Comparisons with what is not known give None, arithmetic with it gives `Dimension(None)`.
    """

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.value = _whole(value)

    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __add__ = __radd__ = _arithmetic(operator.add)
    __mul__ = __rmul__ = _arithmetic(operator.mul)
    __sub__ = _arithmetic(operator.sub)
    __rsub__ = _arithmetic(operator.sub, swap=True)
    __floordiv__ = _arithmetic(operator.floordiv)
    __rfloordiv__ = _arithmetic(operator.floordiv, swap=True)
    __mod__ = _arithmetic(operator.mod)
    __rmod__ = _arithmetic(operator.mod, swap=True)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return self.value  # type: ignore[return-value]  # Python itself refuses None

    __int__ = __index__

    def __repr__(self) -> str:
        return f"Dimension({self.value!r})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both can be the same size."""
        size = _whole(other)
        return self.value is None or size is None or self.value == size

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless both can be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """What is known from both together."""
        self.assert_is_compatible_with(other)
        return Dimension(_whole(other) if self.value is None else self.value)


class TensorShape:
    """The shape of a tensor, as far as it is known.

    Sizes may be None, and so may the whole shape: `TensorShape(None)` has no rank.

    >>> shape = TensorShape([2, None])
    >>> shape[0], shape.rank, shape + [3]
    (2, 2, TensorShape([2, None, 3]))
    """

    __slots__ = ("_dims",)

    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any) -> None:
        self._dims = _whole_numbers(dims)

    known: ClassVar[Callable[[tuple[int, ...]], TensorShape]]
    """The shape of an array, whose sizes need no check: for `Tensor.shape`."""

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as TensorFlow 1 has them, or None."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self) -> list[int | None]:
        """The sizes, with None for those that are not known."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """The number of elements, or None when it is not known."""
        return prod(self._dims) if self.is_fully_defined() else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """ValueError unless every size is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether some array could have both shapes."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return True
        return len(self._dims) == len(theirs) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, theirs, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError unless some array could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """ValueError if the rank is known and is another one."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from both together."""
        other = as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        pairs = zip(self._dims, other._dims, strict=True)
        return TensorShape([b if a is None else a for a, b in pairs])

    def concatenate(self, other: Any) -> TensorShape:
        """The sizes of both, one after the other."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return TensorShape(None)
        return TensorShape(self._dims + theirs)

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def with_rank(self, rank: int | None) -> TensorShape:
        """This shape, which must be able to have that rank."""
        if rank is None:
            return self
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, which must not have fewer dimensions."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape, which must not have more dimensions."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The closest description that covers both."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or self.rank != other.rank:
            return TensorShape(None)
        pairs = zip(self._dims, other._dims, strict=True)
        return TensorShape([a if a == b else None for a, b in pairs])

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorShape | None:
        """The closest shape that covers this one and all the others."""
        shape = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            shape = shape.most_specific_compatible_shape(other)
        return shape

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` covers every array of this shape."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None or self._dims is None:
            return other._dims is None
        return len(self._dims) == len(other._dims) and all(
            b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return _part_of_unknown(key) if isinstance(key, slice) else None
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not TensorShape:
            try:
                other = as_shape(other)
            except TypeError:
                return NotImplemented
        return self._dims == other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """The sizes as a vector, wherever a tensor is asked for: int32, or int64 if they must."""
        if not self.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {self} to a Tensor.")
        sizes = [int(n or 0) for n in self]
        if dtype is None:
            dtype = dtypes.int64 if max(sizes, default=0) > _INT32_MAX else dtypes.int32
        if dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError(
                f"Cannot convert TensorShape {self} to dtype {dtype}. Allowed dtypes are tf.int32 "
                "and tf.int64."
            )
        return tensor(np.array(sizes, dtype.as_numpy_dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        return made, ("TensorShape", self._dims)


class _Known(dict[tuple[int, ...], TensorShape]):
    """The shapes of arrays that were met: 0.04 us where making one takes 0.15."""

    def __missing__(self, dims: tuple[int, ...]) -> TensorShape:
        if len(self) >= 4096:  # a program whose sizes never repeat must not fill the memory
            self.clear()
        shape: TensorShape = object.__new__(TensorShape)
        shape._dims = dims
        self[dims] = shape
        return shape


TensorShape.known = staticmethod(_Known().__getitem__)


def _part_of_unknown(key: slice) -> TensorShape:
    """A slice of a shape without rank: its length is known when it counts from the front."""
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    start = key.start or 0
    if key.stop is None or start < 0 or key.stop < 0:
        return TensorShape(None)
    return TensorShape([None] * max(key.stop - start, 0))


def as_shape(value: Any) -> TensorShape:
    """The shape itself, or a shape made of the value."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def _is_tensor(value: Any) -> bool:
    """Whether it is a tensor, and not a variable, which also holds a value."""
    return hasattr(value, "_value") and not hasattr(value, "assign")


class TypeSpec(ABC):
    """The description of a kind of value: its class, and what its parts look like."""

    __slots__ = ()

    @property
    @abstractmethod
    def value_type(self) -> type:
        """The class of the values described."""

    @abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The arguments that make this description again."""

    @classmethod
    def _deserialize(cls, serialization: Any) -> TypeSpec:
        """The description that these arguments make."""
        return cls(*serialization)

    @property
    @abstractmethod
    def _component_specs(self) -> Any:
        """The descriptions of the tensors that a value is made of."""

    @abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The tensors that a value is made of."""

    @abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value made of these tensors."""

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of that description, or that value, could be described by this."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = type_spec_from_value(other)
            except TypeError:
                return False
        return type(other) is type(self) and all(
            map(_parts_fit, self._serialize(), other._serialize())
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` covers everything described by this."""
        return type(other) is type(self) and all(
            map(_part_is_covered, self._serialize(), other._serialize())
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The closest description that covers this and all the others, or None."""
        if any(type(other) is not type(self) for other in others):
            return None
        merged = []
        for parts in zip(self._serialize(), *(o._serialize() for o in others), strict=True):
            part = _cover(parts[0], parts[1:])
            if part is None and any(p is not None for p in parts):
                return None
            merged.append(part)
        return type(self)(*merged)

    def most_specific_compatible_type(self, other: Any) -> TypeSpec:
        """The closest description that covers both; ValueError if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), self._serialize()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return recipe(type(self), self._serialize())


def _parts_fit(mine: Any, theirs: Any) -> bool:
    fits = getattr(mine, "is_compatible_with", None)
    return fits(theirs) if fits is not None else mine == theirs


def _part_is_covered(mine: Any, theirs: Any) -> bool:
    covered = getattr(mine, "is_subtype_of", None)
    return covered(theirs) if covered is not None else mine == theirs


def _cover(part: Any, others: tuple[Any, ...]) -> Any:
    cover = getattr(part, "most_specific_common_supertype", None)
    if cover is not None:
        return cover(others)
    return part if all(part == other for other in others) else None


class CompositeTensor:
    """A value made of several tensors, described by `_type_spec`, such as IndexedSlices."""

    _type_spec: TypeSpec
    _differentiable_part: str | None = None  # the attribute that gradients are taken of


class TensorSpec(TypeSpec):
    """The shape and dtype of a tensor, and perhaps its name.

    >>> TensorSpec([2, None])
    TensorSpec(shape=(2, None), dtype=tf.float32, name=None)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: Any = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: Any = None) -> TensorSpec:
        """The description of a tensor."""
        if not _is_tensor(tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: Any = None) -> TensorSpec:
        """The same description, perhaps with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> Any:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """`tf.Tensor`."""
        from .tensor import Tensor

        return Tensor

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> TensorSpec:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether dtype and shape agree with those of a tensor or of a TensorSpec."""
        other = spec_or_tensor
        if not isinstance(other, TensorSpec) and not _is_tensor(other):
            return False
        return self._dtype is other.dtype and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` covers every tensor described by this; a name must be the same."""
        return (
            isinstance(other, TensorSpec)
            and (not self._name or self._name == other._name)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class NoneTensorSpec(TypeSpec):
    """The description of None, where a tensor might stand."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return []

    def _from_components(self, components: Any) -> Any:
        return None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The description of a value: a tensor, a variable, or what could become a tensor."""
    if _is_tensor(value):
        return TensorSpec.from_tensor(value)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    from .convert import to_tensor

    try:
        return TensorSpec.from_tensor(to_tensor(value))
    except (TypeError, ValueError) as cause:
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
        ) from cause
