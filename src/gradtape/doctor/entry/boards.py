"""Feeds boards while a program runs: TensorBoard's event files, and a run of wandb.

A `Feed` is told of every query once its numbers are taken. What it writes is thinned by the number
of the step, never by the clock, so that a run has the same points everywhere.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..report.words import headline, shown
from ..source.place import at
from ..trace import Asked
from ..trace.finding import Finding
from ..trace.history import Record

if TYPE_CHECKING:
    from .session import Session

# Of scalars every step up to this one, then every second, fourth, …: so many each time the number
# of steps doubles. Of histograms fewer, because they look at every number.
SCALARS, HISTOGRAMS = 1024, 8
MOST = 1 << 14  # numbers of a gradient that a histogram looks at: 0.3 ms


class Feed:
    """What one session tells boards."""

    def __init__(self, *boards: Any) -> None:
        self.boards = list(boards)
        self._process = os.getpid()
        self._told: set[tuple] = set()  # findings
        self._met: dict[str, set[str]] = {}  # states that were seen, by the place that asked

    def asked(self, session: Session, asked: Asked) -> None:
        """A query was looked at; in a child that was forked, nobody is told."""
        record = session.history.records.get(at(*asked.place))
        if record is None or os.getpid() != self._process or not self._ready(session):
            return
        for step, numbers in self._points(asked, record):
            self._tell(session, "scalars", step, numbers)
        if asked.norms is None and _due(record.steps, HISTOGRAMS):
            self._tell(session, "histograms", record.steps, dict(_arrays(asked, record)))
        for finding in session.findings.values():
            if finding.key not in self._told:
                self._told.add(finding.key)
                self._tell(session, "finding", finding, len(self._told))

    def close(self, session: Session, report: Any) -> None:
        """The run has ended: these are its findings."""
        if os.getpid() == self._process:
            self._tell(session, "close", report)

    def _ready(self, session: Session) -> bool:
        ready = [board.ready() for board in self.boards]  # each of them is asked
        return any(ready)

    def _tell(self, session: Session, what: str, *words: Any) -> None:
        """Tell all boards that are there; one that cannot take it is told no more."""
        for board in self.boards[:]:
            try:
                if board.ready():
                    getattr(board, what)(*words)
            except Exception as fault:  # the disk is full, the connection is lost
                self.boards.remove(board)
                session.note_once(
                    f"{board.name} was told no more: {type(fault).__name__}: {fault}."
                )

    def _points(self, asked: Asked, record: Record) -> Iterator[tuple[int, dict[str, float]]]:
        """The numbers of a query by their names, step by step."""
        where, lines = _where(record), record.lines
        first = record.steps - asked.steps + 1
        for k in range(asked.steps):
            if not _due(first + k, SCALARS):
                continue
            found: dict[str, float] = {}
            for line, norm in zip(lines, _norms(asked, k), strict=False):
                if norm is not None:
                    found[f"{where}/norm/{line.name}"] = norm
            if k < len(asked.results) and (asked.norms is not None or len(asked.results) == 1):
                result = np.asarray(asked.results[k])
                if result.ndim == 0 and result.dtype.kind in "fciu":
                    found[f"{where}/target/{record.target}"] = float(np.real(result))
            if first + k == record.steps:  # of the steps before, only the norms are known
                met = self._met.setdefault(where, set())
                met |= {line.state for line in lines}
                for state in met:
                    number = sum(line.state == state for line in lines)
                    found[f"{where}/states/{state}"] = float(number)
            yield first + k, found


def _norms(asked: Asked, k: int) -> list[float | None]:
    if asked.norms is not None:
        return [norms[k] if k < len(norms) else None for norms in asked.norms]
    pairs = zip(asked.sizes or (), asked.gradients, strict=False)
    return [None if gradient is None else size for size, gradient in pairs]


def _arrays(asked: Asked, record: Record) -> Iterator[tuple[str, Any]]:
    for line, gradient in zip(record.lines, asked.gradients, strict=False):
        array = None if gradient is None else np.asarray(gradient)
        if array is None or not array.size or array.dtype.kind not in "fV":
            continue
        flat = array.reshape(-1)[:: -(-array.size // MOST)].astype(np.float64)
        flat = flat[np.isfinite(flat)]
        if flat.size:
            yield f"{_where(record)}/gradient/{line.name}", flat


def _where(record: Record) -> str:
    return f"{os.path.basename(shown(record.place.file))}:{record.place.line}"


def _due(step: int, dense: int) -> bool:
    """Every step up to `dense`, and then half as many of each doubling."""
    return not step % (1 << max(0, step.bit_length() - dense.bit_length() + 1))


# --- TensorBoard ----------------------------------------------------------------------------------
class TensorBoard:
    """Event files in a folder, which `tensorboard --logdir` shows while they are written."""

    name = "TensorBoard"

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._writer: Any = None  # made when there is something to write

    def ready(self) -> bool:
        return True

    def scalars(self, step: int, numbers: dict[str, float]) -> None:
        self._put(step, "scalars", numbers)

    def histograms(self, step: int, arrays: dict[str, Any]) -> None:
        self._put(step, "histograms", arrays)

    def finding(self, finding: Finding, number: int) -> None:
        step = finding.steps[0] if finding.steps else 0
        self._put(step, "text", {f"findings/{finding.code} {finding.name}": _in_words(finding)})

    def close(self, report: Any) -> None:
        """The whole report; what a finding came to may have changed since it was first told."""
        from ..report.words import summary

        if not report.history.records and not report.findings:
            return
        parts = [summary(report), *map(_in_words, report.findings)]
        last = max((record.steps for record in report.history.records.values()), default=0)
        self._put(last, "text", {"report": "\n\n".join(parts)})
        if self._writer is not None:
            self._writer.close()

    def _put(self, step: int, plugin: str, values: dict[str, Any]) -> None:
        from ...summary.kinds import encoded
        from ...summary.writers import Aside

        if values:
            if self._writer is None:
                self._writer = Aside(self.folder)
            self._writer.put(step, *[encoded(plugin, tag, v) for tag, v in values.items()])


def _in_words(finding: Finding) -> str:
    """A finding in Markdown."""
    place = finding.place
    where = "" if place is None else f"\n\n`{shown(place.file)}:{place.line}`: `{place.brief}`"
    return (
        f"**{finding.code} {finding.name}** {headline(finding)}{where}\n\n{finding.message}\n\n"
        f"Fix: {finding.fix}."
    )


# --- wandb ----------------------------------------------------------------------------------------
class Wandb:
    """The program's own run of wandb, if it has one: wandb is never imported for it.

    `commit=False` adds to the row that the program is about to log, so that its steps are counted
    as without; the axis of these numbers is `gradtape/step`.
    """

    name = "wandb"

    def __init__(self) -> None:
        self._run: Any = None

    def ready(self) -> bool:
        run = getattr(sys.modules.get("wandb"), "run", None)
        if run is not None and run is not self._run:
            self._run = run
            run.define_metric("gradtape/step")
            run.define_metric("gradtape/*", step_metric="gradtape/step")
            run.summary["gradtape/findings"] = 0
        return run is not None

    def scalars(self, step: int, numbers: dict[str, float]) -> None:
        finite = {f"gradtape/{k}": v for k, v in numbers.items() if math.isfinite(v)}
        self._run.log({**finite, "gradtape/step": step}, commit=False)

    def histograms(self, step: int, arrays: dict[str, Any]) -> None:
        """None: the numbers are enough there."""

    def finding(self, finding: Finding, number: int) -> None:
        place = "" if finding.place is None else f"{shown(finding.place.file)}:{finding.place.line}"
        words = f"{headline(finding)} ({place})" if place else headline(finding)
        self._run.summary[f"gradtape/{finding.code} {finding.name}"] = words
        self._run.summary["gradtape/findings"] = number

    def close(self, report: Any) -> None:
        """Nothing: wandb ends its run before the last words of the process."""
