"""The report as data: what `--format json` writes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..source.cells import called
from ..source.place import Place
from ..trace.finding import Finding
from .words import checked, headline, steps

VERSION = 1
SMALL = 64  # elements of a would-be gradient that are written out


def data(report: Any, most: int | None = None) -> dict[str, Any]:
    """All of the report, in plain types."""
    return {
        "version": VERSION,
        "script": report.script,
        "engine": report.engine,
        "exit": {"kind": report.exit.kind, "detail": report.exit.detail, "code": report.exit.code},
        "queries": [_query(record) for record in report.history.records.values()],
        "findings": [_finding(finding) for finding in report.findings[:most]],
        "ignored": len(report.ignored),
        "known": len(report.known),
        "notes": list(report.notes),
        "faults": list(report.faults),
    }


def _query(record: Any) -> dict[str, Any]:
    return {
        "place": place(record.place),
        "step": record.steps,
        "checked": record.checked,
        "method": record.method,
        "target": record.target,
        "results": [
            {
                "source": line.name,
                "aliases": list(line.aliases),
                "state": line.state,
                "states": dict(line.states),
                "converged": line.converged,
                "reason": line.reason or None,
                "norm": number(line.norms.numbers[-1]) if line.norms.numbers else None,
                "shape": list(line.shape),
                "dtype": line.dtype,
            }
            for line in record.lines
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "cause": finding.cause,
        "state": finding.state,
        "severity": finding.severity,
        "source": finding.source,
        "sources": list(finding.sources),
        "target": finding.target,
        "place": place(finding.place),
        "also": [{"label": label, **(place(p) or {})} for p, label in finding.also],
        "symptom": headline(finding),
        "message": finding.message,
        "sure": finding.sure,
        "verdict": {"kind": finding.verdict.kind, "how": checked(finding)},
        "path": list(finding.path),
        "fix": finding.fix,
        "edit": finding.edit,
        "further_edits": [
            {"file": called(p.file) or p.file, "line": p.line, "text": text}
            for p, text in finding.further
        ],
        "would_be": _would_be(finding),
        "why_not": finding.why_not,
        "steps": list(finding.steps),
        "asked": max([finding.asked, *finding.steps[-1:]]),
        "checked": None if finding.checked is None else list(finding.checked),
        "when": steps(finding),
    }


def place(found: Place | None) -> dict[str, Any] | None:
    """A place, with columns from 1 as editors count."""
    if found is None:
        return None
    line, column, end_line, end_column = found.span
    return {
        "file": called(found.file) or found.file,
        "line": line,
        "column": column + 1,
        "end_line": end_line,
        "end_column": end_column + 1,
    }


def _would_be(finding: Finding) -> dict[str, Any] | None:
    if finding.would_be is None:
        return None
    array = np.asarray(finding.would_be.array)
    return {
        "norm": number(finding.would_be.norm),
        "value": _nested(array) if array.size <= SMALL and array.dtype.kind == "f" else None,
        "shape": list(array.shape),
        "how": finding.would_be.how,
    }


def _nested(array: np.ndarray) -> Any:
    if array.ndim:
        return [_nested(part) for part in array]
    return number(float(array))


def number(value: float) -> float | str:
    """JSON has no NaN and no infinity: they are words."""
    return float(value) if math.isfinite(value) else str(float(value))
