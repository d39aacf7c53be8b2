"""Nested structures of lists, tuples, dictionaries and the like: `tf.nest`.

>>> import gradtape as tf
>>> tf.nest.map_structure(lambda x: 10 * x, {"b": [1, 2], "a": (3,)})
{'b': [10, 20], 'a': (30,)}
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView, MutableMapping
from collections.abc import Sequence as SequenceABC
from typing import Any

from .framework.namespaces import lookup
from .framework.shapes import CompositeTensor, NoneTensorSpec, TensorSpec, TypeSpec

__getattr__ = lookup(__name__)


class _Kind:
    """How one sort of container is opened and made again."""

    __slots__ = ("items", "rebuild", "values")

    def __init__(
        self,
        values: Callable[[Any], Iterable[Any]],
        rebuild: Callable[[Any, list[Any]], Any],
        items: Callable[[Any], Iterable[tuple[Any, Any]]] = enumerate,
    ) -> None:
        self.values = values  # the children, in TensorFlow's order
        self.rebuild = rebuild  # a container like the first argument, with other children
        self.items = items  # the children with their place: an index, a key or a field


def _sorted_items(mapping: Any) -> list[tuple[Any, Any]]:
    return [(key, mapping[key]) for key in sorted(mapping)]


def _sorted_values(mapping: Any) -> list[Any]:
    return [mapping[key] for key in sorted(mapping)]


def _by_key(mapping: Any, values: list[Any]) -> dict[Any, Any]:
    return dict(zip(sorted(mapping), values, strict=True))


def _fill_mapping(mapping: Any, values: list[Any]) -> Any:
    new_values = _by_key(mapping, values)
    exact = type(mapping)
    new = exact(mapping.default_factory) if exact is defaultdict else exact()
    for key in mapping:  # in its own order, not in that of the sorted keys
        new[key] = new_values[key]
    return new


def _make_mapping(mapping: Any, values: list[Any]) -> Any:
    new_values = _by_key(mapping, values)
    try:
        return type(mapping)((key, new_values[key]) for key in mapping)
    except TypeError as cause:
        raise TypeError(
            f"Error creating an object of type {type(mapping)} like {mapping}. Note that it must "
            "accept a single positional argument representing an iterable of key-value pairs, in "
            f"addition to self. Cause: {cause}"
        ) from cause


def _attribute_items(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in type(value).__attrs_attrs__]


def _attribute_values(value: Any) -> list[Any]:
    return [child for _, child in _attribute_items(value)]


def _own_values(value: Any) -> Any:
    return value.__tf_flatten__()[1]


def _own_items(value: Any) -> Iterable[tuple[int, Any]]:
    return enumerate(_own_values(value))


def _make_own(value: Any, values: list[Any]) -> Any:
    return value.__tf_unflatten__(value.__tf_flatten__()[0], tuple(values))


def _same_type(value: Any, values: list[Any]) -> Any:
    return type(value)(values)


def _with_fields(value: Any, values: list[Any]) -> Any:
    return type(value)(*values)


def _as_list(_: Any, values: list[Any]) -> list[Any]:
    return values


def _field_items(value: Any) -> Iterable[tuple[str, Any]]:
    return zip(value._fields, value, strict=True)


_SEQUENCE = _Kind(iter, _same_type)
_VIEW = _Kind(iter, _as_list)
_NAMED_TUPLE = _Kind(iter, _with_fields, _field_items)
_MUTABLE_MAPPING = _Kind(_sorted_values, _fill_mapping, _sorted_items)
_MAPPING = _Kind(_sorted_values, _make_mapping, _sorted_items)
_ATTRIBUTES = _Kind(_attribute_values, _with_fields, _attribute_items)
_OWN = _Kind(_own_values, _make_own, _own_items)
_COMPOSITE = _Kind(
    lambda value: (value._type_spec._to_components(value),),
    lambda value, values: value._type_spec._from_components(values[0]),
    lambda value: [(type(value).__name__, value._type_spec._to_components(value))],
)

_SPEC = _Kind(
    lambda spec: (spec._component_specs,),
    lambda spec, values: spec._from_components(values[0]),
    lambda spec: [(spec.value_type.__name__, spec._component_specs)],
)


def _is_named_tuple(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and isinstance(fields, SequenceABC)
        and all(isinstance(field, str) for field in fields)
    )


def _kind_of(cls: type) -> _Kind | None:
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _OWN
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRIBUTES
    if issubclass(cls, Mapping):
        return _MUTABLE_MAPPING if issubclass(cls, MutableMapping) else _MAPPING
    if _is_named_tuple(cls):
        return _NAMED_TUPLE
    if issubclass(cls, (MappingView, range)):
        return _VIEW
    if issubclass(cls, SequenceABC) and not issubclass(cls, (str, bytes)):
        return _SEQUENCE
    return None


class _Kinds(dict[type, "_Kind | None"]):
    """The kind of each class that was met; None for leaves.

    0.03 us for each value, where the tests for abstract classes take 1.6.
    """

    def __missing__(self, cls: type) -> _Kind | None:
        kind = self[cls] = _kind_of(cls)
        return kind


class _KindsWithComposites(_Kinds):
    """The same, with values such as IndexedSlices opened into their tensors."""

    def __missing__(self, cls: type) -> _Kind | None:
        if issubclass(cls, CompositeTensor):
            kind: _Kind | None = _COMPOSITE
        elif issubclass(cls, TypeSpec) and not issubclass(cls, (TensorSpec, NoneTensorSpec)):
            kind = _SPEC
        else:
            kind = _kinds[cls]
        self[cls] = kind
        return kind


_kinds = _Kinds()
_kinds_with_composites = _KindsWithComposites()


def is_nested(seq: Any) -> bool:
    """Whether it is a structure, and not a leaf: strings, arrays, tensors and sets are leaves."""
    return _kinds[type(seq)] is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves, from left to right; those of a dictionary in the order of its sorted keys.

    >>> flatten({"b": [1, 2], "a": None})
    [None, 1, 2]
    """
    kinds = _kinds_with_composites if expand_composites else _kinds
    kind = kinds[type(structure)]
    if kind is None:
        return [structure]
    leaves: list[Any] = []
    for value in kind.values(structure):
        if kinds[value.__class__] is None:
            leaves.append(value)
        else:
            leaves += flatten(value, expand_composites)
    return leaves


def flatten_with_paths(
    structure: Any, expand_composites: bool = False, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves, each with the indices, keys and fields that lead to it."""
    kinds = _kinds_with_composites if expand_composites else _kinds
    kind = kinds[type(structure)]
    if kind is None:
        yield path, structure
    else:
        for step, value in kind.items(structure):
            yield from flatten_with_paths(value, expand_composites, (*path, step))


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like the first argument, with other leaves.

    >>> pack_sequence_as({"b": 1, "a": (2, 3)}, ["x", "y", "z"])
    {'b': 'z', 'a': ('x', 'y')}
    """
    if _kinds[type(flat_sequence)] is None:
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    flat = flat_sequence
    if not isinstance(flat, (list, tuple)):
        flat = [flat_sequence[i] for i in range(len(flat_sequence))]
    kinds = _kinds_with_composites if expand_composites else _kinds
    kind = kinds[type(structure)]
    if kind is None:
        if len(flat) != 1:
            raise ValueError(_not_one_leaf(structure, flat_sequence))
        return flat[0]
    left = iter(flat)
    try:
        packed = _pack(structure, kind, kinds, left)
    except StopIteration:
        pass
    else:
        if next(left, _NOTHING) is _NOTHING:
            return packed
    raise ValueError(
        f"Could not pack sequence. Structure had {len(flatten(structure, expand_composites))} "
        f"atoms, but flat_sequence had {len(flat)} items.  Structure: {structure}, "
        f"flat_sequence: {flat_sequence}."
    )


_NOTHING = object()


def _pack(structure: Any, kind: _Kind, kinds: _Kinds, left: Iterator[Any]) -> Any:
    values = []
    for value in kind.values(structure):
        inner = kinds[value.__class__]
        values.append(next(left) if inner is None else _pack(value, inner, kinds, left))
    return values if structure.__class__ is list else kind.rebuild(structure, values)


def _not_one_leaf(structure: Any, flat: Any) -> str:
    return (
        f"The target structure is of type `{type(structure)}`\n  {_short(structure)}\n"
        f"However the input is a sequence ({type(flat)}) of length {len(flat)}.\n  {_short(flat)}\n"
        "nest cannot guarantee that it is safe to map one to the other."
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """The structure of the results of calling `func` on the leaves, taken one from each.

    >>> map_structure(lambda a, b: a + b, [1, (2, 3)], [10, (20, 30)])
    [11, (22, 33)]
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        names = "`, `".join(kwargs)
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{names}`"
        )
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand_composites)
    leaves = [flatten(one, expand_composites) for one in structure]
    results = list(map(func, *leaves))
    return pack_sequence_as(first, results, expand_composites)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """ValueError if the structures differ, TypeError if only the types of their containers do.

    All lists count as one type, and so do all mappings.
    """
    if check_types is not True and check_types is not False:
        check_types = bool(check_types)
    kinds = _kinds_with_composites if expand_composites else _kinds
    difference = _difference(nest1, nest2, check_types, kinds)
    if difference is None:
        return
    error, reason = difference
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_typed(nest1)}\n\nSecond structure: {_typed(nest2)}\n\n"
        f"More specifically: {reason}\n"
        f"Entire first structure:\n{_skeleton(nest1, expand_composites)}\n"
        f"Entire second structure:\n{_skeleton(nest2, expand_composites)}"
    )


def _difference(
    first: Any, second: Any, check_types: bool, kinds: _Kinds
) -> tuple[type[Exception], str] | None:
    kind1, kind2 = kinds[type(first)], kinds[type(second)]
    if kind1 is None and kind2 is None:
        return None
    if kind1 is None or kind2 is None:
        nested, leaf = (second, first) if kind1 is None else (first, second)
        return ValueError, (
            f'Substructure "{_typed(nested)}" is a sequence, '
            f'while substructure "{_typed(leaf)}" is not'
        )
    if check_types:
        if not _same_container(first, second):
            return TypeError, (
                "The two namedtuples don't have the same sequence type. "
                f"First structure {_typed(first)} has type {type(first).__name__}, "
                f"while second structure {_typed(second)} has type {type(second).__name__}"
            )
        if isinstance(first, Mapping) and set(first) != set(second):
            return ValueError, (
                "The two dictionaries don't have the same set of keys. "
                f"First structure has keys {_typed(list(first))}, "
                f"while second structure has keys {_typed(list(second))}"
            )
    values1, values2 = list(kind1.values(first)), list(kind2.values(second))
    if len(values1) != len(values2):
        return ValueError, (
            "The two structures don't have the same number of elements. "
            f"First structure: {_typed(first)}. Second structure: {_typed(second)}"
        )
    for value1, value2 in zip(values1, values2, strict=True):
        difference = _difference(value1, value2, check_types, kinds)
        if difference is not None:
            return difference
    return None


def _same_container(first: Any, second: Any) -> bool:
    cls1, cls2 = type(first), type(second)
    if cls1 is cls2:
        # Composites of one class are told apart by what they hold.
        return not isinstance(first, CompositeTensor) or _compatible_specs(first, second)
    if _is_named_tuple(cls1) and _is_named_tuple(cls2):
        return cls1.__name__ == cls2.__name__ and first._fields == second._fields
    return any(
        isinstance(first, family) and isinstance(second, family) for family in (list, Mapping)
    )


def _compatible_specs(first: CompositeTensor, second: CompositeTensor) -> bool:
    spec: TypeSpec = first._type_spec
    return spec.most_specific_common_supertype([second._type_spec]) is not None


def _typed(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


class _Dot:
    def __repr__(self) -> str:
        return "."


def _skeleton(structure: Any, expand_composites: bool) -> Any:
    dots = [_Dot()] * len(flatten(structure, expand_composites))
    return pack_sequence_as(structure, dots, expand_composites)
