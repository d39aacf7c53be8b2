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
_Kind = tuple[Any, Any, Any]


class Shortcut:
    """What the arguments of the last call were, and the program that was played."""

    __slots__ = ("_kinds", "take")

    def __init__(self, kinds: list[_Kind], take: Any) -> None:
        self._kinds, self.take = kinds, take

    @staticmethod
    def made(args: tuple, kwargs: dict[str, Any], tree: Any) -> Shortcut | None:
        """None if there is no short way: for objects, say, which may change inside."""
        if kwargs or tree.eager or not tree.takes or tree.takes[0].program.captures:
            return None
        kinds = _kinds(args)
        return None if kinds is None else Shortcut(kinds, tree.takes[0])

    def values(self, args: tuple) -> list | None:
        """The arrays of a call with such arguments that nobody watches; None if it is another."""
        if len(args) != len(self._kinds) or threads.active or threads.recording is not None:
            return None
        values: list[Any] = []
        if not _are(args, self._kinds, values) or functions_run_eagerly() or somebody_listens():
            return None
        return values


def _kinds(parts: Any) -> list[_Kind] | None:
    """For each its class, and what else must be the same."""
    kinds: list[_Kind] = []
    for part in parts:
        kind = part.__class__
        if kind is Tensor:
            value = part._value
            array = value.__class__ is ndarray
            kinds.append((kind, value.__class__, (value.shape, value.dtype) if array else None))
        elif kind in _SIMPLE or kind is Variable:
            kinds.append((kind, part, None))
        elif kind is tuple or kind is list:
            inside = _kinds(part)
            if inside is None:
                return None
            kinds.append((kind, len(inside), inside))
        elif hasattr(kind, "_handed"):
            kinds.append((kind, part._handed()[0], None))
        else:
            return None
    return kinds


def _are(parts: Any, kinds: list[_Kind], values: list[Any]) -> bool:
    """Whether the arguments are of these kinds; their arrays go to `values`."""
    for part, (kind, what, rest) in zip(parts, kinds, strict=True):
        if part.__class__ is not kind:
            return False
        if kind is Tensor:
            value = part._value
            if value.__class__ is not what:
                return False
            if rest is not None and (value.shape != rest[0] or value.dtype is not rest[1]):
                return False
            values.append(value)
        elif kind is tuple or kind is list:
            if len(part) != what or not _are(part, rest, values):
                return False
        elif kind is Variable or kind in _SIMPLE:
            if part is not what and (kind is Variable or part != what):
                return False
        else:
            told, handle = part._handed()
            if told is not what and told != what:
                return False
            values.append(handle._value)
    return True
