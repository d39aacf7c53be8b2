"""`tf.__internal__.eager_context`: eager execution, which is the only one here."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["eager_mode"]


def eager_mode() -> AbstractContextManager[None]:
    """A block in which code runs as it is called, as it does everywhere."""
    return nullcontext()
