"""The description of a dataset that is an element of another, or an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..framework.shapes import TensorShape, TypeSpec
from . import structure


class DatasetSpec(TypeSpec):
    """What the elements of a dataset look like.

    >>> import gradtape as tf
    >>> tf.data.DatasetSpec.from_value(tf.data.Dataset.range(3))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The description of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def element_spec(self) -> Any:
        """The structure of specs of an element."""
        return self._element_spec

    @property
    def value_type(self) -> type:
        from .dataset import Dataset

        return Dataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return []

    def _from_components(self, components: Any) -> Any:
        raise NotImplementedError("A dataset is not made of tensors.")

    def _stand_in(self, number: int, size: int) -> Any:
        from .dataset import Dataset
        from .sources import Nothing

        return Dataset(Nothing(self._element_spec))

    def is_subtype_of(self, other: Any) -> bool:
        """Whether `other` covers everything described by this."""
        if type(other) is not DatasetSpec:
            return False
        mine, theirs = structure.flatten(self.element_spec), structure.flatten(other.element_spec)
        return len(mine) == len(theirs) and all(
            a.is_subtype_of(b) for a, b in zip(mine, theirs, strict=True)
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a dataset, or one of that description, could be described by this."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        if type(other) is not DatasetSpec:
            return False
        mine, theirs = structure.flatten(self.element_spec), structure.flatten(other.element_spec)
        return len(mine) == len(theirs) and all(
            a.is_compatible_with(b) for a, b in zip(mine, theirs, strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> DatasetSpec | None:
        """The closest description that covers this and all the others, or None."""
        spec = self._element_spec
        for other in others:
            if type(other) is not DatasetSpec:
                return None
            try:
                spec = structure.common(spec, other._element_spec)
            except (TypeError, ValueError):
                return None
        return DatasetSpec(spec, self._dataset_shape)

    def __hash__(self) -> int:
        return hash((DatasetSpec, tuple(structure.flatten(self._element_spec))))
