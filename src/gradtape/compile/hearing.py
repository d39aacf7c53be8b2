"""Who listens to functions: hears of what is recorded and of what is played.

A listener looks on while the Python function runs, once, and plays the programs itself, so that it
learns their values. Whoever listens to ops only has functions run eagerly.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from ..ops.declare import somebody_listens


class Listener(Protocol):
    """What the doctor is to functions."""

    def recording(self, recording: Any, leaves: list) -> AbstractContextManager[Any]:
        """A dry run on these tensors; what the block gets is kept with the program."""

    def play(self, take: Any, leaves: list, done: dict[int, Any] | None) -> Any:
        """Call `take.play`, which gives what this gives."""


listeners: list[Listener] = []  # at most one


def only_to_ops() -> bool:
    """Whether somebody listens who knows nothing of functions."""
    return somebody_listens() and not listeners


def recording(what: Any, leaves: list) -> AbstractContextManager[Any]:
    return listeners[0].recording(what, leaves) if listeners else nullcontext()
