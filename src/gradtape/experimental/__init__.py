"""`tf.experimental`: small parts of it."""

from __future__ import annotations

from ..graph import nothing as async_scope
from . import dlpack

__all__ = ["async_clear_error", "async_scope", "dlpack", "enable_strict_mode"]


def async_clear_error() -> None:
    """Nothing runs behind the program's back, so no error waits there."""


def enable_strict_mode() -> None:
    """Accepted: deprecated names are not here to warn of."""
