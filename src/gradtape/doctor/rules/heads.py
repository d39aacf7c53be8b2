"""What rules about the head of a model share: they look at trainings when the run has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..facts import compared
from ..facts.case import Case, ErrorCase, Run
from ..facts.graph import ancestors, makers
from ..source.place import Place
from ..trace import Query, Value
from ..trace.finding import CONFIRMED, Finding, Verdict
from ..trace.training import Training
from .base import Rule

OVERFLOWS = ("exploding", "nan", "inf")
SEEN = "these numbers were seen in the model, the loss and the data as they are"


class HeadRule(Rule):
    """A rule about a model that trains, and cannot learn what it is given."""

    states = frozenset({"wrong"})
    needs = "Keras"
    stops = False  # may the program end with an exception because of it?

    def judge(self, training: Training) -> Iterator[Finding]:
        """The faults of one training."""
        raise NotImplementedError

    def examine_query(self, case: Case) -> Iterable[Finding]:
        """Of losses that the user wrote out, the same holds, unless the gradient overflows."""
        if any(answer.state in OVERFLOWS for answer in case.query.answers):
            return
        for training in compared.trainings(case.question):
            for finding in self.judge(training):
                finding.training = training
                yield finding

    def examine_run(self, run: Run) -> Iterable[Finding]:
        said = {(f.code, f.place) for f in run.findings}
        for training in run.trace.trainings:
            for finding in self._judged(training, run):
                finding.training = training
                finding.place = finding.place or training.place  # of a layer that nobody saw made
                if (finding.code, finding.place) not in said and not self.explained(finding, run):
                    said.add((finding.code, finding.place))
                    yield finding

    def _judged(self, training: Training, run: Run) -> list[Finding]:
        """Of a loop, without labels that a mask may leave out: these may be any number."""
        found = list(self.judge(training))
        if found and training.method == "loop":
            masks = [compared.masked(head, run.trace) for head in training.heads]
            heads = [
                replace(head, labels=None) if hidden else head
                for head, hidden in zip(training.heads, masks, strict=True)
            ]
            return list(self.judge(replace(training, heads=heads))) if any(masks) else found
        return found

    def explained(self, finding: Finding, run: Run) -> bool:
        """Does another finding say the same already?"""
        return False

    def accounts_for(self, finding: Finding, other: Finding) -> bool:
        """Is it about a gradient of the same training?"""
        return belongs(other, finding.training)

    def examine_error(self, case: ErrorCase) -> Finding | None:
        if not self.stops:
            return None
        for training in case.trace.trainings:
            if case.place in (training.place, *(head.place for head in training.heads)):
                for finding in self.judge(training):
                    finding.state = "error"
                    return finding
        return None

    def finding(
        self, place: Place | None, message: str, fix: str, edit: str | None = None,
        also: Iterable[tuple[Place | None, str]] = (), **more: Any,
    ) -> Finding:  # fmt: skip
        """A finding about a model: no gradient is to blame."""
        others = [(p, words) for p, words in also if p is not None and p != place]
        return Finding(
            self.code, self.name, self.cause, "wrong", "", "", place, message, fix, edit=edit,
            also=others, verdict=Verdict(CONFIRMED, SEEN), **more,
        )  # fmt: skip


def belongs(finding: Finding, training: Training | None) -> bool:
    """Was a finding made of a gradient that this training asked for?"""
    query = finding.query
    if query is None or training is None:
        return finding.training is not None and finding.training is training
    if query.place == training.place:
        return True  # `fit` asks itself
    return _asks(query, training)


def _asks(query: Query, training: Training) -> bool:
    """Is the target of a query made of the losses of a training?"""
    places = {training.place, *(head.place for head in training.heads)}
    targets = [t for t in query.targets if isinstance(t, Value)]
    return any(e.place in places for e in makers(ancestors(targets, {"assign"})))


def series(training: Training, run: Run) -> list[float]:
    """The loss of a training over its steps."""
    places = [training.place, *(q.place for q in run.trace.queries if _asks(q, training))]
    records = [run.history.records[place] for place in places if place in run.history.records]
    return records[0].targets.numbers if records else []
