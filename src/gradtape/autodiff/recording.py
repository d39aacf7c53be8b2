"""The recording of one tape: a flat list of records, and the values that it follows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref

from ..core.record import BRIEF, Recorder, mark_of, next_id, threads
from ..framework.lifetimes import will
from ..framework.memory import patience

_wills: dict[int, ref] = {}  # by the recorders' serials
lost: deque[Recorder] = deque()  # those whose owners died before they were closed


class Owned(Recorder):
    """A recorder that is closed when its owner has died: what it holds is let go at once, and its
    marks when the next recorder is made."""

    last_calls: list[Callable[[], Any]] = []  # noqa: RUF012 (each that belongs has its own)

    def belong_to(self, owner: Any, *empty: Callable[[], Any]) -> None:
        self.last_calls = [*empty, partial(lost.append, self)]
        will(owner, self.serial, _wills, self.last_calls)

    def close(self) -> None:
        Recorder.close(self)
        _wills.pop(self.serial, None)
        self.last_calls.clear()  # they refer to this recorder


def close_lost() -> None:
    """Close the recorders whose owners have died."""
    while lost:
        try:
            recorder = lost.popleft()
        except IndexError:  # another thread was quicker
            return
        try:
            recorder.close()
        except BaseException:
            lost.append(recorder)
            raise


def resume(recorders: list[Recorder]) -> None:
    """Start those that were stopped, in their order; some of them may be at work again."""
    for recorder in recorders:
        if recorder not in threads.active or not recorder.recording:
            recorder.start()


class Tape(Owned):
    """What one GradientTape has recorded, in the order of execution."""

    persistent = False

    def __init__(self, auto_watch: bool = False) -> None:
        super().__init__(auto_watch)
        self.records: list[tuple] = []
        self.append = self.records.append

    def close(self) -> None:
        Recorder.close(self)
        _wills.pop(self.serial, None)  # as `Owned.close`, 0.1 us faster
        self.last_calls.clear()
        self.records.clear()
        if patience.waits_for(self.serial):  # it was never left
            patience.end(self.serial)


def follow(value: Any, recorder: Recorder) -> None:
    """Let the recorder follow this value from now on (what `watch` does)."""
    mark = value._mark
    others = () if mark is None else mark.recorders
    if mark is not None and mark.live is not None:
        others = (*others, *[r for r in mark.live.recorders if r not in others])
    if recorder not in others:
        if not hasattr(value, "_id"):
            value._id = next_id()
        recorder.leaves.add(value._id)
        value._mark = mark_of((*[r for r in others if not r.closed], recorder))


def follows(recorder: Recorder, value: Any) -> bool:
    return value._mark is not None and recorder in value._mark.recorders


def operand_ids(record: tuple) -> Any:
    """The numbers of the operands of a record, None for those that nobody follows."""
    return record[4:6] if len(record) == BRIEF else record[4]


def result_ids(record: tuple) -> Any:
    """Those of its results."""
    return record[1:2] if len(record) == BRIEF or record[7] is None else record[7]
