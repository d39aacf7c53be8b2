"""A session of the doctor: listens to an engine, looks at every gradient, explains the bad ones."""

from __future__ import annotations

import ast
import gc
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import zip_longest
from typing import Any

import numpy as np

from ..facts import names
from ..facts.audit import audit
from ..facts.case import ErrorCase, Run
from ..facts.faults import finite
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..source.place import Place, at
from ..trace import Asked, Variable, states
from ..trace.finding import REFUTED, Finding
from ..trace.history import BROKEN, NOTHING, UNSEEN, History, Line, Record
from .examining import examine, settle

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
LAST = frozenset(rule.name for rule in CATALOGUE if rule.last_resort)
FAULTS = 5  # of the doctor's own that are told
RUNNING: list[Session] = []  # those that have started: they share the hooks of one engine


class Session:
    """From `start` to `stop`, every gradient is looked at."""

    def __init__(
        self, engine: str = "gradtape", audit: bool = False, rules: tuple[Rule, ...] = CATALOGUE
    ) -> None:
        self.engine = _engine(engine)(_tell)
        self.rules = rules  # in whatever order: what a trial confirms does not depend on it
        self.audit = audit  # check gradients that look fine by numbers
        self.history = History()
        self.findings: dict[tuple, Finding] = {}
        self.faults: list[str] = []  # the doctor's own
        self.notes: list[str] = []
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
        self._guarded(self.engine.catch_up)
        RUNNING.remove(self)
        last = not any(s.engine is self.engine for s in RUNNING)
        if last:
            self.engine.stop()
        self._guarded(self._conclude)
        self.notes += self.engine.notes
        self.faults += self.engine.faults
        if last:
            self.engine.forget()

    def raised(self, error: BaseException) -> None:
        """The program ended with this exception."""
        self._guarded(self.engine.catch_up)
        self._guarded(self.engine.unfinished)
        self._guarded(self._explain_error, error)

    # --- every query ------------------------------------------------------------------------------
    def asked(self, asked: Asked) -> None:
        """A tape was asked for gradients."""
        self._guarded(self._look if asked.norms is None else self._glance, asked)

    def _guarded(self, work: Any, *args: Any) -> None:
        was, self.engine.deaf = self.engine.deaf, True  # what the doctor asks itself is no query
        try:
            with np.errstate(all="ignore"):  # it looks at NaN and infinities, and says so itself
                work(*args)
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
            for line, norms in zip_longest(record.lines, asked.norms[: len(record.lines)]):
                _note_norms(line, norms or [None], record.steps - asked.steps + 1, asked.steps)
            record.targets.extend(asked.results)
            return record
        sizes = states.lengths(asked.gradients)
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
        found = tuple(line.state for line in record.lines)
        known = self._known.get(place)
        quiet = set(found) <= {"ok"} and asked.error is None
        due = _power_of_4(step) if quiet else not step & (step - 1)
        stirred = self.engine.sights.look()  # a flag that a traced function has read is set anew
        due = due or stirred > self._stirred.get(place, stirred)
        self._stirred[place] = stirred
        if known is not None and known[0] == found and step > THOROUGH and not due:
            for finding in known[1]:
                if finding.state != "wrong":  # which only a look can tell
                    self._met(finding, place, step)
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
            self._note_once(TOO_LARGE)
            return
        self._read[place] = spent + length
        with _collected_later():
            self._known[place] = found, self._examine(asked, record)

    def _glance(self, asked: Asked) -> None:
        """A step of which norms are known: faults that are known are met again, or not."""
        record = self.take(asked)
        seen = {
            line.name for line, norms in zip(record.lines, asked.norms or (), strict=False)
            if norms[-1] is not None
        }  # fmt: skip
        bad = {
            line.name for line in record.lines
            if line.state == "none" or (line.state != "ok" and line.name in seen)
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
            line.state = "ok" if told == "ok" else states.state(np.asarray(gradient))
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
            self._note_once(UNHEARD)
            return []
        record.examined.append(record.steps)
        query.target_name, query.step = record.target, record.steps
        query.scope = {**asked.frame.f_globals, **asked.frame.f_locals}
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name, answer.aliases = line.name, line.aliases
            answer.state = line.state if query.error is None else "error"
        found = [self._keep(finding) for finding in examine(trace, query, self.history, self.rules)]
        if self.audit and not found:
            checked = audit(trace, query, self.history)
            found = [self._keep(f) for f in checked if settle(f).kind != REFUTED]
        del self.engine.log[length:]  # what the doctor itself computed
        query.scope = {}  # findings keep the query, and must not keep the user's objects
        if query.error is not None:
            self._explained = query.error
        return found

    def _note_once(self, words: str) -> None:
        if words not in self.notes:
            self.notes.append(words)

    def _keep(self, finding: Finding) -> Finding:
        known = self._earlier(finding) or self.findings.setdefault(finding.key, finding)
        if known is finding:
            self._guarded(lambda: finding.spots)  # now: later the trace is gone
        else:
            for step in finding.steps:
                _count(known, finding.query and finding.query.place, step)
            there = set(known.sources)
            known.sources += [s for s in finding.sources if s not in there]
        return known

    def _met(self, finding: Finding, place: Place, step: int) -> None:
        """A known fault was met again, in a step that is not looked into."""
        _count(finding, place, step)
        later = None if finding.later is None else finding.later()
        if later is not None and settle(later).kind != REFUTED:
            self.findings.setdefault(later.key, later)

    def _earlier(self, finding: Finding) -> Finding | None:
        """The same fault in an earlier step, when it had another face: large, then infinite."""
        for known in self.findings.values():
            if known.key[:3] == finding.key[:3] and known.steps[:1] < finding.steps[:1]:
                return known
        return None

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

    def _stands(self, finding: Finding) -> bool:
        record = finding.query and self.history.records.get(finding.query.place)
        if not record:
            return True
        lines = [line for line in record.lines if line.name in finding.sources]
        if finding.state in NOTHING and lines and all(line.converged for line in lines):
            return False
        if finding.state in BROKEN and self._overcame(finding, lines):
            return False
        return _rule(finding).stands(finding, lines, record.targets.numbers)

    def _overcame(self, finding: Finding, lines: list[Line]) -> bool:
        """Was a step that was not finite left out, as a scaled loss does that overflowed? What is
        trained with such a gradient is not finite ever after."""
        if not lines or any(line.state in (*BROKEN, "none") for line in lines):
            return False
        trace = self.engine.trace()
        if not any(v.dtype == "float16" for v in trace.values):
            return False  # nothing else is scaled so that it overflows on purpose
        sources = [a.source for a in finding.query.answers if a.name in finding.sources]
        for owner in [source.owner if isinstance(source, Variable) else None for source in sources]:
            values = [
                v for v in trace.values if v.variable is not None and v.variable.owner is owner
            ]
            trained = any(v.maker is not None and v.maker.way == "assign" for v in values)
            trained = trained or _by_library(finding.query)
            if owner is None or not trained or not all(finite(v.array) for v in values[-1:]):
                return False
        return True

    def _conclude(self) -> None:
        for record in self.history.records.values():
            record.settle()
        kept = {k: f for k, f in self.findings.items() if self._stands(f)}
        kept = {k: f for k, f in kept.items() if not _follows(f, kept.values())}
        for root in [f for f in kept.values() if _rule(f).root and f.sure]:
            for key in [k for k, f in kept.items() if _stems(f, root)]:
                kept[key].sources = [s for s in kept[key].sources if s not in root.sources]
                if not kept[key].sources:
                    del kept[key]
        better = [(f.place, name) for f in kept.values() if f.place for name in _replaced(f)]
        self.findings = {
            k: f for k, f in kept.items() if not any(
                f.name == name and f.place is not None and f.place.contains(place)
                for place, name in better
            )
        }  # fmt: skip
        run = Run(self.engine.trace, self.history, list(self.findings.values()))
        # By their codes, so that what comes first does not depend on where a rule is listed.
        for rule in sorted(self.rules, key=lambda rule: rule.code):
            for finding in rule.examine_run(run):
                if settle(finding).kind != REFUTED:
                    self._keep(finding)
        for finding in [*self.findings.values()]:
            for key in self._consequences(finding):
                del self.findings[key]
        for finding in self.findings.values():
            asked = finding.query and self.history.records.get(finding.query.place)
            if not asked:
                continue
            finding.asked, finding.checked = asked.steps, asked.told(finding)
            if finding.state == "wrong":
                for line in asked.lines:
                    if line.name in finding.sources:
                        line.disprove(finding.length)

    def _consequences(self, finding: Finding) -> list[tuple]:
        """The other findings that a finding accounts for."""
        rule = next((rule for rule in self.rules if rule.code == finding.code), None)
        return [] if rule is None else [
            key for key, other in self.findings.items()
            if other.name in rule.supersedes and rule.accounts_for(finding, other)
        ]  # fmt: skip


def _follows(finding: Finding, others: Iterable[Finding]) -> bool:
    """Is it what becomes of weights that an earlier step of the same training broke, or of an op
    that is at fault for other sources, for a reason that is known?"""
    if finding.name not in LAST or finding.state not in BROKEN or finding.query is None:
        return False
    return any(
        other.query is not None and other.query.place == finding.query.place
        and other.name not in LAST and other.state in ("exploding", *BROKEN)
        and (other.steps[:1] < finding.steps[:1] or other.place == finding.place)
        for other in others
    )  # fmt: skip


def _rule(finding: Finding) -> Rule:
    return next(rule for rule in CATALOGUE if rule.code == finding.code)


def _replaced(finding: Finding) -> frozenset[str]:
    """The rules whose earlier findings at the same place it stands for."""
    return _rule(finding).replaces


def _stems(finding: Finding, root: Finding) -> bool:
    """Did an earlier step say something else of the same gradients, whose root showed later?"""
    if finding.code == root.code or finding.query is None or root.query is None:
        return False
    same = finding.query.place == root.query.place and finding.state == root.state
    return same and not set(finding.sources).isdisjoint(root.sources)


def _note_norms(line: Line, norms: list[Any], first: int, steps: int) -> None:
    """Where the norm leaves it open, the state is that of the last gradient of such a norm."""
    if norms[-1] is None:
        # Whether there is a gradient does not change from call to call, and the first ones were
        # looked into; a copy may only be unable to tell how large it is.
        line.state = line.state if line.states else "none"
        line.unseen += steps if line.state != "none" else 0
        line.turn(first, UNSEEN if line.state != "none" else "none")
    else:
        told = states.by_norm(norms[-1], math.prod(line.shape))
        line.state = line.known.get(told, told)
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


def _by_library(query: Any) -> bool:
    """Was it a library that asked, in a training of its own such as `fit`?"""
    function = getattr(query.place.node, "func", None)
    return isinstance(function, ast.Attribute) and function.attr != query.method


def fault_in_words(fault: BaseException) -> str:
    """A fault of the doctor's own on one line, with the line of ours that raised it."""
    words = f"{type(fault).__name__}: {fault}".replace("\n", " ")
    step = fault.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return words
    return f"{words} ({os.path.basename(step.tb_frame.f_code.co_filename)}:{step.tb_lineno})"


def _count(finding: Finding, place: Place | None, step: int) -> None:
    """The fault was met again; steps are those of the place that asked first."""
    known, first = finding.steps, finding.query and finding.query.place
    if first == place and (not known or step > known[-1]):
        known.append(step)


def _tell(asked: Asked) -> None:
    for session in RUNNING[:]:
        session.asked(asked)


def _engine(name: str) -> Any:
    if name == "gradtape":
        from ..engines.gradtape import Engine

        return Engine
    from ..engines.tensorflow import Engine as TensorFlow

    return TensorFlow
