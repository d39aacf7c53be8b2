"""Does an object of the user's program hold another one? Looked at without running any code."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

MOST = 2000  # objects that are looked at
DEEP = 5
LISTS = (list, tuple, set, frozenset)


def holds(thing: Any, owner: Any, most: int = MOST) -> bool:
    """Is it the owner, or a list, a layer, a model that has it?"""
    queue, seen = [(thing, 0)], {id(thing)}
    while queue and len(seen) < most:
        it, deep = queue.pop(0)
        if it is owner:
            return True
        if deep >= DEEP or isinstance(it, (ModuleType, type, FunctionType, str, bytes)):
            continue
        for part in _parts(it):
            if id(part) not in seen:
                seen.add(id(part))
                queue.append((part, deep + 1))
    return False


def _parts(thing: Any) -> list[Any]:
    if isinstance(thing, LISTS):
        return list(thing)
    if isinstance(thing, dict):
        return list(thing.values())
    own = getattr(thing, "__dict__", None)
    return list(own.values()) if isinstance(own, dict) else []
