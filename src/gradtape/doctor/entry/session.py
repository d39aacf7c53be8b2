"""A session of the doctor: listens to an engine, looks at every gradient, explains the bad ones."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import zip_longest
from threading import RLock
from typing import Any

import numpy as np

from ..engines.protocol import new_engine
from ..facts import names
from ..facts.budget import Spent, limited
from ..facts.cancelled import cancelled, reason
from ..facts.case import ErrorCase, Question
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..rules.wrong.audited import audit
from ..source.place import Place, at
from ..trace import Asked, Query, Trace, states
from ..trace.finding import REFUTED, Finding
from ..trace.history import BROKEN, NOTHING, UNSEEN, History, Line, Record
from .examining import examine, settle
from .judging import LAST, count, judge, keep

THOROUGH = 3  # first steps of a place that are examined in full, healthy or not
# After a sound step of a place in which nothing was found, the next is looked into only if there
# are events left to read: so many for each place, and one of so many that were heard, because to
# read one takes as long as it took the program to make that many. Counted, and not timed: the same
# program has the same report, on every machine.
FREE, SHARE = 6_000, 6
# Events of a sound step that are read at all: the trace of one takes 1 kB, and the doctor may take
# 200 MB beside half of what the program takes.
WHOLE = 150_000
# What a call that asks for gradients may name its two first parameters.
CALLS = (("target", "sources"), ("target", "source"), ("loss_fn", "variables"))
UNHEARD = (
    "Some gradients were asked of a tape that was entered before the doctor listened, or long ago; "
    "of these only the state is known."
)
TOO_LARGE = (
    f"Steps of more than {WHOLE:,} events are looked into only when a gradient is not sound; of "
    "the sound ones, the numbers are looked at."
)
STOPPED = (
    "The gradients of line {line} take long to explain: the examination stopped {why}, and what "
    "had been found by then is shown."
)
FAULTS = 5  # of the doctor's own that are told
RUNNING: list[Session] = []  # those that have started: they share the hooks of one engine


class Session:
    """From `start` to `stop`, every gradient is looked at."""

    def __init__(
        self, engine: str = "gradtape", audit: bool = False, rules: tuple[Rule, ...] = CATALOGUE
    ) -> None:
        self.engine = new_engine(engine, _tell)
        self.rules = rules  # in whatever order: what a trial confirms does not depend on it
        self.audit = audit  # check gradients that look fine by numbers
        self.history = History()
        self.observers: list[Any] = []  # told of every query, when its numbers are taken
        self.findings: dict[tuple, Finding] = {}
        self.faults: list[str] = []  # the doctor's own
        self.notes: list[str] = []
        # Called after every query that was looked at; what it raises stops the program.
        self.follower: Callable[[Asked], None] | None = None
        self.lock = RLock()  # held while something of this changes
        self._busy = 0  # works on the log that are under way
        self._waiting: list[Callable[[], None]] = []  # for the end of that
        self.half = False  # was something not finite, with numbers of 16 bits around?
        self._explained: BaseException | None = None
        self._known: dict[Place, tuple[tuple[str, ...], list[Finding]]] = {}
        self._read: dict[Place, int] = {}  # events that were read for a place
        self._stirred: dict[Place, int] = {}  # what had changed in Python when it was looked at

    @property
    def listening(self) -> bool:
        return self in RUNNING

    def start(self) -> None:
        """Listen from now on: to the engine of a session around this one, or to its own."""
        running = [s.engine for s in RUNNING if s.engine.name == self.engine.name]
        if running:
            self.engine = running[0]
        else:
            self.engine.start()
        self.engine.catch_up()  # what was before is no business of this one
        RUNNING.append(self)

    def stop(self) -> None:
        """Listen no more, and look at the run as a whole."""
        if not self.listening:
            return
        self.guarded(self.engine.catch_up)
        RUNNING.remove(self)
        last = not any(s.engine is self.engine for s in RUNNING)
        if last:
            self.engine.stop()
        self.guarded(self._conclude)
        self.notes += self.engine.notes
        self.faults += self.engine.faults
        if last:
            self.engine.forget()

    def raised(self, error: BaseException) -> None:
        """The program ended with this exception."""
        self.guarded(self.engine.catch_up)
        self.guarded(self.engine.unfinished)
        self.guarded(self._explain_error, error)

    # --- every query ------------------------------------------------------------------------------
    def asked(self, asked: Asked) -> None:
        """A tape was asked for gradients."""
        self._work(self._look if asked.norms is None else self._glance, asked)
        for observer in self.observers:
            self._work(observer.asked, self, asked)
        if self.follower is not None:
            self.follower(asked)

    def when_idle(self, work: Callable[[], None]) -> None:
        """Do something with the session: now, or when what is being looked at has been."""
        if self._busy:
            self._waiting.append(work)
        else:
            work()

    def _work(self, work: Any, *args: Any) -> None:
        """Look at the log, or change what is known: one at a time."""
        with self.lock:
            self._busy += 1
            try:
                self.guarded(work, *args)
            finally:
                self._busy -= 1
            if self._waiting and not self._busy:
                self._waiting.pop(0)()

    def forked(self) -> None:
        """This is another process: what a thread of the parent's held is held no more."""
        self.lock, self._busy = RLock(), 0

    def guarded(self, work: Any, *args: Any) -> None:
        was, self.engine.deaf = self.engine.deaf, True  # what the doctor asks itself is no query
        try:
            with np.errstate(all="ignore"):  # it looks at NaN and infinities, and says so itself
                work(*args)
        except Spent:
            pass  # what had been found by then stands, and a note says so
        except Exception as fault:  # the user's program goes on, whatever happens to us
            words = fault_in_words(fault)
            if words not in self.faults and len(self.faults) < FAULTS:
                self.faults.append(words)
        finally:
            self.engine.deaf = was

    def take(self, asked: Asked) -> Record:
        """Enter the numbers of a query into the history."""
        place = at(*asked.place)
        record = self.history.records.get(place) or self._open(asked, place)
        record.steps += asked.steps
        if self.engine.steps is not None and not record.steps & (record.steps - 1):
            self.engine.steps.measure()  # later, what the program made may be gone
        if asked.norms is not None:
            count = len(record.lines)
            known = zip_longest(record.lines, asked.norms[:count], asked.present[:count])
            for line, norms, present in known:
                first = record.steps - asked.steps + 1
                _note_norms(line, norms or [None], first, asked.steps, bool(present))
            record.targets.extend(asked.results)
            return record
        sizes = asked.sizes = states.lengths(asked.gradients)
        for line, gradient, size in zip(record.lines, asked.gradients, sizes, strict=False):
            self._note(line, gradient, size, asked.error, record.steps)
        result = asked.results[0] if len(asked.results) == 1 else None
        if result is not None and np.ndim(result) == 0:
            record.targets.add(float(np.real(result)))
        else:
            record.several = True
        return record

    def _look(self, asked: Asked) -> None:
        record = self.take(asked)
        place, step = record.place, record.steps
        asked.cancelled |= {k for k, line in enumerate(record.lines) if line.reason}
        found = _states(record)
        known = self._known.get(place)
        quiet = asked.sound = set(found) <= {"ok"} and asked.error is None
        due = _power_of_4(step) if quiet else not step & (step - 1)
        stirred = self.engine.sights.look()  # a flag that a traced function has read is set anew
        due = due or stirred > self._stirred.get(place, stirred)
        self._stirred[place] = stirred
        if known is not None and known[0] == found and step > THOROUGH and not due:
            for finding in known[1]:
                if finding.state != "wrong":  # which only a look can tell
                    self._met(finding, place, step)
            asked.sound = _unremarkable(asked, *known)
            return
        if quiet and step > THOROUGH:
            if not due:
                return
            # A look at this step alone is quicker.
            self.engine.trim(0, alone=known is None or not known[1])
        length, spent = len(self.engine.log), self._read.get(place, 0)
        more = spent + length > FREE + (self.engine.dropped + length) // SHARE
        if quiet and more and known is not None and not known[1]:
            return
        if quiet and length > WHOLE:
            self.note_once(TOO_LARGE)
            return
        self._read[place] = spent + length
        with _collected_later():
            fresh = self._examine(asked, record)
        found = _states(record)  # some may turn out to be zero by construction
        before = known[1] if known is not None and known[0] == found else []
        lasting = [f for f in before if f.state in BROKEN and f not in fresh]
        if all(finding.name in LAST for finding in fresh):
            # What an earlier step broke stays broken, and no later step shows how it came.
            for finding in lasting:
                self._met(finding, place, step)
            fresh = fresh + lasting
        self._known[place] = found, fresh
        asked.sound = _unremarkable(asked, found, fresh)

    def _glance(self, asked: Asked) -> None:
        """A step of which norms are known: faults that are known are met again, or not."""
        record = self.take(asked)
        seen = {
            line.name for line, norms in zip(record.lines, asked.norms or (), strict=False)
            if norms[-1] is not None
        }  # fmt: skip
        bad = {
            line.name for line in record.lines
            if line.state == "none" or (line.state not in states.SOUND and line.name in seen)
        }  # fmt: skip
        if bad:
            for finding in self._known.get(record.place, ((), []))[1]:
                if not bad.isdisjoint(finding.sources):
                    for step in range(record.steps - asked.steps + 1, record.steps + 1):
                        self._met(finding, record.place, step)

    def _open(self, asked: Asked, place: Place) -> Record:
        target = sources = None
        for parameters in CALLS:
            if sources is None:
                target, sources = names.arguments(place, *parameters)
        if asked.names is not None:
            texts, named = [asked.names[0]], [[name] for name in asked.names[1]]
        else:
            named = names.named(sources, asked.sources, asked.frame, "source", place.file)
            texts = names.leaves(target, asked.target, asked.frame, "target")
        record = Record(place, asked.method, ", ".join(texts), [])
        record.lines = [Line(name, aliases=more) for name, *more in named]
        self.history.records[place] = record
        return record

    @staticmethod
    def _note(
        line: Line, gradient: Any, size: float, error: BaseException | None, step: int
    ) -> None:
        if gradient is None:
            line.state = "none" if error is None else "error"
        else:
            told = states.by_norm(size, gradient.size or 1)
            now = "ok" if told == "ok" else states.state(np.asarray(gradient))
            line.state = line.judged(now)
            line.known[told] = line.state
            line.norms.add(size)
            if not line.dtype:
                line.shape, line.dtype = gradient.shape, _name(gradient.dtype)
        if line.state != line.turned:
            line.turn(step, line.state)
        line.states[line.state] = line.states.get(line.state, 0) + 1

    # --- explaining -------------------------------------------------------------------------------
    def _examine(self, asked: Asked, record: Record) -> list[Finding]:
        length = len(self.engine.log)
        trace = self.engine.trace()
        query = trace.queries[-1]
        if query.error is None and not query.tape.spans:
            # What it recorded was not heard, and guesses about it would be false alarms.
            self.note_once(UNHEARD)
            return []
        record.examined.append(record.steps)
        query.target_name, query.step = record.target, record.steps
        query.scope = {**asked.frame.f_globals, **asked.frame.f_locals}
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name, answer.aliases = line.name, line.aliases
            answer.state = line.state if query.error is None else "error"
        found: list[Finding] = []
        with limited(trace) as budget, suppress(Spent):
            self._recognise(trace, query, record, asked)
            found += map(self._keep, examine(trace, query, self.history, self.rules))
        if budget.spent:
            self.note_once(STOPPED.format(line=record.place.line, why=budget.why))
        if not self.half and any(finding.state in BROKEN for finding in found):
            self.half = any(value.dtype == "float16" for value in trace.values)
        if self.audit and not found:
            checked = audit(trace, query, self.history)
            found = [self._keep(f) for f in checked if settle(f).kind != REFUTED]
        del self.engine.log[length:]  # what the doctor itself computed
        query.scope = {}  # findings keep the query, and must not keep the user's objects
        if not found:  # the trace is garbage now, which is collected at some time
            for variable in trace.variables:
                variable.owner = None
        if query.error is not None:
            self._explained = query.error
        return found

    @staticmethod
    def _recognise(trace: Trace, query: Query, record: Record, asked: Asked) -> None:
        """Tell what is zero by construction from what vanishes."""
        if not any(answer.state in NOTHING for answer in query.answers):
            return
        removers = cancelled(Question(trace, query))
        for k, (answer, line) in enumerate(zip(query.answers, record.lines, strict=False)):
            if answer in removers:
                line.cancel(reason(removers[answer], record.place.file))
                answer.state = line.state
                asked.cancelled.add(k)

    def note_once(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)

    def _keep(self, finding: Finding) -> Finding:
        known = keep(self.findings, finding)
        if known is finding:
            self.guarded(lambda: finding.spots)  # now: later the trace is gone
        return known

    def _met(self, finding: Finding, place: Place, step: int) -> None:
        """A known fault was met again, in a step that is not looked into."""
        count(finding, place, step)
        later = None if finding.later is None else finding.later()
        if later is not None and settle(later).kind != REFUTED:
            self.findings.setdefault(later.key, later)

    def _explain_error(self, error: BaseException) -> None:
        if error is self._explained and self.findings:
            return
        place = self.engine.raised_at(error)
        if place is None:
            return
        case = ErrorCase(self.engine.trace(), self.history, error, place)
        for rule in self.rules:
            finding = rule.examine_error(case)
            if finding is not None:
                self._keep(finding)
                return

    # --- the run as a whole -----------------------------------------------------------------------
    def _conclude(self) -> None:
        judge(self.findings, self.history, self.engine.trace, self.rules, self._keep)

    def so_far(self, whole: bool = True) -> tuple[History, list[Finding]]:
        """What would be said if the run ended now; the session goes on as if nobody had asked.

        The `whole` of it is for the thread that has just asked for gradients: what shows only over
        many steps needs the trace, and another thread would read the log while it is written.
        """
        with self.lock:
            history = self.history.copied()
            findings = {key: finding.copied() for key, finding in self.findings.items()}

            def note(finding: Finding) -> None:
                assert keep(findings, finding).spots is not None  # now: later the trace is gone

            if whole:
                length = len(self.engine.log)
                self._work(judge, findings, history, self.engine.trace, self.rules, note)
                del self.engine.log[length:]  # what the doctor itself computed
            else:  # and the engine goes on listening to the others
                with np.errstate(all="ignore"):
                    judge(findings, history, None, self.rules, note)
        return history, list(findings.values())


def _states(record: Record) -> tuple[str, ...]:
    """The states of the last step; rounding noise is large at times."""
    return tuple("ok" if line.state in states.SOUND else line.state for line in record.lines)


def _unremarkable(asked: Asked, found: tuple[str, ...], findings: list[Finding]) -> bool:
    """Are all gradients sound, or are some small, and no fault is behind it? As a program learns,
    they become so."""
    usual = {"ok"} if findings else {"ok", *NOTHING}
    return asked.error is None and usual.issuperset(found)


def _note_norms(
    line: Line, norms: list[Any], first: int, steps: int, present: bool = False
) -> None:
    """Where the norm leaves it open, the state is that of the last gradient of such a norm."""
    if norms[-1] is None:
        # Whether there is a gradient does not change from call to call; a copy may only be unable
        # to tell how large it is.
        if not line.states:
            line.state = "ok" if present else "none"
        line.unseen += steps if line.state != "none" else 0
        line.turn(first, UNSEEN if line.state != "none" else "none")
    else:
        told = states.by_norm(norms[-1], math.prod(line.shape))
        line.state = line.judged(line.known.get(told, told))
        line.norms.extend(norms)
        line.turn(first, line.state)  # when there are several steps, all are sound
    line.states[line.state] = line.states.get(line.state, 0) + steps


@cache
def _name(dtype: Any) -> str:
    """NumPy works it out anew at every call, 1 us."""
    return str(dtype.name)


@contextmanager
def _collected_later() -> Iterator[None]:
    """A trace of many objects, none of which is garbage yet: to walk them all again and again would
    take a third of the time, of a small log half."""
    on = gc.isenabled()
    if on:
        gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _power_of_4(step: int) -> bool:
    return not step & (step - 1) and step.bit_length() % 2 == 1


def fault_in_words(fault: BaseException) -> str:
    """A fault of the doctor's own on one line, with the line of ours that raised it."""
    words = f"{type(fault).__name__}: {fault}".replace("\n", " ")
    step = fault.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return words
    return f"{words} ({os.path.basename(step.tb_frame.f_code.co_filename)}:{step.tb_lineno})"


def _tell(asked: Asked) -> None:
    for session in RUNNING[:]:
        session.asked(asked)
