"""What follows the death of an object, without Python code: what `__del__` or the callback of a
weak reference raises is dropped by Python, and where they run, Ctrl-C may be what is raised."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, count
from operator import methodcaller
from threading import Thread
from typing import Any, Generic, TypeVar
from weakref import ref

T = TypeVar("T")
V = TypeVar("V")
_exhaust: Any = deque(maxlen=0).extend
_call: Any = methodcaller("__call__")

Death = ref  # of an object, with what is called when it dies

# Those whose objects live. An object that dies with a cycle takes along what only the cycle refers
# to, and the collector calls no weak reference that dies with its object.
_awaited: dict[int, Death] = {}
_numbers = count()


def at_death(thing: Any, calls: Iterable[Callable[[], Any]]) -> Death:
    """Make these calls when a thing dies.

    All calls must be implemented in C: methods of lists, dictionaries and files, partials of them.
    A list may change until then. At the end of the process, calls are made only if what is returned
    is still referred to.
    """
    number = next(_numbers)
    every = map(_call, chain([partial(_awaited.pop, number, None)], calls))
    # `next` is called with the dead reference, which it takes for its default. Nothing is left to
    # be done once the reference exists, so an interrupt leaves no half of it.
    death = _awaited[number] = ref(thing, partial(next, map(_exhaust, [every])))
    return death


def will(thing: Any, number: int, wills: dict[int, ref], calls: list[Callable[[], Any]]) -> None:
    """The same at half of the cost, for what is made and ended all the time: the death is awaited
    as long as its number is among the `wills`, and all calls give None."""
    calls.append(partial(wills.pop, number, None))  # which gives something: the last one
    wills[number] = ref(thing, partial(next, filter(None, map(_call, calls))))


def passing(source: Callable[[], Any], target: Callable[[Any], Any]) -> Callable[[], None]:
    """A call that passes what one call gives to another one, made of C code if both are."""
    return partial(_exhaust, map(target, map(_call, [source])))


def new_thread(work: Callable[[], None], name: str) -> Thread:
    """A thread that does the work in the background, once it is started; at its own death no Python
    code runs either: it is not among the threads that Python's own tests look for."""
    thread = Thread(target=work, name=name, daemon=True)
    dangling = getattr(threading, "_dangling", None)
    if dangling is not None:
        dangling.discard(thread)
    return thread


class Beside(Generic[T, V]):
    """Values of objects, by identity, each as long as its object lives."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[ref[T], V]] = {}

    def put(self, thing: T, value: V) -> None:
        """Set the value of an object."""
        key = id(thing)
        # It is called with the dead reference, which it takes for the default.
        self._entries[key] = ref(thing, partial(self._entries.pop, key)), value

    def get(self, thing: T) -> V | None:
        """The value of an object, None if it has none."""
        entry = self._entries.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None

    def discard(self, thing: T) -> None:
        """Forget an object."""
        if thing in self:
            self._entries.pop(id(thing), None)

    def __contains__(self, thing: T) -> bool:
        entry = self._entries.get(id(thing))
        return entry is not None and entry[0]() is thing

    def __iter__(self) -> Iterator[T]:
        things = [reference() for reference, _ in list(self._entries.values())]
        return iter([thing for thing in things if thing is not None])

    def __len__(self) -> int:
        return len(self._entries)
