"""The short way for a call like the last one: tensors of the same shapes, equal Python values."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..config import functions_run_eagerly
from ..core.record import threads
from ..framework.tensor import Tensor
from ..framework.variable import Variable
from ..ops.declare import somebody_listens

_SIMPLE = (bool, int, float, str, bytes, type(None))


class Shortcut:
    """What the arguments of the last call were, and the program that was played."""

    __slots__ = ("_kinds", "take")

    def __init__(self, kinds: list[tuple[Any, Any, Any]], take: Any) -> None:
        self._kinds, self.take = kinds, take

    @staticmethod
    def made(args: tuple, kwargs: dict[str, Any], tree: Any) -> Shortcut | None:
        """None if there is no short way: for structures, say, which may change inside."""
        if kwargs or tree.eager or not tree.takes or tree.takes[0].program.captures:
            return None
        kinds: list[tuple[type, Any, Any]] = []
        for arg in args:
            kind = arg.__class__
            if kind is Tensor:
                value = arg._value
                array = value.__class__ is ndarray
                kinds.append((kind, value.__class__, (value.shape, value.dtype) if array else None))
            elif kind in _SIMPLE or kind is Variable:
                kinds.append((kind, arg, None))
            else:
                return None
        return Shortcut(kinds, tree.takes[0])

    def fits(self, args: tuple) -> bool:
        """Whether a call has such arguments, and nobody watches it."""
        if len(args) != len(self._kinds) or threads.active or threads.recording is not None:
            return False
        for arg, (kind, what, array) in zip(args, self._kinds, strict=True):
            if arg.__class__ is not kind:
                return False
            if kind is Tensor:
                value = arg._value
                if value.__class__ is not what:
                    return False
                if array is not None and (value.shape != array[0] or value.dtype is not array[1]):
                    return False
            elif arg is not what and (kind is Variable or arg != what):
                return False
        return not (functions_run_eagerly() or somebody_listens())
