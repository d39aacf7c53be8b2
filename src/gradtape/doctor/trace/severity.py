"""How bad a finding is: nothing learns, a part does not learn, or it is only suspicious."""

from __future__ import annotations

import math

from . import Variable
from .finding import Finding
from .history import History, Record

# As code-scanning tools call them; the worst first.
NOTHING_LEARNS, PART, SUSPICIOUS = LEVELS = ("error", "warning", "note")
SPREADS = ("nan", "inf", "exploding")  # what a step carries into every weight
PASSES = ("zero", "vanishing", "exploding")  # what may be chance in a few steps


def severity(finding: Finding, history: History) -> str:
    """The level of a finding, with what the whole run showed of it."""
    if finding.state == "error":
        return NOTHING_LEARNS
    record = None if finding.query is None else history.records.get(finding.query.place)
    if finding.state in SPREADS and record is not None and _lost(record):
        return NOTHING_LEARNS
    if finding.state == "wrong" and not finding.sure:
        return SUSPICIOUS
    if finding.state in PASSES and record is not None and _passed(finding, record):
        return SUSPICIOUS
    return PART if finding.state == "exploding" or _others_learn(finding) else NOTHING_LEARNS


def _lost(record: Record) -> bool:
    """Was the target ever no number?"""
    return not all(map(math.isfinite, record.targets.numbers))


def _passed(finding: Finding, record: Record) -> bool:
    """Were all its sources well again in the end, and for longer than they were not?"""
    lines = [line for line in record.lines if line.name in finding.sources]
    return bool(lines) and all(
        line.state == "ok" and 2 * line.states["ok"] > sum(line.states.values()) for line in lines
    )


def _others_learn(finding: Finding) -> bool:
    """Has a source that is trained another lot: a sound gradient, or more of them another fault?"""
    answers = [] if finding.query is None else finding.query.answers
    own = set(finding.sources)
    others = [
        a.state for a in answers
        if a.name not in own and not (isinstance(a.source, Variable) and not a.source.trainable)
    ]  # fmt: skip
    return "ok" in others or len(others) > len(own)
