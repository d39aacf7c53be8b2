"""`tf.train.experimental`: state in Python that checkpoints keep."""

from __future__ import annotations

from typing import Any

from ..framework import convert
from ..framework.namespaces import lookup
from ..framework.tracking import Trackable

__getattr__ = lookup(__name__)

__all__ = ["PythonState"]


class PythonState(Trackable):
    """The base of classes with state of Python's that checkpoints keep as a string.

    >>> import gradtape as tf
    >>> class Count(tf.train.experimental.PythonState):
    ...     number = 0
    ...     def serialize(self):
    ...         return str(self.number)
    ...     def deserialize(self, string_value):
    ...         self.number = int(string_value)
    """

    def serialize(self) -> Any:
        """The state as a string."""
        raise NotImplementedError

    def deserialize(self, string_value: Any) -> None:
        """Take the state from a string."""
        raise NotImplementedError

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"py_state": convert.to_tensor(self.serialize())}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.deserialize(restored_tensors["py_state"].numpy())
