"""What every rule has: a code, a name, the cause it knows, the states it is asked about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...traits import KINKS, Family
from ..facts import changes, partial
from ..facts.case import OPEN
from ..trace.history import DONE, usual

if TYPE_CHECKING:
    from ..facts.case import Case, ErrorCase, Run
    from ..facts.faults import Fault
    from ..facts.graph import Cut
    from ..facts.zeros import Death
    from ..source.place import Place
    from ..trace import Event
    from ..trace.finding import Finding
    from ..trace.history import Line


class Rule:
    """One cause. `examine` looks at facts and returns a hypothesis, or None for "not mine"."""

    code: str
    name: str
    cause: str  # the slug, which is the name unless several rules share one
    states: frozenset[str]
    title: str  # one line for the catalogue
    lesson: str  # why it happens, in a paragraph or two
    failing: str  # a program with the fault
    cured: str  # the same without it
    ignore: str  # when it is fine
    gives_way_to: frozenset[str] = frozenset()  # names of rules that know the same more exactly
    last_resort: bool = False  # it speaks only where no other rule does
    root: bool = False  # what it finds is at the root of what others find of the same sources
    # Names of rules that said something else of the same place in earlier steps, and knew less.
    replaces: frozenset[str] = frozenset()
    # Names of rules whose findings may be consequences of what this one finds in a whole run; of
    # which they are, `accounts_for` tells.
    supersedes: frozenset[str] = frozenset()
    needs: str = ""  # what the fault cannot happen without: "keras", "tf.data"

    def __init_subclass__(cls) -> None:
        cls.cause = str(cls.__dict__.get("cause") or getattr(cls, "name", ""))

    def examine(self, case: Case) -> Finding | Iterable[Finding] | None:
        """About one answer of a query, in one of the rule's states: hypotheses, which are tried."""
        return None

    def examine_query(self, case: Case) -> Iterable[Finding]:
        """About a query as a whole; the case's answer stands for none of its sources."""
        return ()

    def examine_error(self, case: ErrorCase) -> Finding | None:
        """About an exception that ended the program."""
        return None

    def examine_run(self, run: Run) -> Iterable[Finding]:
        """About the whole run, when it has ended: what shows only over many steps."""
        return ()

    def accounts_for(self, finding: Finding, other: Finding) -> bool:
        """Is another finding, by one of the rules that this one supersedes, a consequence of what
        was found? Of the same query and the same sources it is."""
        same = finding.query is not None and finding.query.place == (
            other.query and other.query.place
        )
        return same and not set(finding.sources).isdisjoint(other.sources)

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """Is a finding of its own still one, now that the run has ended?

        `lines` are the sources over the steps, `targets` the values of the target.
        """
        return True

    def final(self, finding: Finding) -> bool:
        """Is it sure, while the program still runs, that `stands` will say yes?"""
        return type(self).stands is Rule.stands


class CutRule(Rule):
    """A rule about a joint of the path that the gradient did not pass: what cut it says it all."""

    def examine(self, case: Case) -> Finding | Iterable[Finding] | None:
        if case.answer.state == "ok":
            return self._lost_term(case)
        return [self._found(case, cut) for cut in case.cuts_by(self.cause)]

    def _found(self, case: Case, cut: Cut) -> Finding:
        return case.finding(
            self, cut.place, self.message(case, cut), self.fix(case, cut), event=cut.event,
            sure=case.came_back(cut.event), order=case.order_of(cut), **self.more(case, cut),
        )  # fmt: skip

    def _lost_term(self, case: Case) -> Finding | None:
        """A path of which only this part is cut: what is added to the target has no gradient."""
        cut = case.lost_term
        if cut is None or cut.cause != self.cause:
            return None
        return case.finding(
            self, cut.place, lost(case, cut.place), self.fix(case, cut),
            event=cut.event, state="wrong", sure=False,
            change=None if partial.alone(case, cut.event) else changes.unknown(OPEN["wrong"]),
            **self.more(case, cut),
        )  # fmt: skip

    def message(self, case: Case, cut: Cut) -> str:
        raise NotImplementedError

    def fix(self, case: Case, cut: Cut) -> str:
        raise NotImplementedError

    def more(self, case: Case, cut: Cut) -> dict[str, Any]:
        """Further fields of the finding: `also`, `edit`."""
        return {}


def lost(case: Case, place: Place) -> str:
    """What is to be said of a term of the target that has no gradient."""
    return (
        f"`{place.text.splitlines()[0]}` is a constant to the tape, so this part of "
        f"`{case.query.target_name}` adds nothing to the gradient of `{case.answer.name}`."
    )


class FaultRule(Rule):
    """A rule about numbers that stopped being finite, by the op that made the first of them."""

    states = frozenset({"nan", "inf"})
    families = Family.NONE  # of the ops that it is about

    def examine(self, case: Case) -> Finding | None:
        fault = case.fault
        if fault is None or fault.event is None or not self.is_about(fault.event):
            return None
        return self.explain(case, fault, fault.event)

    def is_about(self, event: Event) -> bool:
        return event.is_a(self.families)

    def explain(self, case: Case, fault: Fault, event: Event) -> Finding | None:
        raise NotImplementedError


class DeathRule(Rule):
    """A rule about a gradient of zeros, by the op that passed on nothing."""

    states = frozenset({"zero"})
    # A term of the target that was lost would have had a gradient.
    gives_way_to = frozenset({"outside-tape", "second-order-outside"})
    families = Family.NONE  # of the ops that it is about

    def stands(self, finding: Finding, lines: list[Line], targets: list[float]) -> bool:
        """A loss that came down to nothing has nothing left to teach: a margin that is kept. And
        what has a gradient again in later steps is not dead."""
        if not any(line.stuck for line in lines):
            return False
        learned = all(line.states.get("ok") for line in lines)
        arrays = [np.asarray(t.array) for t in finding.query.targets]
        ends = [float(np.abs(a).max()) for a in arrays if a.size and a.dtype.kind in "fcV"]
        most = usual([abs(t) for t in targets])
        # Batches that are right by chance do not tell that the others are.
        still = min(line.spell_of_zeros for line in lines)
        if still and len(targets) == len(lines[0].norms.numbers):
            ends = [min(max(ends), max(abs(t) for t in targets[-still:]))] if ends else []
        return not (learned and ends and max(ends) <= DONE * most)

    def examine(self, case: Case) -> Iterable[Finding]:
        """One hypothesis for each way that ends: which of them is at fault, the trials show."""
        for death in case.deaths:
            if death.event.is_a(self.families) and not _kept(case, death.event):
                finding = self.explain(case, death)
                if finding is not None:
                    yield finding

    def explain(self, case: Case, death: Death) -> Finding | None:
        raise NotImplementedError


def _kept(case: Case, event: Event) -> bool:
    """Is the loss the sum of what is above a margin, and nothing is? That is its minimum."""
    if not event.is_a(KINKS):
        return False
    path = case.through(event)
    if path is None or event not in path.events or any(np.any(t.array) for t in case.targets):
        return False
    return all(e.is_a(partial.SUMS) for e in path.events[path.events.index(event) + 1 :])
