"""Which variables do reach the target of a query: for rules about sources that do not."""

from __future__ import annotations

from .. import names
from ..case import Case
from ..faults import descendants
from ..trace import Event, Variable


def reaching(case: Case) -> list[Variable]:
    """The variables that the tape's gradient got to and that were not asked for."""
    asked = {id(a.source) for a in case.query.answers}
    found = [v.variable for v in case.walk.cotangents if v.variable is not None]
    wanted = [v for v in dict.fromkeys(found) if v.trainable and id(v) not in asked]
    return sorted(wanted, key=lambda v: v.number)


def called(case: Case, variable: Variable) -> str | None:
    """The name of a variable in the user's code."""
    return names.in_sight(variable.owner, case.query.scope)


def uses(case: Case) -> list[Event]:
    """What was computed from the source while the tape recorded, oldest first."""
    found = {e for v in descendants(case.nodes, {"gradient"}) for e in v.users}
    return sorted(
        (e for e in found if case.tape.number in e.tapes and e.way == "op"), key=lambda e: e.time
    )
