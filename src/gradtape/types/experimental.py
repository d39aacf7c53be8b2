"""`tf.types.experimental`: names for annotations."""

from __future__ import annotations

import numpy as np

from ..compile.function import ConcreteFunction, Function
from ..framework.namespaces import lookup
from ..framework.tensor import Tensor
from .tracing import SupportsTracingProtocol, TraceType

__getattr__ = lookup(__name__)

__all__ = [
    "Callable", "ConcreteFunction", "GenericFunction", "PolymorphicFunction",
    "SupportsTracingProtocol", "TensorLike", "TraceType",
]  # fmt: skip

Callable = GenericFunction = PolymorphicFunction = Function
TensorLike = (
    Tensor | int | float | bool | str | bytes | complex | tuple | list | np.ndarray | np.generic
)
