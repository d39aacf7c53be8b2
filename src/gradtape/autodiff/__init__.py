"""`tf.autodiff`: the two modes of automatic differentiation."""

from __future__ import annotations

from ..framework.namespaces import lookup
from .forward import ForwardAccumulator
from .tape import GradientTape

__getattr__ = lookup(__name__)

__all__ = ["ForwardAccumulator", "GradientTape"]
