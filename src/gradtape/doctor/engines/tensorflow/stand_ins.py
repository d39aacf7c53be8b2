"""Stand-ins that the log holds for variables and tapes, so that these die as without the doctor.

A variable is known by its handle, which the log holds: no other handle has its id meanwhile.
"""

from __future__ import annotations

from typing import Any

from .holding import handle_of

# Is an object of a type perhaps a variable? To ask each object takes 1 us.
_may_be_one: dict[type, bool] = {}


class KeptVariable:
    """Stands for a variable, TensorFlow's or Keras's; its own is found by the handle."""

    __slots__ = ("handle", "name", "trainable")

    def __init__(self, variable: Any, handle: Any) -> None:
        self.handle = handle
        self.name = getattr(variable, "path", None) or getattr(variable, "name", None)
        self.trainable = bool(getattr(variable, "trainable", True))


def keep(thing: Any) -> Any:
    """What the log may hold of a thing: of a nest with variables, a list of its parts."""
    kind = thing.__class__
    may = _may_be_one.get(kind)
    if may is None:
        may = _may_be_one[kind] = hasattr(kind, "handle")
    if may:
        handle = handle_of(thing)
        return thing if handle is None else KeptVariable(thing, handle)
    if isinstance(thing, (list, tuple, dict)):
        import tensorflow as tf

        parts = tf.nest.flatten(thing)
        if any(handle_of(part) is not None for part in parts):
            return list(map(keep, parts))
    return thing
