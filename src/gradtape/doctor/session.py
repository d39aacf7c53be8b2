"""A session of the doctor: listens to an engine, looks at every gradient, explains the bad ones."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from . import names, states
from .audit import audit
from .case import Case, ErrorCase, Question, Run
from .finding import Finding
from .history import History, Line, Record
from .place import Place, at
from .rules import CATALOGUE
from .trace import Answer, Asked, Query, Trace

THOROUGH = 3  # first steps of a place that are examined in full, healthy or not
# What a call that asks for gradients may name its two first parameters.
CALLS = (("target", "sources"), ("target", "source"), ("loss_fn", "variables"))
UNHEARD = (
    "Some gradients were asked of a tape that was entered before the doctor listened, or long ago; "
    "of these only the state is known."
)
FAULTS = 5  # of the doctor's own that are told
RUNNING: list[Session] = []  # those that have started: they share the hooks of one engine


class Session:
    """From `start` to `stop`, every gradient is looked at."""

    def __init__(self, engine: str = "gradtape", audit: bool = False) -> None:
        self.engine = _engine(engine)(_tell)
        self.audit = audit  # check gradients that look fine by numbers
        self.history = History()
        self.findings: dict[tuple, Finding] = {}
        self.faults: list[str] = []  # the doctor's own
        self.notes: list[str] = []
        self._explained: BaseException | None = None
        self._known: dict[Place, tuple[tuple[str, ...], list[Finding]]] = {}

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
        if not any(s.engine is self.engine for s in RUNNING):
            self.engine.stop()
        self._guarded(self._conclude)
        self.notes += self.engine.notes
        self.faults += self.engine.faults

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
        if asked.norms is not None:
            for line, norms in zip(record.lines, asked.norms, strict=False):
                _note_norms(line, norms, asked.steps)
            record.targets.extend(asked.results)
            return record
        for line, gradient in zip(record.lines, asked.gradients, strict=False):
            self._note(line, gradient, asked.error)
        result = asked.results[0] if len(asked.results) == 1 else None
        if result is not None and np.ndim(result) == 0:
            record.targets.add(float(np.real(result)))
        return record

    def _look(self, asked: Asked) -> None:
        record = self.take(asked)
        place, step = record.place, record.steps
        found = tuple(line.state for line in record.lines)
        known = self._known.get(place)
        quiet = set(found) <= {"ok"} and asked.error is None
        due = _power_of_4(step) if quiet else not step & (step - 1)
        if known is not None and known[0] == found and step > THOROUGH and not due:
            for finding in known[1]:
                _count(finding, place, step)
            return
        if quiet and step > THOROUGH:
            if not due:
                return
            self.engine.trim(0)  # a look at this step alone is quicker
        self._known[place] = found, self._examine(asked, record)

    def _glance(self, asked: Asked) -> None:
        """A step of which norms are known: faults that are known are met again, or not."""
        record = self.take(asked)
        if not asked.norms:
            return
        bad = {line.name for line in record.lines if line.state != "ok"}
        if bad:
            for finding in self._known.get(record.place, ((), []))[1]:
                if not bad.isdisjoint(finding.sources):
                    _count(finding, record.place, record.steps)

    def _open(self, asked: Asked, place: Place) -> Record:
        target = sources = None
        for parameters in CALLS:
            if sources is None:
                target, sources = names.arguments(place, *parameters)
        if asked.names is not None:
            texts, named = [asked.names[0]], asked.names[1]
        else:
            named = names.leaves(sources, asked.sources, asked.frame, "source")
            texts = names.leaves(target, asked.target, asked.frame, "target")
        record = Record(place, asked.method, ", ".join(texts), [Line(name) for name in named])
        self.history.records[place] = record
        return record

    @staticmethod
    def _note(line: Line, gradient: Any, error: BaseException | None) -> None:
        if gradient is None:
            line.state = "none" if error is None else "error"
        else:
            flat = np.asarray(gradient).ravel()
            size = abs(np.vdot(flat, flat).item()) ** 0.5 if flat.size else 0.0
            told = states.by_norm(size, max(flat.size, 1))
            line.state = "ok" if told == "ok" else states.state(np.asarray(gradient))
            line.known[told] = line.state
            line.norms.add(size)
            if not line.dtype:
                line.shape, line.dtype = np.shape(gradient), flat.dtype.name
        line.states[line.state] = line.states.get(line.state, 0) + 1

    # --- explaining -------------------------------------------------------------------------------
    def _examine(self, asked: Asked, record: Record) -> list[Finding]:
        length = len(self.engine.log)
        trace = self.engine.trace()
        query = trace.queries[-1]
        if query.error is None and not query.tape.spans:
            # What it recorded was not heard, and guesses about it would be false alarms.
            self.notes = [UNHEARD]
            return []
        query.target_name, query.step = record.target, record.steps
        query.scope = {**asked.frame.f_globals, **asked.frame.f_locals}
        for answer, line in zip(query.answers, record.lines, strict=False):
            answer.name = line.name
            answer.state = line.state if query.error is None else "error"
            answer.norm = states.norm(answer.array)
        found = [self._keep(finding) for finding in examine(trace, query, self.history)]
        if self.audit and not found:
            found = [self._keep(finding) for finding in audit(trace, query, self.history)]
        del self.engine.log[length:]  # what the doctor itself computed
        query.scope = {}  # findings keep the query, and must not keep the user's objects
        if query.error is not None:
            self._explained = query.error
        return found

    def _keep(self, finding: Finding) -> Finding:
        known = self._earlier(finding) or self.findings.setdefault(finding.key, finding)
        if known is finding:
            self._guarded(lambda: finding.spots)  # now: later the trace is gone
        else:
            for step in finding.steps:
                _count(known, finding.query and finding.query.place, step)
            known.sources += [s for s in finding.sources if s not in known.sources]
        return known

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
        for rule in CATALOGUE:
            finding = rule.examine_error(case)
            if finding is not None:
                self._keep(finding)
                return

    def _stands(self, finding: Finding) -> bool:
        record = finding.query and self.history.records.get(finding.query.place)
        if not record:
            return True
        lines = [line for line in record.lines if line.name in finding.sources]
        (rule,) = (rule for rule in CATALOGUE if rule.code == finding.code)
        return rule.stands(finding, lines, record.targets.numbers)

    def _conclude(self) -> None:
        self.findings = {k: f for k, f in self.findings.items() if self._stands(f)}
        run = Run(self.engine.trace(), self.history, list(self.findings.values()))
        for rule in CATALOGUE:
            for finding in rule.examine_run(run):
                self._keep(finding)
        for finding in self.findings.values():
            if finding.state == "wrong" and finding.query is not None:
                record = self.history.records.get(finding.query.place)
                for line in record.lines if record is not None else ():
                    if line.name in finding.sources:
                        line.disprove(finding.steps)


def examine(trace: Trace, query: Query, history: History) -> list[Finding]:
    """The findings of one query: of each answer, the first rule that knows the cause."""
    found: list[Finding] = []
    question = Question(trace, query)
    for answer in query.answers:
        case = Case(trace, query, answer, history, question)
        for rule in CATALOGUE:
            if answer.state in rule.states:
                finding = rule.examine(case)
                if finding is not None:
                    _merge(found, finding)
                    break
    whole = Case(trace, query, Answer(None, "", None, state="none"), history, question)
    for rule in CATALOGUE:
        for finding in rule.examine_query(whole):
            _merge(found, finding)
    return found


def _note_norms(line: Line, norms: list[Any], steps: int) -> None:
    """Where the norm leaves it open, the state is that of the last gradient of such a norm."""
    if norms[-1] is None:
        line.state = "none"
    else:
        told = states.by_norm(norms[-1], math.prod(line.shape))
        line.state = line.known.get(told, told)
        line.norms.extend(norms)
    line.states[line.state] = line.states.get(line.state, 0) + steps


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


def _count(finding: Finding, place: Place | None, step: int) -> None:
    """The fault was met again; steps are those of the place that asked first."""
    known, first = finding.steps, finding.query and finding.query.place
    if first == place and (not known or step > known[-1]):
        known.append(step)


def _tell(asked: Asked) -> None:
    for session in RUNNING[:]:
        session.asked(asked)


def _merge(found: list[Finding], finding: Finding) -> None:
    for other in found:
        if other.key == finding.key:
            other.sources += finding.sources
            return
    found.append(finding)


def _engine(name: str) -> Any:
    if name == "gradtape":
        from .engines.gradtape import Engine

        return Engine
    from .engines.tensorflow import Engine as TensorFlow

    return TensorFlow
