"""Large tensors of a log that is too large: known by their shape, and by whoever else holds them.

A log that held every tensor of a step would take three times the memory that the step takes. Above
a bound, large ones are let go: a `Faded` stands in the log for each. When its numbers are asked for
and nobody has them any more, they are computed once more from what they were made of; where that
cannot be, the trace says that they were not kept.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from ....framework.memory import more_patience, patience
from ...trace import Value, Variable

LARGE = 1 << 16  # bytes of a tensor that is worth letting go
KEEP_BYTES = 48 << 20  # what a log may hold
AGAIN_BYTES = 32 << 20  # of numbers that were computed once more
KEEP_LOOSE = 20_000  # events of a log that no tape needs
MUCH = 3_000  # events of a log that is large
WALK = 1_000_000  # events after which garbage is looked for in all of a large log
RECENT = 4  # of these are kept however large they are


def needed(
    log: list[tuple], starts: list[int], answered: int, size: Callable[[tuple], int] | None,
    may_be_asked: Callable[[tuple], bool],
) -> int:  # fmt: skip
    """The first event that a later query may need: of the tapes that started there. If these hold
    too much: what came after the last answer, and of the tapes those that can still be asked and as
    many of the last as there is room for. `size` is None when the log is known not to."""
    first = found = min(starts, default=answered)
    sizes = [] if size is None else list(map(size, log[first:]))
    if sum(sizes) > KEEP_BYTES:
        held, end, found = 0, len(log), answered
        for k in reversed(starts):
            held, end = held + sum(sizes[k - first : end - first]), k
            if held <= KEEP_BYTES or may_be_asked(log[k]):
                found = min(k, found)
    if len(log) - found > KEEP_LOOSE and not any(may_be_asked(log[k]) for k in starts):
        found = max(found, len(log) - KEEP_LOOSE // 2)  # much that no tape has heard of
    return found


class Calm:
    """Puts garbage collections off while a log is large, but for those of the youngest: they walk
    the log, in which there is no garbage. With 10,000 variables, 0.12 s a step of 0.13."""

    def __init__(self) -> None:
        self._kept = False
        self._walked = 0  # events that had been dropped when they last were not

    def mind(self, length: int, dropped: int) -> None:
        """A log is so long now, and has dropped so many events. Now and then they may come."""
        due = dropped - self._walked > WALK
        if due:
            self._walked = dropped
        self._keep(length > MUCH and not due)

    def end(self) -> None:
        self._keep(False)

    def _keep(self, keep: bool) -> None:
        if keep is not self._kept:
            self._kept = keep
            for some in (patience, more_patience):
                (some.begin if keep else some.end)(-1)  # no tape has this number


class Faded:
    """Stands for a tensor that the log has let go."""

    __slots__ = ("__weakref__", "_array", "_thing", "dtype", "shape")

    def __init__(
        self, thing: Any, array: Any, shape: tuple[int, ...], dtype: Any,
        forget: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self._thing = weakref.ref(thing, forget)
        self._array = None if array is None else weakref.ref(array)
        self.shape, self.dtype = shape, dtype

    @property
    def thing(self) -> Any:
        """The tensor itself, as long as it is there."""
        return self._thing()

    @property
    def array(self) -> Any:
        """Its numbers, as long as somebody holds them: a tape does without the tensor."""
        return None if self._array is None else self._array()

    def of_same_array(self, other: Faded) -> bool:
        """Did both have one array? Without a callback, an object has one weak reference."""
        return self._array is not None and self._array is other._array


def stands_for(faded: Any, thing: Any) -> bool:
    """Is this what was put in the place of a thing?"""
    return faded.__class__ is Faded and faded.thing is thing


class Fader:
    """Lets tensors go: one that is met again has the same stand-in."""

    def __init__(self, measure: Callable[[Any], tuple[Any, tuple[int, ...], Any]]) -> None:
        self._measure = measure  # array (or None), shape and dtype of a tensor
        self._known: dict[int, Faded] = {}

    def __call__(self, thing: Any) -> Faded:
        known = self._known.get(id(thing))
        if known is None or known.thing is not thing:
            forget = partial(self._known.pop, id(thing))
            known = self._known[id(thing)] = Faded(thing, *self._measure(thing), forget)
        return known

    def known(self, thing: Any) -> Faded | None:
        """The stand-in of a thing, if it has one."""
        known = self._known.get(id(thing))
        return known if known is not None and known.thing is thing else None


class FadedValue(Value):
    """A value whose tensor was let go."""

    def __init__(self, faded: Faded, again: Again, variable: Variable | None = None) -> None:
        self.kind = "tensor" if variable is None else "variable"
        self.variable, self.place = variable, None
        self.thing, self.maker, self.users = None, None, []
        self.faded, self.again = faded, again
        self.compute: Callable[[], Any] | None = None

    @property
    def array(self) -> Any:
        return self.again.of(self)

    @property
    def dtype(self) -> Any:
        return self.faded.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.faded.shape

    @property
    def floating(self) -> bool:
        return self.faded.dtype is not None and self.faded.dtype.kind in "fcV"


class Again:
    """Numbers that were computed once more, as many as there is room for."""

    def __init__(self, size: Callable[[Any], int] = lambda array: array.nbytes) -> None:
        self._arrays: OrderedDict[Any, Any] = OrderedDict()
        self._size = size
        self._bytes = 0
        self._lost: set[Any] = set()

    def of(self, value: Any) -> Any:
        """The numbers of a value; None when they cannot be had."""
        found = self._there(value)
        if found is not None or value in self._lost:
            return found
        waiting = [value]
        while waiting:  # what it was made of may have to be computed first
            last = waiting[-1]
            given = last.maker.inputs if last.maker is not None and last.compute is not None else ()
            missing = [v for v in given if hasattr(v, "faded") and self._missing(v)]
            if missing and missing[0] not in waiting[-RECENT:]:
                waiting.append(missing[0])
                continue
            waiting.pop()
            self._compute(last)
        return self._there(value)

    def _missing(self, value: Any) -> bool:
        return value not in self._lost and self._there(value) is None

    def _there(self, value: Any) -> Any:
        held = value.faded.array
        if held is None and value in self._arrays:
            self._arrays.move_to_end(value)
            held = self._arrays[value]
        return held

    def _compute(self, value: Any) -> None:
        try:
            found = None if value.compute is None else value.compute()
        except Exception:  # an op that does not run alone
            found = None
        if found is None:
            self._lost.add(value)
            return
        self._arrays[value] = found
        self._bytes += self._size(found)
        while self._bytes > AGAIN_BYTES and len(self._arrays) > RECENT:
            self._bytes -= self._size(self._arrays.popitem(last=False)[1])
