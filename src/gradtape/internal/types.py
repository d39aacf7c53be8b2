"""`tf.__internal__.types`: what counts as a tensor."""

from __future__ import annotations

from typing import Any

from ..framework import convert
from ..framework.namespaces import lookup
from ..framework.variable import Variable

__getattr__ = lookup(__name__)

__all__ = ["Tensor"]


class Tensor:
    """A base for objects that stand for a variable, their `value`, as Keras's variables do."""

    value: Any

    def _read(self) -> Any:
        """The tensor that ops see."""
        value = self.value
        return value._read() if value.__class__ is Variable else convert.to_tensor(value)
