"""Asks the rules about every answer of a query; of many that fared alike, only about some.

A network of thousands of variables that lost their gradients at one place has one fault. Answers
with the same state, made at the same place, whose paths go by the same places and are cut by the
same causes fare alike: when the first of them have the same finding, the others share it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .case import Case, Question
from .finding import Finding
from .history import History
from .rules import CATALOGUE
from .rules.base import Rule
from .trace import Answer, Query, Trace, Value, Variable

MANY = 64  # answers of one kind, before some of them stand for others
ALIKE = 4  # that are looked at for a kind, at least
WORK = 4_000_000  # values that may be looked at a query: a look at an answer may be one at them all


def examine(trace: Trace, query: Query, history: History) -> list[Finding]:
    """The findings of one query: of each answer, the first rule that knows the cause."""
    found: dict[tuple, Finding] = {}
    question = Question(trace, query)
    kinds = _Kinds(question)
    sound: list[Case] = []  # in which nothing was found, as long as that holds for all of them
    for answer in query.answers:
        case = Case(trace, query, answer, history, question)
        if answer.state == "ok" and not kinds.doubted:
            finding = _first(case)
            if finding is None:
                sound.append(case)
                continue
            kinds.doubt(sound)
            kinds.note(kinds.of(case), finding)
            _merge(found, finding)
            continue
        kind = kinds.of(case)
        shared = kinds.shared(kind)
        if shared is not None:
            found[shared].sources.append(answer.name)
        elif kinds.worthwhile(case):
            finding = _first(case)
            kinds.note(kind, finding)
            if finding is not None:
                _merge(found, finding)
    whole = Case(trace, query, Answer(None, "", None, state="none"), history, question)
    for rule in _about_queries():
        for finding in rule.examine_query(whole):
            _merge(found, finding)
    return list(found.values())


def _first(case: Case) -> Finding | None:
    for rule in _about(case.answer.state):
        finding = rule.examine(case)
        if finding is not None:
            return finding
    return None


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
def _about(state: str) -> tuple[Rule, ...]:
    return tuple(rule for rule in CATALOGUE if state in rule.states)


@cache
def _about_queries() -> tuple[Rule, ...]:
    """The rules that look at queries as a whole."""
    return tuple(r for r in CATALOGUE if type(r).examine_query is not Rule.examine_query)


def _merge(found: dict[tuple, Finding], finding: Finding) -> None:
    known = found.setdefault(finding.key, finding)
    if known is not finding:
        known.sources += finding.sources
