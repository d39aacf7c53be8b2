"""`tf.types`: names for annotations."""

from __future__ import annotations

from . import experimental

__all__ = ["experimental"]
