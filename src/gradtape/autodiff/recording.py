"""The recording of one tape: a flat list of records, and the values that it follows."""

from __future__ import annotations

from typing import Any

from ..core.record import BRIEF, Recorder, mark_of, next_id


class Tape(Recorder):
    """What one GradientTape has recorded, in the order of execution."""

    persistent = False

    def __init__(self, auto_watch: bool = False) -> None:
        super().__init__(auto_watch)
        self.records: list[tuple] = []
        self.append = self.records.append

    def close(self) -> None:
        super().close()
        self.records.clear()


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
