"""What the audit says of a gradient that looks fine, and is not the derivative of the target."""

from __future__ import annotations

from ...facts import changes
from ...facts.audit import Suspect, suspects
from ...facts.case import OPEN
from ...trace import Query, Trace
from ...trace.finding import Finding
from ...trace.history import History
from ..none.custom_gradient_none import returned
from .custom_gradient_wrong import RULE, deliberate, would_be


def audit(trace: Trace, query: Query, history: History) -> list[Finding]:
    """The findings of one query; what is at fault in several answers is one of them."""
    findings: dict[tuple, Finding] = {}
    for suspect in suspects(trace, query, history):
        finding = _finding(suspect)
        same = findings.setdefault(finding.key, finding)
        same.sources += [s for s in finding.sources if s not in same.sources]
    return list(findings.values())


def _finding(suspect: Suspect) -> Finding:
    case, event = suspect.case, suspect.event
    total, local = suspect.total, suspect.local
    own = event.kind == "CustomGradient"
    arrived = [case.walk.cotangents.get(o) for o in event.outputs]
    meant = own and deliberate(event, arrived)
    place = returned(event)[0] if own else None
    return case.finding(
        RULE, place or event.place,
        f"the gradient that `{event.name}` passes back is not its derivative: "
        f"{local.claimed:.4g} where "
        f"differences of its values give {local.measured:.4g}, so that `{case.query.target_name}` "
        f"changes by {total.measured:.4g} along a random direction and not by {total.claimed:.4g}.",
        f"correct the gradient function of `{event.name}`" if own
        else f"compute this in another way: the derivative of {event.kind} is not right at these "
        "values",
        event=event, state="wrong", sure=not meant,
        change=changes.replayed(would_be(case, event) if own else None, OPEN["wrong"]),
        also=[(event.place, "called here")] if place is not None else [],
    )  # fmt: skip
