"""Terms of a target that lost their gradient, while others kept theirs.

A value that leaves the tape and returns as a constant is often meant so: an advantage, a target, a
weight. Added to the target, though, a constant has no share in any gradient, and nobody adds one on
purpose. Only such terms count, and only when they left and returned while the tape was recording.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ..trace import Event, Tape, Value, kinds
from .faults import descendants
from .graph import Cut, ancestors, makers

if TYPE_CHECKING:
    from .case import Case, Question

WORK = 2_000_000  # values that searches for lost terms may look at; of small programs all are
OUTSIDE = frozenset({"outside-tape"})
HOLDERS = frozenset({"AddV2", "Add", "AddN", "Mul"})

WAYS = frozenset({"numpy", "python", "copy"})
SUMS = frozenset({
    "AddV2", "Add", "AddN", "Sub", "Neg", "Sum", "Mean", "Identity", "Cast", "Pack", "ConcatV2",
    "Reshape", "ExpandDims", "Squeeze", "Const",
})  # fmt: skip
SCALES = frozenset({"Mul", "RealDiv"})


def lost_term(case: Case) -> Cut | None:
    """The first term of the target whose gradient was lost on the way out of the tape and back."""
    if case.tape is None or not case.targets:
        return None
    question = case.question
    for event, left, held in question.once(lost_term, lambda: _suspects(question)):
        if left:
            for given in event.inputs:
                if not _depends(case, given) or not _certain(case, event):
                    continue
                if _added(case, event.outputs[0]) or question.once(
                    (_copied, event), partial(_copied, event)
                ):
                    return Cut(kinds.DETOURS[event.way], event, given, event.outputs[0])
        cause = _held_back(case, event) if held else None
        if cause is not None:
            return Cut(cause, event, event.inputs[0], event.outputs[0])
    return None


def _suspects(question: Question) -> list[tuple[Event, bool, bool]]:
    """The events that may have lost a term, whatever the source: those that left the tape and came
    back, and those that held back a number."""
    tape, events = question.query.tape, question.makers
    times = Counter(exit for e in events for exit in set(e.attrs.get("exits", ())))
    scalar = not any(t.shape for t in question.targets)
    found = []
    for event in events:
        if any(times[exit] > 1 for exit in event.attrs.get("exits", ())):
            continue  # a shift that is taken off elsewhere: x - m, and m added in the end
        left = event.way in WAYS and _during(tape, event)
        held = scalar and _may_hold_back(tape, event)
        if left or held:
            found.append((event, left, held))
    return found[: max(4, WORK // len(events))] if found else []


def _copied(event: Event) -> bool:
    """Was a variable copied with tf.constant, and not to be compared with itself? Who wants it to
    stay fixed stops its gradient; the copy of a weight that is shared is a slip."""
    if event.way != "copy":
        return False
    users = [u for v in descendants(event.outputs) for u in v.users if u.kind == "Sub"]
    return not any(v.variable is event.inputs[0].variable for u in users for v in u.inputs)


def _may_hold_back(tape: Tape, event: Event) -> bool:
    """Does it make a number outside of all tapes, or stop its gradient, for one op to take?"""
    if event.way != "op" or len(event.outputs) != 1 or not event.inputs:
        return False
    if event.tapes and event.kind != "StopGradient":
        return False
    made = event.outputs[0]
    if len(made.users) != 1 or tape.number not in made.users[0].tapes:
        return False
    return not made.shape and made.floating and made.users[0].kind in HOLDERS


def _held_back(case: Case, event: Event) -> str | None:
    """A number added to a loss that was computed outside of all tapes, or whose gradient was
    stopped. One that is subtracted may be a baseline, and what is made of the other terms a
    substitute for them (a straight-through estimate): these are meant."""
    search = case.question.search_to(event.inputs)
    start, stopped = search.start(case.nodes), event.kind == "StopGradient"
    if start is None or not search.causes(start) <= (OUTSIDE if not stopped else frozenset()):
        return None
    made = event.outputs[0]
    terms = {v for v in made.users[0].inputs if v is not made}
    if not terms.isdisjoint(case.question.above(made)):
        return None
    return ("stop-gradient" if stopped else "outside-tape") if _added(case, made, False) else None


def alone(case: Case, event: Event) -> bool:
    """Is this the only break on the ways to the target? Else what was meant is not known."""
    return all(
        e is event or (e.way in ("op", "rewrap", "assign") and e.kind != "StopGradient")
        for e in makers(ancestors(case.targets))
    )


def _during(tape: Tape, event: Event) -> bool:
    """Did it leave and come back in the block of this tape?"""
    uses = [user.time for user in event.outputs[0].users]
    return tape.recording(event.time) and bool(uses) and tape.recording(min(uses))


def _certain(case: Case, event: Event) -> bool:
    if not event.sure:
        _ = case.bridged  # computing it again may prove that the value came back
    return event.sure


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
    while value not in case.targets:
        users = [e for e in value.users if e in case.walk.passed]
        if len(users) != 1 or not _linear(case, users[0], value):
            return False
        if not taken and users[0].kind in ("Sub", "Neg"):
            return False
        value = users[0].outputs[0]
    return True


def _linear(case: Case, event: Event, value: Value) -> bool:
    others = [v for v in event.inputs if v is not value]
    if event.way != "op" or (event.kind == "RealDiv" and value is not event.inputs[0]):
        return False
    if event.kind in SUMS or case.followed.keys().isdisjoint(event.inputs):
        return True
    return event.kind in SCALES and bool(others) and case.followed.keys().isdisjoint(others)
