"""Which variables do reach the target of a query: for rules about sources that do not."""

from __future__ import annotations

from ..facts import names
from ..facts.case import Case
from ..facts.faults import descendants
from ..facts.graph import in_order
from ..trace import Event, Variable


def reaching(case: Case) -> list[Variable]:
    """The variables that the tape's gradient got to and that were not asked for."""
    found: list[Variable] = case.question.once(reaching, lambda: _reaching(case))
    return found


def _reaching(case: Case) -> list[Variable]:
    asked = {id(a.source) for a in case.query.answers}
    ways = case.question.search.best  # what the gradient got to is among what no cut is before
    if not any(
        v.variable is not None and v.variable.trainable and id(v.variable) not in asked and not cuts
        for v, (cuts, _) in ways.items()
    ):
        return []
    found = [v.variable for v in case.walk.cotangents if v.variable is not None]
    wanted = [v for v in dict.fromkeys(found) if v.trainable and id(v) not in asked]
    return sorted(wanted, key=lambda v: v.number)


def called(case: Case, variable: Variable) -> str | None:
    """The name of a variable in the user's code."""
    return names.in_sight(variable.owner, case.query.scope)


def uses(case: Case) -> list[Event]:
    """What was computed from the source while the tape recorded, oldest first."""
    found = in_order(e for v in descendants(case.nodes, {"gradient"}) for e in v.users)
    return [e for e in found if case.tape.number in e.tapes and e.way == "op"]
