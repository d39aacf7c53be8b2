"""`tf.types`: names for annotations."""

from __future__ import annotations

from ..framework.namespaces import lookup
from . import experimental

__getattr__ = lookup(__name__)

__all__ = ["experimental"]
