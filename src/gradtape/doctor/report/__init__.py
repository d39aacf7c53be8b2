"""Reports: the same facts as text, JSON, SARIF and a page; nothing here decides anything."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..source import sources
from ..trace.finding import Finding
from ..trace.history import History
from ..trace.severity import LEVELS, severity
from ..trace.states import WORST
from .ignoring import ignored, notes

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..fixing.plan import Plan
    from .baseline import Baseline


@dataclass
class Exit:
    """How the program ended: "ok", "exception", "exit", "interrupted" (by a signal), "stopped" (at
    a finding, by --fail-fast) or not yet, "running"."""

    kind: str = "ok"
    detail: str = ""
    code: int = 0

    @property
    def well(self) -> bool:
        """Did the program succeed, in its own eyes?"""
        return self.kind in ("ok", "exit") and self.code == 0


@dataclass
class Report:
    """What the doctor found in one run."""

    script: str
    engine: str
    history: History
    findings: list[Finding]
    exit: Exit = field(default_factory=Exit)
    faults: list[str] = field(default_factory=list)  # the doctor's own
    notes: list[str] = field(default_factory=list)  # what the reader should know about the rest
    fixed: int = 0  # findings of an earlier run that were fixed before this one
    ignore: Collection[str] = ()  # codes of rules whose findings are not wanted
    baseline: Baseline | None = None  # the findings that are known
    ignored: list[Finding] = field(default_factory=list)  # by these codes, or by a comment
    known: list[Finding] = field(default_factory=list)  # by the baseline

    def __post_init__(self) -> None:
        self.complete(self.findings, self.faults)

    def complete(self, findings: list[Finding], faults: list[str]) -> None:
        """Take in what was found by the end of the run."""
        for finding in findings:
            finding.severity = severity(finding, self.history)
        self.faults = list(faults)
        self.ignored = []
        wanted: list[Finding] = []
        for finding in sorted(findings, key=_first):
            (self.ignored if ignored(finding, self.ignore) else wanted).append(finding)
        self.findings = wanted
        if self.baseline is not None:
            self.findings, self.known = self.baseline.divide(wanted)
        places = [*(finding.place for finding in findings), *self.history.records]
        files = dict.fromkeys(place.file for place in places if place is not None)
        self.notes += [words for words in notes(files) if words not in self.notes]

    def to_text(self, width: int = 100, color: bool = False, most: int | None = None) -> str:
        """The report for a terminal."""
        from .text import text

        return text(self, width, color, most)

    def to_json(self, most: int | None = None) -> dict[str, Any]:
        """The report as data, as `docs/report.schema.json` describes it."""
        from .data import data

        return data(self, most)

    def to_sarif(self, most: int | None = None) -> dict[str, Any]:
        """The findings for code-scanning tools (SARIF 2.1.0)."""
        from .sarif import sarif

        return sarif(self, most)

    def to_html(self, most: int | None = None, follow: bool = False) -> str:
        """A page of its own: the source with the gradient's path drawn through it; one that follows
        the run asks its server for what is new."""
        from .page import page

        return page(self, most, follow)

    def to_patch(self) -> str:
        """What the confirmed findings change in the program, as a unified diff."""
        from ..fixing.patch import as_text, patch

        return as_text(patch(self.plan()))

    def plan(self) -> Plan:
        """The lines that the confirmed findings change."""
        from ..fixing.plan import plan

        return plan(self.findings, roots(self.script))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        from .words import summary

        return f"<Report: {summary(self)}>"

    def _repr_html_(self) -> str:
        from .page import framed

        return framed(self)


def roots(script: str) -> list[str]:
    """The folders of the user's program: that of the script, and the current one."""
    folder = [os.path.dirname(os.path.abspath(script))] if os.path.isfile(script) else []
    return [*folder, sources.folder()]


def _first(finding: Finding) -> tuple:
    """The order for the reader: the most severe, what is sure, the worst symptom, the earliest
    step, the source."""
    state = WORST.index(finding.state) if finding.state in WORST else len(WORST)
    place = ("", 0) if finding.place is None else (finding.place.file, finding.place.line)
    step = finding.steps[0] if finding.steps else 0
    return LEVELS.index(finding.severity), not finding.sure, state, step, place
