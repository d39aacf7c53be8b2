"""What of all that was found stands when a run is looked at as a whole: at its end, or so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from ..facts.case import Run
from ..facts.faults import finite
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..source.place import Place
from ..trace import Trace, Variable
from ..trace.finding import REFUTED, Finding
from ..trace.history import BROKEN, NOTHING, History, Line
from .examining import settle

LAST = frozenset(rule.name for rule in CATALOGUE if rule.last_resort)


def judge(
    findings: dict[tuple, Finding],
    history: History,
    trace: Callable[[], Trace] | None,
    rules: tuple[Rule, ...],
    keep: Callable[[Finding], Any],
) -> None:
    """Take out of the findings what turned out to be healthy, or to follow from others, and `keep`
    what shows only over many steps; without a trace, only what the numbers say is known."""
    for record in history.records.values():
        record.settle()
    for key in [k for k, f in findings.items() if not _stands(f, history, trace)]:
        del findings[key]
    for key in [k for k, f in findings.items() if follows(f, findings.values())]:
        del findings[key]
    for root in [f for f in findings.values() if rule_of(f).root and f.sure]:
        for key in [k for k, f in findings.items() if _stems(f, root)]:
            findings[key].sources = [s for s in findings[key].sources if s not in root.sources]
            if not findings[key].sources:
                del findings[key]
    better = [(f.place, name) for f in findings.values() if f.place for name in rule_of(f).replaces]
    for key, finding in [*findings.items()]:
        if any(
            finding.name == name and finding.place is not None and finding.place.contains(place)
            for place, name in better
        ):
            del findings[key]
    if trace is not None:
        run = Run(trace, history, list(findings.values()))
        # By their codes, so that what comes first does not depend on where a rule is listed.
        for rule in sorted(rules, key=lambda rule: rule.code):
            for finding in rule.examine_run(run):
                if settle(finding).kind != REFUTED:
                    keep(finding)
    for finding in [*findings.values()]:
        for key in _consequences(finding, findings, rules):
            del findings[key]
    for finding in findings.values():
        asked = finding.query and history.records.get(finding.query.place)
        if not asked:
            continue
        finding.asked, finding.checked = asked.steps, asked.told(finding)
        if finding.state == "wrong":
            for line in asked.lines:
                if line.name in finding.sources:
                    line.disprove(finding.length)


def keep(findings: dict[tuple, Finding], finding: Finding) -> Finding:
    """Enter a finding, or add its steps and sources to the same fault of other steps."""
    known = _earlier(findings, finding) or findings.setdefault(finding.key, finding)
    if known is not finding:
        for step in finding.steps:
            count(known, finding.query and finding.query.place, step)
        there = set(known.sources)
        known.sources += [s for s in finding.sources if s not in there]
    return known


def count(finding: Finding, place: Place | None, step: int) -> None:
    """The fault was met again; steps are those of the place that asked first."""
    known, first = finding.steps, finding.query and finding.query.place
    if first == place and (not known or step > known[-1]):
        known.append(step)


def rule_of(finding: Finding) -> Rule:
    return next(rule for rule in CATALOGUE if rule.code == finding.code)


def follows(finding: Finding, others: Iterable[Finding]) -> bool:
    """Is it what becomes of weights that an earlier step of the same training broke, or of an op
    that is at fault for other sources, for a reason that is known?"""
    if finding.name not in LAST or finding.state not in BROKEN or finding.query is None:
        return False
    return any(
        other.query is not None and other.query.place == finding.query.place
        and other.name not in LAST and other.state in ("exploding", *BROKEN)
        and (other.steps[:1] < finding.steps[:1] or other.place == finding.place)
        for other in others
    )  # fmt: skip


def _earlier(findings: dict[tuple, Finding], finding: Finding) -> Finding | None:
    """The same fault in an earlier step, when it had another face: large, then infinite."""
    for known in findings.values():
        if known.key[:3] == finding.key[:3] and known.steps[:1] < finding.steps[:1]:
            return known
    return None


def _stands(finding: Finding, history: History, trace: Callable[[], Trace] | None) -> bool:
    record = finding.query and history.records.get(finding.query.place)
    if not record:
        return True
    lines = [line for line in record.lines if line.name in finding.sources]
    if finding.state in NOTHING and lines and all(line.converged for line in lines):
        return False
    if finding.state in BROKEN and trace is not None and _overcame(finding, lines, trace):
        return False
    return rule_of(finding).stands(finding, lines, record.targets.numbers)


def _overcame(finding: Finding, lines: list[Line], trace: Callable[[], Trace]) -> bool:
    """Was a step that was not finite left out, as a scaled loss does that overflowed? What is
    trained with such a gradient is not finite ever after."""
    if not lines or any(line.state in (*BROKEN, "none") for line in lines):
        return False
    now = trace()
    if not any(v.dtype == "float16" for v in now.values):
        return False  # nothing else is scaled so that it overflows on purpose
    sources = [a.source for a in finding.query.answers if a.name in finding.sources]
    for owner in [source.owner if isinstance(source, Variable) else None for source in sources]:
        values = [v for v in now.values if v.variable is not None and v.variable.owner is owner]
        trained = any(v.maker is not None and v.maker.way == "assign" for v in values)
        trained = trained or _by_library(finding.query)
        if owner is None or not trained or not all(finite(v.array) for v in values[-1:]):
            return False
    return True


def _by_library(query: Any) -> bool:
    """Was it a library that asked, in a training of its own such as `fit`?"""
    function = getattr(query.place.node, "func", None)
    return isinstance(function, ast.Attribute) and function.attr != query.method


def _stems(finding: Finding, root: Finding) -> bool:
    """Did an earlier step say something else of the same gradients, whose root showed later?"""
    if finding.code == root.code or finding.query is None or root.query is None:
        return False
    same = finding.query.place == root.query.place and finding.state == root.state
    return same and not set(finding.sources).isdisjoint(root.sources)


def _consequences(
    finding: Finding, findings: dict[tuple, Finding], rules: tuple[Rule, ...]
) -> list[tuple]:
    """The other findings that a finding accounts for."""
    rule = next((rule for rule in rules if rule.code == finding.code), None)
    return [] if rule is None else [
        key for key, other in findings.items()
        if other.name in rule.supersedes and rule.accounts_for(finding, other)
    ]  # fmt: skip
