"""`tape.explain`: one question to one of gradtape's tapes, answered without using the tape up.

Where the doctor listens, its log has the cause. Where it does not, the tape's own record is all
there is (`taped`). The rules are asked about it, and only what a trial on it confirms is reported;
of everything else, how far the tape followed a source, and what to run for the cause.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import get_ident
from types import FrameType
from typing import Any

import numpy as np

from .... import nest
from ....autodiff.recording import follows
from ....autodiff.tape import GradientTape, _differentiate, _parts
from ....core.apply import tensor
from ....core.op import FLOATS
from ....core.place import caller
from ....core.record import Value as Tensor
from ....core.record import threads
from ....framework.variable import Variable
from ...entry.examining import explained
from ...entry.session import RUNNING, Session, fault_in_words
from ...facts import backward
from ...facts.case import NUMBERS, Case, Question
from ...facts.faults import finite
from ...report import Report
from ...report.words import STATES, shown
from ...rules import CATALOGUE
from ...source.place import Place
from ...trace import Answer, Event, Query, Value, states
from ...trace import Variable as TracedVariable
from ...trace.finding import Finding
from .. import gradtape as raw
from .models import held
from .taped import Taped

# Not those that judge sizes, which are what the steps before made of them.
RULES = tuple(
    rule for rule in CATALOGUE
    if not rule.last_resort and rule.states.isdisjoint(("vanishing", "exploding"))
)  # fmt: skip
LARGE = 100.0  # a variable beyond this is what the steps before made of it
ENDS = 3  # ops that are named, of those behind which the tape has nothing
RECORDED = (
    "This was asked in a function that is being recorded, where tensors have no numbers yet: ask "
    "for the gradient outside of `@tf.function`, or run the program with `gradtape doctor`."
)
FORGOTTEN = (
    "This tape has forgotten what it recorded: `explain` before `gradient`, or on a tape with "
    "persistent=True, would know more."
)
WHAT_TO_RUN = (
    "The doctor was not listening while this was computed. For the cause, run the program with "
    "`gradtape doctor`, or put tape and all in `with gradtape.doctor.watch():`."
)


def explain(tape: GradientTape, target: Any, sources: Any) -> Report:
    """The report on one question."""
    user = caller()
    engine = next((s.engine for s in RUNNING if isinstance(s.engine, raw.Engine)), None)
    session = Session()
    report = Report(user.f_code.co_filename, raw.Engine.name, session.history, [])
    if threads.recording is not None:  # to look at a number would make it a condition
        report.notes = [RECORDED]
        return report
    with _no_recording():
        if engine is not None and _was_heard(engine, tape):
            session.engine = engine
            _ask(session, tape, target, sources, user)
        elif tape._tape is None:
            report.notes = [FORGOTTEN, WHAT_TO_RUN]
        else:
            report.notes = _ask_the_tape(session, tape, target, sources, user)
    report.complete(list(session.findings.values()), session.faults)
    return report


@contextmanager
def _no_recording() -> Iterator[None]:
    """What is computed to explain is on no tape."""
    active, watching = threads.active, threads.watching
    threads.active, threads.watching = [], None
    try:
        yield
    finally:
        threads.active, threads.watching = active, watching


def _engine(session: Session) -> raw.Engine:
    assert isinstance(session.engine, raw.Engine)
    return session.engine


def _event(
    session: Session, tape: Any, target: Any, sources: Any, answers: list | None, user: FrameType,
    error: Exception | None = None,
) -> tuple:  # fmt: skip
    result = None if answers is None else nest.pack_sequence_as(sources, answers)
    return (
        raw.QUERY, _engine(session).number(tape), "gradient", target, sources, (), {}, result,
        error, None, user.f_code, user.f_lasti, get_ident(),
    )  # fmt: skip


def _answers(tape: Any, target: Any, sources: Any) -> tuple[list | None, Exception | None]:
    """What the tape would answer, or the exception that it would raise."""
    targets = _parts(nest.flatten(target))
    seeds = [None] * len(targets)
    try:
        return _differentiate(tape._tape, targets, _parts(nest.flatten(sources)), seeds), None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        return None, error


# --- where the doctor listens ---------------------------------------------------------------------
def _was_heard(engine: raw.Engine, tape: GradientTape) -> bool:
    number = engine.tapes.get(tape)
    return any(event[0] == raw.START and event[1] == number for event in engine.log)


def _ask(session: Session, tape: Any, target: Any, sources: Any, user: FrameType) -> None:
    """Have the session look at a query as if the tape had been asked, and leave no trace of it."""
    log = session.engine.log
    length = len(log)
    answers = None if tape._tape is None else _answers(tape, target, sources)[0]
    if answers is None:  # the tape has forgotten, or cannot be asked so
        answers = _walked(_engine(session), _event(session, tape, target, sources, None, user))
    event = _event(session, tape, target, sources, answers, user)
    log.append(event)
    try:
        session.asked(raw._asked(event, user))
    finally:
        del log[length:]


def _walked(engine: raw.Engine, event: tuple) -> list:
    """The answers by the doctor's own walk, for a tape that has answered before."""
    engine.log.append(event)
    trace = engine.trace()
    engine.log.pop()
    query = trace.queries[-1]
    cotangents = backward.walk(trace, query, query.tape).cotangents
    answers = []
    for answer in query.answers:
        source: Any = answer.source
        nodes = trace.reads(source) if isinstance(source, TracedVariable) else [source]
        watched = any(query.tape.watches_of(node) for node in nodes)
        parts = [cotangents[node] for node in nodes if watched and node in cotangents]
        answers.append(tensor(sum(parts[1:], parts[0])) if parts else None)
    return answers


# --- where it does not ----------------------------------------------------------------------------
def _ask_the_tape(
    session: Session, tape: Any, target: Any, sources: Any, user: FrameType
) -> list[str]:
    """Keep the findings that the tape's record proves; notes on the answers without one."""
    answers, error = _answers(tape, target, sources)
    asked = raw._asked(_event(session, tape, target, sources, answers, user, error), user)
    history = session.take(asked)
    targets = [held(thing) for thing in nest.flatten(target)]
    things = [held(thing) for thing in nest.flatten(sources)]
    notes: list[str] = []
    try:
        taped = Taped(tape, history.place, [*targets, *things])
        lines = [
            Answer(taped.source(thing), line.name, gradient, line.state, aliases=line.aliases)
            for thing, gradient, line in zip(things, asked.gradients, history.lines, strict=False)
        ]
        query = Query(
            taped.tape, "gradient", [taped.value(t) for t in targets], history.target, lines,
            history.place, len(taped.trace.events) + 2.0, 1, error=error,
            scope={**user.f_globals, **user.f_locals},
        )  # fmt: skip
        taped.trace.queries.append(query)
        question = Question(taped.trace, query)
        for answer, thing in zip(lines, things, strict=True):
            case = Case(taped.trace, query, answer, session.history, question)
            proven = [] if taped.changed else _proven(case)
            for finding in proven:
                session._keep(finding)
            if not proven and answer.state != "ok":
                notes.append(_known(taped, case, thing))
        query.scope = {}
    except Exception as fault:  # the user only asked why
        session.faults.append(fault_in_words(fault))
        return [WHAT_TO_RUN]
    return [*notes, WHAT_TO_RUN] if notes else notes


def _proven(case: Case) -> list[Finding]:
    """What the rules find in the record, if a trial on the record has confirmed it."""
    state = case.answer.state
    if state == "ok" or (state == "none" and case.cut is None):
        return []  # what the path misses is not on the tape
    if any(target.kind in ("array", "number") for target in case.targets):
        return []  # nor is how a target left it
    if state in NUMBERS and not _begins_here(case):
        return []  # earlier steps did it, or what made the data
    with suppress(Exception):  # a rule asked for what a tape does not keep
        return [f for f in explained(case, RULES) if f.sure and not _in_a_sweep(case, f.place)]
    return []


def _in_a_sweep(case: Case, place: Place | None) -> bool:
    """Whether an op is part of a derivative, which another tape was asked for: nobody wrote it."""
    call = None if place in (None, case.query.place) else place.node
    return isinstance(call, ast.Call) and ast.unparse(call.func).endswith((".gradient", "jacobian"))


def _begins_here(case: Case) -> bool:
    """Whether a fault of numbers begins on the tape: it took sound variables, and the first op that
    is not finite had finite operands."""
    read = [v.array for v in case.question.above(*case.targets) if v.variable is not None]
    if any(np.size(array) and not np.max(np.abs(array)) <= LARGE for array in read):
        return False
    first = _first_broken(case)
    return first is None or all(v.array is not None and finite(v.array) for v in first.inputs)


def _first_broken(case: Case) -> Event | None:
    events = case.trace.events
    return next((e for e in events if not all(finite(v.array) for v in e.outputs)), None)


def _known(taped: Taped, case: Case, source: Any) -> str:
    """What the record shows of an answer whose cause it does not prove."""
    name, target, error = case.answer.name, case.query.target_name, case.query.error
    if error is not None:
        return f"Asking for the gradient raises {type(error).__name__}: {error}"
    if case.answer.state != "none" or case.path is not None:
        return f"This tape has a whole path from `{name}` to `{target}`: {_where(case)}."
    if not isinstance(source, (Tensor, Variable)):
        return f"`{name}` is no tensor but of type {type(source).__name__}."
    dtype = source._value.dtype
    if dtype.kind not in FLOATS:
        return f"`{name}` is {dtype.name}, and a tape follows real and complex numbers only."
    if isinstance(source, Tensor) and not follows(taped.recorder, source):
        return f"`{name}` is a plain tensor, and this tape was not told to watch it."
    if isinstance(source, Variable) and source._id not in taped.recorder.variables:
        if not source.trainable:
            return f"`{name}` is a variable with trainable=False, and this tape did not watch it."
        if not taped.tape.auto_watch:
            return (
                f"This tape has watch_accessed_variables=False, and was not told to watch `{name}`."
            )
        return f"This tape never saw `{name}` being read."
    ends = [
        event for event in taped.trace.events
        if any(v in case.below for v in event.inputs) and not any(v.users for v in event.outputs)
    ]  # fmt: skip
    if not ends:
        return f"This tape watched `{name}`, and recorded nothing that was computed from it."
    last = ", ".join([*dict.fromkeys(map(_named, ends))][-ENDS:])
    return (
        f"This tape followed `{name}` up to {last}; nothing on it leads from there to `{target}`."
    )


def _where(case: Case) -> str:
    """Where a gradient got its state, on its way back from the target."""
    if case.cut is not None:
        return f"{_named(case.cut.event)} lets no gradient through"
    first = _first_broken(case)
    if first is not None and not all(finite(target.array) for target in case.targets):
        return f"of the numbers that it kept, those of {_named(first)} are the first not finite"
    bad, words = case.answer.state, STATES[case.answer.state][0]
    # The doctor's walk ends at numbers that are not known, which these cotangents do not need.
    known = [target for target in case.targets if target.array is not None]
    cotangents: dict[Value, Any] = {target: np.ones_like(target.array) for target in known}
    for event in reversed(case.trace.events):
        arriving = [cotangents.get(value) for value in event.outputs]
        if event.pull is None or all(g is None for g in arriving):
            continue
        sound = all(g is None or states.state(g) != bad for g in arriving)
        with np.errstate(all="ignore"):
            parts = event.pull(arriving)
        for value, part in zip(event.inputs, parts, strict=True):
            if part is not None:
                if sound and value in case.below and states.state(part) == bad:
                    return f"the gradient {words} from {_named(event)} on"
                cotangents[value] = part + cotangents[value] if value in cotangents else part
    return f"the gradient {words}"


def _named(event: Event) -> str:
    """An op with its place."""
    place = event.place
    return f"{event.name} at {shown(place.file)}:{place.line} (`{place.brief}`)"
