"""Garbage collections that tests rely on."""

from __future__ import annotations

import gc
from threading import get_ident
from typing import Any


def collect() -> None:
    """Collect garbage. While another thread does so, as the one that compiles may, `gc.collect`
    returns at once and has done nothing: it is asked again."""
    own, stopped = get_ident(), list[int]()

    def note(phase: str, info: dict[str, Any]) -> None:
        if phase == "stop" and get_ident() == own:
            stopped.append(info["generation"])

    gc.callbacks.append(note)
    try:
        while 2 not in stopped:
            gc.collect()
    finally:
        gc.callbacks.remove(note)
