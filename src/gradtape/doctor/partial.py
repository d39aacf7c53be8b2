"""Terms of a target that lost their gradient, while others kept theirs.

A value that leaves the tape and returns as a constant is often meant so: an advantage, a target, a
weight. Added to the target, though, a constant has no share in any gradient, and nobody adds one on
purpose. Only such terms count, and only when they left and returned while the tape was recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import kinds
from .faults import descendants
from .graph import Cut, ancestors, path
from .trace import Event, Value

if TYPE_CHECKING:
    from .case import Case

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
    events = case.question.makers
    for event in events:
        if event.attrs.get("exits") and _used_again(event, events):
            continue  # a shift that is taken off elsewhere: x - m, and m added in the end
        if event.way in WAYS and _during(case, event) and _certain(case, event):
            for given in event.inputs:
                if _depends(case, given) and (_added(case, event.outputs[0]) or _copied(event)):
                    return Cut(kinds.DETOURS[event.way], event, given, event.outputs[0])
        cause = _held_back(case, event)
        if cause is not None:
            return Cut(cause, event, event.inputs[0], event.outputs[0])
    return None


def _copied(event: Event) -> bool:
    """Was a variable copied with tf.constant, and not to be compared with itself? Who wants it to
    stay fixed stops its gradient; the copy of a weight that is shared is a slip."""
    if event.way != "copy":
        return False
    users = [u for v in descendants(event.outputs) for u in v.users if u.kind == "Sub"]
    return not any(v.variable is event.inputs[0].variable for u in users for v in u.inputs)


def _used_again(event: Event, events: list[Event]) -> bool:
    """Did what left here come back at several places?"""
    exits = set(event.attrs["exits"])
    return any(e is not event and exits & set(e.attrs.get("exits", ())) for e in events)


def _held_back(case: Case, event: Event) -> str | None:
    """A number added to a loss that was computed outside of all tapes, or whose gradient was
    stopped. One that is subtracted may be a baseline, and what is made of the other terms a
    substitute for them (a straight-through estimate): these are meant."""
    if event.way != "op" or len(event.outputs) != 1 or not event.inputs:
        return None
    made, stopped = event.outputs[0], event.kind == "StopGradient"
    if made.shape or not made.floating or any(t.shape for t in case.targets):
        return None
    used = [u for u in made.users if case.tape.number in u.tapes]
    if not (stopped or not event.tapes) or len(made.users) != 1 or not used:
        return None
    found = path(case.nodes, event.inputs, case.tape)
    if found is None or any(c.cause != "outside-tape" for c in found.cuts):
        return None
    if stopped and found.cuts:
        return None
    terms = [v for v in used[0].inputs if v is not made]
    if used[0].kind not in ("AddV2", "Add", "AddN", "Mul") or set(terms) & ancestors([made]):
        return None
    return ("stop-gradient" if stopped else "outside-tape") if _added(case, made, False) else None


def alone(case: Case, event: Event) -> bool:
    """Is this the only break on the ways to the target? Else what was meant is not known."""
    makers = {v.maker for v in ancestors(case.targets) if v.maker is not None}
    breaks = {
        e for e in makers
        if e.way not in ("op", "rewrap", "assign") or e.kind == "StopGradient"
    }  # fmt: skip
    return breaks <= {event}


def _during(case: Case, event: Event) -> bool:
    """Did it leave and come back in the block of this tape?"""
    uses = [user.time for user in event.outputs[0].users]
    return case.tape.recording(event.time) and bool(uses) and case.tape.recording(min(uses))


def _certain(case: Case, event: Event) -> bool:
    if not event.sure:
        _ = case.bridged  # computing it again may prove that the value came back
    return event.sure


def _depends(case: Case, value: Value) -> bool:
    """Is there a way from the source to this value that the tape knows?"""
    found = path(case.nodes, [value], case.tape)
    if found is None or found.cuts:
        return False
    return bool(found.events) or value in case.nodes


def _added(case: Case, value: Value, taken: bool = True) -> bool:
    """Is it, or what was made of it alone, a term of the target: added, and scaled by constants?

    `taken` allows it to be subtracted as well.
    """
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
    if event.kind in SUMS or case.followed.isdisjoint(event.inputs):
        return True
    return event.kind in SCALES and bool(others) and case.followed.isdisjoint(others)
