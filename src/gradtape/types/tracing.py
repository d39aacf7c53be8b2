"""What classes say about themselves to `tf.function`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable


class TraceType(ABC):
    """The type of an argument of a `tf.function`: two arguments of one type share a trace."""

    @abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Whether a trace for `other` serves this type too."""

    @abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """The closest type whose trace serves this one and all the others, or None."""

    @abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """What stands for a value of this type while a function is traced."""

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors in a value of this type: none, unless a class says so."""
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value made of its tensors."""
        return self.placeholder_value(None)

    def flatten(self) -> list[TraceType]:
        """The types of its tensors."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """The value as one of this type."""
        assert value == self.placeholder_value(None), f"Can not cast {value!r} to {self!r}"
        return value

    @abstractmethod
    def __hash__(self) -> int: ...

    @abstractmethod
    def __eq__(self, other: object) -> bool: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A class that says what its `TraceType` is."""

    @abstractmethod
    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """The type of this object."""
