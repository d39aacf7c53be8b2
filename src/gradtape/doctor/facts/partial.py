"""Terms of a target that lost their gradient, while others kept theirs.

A value that leaves the tape and returns as a constant is often meant so: an advantage, a target, a
weight. Added to the target, though, a constant has no share in any gradient, and nobody adds one on
purpose. Only such terms count: those that left and returned while the tape was recording, those
that were computed where it did not record, and those made of a gradient that it did not record.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ...traits import Family
from ..trace import Event, Tape, Value, Variable, kinds
from .faults import descendants
from .graph import Cut, ancestors, makers

if TYPE_CHECKING:
    from .case import Case, Question

WORK = 2_000_000  # values that searches for lost terms may look at; of small programs all are
OUTSIDE = frozenset({"outside-tape"})
UNRECORDED = OUTSIDE | {"second-order-outside"}

ALONE = 6  # ops that a term may pass before it is added
WAYS = frozenset({"numpy", "python", "copy", "assign"})
SUMS = (
    Family.ADDS | Family.SUBTRACTS | Family.SUMS | Family.RESHAPES | Family.JOINS
    | Family.CONSTANTS
)  # fmt: skip
SCALES = Family.MULTIPLIES | Family.DIVIDES


def lost_term(case: Case) -> Cut | None:
    """The first term of the target whose gradient was lost on the way out of the tape and back."""
    if case.tape is None or not case.targets:
        return None
    question = case.question
    for event, left, held in question.once(lost_term, lambda: _suspects(question)):
        if left:
            back = next((v for v in event.outputs if v.users), event.outputs[0])
            for given in event.inputs:
                if not _depends(case, given) or not case.came_back(event):
                    continue
                if _added(case, back) or question.once((_copied, event), partial(_copied, event)):
                    return Cut(kinds.DETOURS[event.way], event, given, back)
        cut = _held_back(case, event) if held else None
        if cut is not None:
            return cut
    return None


def _suspects(question: Question) -> list[tuple[Event, bool, bool]]:
    """The events that may have lost a term, whatever the source: those that left the tape and came
    back, and those that held back a number."""
    tape, events = question.query.tape, question.makers
    events = [*events, *_stored(question)]
    times = Counter(exit for e in events for exit in set(e.attrs.get("exits", ())))
    scalar = not any(t.shape for t in question.targets)
    found = []
    for event in events:
        if any(times[exit] > 1 for exit in event.attrs.get("exits", ())):
            continue  # a shift that is taken off elsewhere: x - m, and m added in the end
        left = event.way in WAYS and _during(tape, event)
        held = scalar and _may_hold_back(question, event)
        if left or held:
            found.append((event, left, held))
    return found[: max(4, WORK // len(events))] if found else []


def _stored(question: Question) -> list[Event]:
    """What was assigned in the block of the tape to variables that do not train, and read there."""
    tape, above = question.query.tape, question.above(*question.targets)
    return [
        e for e in question.trace.events
        if e.way == "assign" and tape.recording(e.time)
        and any(v in above and v.variable and not v.variable.trainable for v in e.outputs)
    ]  # fmt: skip


def _copied(event: Event) -> bool:
    """Was a variable copied with tf.constant, and not to be compared with itself? Who wants it to
    stay fixed stops its gradient; the copy of a weight that is shared is a slip."""
    if event.way != "copy":
        return False
    users = [u for v in descendants(event.outputs) for u in v.users if u.kind == "Sub"]
    return not any(v.variable is event.inputs[0].variable for u in users for v in u.inputs)


def _may_hold_back(question: Question, event: Event) -> bool:
    """Does it make what this tape does not know, or stop its gradient, for one op to take?"""
    tape = question.query.tape
    if event.way == "gradient":
        return any(_users(tape, made) for made in event.outputs)
    if event.way != "op" or len(event.outputs) != 1 or not event.inputs:
        return False
    if tape.number in event.tapes and event.kind != "StopGradient":
        return False
    made = event.outputs[0]
    if event.kind != "StopGradient":
        made = _on_its_own(question, made)
    users = _users(tape, made)
    if len(users) != 1 or not made.floating:
        return False
    # Of each example a number, beside another: a loss, and what is added to it.
    row = event.kind != "StopGradient" and users[0].is_a(Family.ADDS)
    if made.shape:
        return row and _alike(users[0])
    return users[0].is_a(Family.ADDS | SCALES) or (
        users[0].kind == "Sub" and (made is not event.outputs[0] or not _baseline(users[0], made))
    )


def _on_its_own(question: Question, made: Value) -> Value:
    """What a value has become before it meets anything that has a gradient: `excess**2`."""
    tape = question.query.tape
    for _ in range(ALONE):
        users = _users(tape, made)
        if len(users) != 1 or users[0].way != "op" or len(users[0].outputs) != 1:
            break
        if not question.followed.keys().isdisjoint(users[0].inputs):
            break
        if users[0].is_a(SCALES) and not made.shape:
            break
        made = users[0].outputs[0]
    return made


def _apart(case: Case, made: Value) -> bool:
    """Of a number that is taken off: is it a term of its own, and no baseline?"""
    alone = _on_its_own(case.question, made)
    users = _users(case.tape, alone)
    if alone.shape or not users or any(v.shape for v in users[0].inputs):
        return False
    return alone is not made or not _baseline(users[0], alone)


def _baseline(taken: Event, made: Value) -> bool:
    """Is what is taken off made as what it is taken from is, as the same loss of an old model, or
    taken off many numbers?"""
    others = [v for v in taken.inputs if v is not made]
    kinds_of = [v.maker.kind for v in others if v.maker is not None]
    if made.maker is None or not kinds_of or any(v.shape for v in others):
        return True
    return made.maker.kind in kinds_of


def _users(tape: Tape, value: Value) -> list[Event]:
    """The ops that took a value while a tape was recording."""
    return [user for user in value.users if tape.number in user.tapes]


def _alike(event: Event) -> bool:
    return len({v.shape for v in event.inputs}) == 1


def _held_back(case: Case, event: Event) -> Cut | None:
    """What is added to a loss and was computed where the tape did not record, or had its gradient
    stopped. What is subtracted as it is may be a baseline, what is made of the other terms a
    substitute for them (a straight-through estimate), and what an earlier query was about is that
    step's loss, in a sum or an average: these are meant."""
    search = case.question.search_to(event.inputs)
    start, stopped = search.start(case.nodes), event.kind == "StopGradient"
    if start is None or not search.causes(start) <= (frozenset() if stopped else UNRECORDED):
        return None
    path = search.path(case.nodes)
    if path is None:
        return None
    last = event, path.values[-1], event.outputs[0]
    if not stopped and _asked_before(case, [*path.joints, last]):
        return None
    for made in event.outputs:
        users = _users(case.tape, made)
        if not users or not _added(case, made, event.way == "gradient" or _apart(case, made)):
            continue
        derived = [c for c in path.cuts if is_derivative(case, c)]
        first = made if event.way == "gradient" else derived[0].output if derived else None
        if first is not None and not _measured(case, made, len(first.shape)):
            continue
        terms = {v for v in users[0].inputs if v is not made}
        if not terms.isdisjoint(case.question.above(made)):
            continue
        if stopped:
            return Cut("stop-gradient", event, event.inputs[0], made)
        if event.way == "gradient":
            return Cut("second-order-outside", event, event.inputs[0], made)
        return derived[0] if derived else Cut("outside-tape", event, event.inputs[0], made)
    return None


def _measured(case: Case, value: Value, rank: int) -> bool:
    """Is a gradient made a number, or one of each example, before it meets what has a gradient? As
    it is, it is a step that is taken: that of an attack, of an optimizer."""
    while case.followed.keys().isdisjoint((user := _users(case.tape, value)[0]).inputs):
        value = user.outputs[0]
        if not _users(case.tape, value):
            break
    return not value.shape or len(value.shape) < rank


def is_derivative(case: Case, cut: Cut) -> bool:
    """Is what was cut the answer of another tape, or a part of how that was computed?"""
    if cut.cause == "second-order-outside":
        return True
    others = (query for query in case.trace.queries if query is not case.query)
    return cut.cause == "outside-tape" and any(q.place == cut.event.place for q in others)


def _asked_before(case: Case, joints: list[tuple[Event, Value, Value]]) -> bool:
    """Does a way lead through what a query before this one trained with, by ops?"""
    before = case.question.once(
        _asked_before,
        lambda: {t for q in case.trace.queries if q is not case.query for t in q.targets
                 if isinstance(t, Value)
                 and any(isinstance(a.source, Variable) for a in q.answers)},
    )  # fmt: skip
    return any(
        made in before or (given in before and event.way == "op") for event, given, made in joints
    ) and not any(event.way == "gradient" for event, _, _ in joints)


def alone(case: Case, event: Event) -> bool:
    """Is this the only break on the ways to the target? Else what was meant is not known."""
    return all(
        e is event or (e.way in ("op", "rewrap", "assign") and e.kind != "StopGradient")
        for e in makers(ancestors(case.targets))
    )


def _during(tape: Tape, event: Event) -> bool:
    """Did it leave and come back in the block of this tape?"""
    uses = [user.time for made in event.outputs for user in made.users]
    return tape.recording(event.time) and bool(uses) and tape.recording(min(uses))


def _depends(case: Case, value: Value) -> bool:
    """Is there a way from the source to this value that the tape knows?"""
    search = case.question.search_to([value])
    start = search.start(case.nodes)
    return start is not None and not search.best[start][0]


def _added(case: Case, value: Value, taken: bool = True) -> bool:
    """Is it, or what was made of it alone, a term of the target: added, and scaled by constants?

    `taken` allows it to be subtracted as well.
    """
    if case.followed is not case.question.followed:
        return _is_term(case, value, taken)
    return bool(case.question.once((_added, value, taken), lambda: _is_term(case, value, taken)))


def _is_term(case: Case, value: Value, taken: bool) -> bool:
    scaled = False  # a term with a weight of its own is no baseline
    while value not in case.targets:
        users = [e for e in dict.fromkeys(value.users) if e in case.question.passed]
        if len(users) != 1 or not _linear(case, users[0], value):
            return False
        scaled = scaled or users[0].is_a(SCALES)
        if not (taken or scaled) and users[0].is_a(Family.SUBTRACTS):
            return False
        value = users[0].outputs[0]
    return True


def _linear(case: Case, event: Event, value: Value) -> bool:
    others = [v for v in event.inputs if v is not value]
    if event.way != "op" or (event.is_a(Family.DIVIDES) and value is not event.inputs[0]):
        return False
    if event.is_a(SUMS) or case.followed.keys().isdisjoint(event.inputs):
        return True
    return event.is_a(SCALES) and bool(others) and case.followed.keys().isdisjoint(others)
