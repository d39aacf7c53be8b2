"""`tf.__internal__.distribute.interim`: calls that would meet between replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["maybe_merge_call"]


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """Call the function for all replicas at once: there is one."""
    return fn(strategy, *args, **kwargs)
