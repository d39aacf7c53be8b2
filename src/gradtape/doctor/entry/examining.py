"""Asks the rules about every answer of a query, and has what they suppose tried.

Every rule that knows the state may propose a cause with the change that would help; a replay of the
step with that change confirms it or refutes it (`facts/counterfactual.py`). What is refuted is
never shown; what is confirmed comes before what cannot be tried, a change that does it alone before
one that takes others beside it, and the rule that knows a fault more exactly before the other.

A network of thousands of variables that lost their gradients at one place has one fault. Answers
with the same state, made at the same place, whose paths go by the same places and are cut by the
same causes fare alike: when the first of them have the same finding, the others share it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from ..facts.budget import Spent
from ..facts.case import Case, Question
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..trace import Answer, Query, Trace, Value, Variable
from ..trace.finding import CONFIRMED, LIKELY, REFUTED, Finding, Verdict
from ..trace.history import History
from ..trace.states import CANCELLED

MANY = 64  # answers of one kind, before some of them stand for others
ALIKE = 4  # that are looked at for a kind, at least
MEANT = "whether it is meant so is not known"  # of what a trial cannot show
WORK = 4_000_000  # values that may be looked at a query: a look at an answer may be one at them all


def examine(
    trace: Trace, query: Query, history: History, rules: tuple[Rule, ...] = CATALOGUE
) -> list[Finding]:
    """The findings of one query: of each answer, the cause that the trials speak for."""
    found: dict[tuple, Finding] = {}
    question = Question(trace, query)
    kinds = _Kinds(question)
    sound: list[Case] = []  # in which nothing was found, as long as that holds for all of them
    for answer in query.answers:
        if answer.state == CANCELLED:
            continue  # nothing is wrong with it
        case = Case(trace, query, answer, history, question)
        if answer.state == "ok" and not kinds.doubted:
            told = explained(case, rules)
            if not told:
                sound.append(case)
                continue
            kinds.doubt(sound)
            kinds.note(kinds.of(case), told[0])
            for finding in told:
                _merge(found, finding)
            continue
        kind = kinds.of(case)
        shared = kinds.shared(kind)
        if shared is not None:
            found[shared].sources.append(answer.name)
        elif kinds.worthwhile(case):
            told = explained(case, rules)
            kinds.note(kind, told[0] if told else None)
            for finding in told:
                _merge(found, finding)
    whole = Case(trace, query, Answer(None, "", None, state="none"), history, question)
    for rule in _about_queries(rules):
        with suppress(Spent):
            for finding in rule.examine_query(whole):
                if settle(finding).kind != REFUTED:
                    _merge(found, finding)
    return list(found.values())


def explained(case: Case, rules: tuple[Rule, ...] = CATALOGUE) -> list[Finding]:
    """What is shown of one answer: the best hypothesis, and those that are needed beside it."""
    known: dict[str, list[Finding]] = {}
    for rule in _about(case.answer.state, rules):
        if not rule.gives_way_to.isdisjoint(known) or (rule.last_resort and known):
            continue
        with suppress(Spent):  # what is known by then stands
            proposed = rule.examine(case)
            if proposed is None:
                continue
            found = [proposed] if isinstance(proposed, Finding) else list(proposed)
            stand = [finding for finding in found if settle(finding).kind != REFUTED]
            if stand:
                known[rule.name] = stand
        if known and case.answer.state == "ok":
            break  # a gradient that is there has few who doubt it, and many sources are like it
    roots = [name for rule in rules if rule.root and (name := rule.name) in known]
    if any(finding.sure for name in roots for finding in known[name]):
        known = {name: known[name] for name in roots}
    order = {rule.name: k for k, rule in enumerate(rules)}
    told = sorted((f for found in known.values() for f in found), key=lambda f: _rank(f, order))
    return told[:1] + [f for f in told[1:] if _beside(f, told[0])]


def _rank(finding: Finding, order: dict[str, int]) -> tuple:
    change = finding.verdict.more, finding.order
    return not finding.sure, change, finding.place is None, order[finding.name]


def _beside(finding: Finding, first: Finding) -> bool:
    """Another break on the same path: the first alone, mended, would leave the gradient lost."""
    return finding.order > 0 and finding.place != first.place


def settle(finding: Finding) -> Verdict:
    """Try what a finding claims would help; what came of it is part of the finding from then on."""
    trial, finding.trial = finding.trial, None
    if trial is not None:
        try:
            finding.verdict, exact = trial()
        except Spent as spent:
            finding.verdict, exact = Verdict(LIKELY, why=str(spent)), False
        if finding.verdict.kind == CONFIRMED and not finding.sure:
            finding.verdict = replace(
                finding.verdict, kind=LIKELY, why=finding.verdict.why or MEANT
            )
        finding.sure = finding.verdict.kind == CONFIRMED
        if exact:
            finding.would_be = finding.verdict.gradient
        known = finding.would_be is not None
        finding.why_not = None if known else finding.verdict.why or finding.why_not
    return finding.verdict


class _Kinds:
    """Kinds of answers that fare alike, by number, and what was found of each."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.many = len(question.query.answers) > MANY
        self.most = max(ALIKE * 4, WORK // (len(question.trace.values) + 1))
        self.looks = 0  # that found something, or looked for what is at fault
        self.found: dict[Any, tuple[tuple | None, int]] = {}  # what all had, and how many
        self.doubted = False  # was something found of an answer that is sound?

    def of(self, case: Case) -> Any:
        """The kind of an answer; None where each is looked at by itself."""
        if not self.many:
            return None
        source, search = case.source, self.question.search
        start = search.start(case.nodes)
        if start is not None:
            way: Any = search.route(start), search.causes(start)
        else:
            way = frozenset(e.place for n in case.nodes for e in n.users)
        made = source.made if isinstance(source, Variable) else None
        shape = case.nodes[0].shape if case.nodes else None
        trained = source.trainable if isinstance(source, Variable) else isinstance(source, Value)
        return case.answer.state, trained, made, shape, way

    def doubt(self, sound: list[Case]) -> None:
        """Something was found of an answer that looked sound: now their kinds count as well."""
        self.doubted = True
        for case in sound:
            self.note(self.of(case), None)

    def shared(self, kind: Any) -> tuple | None:
        """The key of the finding that all of a kind had so far."""
        key, times = self.found.get(kind, (None, 0))
        return key if times >= ALIKE else None

    def worthwhile(self, case: Case) -> bool:
        """Is there anything left of what may be spent? A sound answer costs next to nothing."""
        return not self.many or case.answer.state == "ok" or self.looks < self.most

    def note(self, kind: Any, finding: Finding | None) -> None:
        if kind is not None:
            self.looks += finding is not None or kind[0] != "ok"
            key = None if finding is None else finding.key
            known, times = self.found.get(kind, (key, 0))
            self.found[kind] = (key, times + 1) if known == key else (None, times + 1)


@cache
def _about(state: str, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules that know a state; those that others give way to come before these."""
    by_name = {rule.name: rule for rule in rules}

    def depth(rule: Rule) -> int:
        above = [by_name[name] for name in rule.gives_way_to if name in by_name]
        return 1 + max(map(depth, above)) if above else 0

    known = [r for r in rules if state in r.states and type(r).examine is not Rule.examine]
    return tuple(sorted(known, key=lambda rule: (rule.last_resort, depth(rule))))


@cache
def _about_queries(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The rules that look at queries as a whole."""
    return tuple(r for r in rules if type(r).examine_query is not Rule.examine_query)


def _merge(found: dict[tuple, Finding], finding: Finding) -> None:
    known = found.setdefault(finding.key, finding)
    if known is not finding:
        known.sources += finding.sources
