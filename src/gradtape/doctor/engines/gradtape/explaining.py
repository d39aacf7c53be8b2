"""`tape.explain`: one question to one of gradtape's tapes, answered without using the tape up.

Where the doctor listens, its trace knows the cause. Where it does not, the tape's own records tell
how far a source was followed, and the report says that this is all that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from types import FrameType
from typing import Any

from .... import nest
from ....autodiff.recording import follows, operand_ids, result_ids
from ....autodiff.tape import GradientTape, _differentiate
from ....core.apply import tensor
from ....core.place import caller
from ....core.record import Value, threads
from ....framework.variable import Variable
from ....ops.reasons import Reason
from ...entry.session import RUNNING, Session
from ...facts import backward
from ...report import Report
from ...report.words import shown
from ...source.place import Place, at
from ...trace import Variable as TracedVariable
from .. import gradtape as raw

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
    return any(event[0] == raw.START and event[2] is tape for event in engine.log)


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
    session: Session, tape: Any, target: Any, sources: Any, answers: list | None, user: FrameType
) -> tuple:
    result = None if answers is None else nest.pack_sequence_as(sources, answers)
    return (
        raw.QUERY, session.engine.number(tape), "gradient", target, sources, (), {}, result, None,
        None, user.f_code, user.f_lasti, get_ident(),
    )  # fmt: skip


def _answers(tape: Any, target: Any, sources: Any) -> list | None:
    """What the tape would answer; None when it has forgotten, or cannot be asked so."""
    if tape._tape is None:
        return None
    targets = nest.flatten(target)
    try:
        return _differentiate(tape._tape, targets, nest.flatten(sources), [None] * len(targets))
    except (TypeError, ValueError, AttributeError):
        return None


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
    """Note the states of the answers, and say what the tape itself knows about them."""
    if tape._tape is None:
        forgot = "`explain` before `gradient`, or on a tape with persistent=True, would know more."
        return [f"This tape has forgotten what it recorded: {forgot}", SWITCH_ON]
    answers = _answers(tape, target, sources)
    event = _event(session, tape, target, sources, answers, user)
    record = session.take(raw._asked(event, user))
    notes = []
    for line, source in zip(record.lines, nest.flatten(sources), strict=False):
        if line.state == "none":
            notes.append(_how_far(tape._tape, line.name, source, record.target, target))
    return [*notes, SWITCH_ON]


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
            f"`{place.text}` at {shown(place.file)}:{place.line} lets no gradient through: {why}."
        )
    known = bool(followed)
    ends = "does not come from there" if known else "is not on this tape"
    op, place = used[-1]
    return (
        f"The last that this tape recorded of what was computed from `{name}` is {op.name} at "
        f"{shown(place.file)}:{place.line}: `{place.text}`; `{target_name}` {ends}."
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
