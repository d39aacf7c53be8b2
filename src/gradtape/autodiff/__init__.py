"""`tf.autodiff`: the two modes of automatic differentiation."""

from __future__ import annotations

from .forward import ForwardAccumulator
from .tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
