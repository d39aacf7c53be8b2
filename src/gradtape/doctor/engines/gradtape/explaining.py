"""`tape.explain`: one question to one of gradtape's tapes, answered without using the tape up.

Where the doctor listens, its trace knows the cause. Where it does not, the rules are asked about
the tape's own records (`taped`), and of a way that has none about the program's text
(`reading_on`). What neither can tell is said to be not known, with how far the tape followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import get_ident
from types import FrameType
from typing import Any

import numpy as np

from .... import nest
from ....autodiff.recording import follows, operand_ids, result_ids
from ....autodiff.tape import GradientTape, _differentiate, _parts
from ....core.apply import tensor
from ....core.place import caller
from ....core.record import Value, threads
from ....framework.variable import Variable
from ....ops.reasons import Reason
from ...entry.examining import explained
from ...entry.session import RUNNING, Session, fault_in_words
from ...facts import backward
from ...facts.case import Case, Question
from ...facts.faults import descendants, finite
from ...report import Report
from ...report.words import STATES, shown
from ...rules import CATALOGUE
from ...source.place import Place, Written, at, nodes
from ...trace import Answer, Event, states
from ...trace import Variable as TracedVariable
from ...trace.finding import LIKELY, Finding, Verdict
from ...trace.history import Record
from .. import gradtape as raw
from .reading_on import read_on
from .taped import Taped

# What cannot be told from one tape: where its constants come from, what the steps before did,
# which of the reads of a variable are one, and whether a term was lost before it got there.
BEYOND = frozenset({
    "nan-input", "unscaled-input", "learning-rate-divergence", "vanishing-depth", "exploding-init",
    "constant-function", "unexplained",
})  # fmt: skip
RULES = tuple(rule for rule in CATALOGUE if rule.name not in BEYOND)
SIZES = ("zero", "vanishing", "exploding")
ONE_STEP = "it is this step that has it so; what data and earlier steps did is not known here"
RECORDED = (
    "This was asked in a function that is being recorded, where tensors have no numbers yet: ask "
    "for the gradient outside of `@tf.function`, or run the program with `gradtape doctor`."
)
FROM_THE_TEXT = "it was read from the program's text, as the doctor was not listening"
LARGE = 100.0  # in a variable, it is what earlier steps made of it
SWITCH_ON = (
    "The doctor was not listening while this was computed. For the cause, run the program with "
    "`gradtape doctor`, or put tape and all in `with gradtape.doctor.watch():`."
)


def explain(tape: GradientTape, target: Any, sources: Any) -> Report:
    """The report on one question."""
    user = caller()
    engine = next((s.engine for s in RUNNING if s.engine.name == raw.Engine.name), None)
    session = Session()
    report = Report(user.f_code.co_filename, raw.Engine.name, session.history, [])
    if threads.recording is not None:  # to look at a number would make it a condition
        report.notes = [RECORDED]
        return report
    with _no_recording():
        if engine is not None and _was_heard(engine, tape):
            session.engine = engine
            _ask(session, tape, target, sources, user)
        else:
            report.notes = _from_the_tape(session, tape, target, sources, user)
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


def _was_heard(engine: raw.Engine, tape: GradientTape) -> bool:
    number = engine.tapes.get(tape)
    return any(event[0] == raw.START and event[1] == number for event in engine.log)


# --- where the doctor listens ---------------------------------------------------------------------
def _ask(session: Session, tape: Any, target: Any, sources: Any, user: FrameType) -> None:
    """Have the session look at a query as if the tape had been asked, and leave no trace of it."""
    log = session.engine.log
    length = len(log)
    answers = _answers(tape, target, sources)
    if answers is None:
        answers = _walked(session.engine, _event(session, tape, target, sources, None, user))
    event = _event(session, tape, target, sources, answers, user)
    log.append(event)
    try:
        session.asked(raw._asked(event, user))
    finally:
        del log[length:]


def _event(
    session: Session, tape: Any, target: Any, sources: Any, answers: list | None, user: FrameType,
    error: Exception | None = None,
) -> tuple:  # fmt: skip
    result = None if answers is None else nest.pack_sequence_as(sources, answers)
    return (
        raw.QUERY, session.engine.number(tape), "gradient", target, sources, (), {}, result, error,
        None, user.f_code, user.f_lasti, get_ident(),
    )  # fmt: skip


def _answers(tape: Any, target: Any, sources: Any) -> list | None:
    """What the tape would answer; None when it has forgotten, or cannot be asked so."""
    return None if tape._tape is None else _tried(tape, target, sources)[0]


def _tried(tape: Any, target: Any, sources: Any) -> tuple[list | None, Exception | None]:
    """What the tape would answer, or the exception that it would raise."""
    targets = _parts(nest.flatten(target))
    seeds = [None] * len(targets)
    try:
        return _differentiate(tape._tape, targets, _parts(nest.flatten(sources)), seeds), None
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        return None, error


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
def _from_the_tape(
    session: Session, tape: Any, target: Any, sources: Any, user: FrameType
) -> list[str]:
    """What the tape itself knows: findings of the rules where its records tell enough, and
    otherwise how far it followed a source."""
    if tape._tape is None:
        forgot = "`explain` before `gradient`, or on a tape with persistent=True, would know more."
        return [f"This tape has forgotten what it recorded: {forgot}", SWITCH_ON]
    answers, error = _tried(tape, target, sources)
    event = _event(session, tape, target, sources, answers, user, error)
    record = session.take(raw._asked(event, user))
    try:
        return _examined(session, tape, target, sources, user, record, answers, error)
    except Exception as fault:  # the user only asked why
        session.faults.append(fault_in_words(fault))
        return [SWITCH_ON]


def _examined(
    session: Session, tape: Any, target: Any, sources: Any, user: FrameType, record: Record,
    answers: list | None, error: Exception | None,
) -> list[str]:  # fmt: skip
    taped = Taped(tape, _made(tape, user) or record.place)
    targets = nest.flatten(target)
    asked = [
        Answer(taped.source(s), line.name, raw.gradient_array(g), line.state, aliases=line.aliases)
        for s, g, line in zip(
            nest.flatten(sources), answers or [None] * len(record.lines), record.lines, strict=False
        )
    ]  # fmt: skip
    query = taped.query(record.place, record.target, targets, asked)
    query.error = error
    taped.look((user.f_locals, user.f_globals), *targets, *nest.flatten(sources))
    query.scope = {**user.f_globals, **user.f_locals}
    question = Question(taped.trace, query)
    notes: list[str] = []
    for answer, source in zip(asked, nest.flatten(sources), strict=False):
        case = Case(taped.trace, query, answer, session.history, question)
        found = [] if answer.state == "ok" else _explained(taped, case)
        if not found and answer.state == "none":
            found = _supposed(taped, case, source, user)
        for finding in found:
            session._keep(finding)
        if not found and answer.state != "ok":
            notes += _told(taped, case, source, target)
    query.scope = {}
    return [*notes, SWITCH_ON] if notes else notes


def _explained(taped: Taped, case: Case) -> list[Finding]:
    """What the rules find in the records, if these are enough."""
    if case.answer.state == "error" and any(t.kind in ("array", "number") for t in case.targets):
        return []  # how the target left the tape is not known
    if case.answer.state == "error":
        rules = tuple(r for r in RULES if "error" in r.states)
    elif case.answer.state == "none":
        if case.path is None or not case.path.cuts:
            return []
        rules = RULES
    else:
        if not taped.whole(case.nodes, case.targets) or _diverged(case):
            return []
        rules = RULES
    try:
        found = explained(case, rules)
    except Exception:  # it asked for what a tape does not keep
        return []
    found = [finding for finding in found if not _of_a_derivative(finding)]
    for finding in found:
        if finding.state in SIZES:
            finding.sure = False
            finding.verdict = replace(
                finding.verdict, kind=LIKELY, why=finding.verdict.why or ONE_STEP
            )
    return found


def _of_a_derivative(finding: Finding) -> bool:
    """Is it about the sign that the derivative of an absolute value is, and nobody wrote?"""
    written = finding.place is None or "sign" in finding.place.text
    return finding.name == "rounding-op" and finding.state == "zero" and not written


def _supposed(taped: Taped, case: Case, source: Any, user: FrameType) -> list[Finding]:
    """What the program's text says of a way that the tape has no record of: never for certain."""
    read = read_on(taped, case, source, user)
    if read is None:
        return []
    try:
        found = explained(read, RULES)
    except Exception:
        return []
    for finding in found:
        finding.verdict, finding.sure = Verdict(LIKELY, why=FROM_THE_TEXT), False
        finding.would_be, finding.why_not = None, FROM_THE_TEXT
    return found[:1]


def _diverged(case: Case) -> bool:
    """Did earlier steps leave a variable too large, or broken? They are not on this tape."""
    held = [v.array for v in case.question.above(*case.targets) if v.variable is not None]
    return any(not finite(a) or (np.size(a) and np.max(np.abs(a)) > LARGE) for a in held)


def _told(taped: Taped, case: Case, source: Any, target: Any) -> list[str]:
    """What is known of an answer of which no rule speaks."""
    name, asked = case.answer.name, case.query
    if case.answer.state == "error":
        return [f"Asking for the gradient raises {type(asked.error).__name__}: {asked.error}"]
    if case.answer.state == "none":
        return [_how_far(taped.recorder, name, source, asked.target_name, target)]
    return [_where(taped, case)]


def _how_far(tape: Any, name: str, source: Any, target_name: str, target: Any) -> str:
    """How far a tape followed a source."""
    if isinstance(source, Variable):
        if not source.trainable and source._id not in tape.variables:
            return f"`{name}` is a variable with trainable=False, and this tape did not watch it."
        if source._id not in tape.variables:
            return f"This tape never saw `{name}` being read."
    elif not isinstance(source, Value):
        return f"`{name}` is no tensor but of type {type(source).__name__}."
    elif not follows(tape, source):
        return f"This tape was not told to watch `{name}`."
    used, stops, reached = _users(tape, source._id)
    if not used:
        return f"This tape watched `{name}`, and recorded nothing that was computed from it."
    followed = [t for t in nest.flatten(target) if isinstance(t, Value) and follows(tape, t)]
    if stops and any(t._id in reached for t in followed):
        place, why = stops[0]
        return (
            f"`{place.brief}` at {shown(place.file)}:{place.line} lets no gradient through: {why}."
        )
    known = bool(followed)
    ends = "does not come from there" if known else "is not on this tape"
    op, place = used[-1]
    return (
        f"The last that this tape recorded of what was computed from `{name}` is {op.name} at "
        f"{shown(place.file)}:{place.line}: `{place.brief}`; `{target_name}` {ends}."
    )


def _users(tape: Any, key: int) -> tuple[list[tuple[Any, Place]], list[tuple[Place, str]], set]:
    """The ops that were computed from a value, in order; those of them without a derivative, with
    the reason; and all numbers of values that were computed from it."""
    reached, found, stops = {key}, [], []
    for record in tape.records:
        used = [k for k, i in enumerate(operand_ids(record)) if i is not None and i in reached]
        if used:
            op, _, code, offset = record[:4]
            reached.update(result_ids(record))
            if code is not None:
                found.append((op, at(code, offset)))
                rules = [op.rules[0 if op.joint else k] for k in used]
                stops += [(at(code, offset), r.why) for r in rules if isinstance(r, Reason)]
    return found, stops, reached


def _where(taped: Taped, case: Case) -> str:
    """Where a gradient first went wrong, on its way back from the target: the cotangents are known
    even where the numbers are not."""
    name, state = case.answer.name, case.answer.state
    said = STATES[state][0]
    broken = next(
        (e for e in taped.trace.events if not all(finite(v.array) for v in e.outputs)), None
    )
    if broken is not None and not all(finite(t.array) for t in case.targets):
        return (
            f"The gradient of `{name}` {said}. Of the numbers that the tape has kept, those of "
            f"{_named(broken)} are the first that are not finite."
        )
    cotangents = {t: np.ones_like(t.array) for t in case.targets if t.array is not None}
    below = descendants(case.nodes)
    for event in reversed(taped.trace.events):
        gs = [cotangents.get(made) for made in event.outputs]
        if event.pull is None or all(g is None for g in gs):
            continue
        with np.errstate(all="ignore"):
            parts = event.pull(gs)
        for given, part in zip(event.inputs, parts, strict=True):
            if part is None:
                continue
            well = all(g is None or states.state(g) != state for g in gs)
            if well and given in below and states.state(part) == state:
                return f"The gradient of `{name}` {said}, from {_named(event)} on."
            known = cotangents.get(given)
            cotangents[given] = part if known is None else known + part
    return f"The gradient of `{name}` {said}."


def _named(event: Event) -> str:
    """An op with its place."""
    place = event.place
    return f"{event.name} at {shown(place.file)}:{place.line} (`{place.brief}`)"


def _made(tape: GradientTape, user: FrameType) -> Place | None:
    """Where a tape was entered, as the user's function says it: `with … as tape`."""
    names = {name for name, thing in user.f_locals.items() if thing is tape}
    here, found = at(user.f_code, user.f_lasti), None
    for node in nodes(here.file):
        if isinstance(node, ast.With) and user.f_code.co_firstlineno <= node.lineno <= here.line:
            for item in node.items:
                name = item.optional_vars
                if isinstance(name, ast.Name) and name.id in names:
                    found = item.context_expr  # the last before the question
    return None if found is None else Written(user.f_code, found)
