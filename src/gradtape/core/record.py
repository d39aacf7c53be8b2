"""Who follows a tensor, and what is noted of an op: marks, recorders (tapes and others), records.

A tensor that is followed carries a `Mark`, the set of its recorders, shared by all tensors with the
same followers: "is this op recorded, and by whom?" is two attribute reads. Its `live` is the mark
that results get now: those of the set that are recording.

A record is a tuple that begins with op, id, code, offset. Of an op of one or two operands without
parameters it goes on with a_id, b_id, a, b, y, a_shape, b_shape (it is brief: told as the others
are, recording would take 8 % longer); of any other op with ids, names, kept, made. Operands that
nobody follows have no id; what no rule needs is None or left out; of an op with several results,
the id is None and `made` the list of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from threading import get_ident, local
from typing import Any

next_id = count(1).__next__
BRIEF = 11  # fields of a record of one or two operands


class Value:
    """What the engine knows of a tensor: its array, who follows it, its number on the recorders."""

    # The last is for whoever logs tensors and must not keep them alive.
    __slots__ = ("__weakref__", "_id", "_mark", "_twin", "_value")
    _value: Any
    _twin: Value | None
    _mark: Mark | None
    _id: int
    kind: type[Value]  # the class of tensors, which a layer above defines


class Mark:
    """A set of recorders; interned, so that equal sets are one object."""

    __slots__ = ("appends", "live", "pushers", "recorders", "thread")

    def __init__(self, recorders: tuple[Recorder, ...]) -> None:
        self.recorders = recorders
        self.appends = [r.append for r in recorders if r.append is not None]
        some = len(self.appends) < len(recorders)
        self.pushers = [r for r in recorders if r.append is None] if some else []
        self.live: Mark | None = None
        self.thread: int | None = None
        for recorder in recorders:
            recorder.marks[recorders] = self
        self.refresh()

    def refresh(self) -> None:
        """Called when one of the recorders starts or stops."""
        live = [r for r in self.recorders if r.recording]
        if len(live) < len(self.recorders):
            self.live = mark_of(tuple(live)) if live else None
        else:
            self.live, first = self, live[0].thread
            self.thread = None if [r for r in live if r.thread != first] else first

    def here(self) -> Mark | None:
        """The part of a live mark that records in this thread (a tape belongs to one thread)."""
        ident = get_ident()
        return mark_of(tuple(r for r in self.recorders if r.thread == ident))


class Recorder:
    """What a tape and a forward accumulator share: a life, a thread, and the marks they are in."""

    # A tape's records are appended to a list; whoever has no list has a method `push` instead.
    append: Callable[[tuple], None] | None = None
    push: Any = None
    pauses = True  # while code runs that no tape may see
    beside: list[Recorder] = []  # noqa: RUF012 (those at work in its thread)
    serials = count().__next__

    def __init__(self, auto_watch: bool = False) -> None:
        self.serial = Recorder.serials()
        self.auto_watch = auto_watch
        self.recording = self.closed = False
        self.thread = get_ident()
        self.marks: dict[tuple[Recorder, ...], Mark] = {}
        self.variables: dict[int, Any] = {}  # read or watched, by id
        self.leaves: set[int] = set()  # tensors that were watched

    def start(self) -> None:
        self.thread, self.beside = get_ident(), (active := threads.active)
        if self not in active:
            active.append(self)
        self._switch(True)

    def stop(self) -> None:
        if self in self.beside:  # of its own thread, whoever stops it
            self.beside.remove(self)
        self._switch(False)

    def _switch(self, on: bool) -> None:
        self.recording = on
        if self.marks:
            for mark in list(self.marks.values()):
                mark.refresh()
        watching = [r for r in threads.active if r.auto_watch]
        threads.watching = mark_of(tuple(watching)) if watching else None

    def close(self) -> None:
        """Forget everything; tensors that still carry a mark of this recorder are simply free."""
        self.closed = True
        if self.recording or self in self.beside:  # of which one, if Ctrl-C came in between
            self.stop()
        for recorders, mark in list(self.marks.items()):
            others = len(recorders) > 1 and tuple([r for r in recorders if r is not self])
            mark.live = mark_of(others) if others else None
            for recorder in recorders:
                recorder.marks.pop(recorders, None)
        self.variables = {}


class _Threads(local):
    """Per thread: the recorders at work, innermost last, and the mark that variables read get."""

    def __init__(self) -> None:
        everyone[get_ident()] = self.active = list[Recorder]()
        self.watching: Mark | None = None
        self.recording: Any = None  # that of a function, which the compiler makes


everyone: dict[int, list[Recorder]] = {}  # the recorders at work, by thread
threads = _Threads()


def mark_of(recorders: tuple[Recorder, ...]) -> Mark | None:
    """The one mark for this set of recorders."""
    if not recorders:
        return None
    if len(recorders) > 1:
        recorders = tuple(sorted(recorders, key=lambda r: r.serial))
    return recorders[0].marks.get(recorders) or Mark(recorders)


def join(m: Mark | None, n: Mark | None) -> Mark | None:
    """The recorders at work that follow either operand; marks of closed ones lead on to these."""
    while m is not None and m.live is not m:
        m = m.live
    while n is not None and n.live is not n:
        n = n.live
    if m is n or n is None:
        return m
    return n if m is None else mark_of(tuple({*m.recorders, *n.recorders}))
