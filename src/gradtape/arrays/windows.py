"""Writing a window of a tensor, at a place that is a tensor."""

from __future__ import annotations

from typing import Any

from ..framework import convert
from ..ops import window


def dynamic_update_slice(x: Any, updates: Any, starts: Any) -> Any:
    """`x` with `updates` written at `starts`; a window that would reach over the end is moved."""
    x = convert.to_tensor(x)
    updates = convert.to_tensor(updates, x._value.dtype)
    return window.write_window.apply(x, updates, convert.to_tensor(starts))
