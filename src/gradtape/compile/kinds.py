"""What a function's arguments are told apart by: TensorFlow's trace types, as plain tuples.

A kind is a tuple, so that keys of many arguments are compared and hashed in C:

- `("tensor", sizes, NumPy dtype, name)`: sizes may be None, and so may single ones;
- `("variable", sizes, NumPy dtype, trainable, alias, number)`: equal aliases are one variable;
- `("composite", spec, parts)`: a RaggedTensor and the like, the parts are kinds of its tensors;
- `("value", value)`: by `==`, so that 1, 1.0 and True are one, as in TensorFlow;
- `("object", weak reference)`: by `==` of the objects, which most classes have by identity;
- `("traced", type)`: what its class says in `__tf_tracing_type__`;
- `("list" or "tuple", None, parts)`, `("named" or "attrs", About, parts)`, `("dict", About, parts)`
  with the parts by sorted keys, `("own", About, parts)` for classes with `__tf_flatten__`.

How kinds cover, merge and print is left to `kinship`.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import nest
from ..framework import convert
from ..framework.shapes import CompositeTensor, TensorSpec, TypeSpec
from ..framework.tensor import Tensor
from ..framework.variable import Variable

Kind = tuple[Any, ...]
NAN = object()  # TensorFlow takes all of them for one value


class About(tuple[Any, ...]):
    """What tells a container from others, with what does not: its class, the order of its keys."""

    cls: type
    order: tuple[Any, ...]

    def __new__(cls, told: tuple[Any, ...], made: type, order: tuple[Any, ...] = ()) -> About:
        about = super().__new__(cls, told)
        about.cls, about.order = made, order
        return about


class Metadata:
    """What `__tf_flatten__` says beside the parts: compared, and perhaps not hashable."""

    __slots__ = ("of",)

    def __init__(self, of: Any) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metadata) and bool(self.of == other.of)

    def __hash__(self) -> int:
        return 0


class Found:
    """What a walk through the arguments gathers."""

    __slots__ = ("abstract", "leaves", "variables")

    def __init__(self) -> None:
        self.abstract = False  # whether there is a TensorSpec among the leaves
        self.leaves: list[Any] = []  # tensors, and TensorSpecs, in TensorFlow's order
        self.variables: list[Variable] = []  # each once

    def alias(self, variable: Variable) -> int:
        for at, other in enumerate(self.variables):
            if other is variable:
                return at
        self.variables.append(variable)
        return len(self.variables) - 1


def read(value: Any, found: Found) -> Kind:
    """The kind of an argument; its tensors and variables go to `found`."""
    return _sorts[type(value)].read(value, found)


def rebuild(value: Any, leaves: Iterator[Any]) -> Any:
    """What the function gets for an argument, with other leaves in place of its tensors."""
    return _sorts[type(value)].rebuild(value, leaves)


class _Sort:
    """How arguments of some classes are read, and made again with other tensors."""

    __slots__ = ("read", "rebuild")

    def __init__(
        self, read: Callable[[Any, Found], Kind], rebuild: Callable[[Any, Iterator[Any]], Any]
    ) -> None:
        self.read = read
        self.rebuild = rebuild


def _same(value: Any, leaves: Iterator[Any]) -> Any:
    return value


def _next(value: Any, leaves: Iterator[Any]) -> Any:
    return next(leaves)


# --- tensors, variables and what is made of tensors -----------------------------------------------
def _read_tensor(value: Any, found: Found) -> Kind:
    found.leaves.append(value)
    array = value._value
    return "tensor", array.shape, array.dtype, None


def _read_array(value: Any, found: Found) -> Kind:
    return _read_tensor(convert.to_tensor(value), found)


def of_spec(spec: TensorSpec) -> Kind:
    return "tensor", spec.shape._dims, np.dtype(spec.dtype.as_numpy_dtype), spec.name


def _read_spec(spec: Any, found: Found) -> Kind:
    found.abstract = True
    if isinstance(spec, TensorSpec):
        found.leaves.append(spec)
        return of_spec(spec)
    parts = nest.flatten(spec._component_specs)
    found.leaves += parts
    return "composite", spec, tuple(map(of_spec, parts))


def _rebuild_spec(spec: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(spec, TensorSpec):
        return next(leaves)
    parts = spec._component_specs
    return spec._from_components(nest.pack_sequence_as(parts, [next(leaves) for _ in parts]))


def _read_variable(variable: Any, found: Found) -> Kind:
    dtype = np.dtype(variable.dtype.as_numpy_dtype)  # its numbers are not looked at
    told = variable.trainable, found.alias(variable), variable._id
    return "variable", variable.shape._dims, dtype, *told


def _read_composite(value: Any, found: Found) -> Kind:
    spec = value._type_spec
    parts = nest.flatten(spec._to_components(value))
    return "composite", spec, tuple([read(part, found) for part in parts])


def _rebuild_composite(value: Any, leaves: Iterator[Any]) -> Any:
    spec = value._type_spec
    parts = spec._to_components(value)
    return spec._from_components(nest.map_structure(lambda part: next(leaves), parts))


# --- containers -----------------------------------------------------------------------------------
def _container(
    tag: str,
    about: Callable[[Any], About | None],
    parts: Callable[[Any], Any],
    make: Callable[[Any, list[Any]], Any],
) -> _Sort:
    def read_parts(value: Any, found: Found) -> Kind:
        return tag, about(value), tuple([read(part, found) for part in parts(value)])

    def rebuild_parts(value: Any, leaves: Iterator[Any]) -> Any:
        return make(value, [rebuild(part, leaves) for part in parts(value)])

    return _Sort(read_parts, rebuild_parts)


def _with_fields(value: Any, parts: list[Any]) -> Any:
    return type(value)(*parts)


def attributes(value: Any) -> tuple[str, ...]:
    return tuple(field.name for field in type(value).__attrs_attrs__)


def mapping(made: type, keys: Any, parts: dict[Any, Any]) -> Any:
    # A defaultdict is made of its factory, which a function is not asked for.
    return (dict if made is defaultdict else made)((key, parts[key]) for key in keys)


def _fill(value: Any, parts: list[Any]) -> Any:
    return mapping(type(value), value, dict(zip(sorted(value), parts, strict=True)))


_LIST = _container("list", lambda value: None, iter, lambda value, parts: parts)
_TUPLE = _container("tuple", lambda value: None, iter, lambda value, parts: tuple(parts))
_NAMED = _container(
    "named",
    lambda value: About((type(value).__name__, value._fields), type(value)),
    iter,
    _with_fields,
)
_ATTRS = _container(
    "attrs",
    lambda value: About((type(value).__name__, attributes(value)), type(value)),
    lambda value: [getattr(value, name) for name in attributes(value)],
    _with_fields,
)
_DICT = _container(
    "dict",
    lambda value: About(tuple(sorted(value)), type(value), tuple(value)),
    lambda value: [value[key] for key in sorted(value)],
    _fill,
)
_OWN = _container(
    "own",
    lambda value: About((type(value), Metadata(value.__tf_flatten__()[0])), type(value)),
    lambda value: value.__tf_flatten__()[1],
    lambda value, parts: value.__tf_unflatten__(value.__tf_flatten__()[0], tuple(parts)),
)


# --- Python values --------------------------------------------------------------------------------
def _read_value(value: Any, found: Found) -> Kind:
    return "value", value


def _read_number(value: Any, found: Found) -> Kind:
    return "value", value if value == value else NAN


def _is_function(value: Any) -> bool:
    return hasattr(value, "get_concrete_function")


def _read_other(value: Any, found: Found) -> Kind:
    if hasattr(value, "__tf_tracing_type__"):
        kind = value.__tf_tracing_type__(found)
        found.leaves += kind.to_tensors(value)
        return "traced", kind
    if isinstance(value, weakref.ref):
        raise TypeError(f"weakref input {value} not supported for tf.function.")
    if hasattr(value, "__wrapped__") and not _is_function(value):
        return read(value.__wrapped__, found)  # as TensorFlow: the function without its decorator
    try:
        reference = weakref.ref(value)
        hash(reference)
        return "object", reference
    except TypeError:
        try:
            hash(value)
            return "value", value
        except Exception:
            raise TypeError(
                f"Could not generate a generic TraceType for {value!r}.Please verify that it is "
                "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
            ) from None


def _rebuild_other(value: Any, leaves: Iterator[Any]) -> Any:
    if hasattr(value, "__tf_tracing_type__"):
        kind = value.__tf_tracing_type__(Found())
        tensors = [next(leaves) for _ in kind.to_tensors(value)]
        return kind.from_tensors(iter(tensors)) if tensors else kind.placeholder_value(None)
    if hasattr(value, "__wrapped__") and not _is_function(value):
        return rebuild(value.__wrapped__, leaves)
    return list(value) if isinstance(value, range) else value  # TensorFlow's range is a list


_TENSOR, _ARRAY = _Sort(_read_tensor, _next), _Sort(_read_array, _next)
_SPEC, _VARIABLE = _Sort(_read_spec, _rebuild_spec), _Sort(_read_variable, _same)
_COMPOSITE = _Sort(_read_composite, _rebuild_composite)
_VALUE, _NUMBER = _Sort(_read_value, _same), _Sort(_read_number, _same)
_OTHER = _Sort(_read_other, _rebuild_other)


def _sort_of(cls: type) -> _Sort:
    for base, sort in (
        (Tensor, _TENSOR), (Variable, _VARIABLE), (CompositeTensor, _COMPOSITE), (TypeSpec, _SPEC),
    ):  # fmt: skip
        if issubclass(cls, base):
            return sort
    if hasattr(cls, "__tf_tracing_type__") or hasattr(cls, "__wrapped__"):
        return _OTHER
    if issubclass(cls, list):
        return _LIST
    if issubclass(cls, tuple):
        return _NAMED if all(isinstance(f, str) for f in getattr(cls, "_fields", [0])) else _TUPLE
    if issubclass(cls, Mapping):
        return _DICT
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRS
    if hasattr(cls, "__array__") and not issubclass(cls, np.str_):
        return _ARRAY
    return _OWN if hasattr(cls, "__tf_flatten__") else _OTHER


class _Sorts(dict[type, _Sort]):
    """The sort of each class that was met."""

    def __missing__(self, cls: type) -> _Sort:
        sort = self[cls] = _sort_of(cls)
        return sort


_sorts = _Sorts(dict.fromkeys((bool, int, str, bytes, type(None)), _VALUE))
_sorts.update(dict.fromkeys((float, complex), _NUMBER))
