"""`tf.experimental.Optional`: an element that may be missing, such as that after the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..framework.shapes import CompositeTensor, TensorSpec, TypeSpec
from . import structure


class OptionalSpec(TypeSpec):
    """The description of an optional by that of its value.

    >>> import gradtape as tf
    >>> tf.OptionalSpec(tf.TensorSpec([], tf.int32))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)
    """

    __slots__ = ("_made", "_value_structure")

    def __init__(self, element_spec: Any) -> None:
        self._value_structure = element_spec
        self._made: Any = None  # what makes one of its parts, found out once

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The description of an optional."""
        return OptionalSpec(value.element_spec)

    @property
    def value_type(self) -> type:
        return Optional

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> Any:
        inside = structure.flatten(self._value_structure)
        parts = [] if self._value_structure is None else [s._component_specs for s in inside]
        return [TensorSpec([], dtypes.bool), parts]

    def _to_components(self, value: Any) -> Any:
        if value._leaves is None:
            return [value._has, []]
        specs = structure.flatten(self._value_structure)
        pairs = zip(specs, value._leaves, strict=True)
        return [value._has, [spec._to_components(leaf) for spec, leaf in pairs]]

    def _from_components(self, components: Any) -> Any:
        has, parts = components
        if not parts and self._value_structure is not None:
            return Optional(has, None, self._value_structure)
        if self._made is None:
            specs = structure.flatten(self._value_structure) if parts else []
            self._made = specs, structure.packer(self._value_structure)
        specs, pack = self._made
        leaves = [spec._from_components(part) for spec, part in zip(specs, parts, strict=True)]
        return Optional(has, leaves, self._value_structure, pack)

    def _stand_in(self, number: int, size: int) -> Any:
        return Optional.empty(self._value_structure)

    def __hash__(self) -> int:
        return hash((OptionalSpec, tuple(structure.flatten(self._value_structure))))


class Optional(CompositeTensor):
    """An element, or nothing.

    >>> import gradtape as tf
    >>> optional = tf.experimental.Optional.from_value(42)
    >>> bool(optional.has_value()), int(optional.get_value())
    (True, 42)
    >>> bool(tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).has_value())
    False
    """

    def __init__(
        self, has: Any, leaves: list[Any] | None, element_spec: Any, pack: Any = None
    ) -> None:
        self._has, self._leaves, self._element_spec = has, leaves, element_spec
        self._pack = pack  # of the leaves, if that is known already

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Nothing, where an element of this description could be."""
        return Optional(tensor(np.False_), None, element_spec)

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An element."""
        spec, leaves = structure.normalised(value)
        return Optional(tensor(np.True_), leaves, spec)

    def has_value(self, name: Any = None) -> Any:
        """Whether there is an element, as a tensor."""
        return self._has

    def get_value(self, name: Any = None) -> Any:
        """The element; InvalidArgumentError if there is none."""
        if self._leaves is None or not bool(self._has):
            raise errors.invalid(
                "The given optional does not have a value. [Op:OptionalGetValue] name: "
            )
        pack = self._pack or structure.packer(self._element_spec)
        return pack(self._leaves)

    @property
    def element_spec(self) -> Any:
        """The description of the element."""
        return self._element_spec

    @property
    def _type_spec(self) -> TypeSpec:  # type: ignore[override]
        return OptionalSpec(self._element_spec)
