"""Reports: the same facts as text, JSON, SARIF and a page; nothing here decides anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..trace.finding import Finding
from ..trace.history import History
from ..trace.severity import LEVELS, severity

# What to look at first: a program that stopped, what spoils all weights, what is not there.
ORDER = ("error", "nan", "inf", "none", "zero", "wrong", "exploding", "vanishing")


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

    def __post_init__(self) -> None:
        self.complete(self.findings, self.faults)

    def complete(self, findings: list[Finding], faults: list[str]) -> None:
        """Take in what was found by the end of the run."""
        for finding in findings:
            finding.severity = severity(finding, self.history)
        self.findings, self.faults = sorted(findings, key=_first), list(faults)

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

    def to_html(self, most: int | None = None) -> str:
        """A page of its own: the source with the gradient's path drawn through it."""
        from .page import page

        return page(self, most)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        from .words import summary

        return f"<Report: {summary(self)}>"

    def _repr_html_(self) -> str:
        from .page import framed

        return framed(self)


def _first(finding: Finding) -> tuple:
    """The order for the reader: the most severe, what is sure, the worst symptom, the earliest
    step, the source."""
    state = ORDER.index(finding.state) if finding.state in ORDER else len(ORDER)
    place = ("", 0) if finding.place is None else (finding.place.file, finding.place.line)
    step = finding.steps[0] if finding.steps else 0
    return LEVELS.index(finding.severity), not finding.sure, state, step, place
