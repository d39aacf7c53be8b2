"""Follows a program while it runs: says a fault at first sight, shows the status, keeps the report
on disk up to date, serves the page, and stops the program where that is wanted.

All of it is done in the thread that has just asked for gradients, when the doctor has looked at the
answer: nothing else of the session moves then, and a program that stands still has nothing new. A
thread of its own would need locks around every event. Only the server has threads, see `serving`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..facts.faults import finite
from ..live.certainty import certain, line
from ..live.lines import Lines
from ..live.pace import Pace
from ..live.status import Status
from ..report.terminal import colored, visible
from ..report.words import STATES, derivative, plural
from ..source.place import at
from ..trace import Asked, states
from ..trace.finding import Finding
from ..trace.history import BROKEN, Record
from ..trace.states import WORST
from .judging import follows

if TYPE_CHECKING:
    from .session import Session

EVERY, SHARE = 10.0, 0.01  # the file: every so many seconds, and so much of all the time
SOON = 1.0  # seconds from one file to another with a new finding
TOLD = 0.5  # seconds after which an engine tells of calls that it only glanced at
BLINK = 0.25  # seconds between two states of the status
WARM = 1.0  # seconds of a run before it has a status
MOST = 20  # faults that are said in a line each
FOUND = 3  # the exit code of a program that has findings


class Stopped(SystemExit):
    """The program ends here, because of a finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(FOUND)
        self.why, self.finding = line(finding), finding


class Follower:
    """What is done after each query."""

    def __init__(
        self,
        session: Session,
        lines: Lines | None,
        status: Status | None = None,
        fail_fast: tuple[str, ...] = (),
        left_out: Callable[[Finding], bool] = lambda finding: False,
    ) -> None:
        self.session, self.lines, self.status, self.fail_fast = session, lines, status, fail_fast
        self._left_out = left_out  # of the report, and so of what is said before
        self.queries = 0  # so far, which is what is new
        self.stopped: Stopped | None = None
        self.interrupt: Callable[[], None] = lambda: None  # wakes the main thread
        self._write: Callable[[], bool] | None = None
        self._pace = Pace(EVERY, SHARE)
        self._pace.due = math.inf
        self._known = 0  # findings that were seen
        self._dropped = 0  # of these, those that are left out
        self._open: dict[int, tuple[Finding, int]] = {}  # not certain yet; when to look again
        self._said: set[tuple] = set()
        self._blink = Pace(BLINK, SHARE)
        self._blink.due += WARM - BLINK if status is not None else math.inf
        self._begun = perf_counter()
        self._main = threading.main_thread().ident
        session.follower = self._follow

    def keep(self, write: Callable[[], bool]) -> None:
        """Have the report so far written now and then, as long as that gives True."""
        self._write = write
        self._pace.due = perf_counter() + EVERY

    def leave(self) -> None:
        """Follow no more; the terminal stays as it is."""
        self.session.follower = None

    def end(self) -> None:
        """Follow no more, and clean up."""
        self.leave()
        if self.status is not None:
            self.status.erase()

    def _follow(self, asked: Asked) -> None:
        self.queries += 1
        now = perf_counter()
        self.session.engine.tell_by = now + TOLD
        # Nearly always there is nothing to do, and to find that out takes 0.4 us.
        if self._open or self._news() or self._pace.due <= now or self._blink.due <= now:
            with self.session.lock:
                self.session.guarded(self._look, asked)

    def _look(self, asked: Asked) -> None:
        sure = self._sort(asked) if self._open or self._news() else ()
        if self._write is not None and self._pace.now:
            self._pace.begin()
            wrote = self._write()
            self._pace.done()
            if not wrote:
                self._write, self._pace.due = None, math.inf
        if self._blink.now:
            self._blink.begin()
            if self.status is not None and self.queries > 1:  # of one there is nothing to follow
                self.status.show(self._words(asked))
            self._blink.done()
        if sure and self.fail_fast and self.stopped is None:
            self._stop(sure)

    # --- first sight ------------------------------------------------------------------------------
    def _news(self) -> bool:
        return len(self.session.findings) > self._known

    def _sort(self, asked: Asked) -> list[Finding]:
        """The findings that are certain since this query, each of which is said."""
        session = self.session
        for finding in islice([*session.findings.values()], self._known, None):
            if self._left_out(finding):
                self._dropped += 1
                continue
            self._open[id(finding)] = finding, 0
            if self._write is not None:
                self._pace.hasten(SOON)
        self._known = len(session.findings)
        found = []
        for key, (finding, when) in [*self._open.items()]:
            record = finding.query and session.history.records.get(finding.query.place)
            step = record.steps if record else 0
            if step < when or follows(finding, session.findings.values()):
                continue
            if certain(finding, record, not session.half or _broken(finding, record, asked)):
                del self._open[key]
                found.append(finding)
                self._say(finding)
            else:
                self._open[key] = finding, step + 1 + step // 8
        return found

    def _say(self, finding: Finding) -> None:
        kind = finding.code, finding.place
        if self.lines is None or kind in self._said or len(self._said) > MOST:
            return
        self._said.add(kind)
        more = len(self._said) > MOST
        words = "more findings are in the report" if more else line(finding)
        head = "\x1b[1;31mgradtape:\x1b[0m" if colored(self.lines.stream) else "gradtape:"
        self.lines.say(f"{head} {visible(words)}")

    def _stop(self, found: Iterable[Finding]) -> None:
        chosen = [finding for finding in found if finding.state in self.fail_fast]
        if not chosen:
            return
        self.stopped = Stopped(chosen[0])
        if threading.get_ident() != self._main:
            self.interrupt()  # what is raised here ends this thread only,
            raise SystemExit(FOUND)  # in silence, which a subclass would not
        raise self.stopped

    # --- the status -------------------------------------------------------------------------------
    def _words(self, asked: Asked) -> str:
        """gradtape 0:02:13 · step 1,240 · loss 0.31 · 1 finding · norm 2e-05: d loss/d w."""
        record = self.session.history.records[at(*asked.place)]
        seconds = int(perf_counter() - self._begun)
        spent = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        found = len(self.session.findings) - len(self._open) - self._dropped
        said = plural(found, "finding") if found else "no findings"
        parts = [f"gradtape {spent}", f"step {record.steps:,}", *_loss(record, asked), said]
        return " · ".join([*parts, *_worst(record, asked)])


def _loss(record: Record, asked: Asked) -> list[str]:
    """The target, where it is a number: of several steps the last."""
    one = asked.norms is not None or len(asked.results) == 1
    last = asked.results[-1] if one and asked.results else None
    if last is None or np.ndim(last):
        return []
    return [f"{record.target} {float(np.real(last)):.4g}"]


def _worst(record: Record, asked: Asked) -> list[str]:
    """The gradient that is farthest from what it should be: by its state, else by its size."""
    if asked.norms is None:
        norms: list[Any] = states.lengths(asked.gradients)
    else:  # of a function's call they are not always known
        norms = [of_steps[-1] for of_steps in asked.norms] or [None] * len(record.lines)
    pairs = [*zip(record.lines, norms, strict=False)]
    if not pairs:
        return []
    line, norm = max(pairs, key=lambda pair: _badness(pair[0].state, pair[1]))
    what = derivative(record.target, line.name)
    if line.state in STATES:
        return [f"{what} {STATES[line.state][0]}"]
    return [] if norm is None else [f"norm {norm:.2g}: {what}"]


def _badness(state: str, norm: float | None) -> tuple[int, float]:
    rank = len(WORST) - WORST.index(state) if state in WORST else 0
    return rank, abs(math.log10(norm)) if norm and math.isfinite(norm) else 0.0


def _broken(finding: Finding, record: Record | None, asked: Asked) -> bool:
    """Has what is trained with the gradient become something that is not finite?"""
    if record is None or finding.state not in (*BROKEN, "exploding"):
        return True
    if at(*asked.place) != record.place:
        return False
    values = zip(record.lines, asked.values, strict=False)
    return any(line.name in finding.sources and not finite(value) for line, value in values)
