"""`tf.__internal__.smart_cond`: a branch that is chosen at once where its condition is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..control import flow
from ..framework.namespaces import lookup

__getattr__ = lookup(__name__)

__all__ = ["smart_cond"]


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`tf.cond`, which takes a Python truth value, too."""
    return flow.cond(pred, true_fn, false_fn, name)
