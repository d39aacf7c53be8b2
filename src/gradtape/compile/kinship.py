"""What can be said of the kinds of arguments: which covers which, what fits, how they print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import dtypes, nest
from ..framework import convert
from ..framework.shapes import CompositeTensor, TensorShape, TensorSpec, TypeSpec
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from .kinds import NAN, Kind, attributes, mapping

_CONTAINERS = ("list", "tuple", "named", "attrs", "dict", "own")


class UnknownArgument:
    """Stands in a structured signature for an argument that has no description."""


class VariableSpec(TypeSpec):
    """The description of a variable among the arguments; equal aliases are one variable."""

    __slots__ = ("_parts",)

    def __init__(self, shape: Any, dtype: Any, trainable: bool = True, alias_id: Any = None):
        self._parts = (TensorShape(shape), dtypes.as_dtype(dtype), trainable, alias_id)

    value_type = Variable
    shape = property(lambda self: self._parts[0])
    dtype = property(lambda self: self._parts[1])
    trainable = property(lambda self: self._parts[2])
    alias_id = property(lambda self: self._parts[3])
    _component_specs = ()

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    def _to_components(self, value: Any) -> Any:
        return ()

    def _from_components(self, components: Any) -> Any:
        raise TypeError("A variable is not made of tensors.")

    def __repr__(self) -> str:
        shape, dtype, trainable, alias = self._parts
        return f"VariableSpec({shape=!s}, {dtype=}, {trainable=}, alias_id={alias})"


def tensor_spec(kind: Kind, name: str | None = None) -> TensorSpec:
    return TensorSpec(kind[1], dtypes.of(kind[2]), kind[3] or name)


def variable_spec(kind: Kind) -> VariableSpec:
    return VariableSpec(kind[1], dtypes.of(kind[2]), kind[3], kind[4])


def open_kind(kind: Kind) -> Kind:
    """The kind as TensorFlow has it, for which one trace serves all sizes and variables."""
    tag = kind[0]
    if tag == "composite":
        return tag, kind[1], ()
    if tag == "variable":
        return (*kind[:5], None)
    return (*kind[:2], tuple(map(open_kind, kind[2]))) if tag in _CONTAINERS else kind


def covers(general: Kind, kind: Kind) -> bool:
    """Whether what was traced for the first kind serves the second (both of `open_kind`)."""
    tag = kind[0]
    if general == kind:
        return True
    if tag != general[0]:
        return False
    if tag in _CONTAINERS:
        return (general[1], len(general[2])) == (kind[1], len(kind[2])) and all(
            map(covers, general[2], kind[2])
        )
    if tag == "variable":
        return general[2:] == kind[2:] and TensorShape(kind[1]).is_subtype_of(
            TensorShape(general[1])
        )
    if tag == "tensor":
        return tensor_spec(kind).is_subtype_of(tensor_spec(general))
    return tag in ("composite", "traced") and bool(kind[1].is_subtype_of(general[1]))


def common(first: Kind, second: Kind) -> Kind | None:
    """The closest kind that covers both (both of `open_kind`), or None."""
    tag = first[0]
    if first == second:
        return first
    if tag != second[0]:
        return None
    if tag in _CONTAINERS:
        if (first[1], len(first[2])) != (second[1], len(second[2])):
            return None
        parts = tuple(map(common, first[2], second[2]))
        return None if None in parts else (tag, first[1], parts)
    if tag in ("tensor", "variable"):
        shape = TensorShape(first[1]).most_specific_compatible_shape(TensorShape(second[1]))
        return (tag, shape._dims, *first[2:]) if first[2:] == second[2:] else None
    if tag in ("composite", "traced"):
        found = first[1].most_specific_common_supertype([second[1]])
        return None if found is None else (tag, found, *first[2:])
    return None


def fit(kind: Kind, value: Any) -> Any:
    """The value as one of the kind, or TensorFlow's exception."""
    return _FITTERS[kind[0]](kind, value)


def _fit_tensor(kind: Kind, value: Any) -> Any:
    wanted = tensor_spec(kind)
    if isinstance(value, TensorSpec):
        if not value.is_subtype_of(wanted):
            raise AssertionError(f"Can not cast {value!r} to {wanted!r}")
        return wanted
    if not isinstance(value, Tensor):
        value = convert.to_tensor(value, kind[2])
    given = TensorSpec(value.shape, value.dtype, wanted.name)
    if not given.is_subtype_of(wanted):
        raise TypeError(f"Can not cast {given!r} to {wanted!r}")
    return value


def _fit_value(kind: Kind, value: Any) -> Any:
    nan = kind[1] is NAN and isinstance(value, (float, complex)) and value != value
    if not nan and not value == kind[1]:
        raise ValueError(f"Can not cast {value!r} to {text(kind)}")
    return value


def _fit_object(kind: Kind, value: Any) -> Any:
    meant = kind[1]()
    if value is not meant and not value == meant:
        raise ValueError(f"Can not cast {value!r} to {text(kind)}")
    return value


def _fit_variable(kind: Kind, value: Any) -> Any:
    wanted = variable_spec(kind)
    if not isinstance(value, Variable) or value.dtype != wanted.dtype:
        raise TypeError(f"Can not cast {value!r} to {wanted!r}")
    return value


def _fit_composite(kind: Kind, value: Any) -> Any:
    wanted = kind[1]
    if isinstance(value, TypeSpec) and value.is_subtype_of(wanted):
        return wanted
    if not isinstance(value, CompositeTensor) or not isinstance(value, wanted.value_type):
        raise TypeError(f"Can not cast {value!r} to {wanted!r}")
    parts = value._type_spec._to_components(value)
    kinds = kind[2] or tuple(read_specs(wanted))
    for part, inner in zip(nest.flatten(parts), kinds, strict=True):
        fit(inner, part)
    return value


def read_specs(spec: TypeSpec) -> list[Kind]:
    parts = nest.flatten(spec._component_specs)
    return [("tensor", s.shape._dims, np.dtype(s.dtype.as_numpy_dtype), None) for s in parts]


def _fit_sequence(kind: Kind, value: Any) -> Any:
    made = list if kind[0] == "list" else tuple
    if not isinstance(value, made):
        raise AssertionError(f"Can not cast {value!r} to {kind[0]} type.")
    if len(value) != len(kind[2]):
        raise AssertionError(f"Expected {value} to have length of {len(kind[2])}")
    return made(map(fit, kind[2], value))


def _fit_fields(kind: Kind, value: Any) -> Any:
    about = kind[1]
    given = attributes(value) if kind[0] == "attrs" else getattr(value, "_fields", None)
    if given is None:
        raise AssertionError(f"Cannot cast {value!r} to type {about.cls!r}.")
    if set(given) != set(about[1]):
        raise AssertionError(f"{value!r} has different attributes with the TraceType {text(kind)}")
    return about.cls(*(fit(k, getattr(value, f)) for f, k in zip(about[1], kind[2], strict=True)))


def _fit_dict(kind: Kind, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise AssertionError(f"Can not cast {value!r} to a Dict type.")
    if set(value) != set(kind[1]):
        raise AssertionError(f"{value!r} has different keys with the TraceType {text(kind)}.")
    parts = {key: fit(inner, value[key]) for key, inner in zip(kind[1], kind[2], strict=True)}
    return mapping(kind[1].cls, value, parts)


def _fit_own(kind: Kind, value: Any) -> Any:
    made, metadata = kind[1]
    if not isinstance(value, made):
        raise TypeError(f"[{value!r}] is not of type {made}.")
    given, parts = value.__tf_flatten__()
    if given != metadata.of:
        raise ValueError(f"Metadata mismatch: [{metadata.of!r}] != [{given!r}].")
    return value.__tf_unflatten__(given, tuple(map(fit, kind[2], parts)))


_FITTERS = {
    "tensor": _fit_tensor, "value": _fit_value, "object": _fit_object, "variable": _fit_variable,
    "composite": _fit_composite, "list": _fit_sequence, "tuple": _fit_sequence, "own": _fit_own,
    "named": _fit_fields, "attrs": _fit_fields, "dict": _fit_dict,
    "traced": lambda kind, value: kind[1].cast(value, None),
}  # fmt: skip


def text(kind: Kind) -> str:
    """The kind as TensorFlow prints it."""
    tag, told = kind[0], kind[1]
    if tag == "tensor":
        return repr(tensor_spec(kind))
    if tag == "variable":
        return repr(variable_spec(kind))
    if tag == "value":
        return f"Literal[{'nan' if told is NAN else repr(told)}]"
    if tag == "object":
        return f"Weakref[{told!r}])"  # TensorFlow's parenthesis
    if tag in ("composite", "traced"):
        return repr(told)
    parts = [text(part) for part in kind[2]]
    if tag in ("list", "tuple"):
        return f"{tag.capitalize()}[{', '.join(parts)}]"
    if tag == "own":
        listed = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        return f"CustomNestTraceType [metadata={told[1].of!r}, components={listed}]"
    name, fields = ("Dict", told) if tag == "dict" else told
    by_field = dict(zip(fields, parts, strict=True))
    order = told.order if tag == "dict" else fields
    return f"{name}[{', '.join(f'[{field!r}, {by_field[field]}]' for field in order)}]"


_DESCRIBED = (int, float, bool, str, type(None), dtypes.DType, TypeSpec)


def structure(kind: Kind, *path: Any) -> Any:
    """The kind as a structured signature has it: specs, and the Python values themselves."""
    tag, told = kind[0], kind[1]
    if tag == "tensor":
        joined = "".join(c if c.isalnum() else "_" for c in "_".join(map(str, path)))
        named = kind[3] if kind[3] and kind[3] != path[0] else None
        usual = joined if joined[:1].isalpha() else f"tensor_{joined}"
        return TensorSpec(told, dtypes.of(kind[2]), named or usual)
    if tag == "variable":
        return variable_spec(kind)
    if tag in ("value", "object"):
        value = float("nan") if told is NAN else told() if tag == "object" else told
        value = list(value) if isinstance(value, range) else value
        return value if isinstance(value, (*_DESCRIBED, list)) else UnknownArgument()
    if tag in ("composite", "traced"):
        return told if tag == "composite" else UnknownArgument()
    steps = told[1] if tag in ("named", "attrs") else told if tag == "dict" else range(len(kind[2]))
    parts = [structure(part, *path, step) for step, part in zip(steps, kind[2], strict=True)]
    if tag in ("list", "tuple"):
        return parts if tag == "list" else tuple(parts)
    if tag == "dict":
        return mapping(told.cls, told.order, dict(zip(told, parts, strict=True)))
    if tag == "own":
        return told.cls.__tf_unflatten__(told[1].of, tuple(parts))
    return told.cls(*parts)
