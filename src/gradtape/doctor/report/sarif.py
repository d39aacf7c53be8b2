"""The findings in SARIF 2.1.0, which code-scanning tools read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...version import DOCUMENTATION, __version__
from ..fixing.plan import confirmed, edits, rewritten
from ..rules import CATALOGUE
from ..rules.base import Rule
from ..source import sources
from ..source.cells import called
from ..source.place import Place
from ..source.sources import folder, shown
from ..trace.finding import Finding
from .baseline import fingerprint
from .lessons import page
from .words import checked, headline

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"


def sarif(report: Any, most: int | None = None) -> dict[str, Any]:
    """One run of the tool, with its rules and results."""
    codes = [rule.code for rule in CATALOGUE]
    driver = {
        "name": "gradtape doctor",
        "version": __version__,
        "informationUri": DOCUMENTATION,
        "rules": [_rule(rule) for rule in CATALOGUE],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "originalUriBaseIds": {ROOT: {"uri": Path(folder()).as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes) for finding in report.findings[:most]],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.lesson.strip()},
        "help": {"text": f"{rule.lesson.strip()}\n\n{rule.ignore.strip()}", "markdown": page(rule)},
        "helpUri": f"{DOCUMENTATION}rules/{rule.name}.md",
        "properties": {"tags": ["gradient", *sorted(rule.states)]},
    }


def _invocation(report: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "executionSuccessful": report.exit.well,
        "exitCode": report.exit.code,
    }
    if report.exit.detail:
        found["exitCodeDescription"] = report.exit.detail
    said = [("note", words) for words in report.notes] + [("error", f) for f in report.faults]
    if said:
        found["toolExecutionNotifications"] = [
            {"level": level, "message": {"text": words}} for level, words in said
        ]
    return found


def _result(finding: Finding, codes: list[str]) -> dict[str, Any]:
    words = f"{headline(finding)}: {finding.message} Fix: {finding.fix}."
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": words},
        "locations": [] if finding.place is None else [_location(finding.place)],
        "partialFingerprints": {"gradtapeFinding/v1": fingerprint(finding)},
    }
    if finding.also:
        result["relatedLocations"] = [_location(place, label) for place, label in finding.also]
    flow = _flow(finding)
    if flow:
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    if confirmed(finding) and finding.edit is not None:
        result["fixes"] = [_fix(finding)]
    return result


def _flow(finding: Finding) -> list[dict[str, Any]]:
    """The way of the gradient, from where it is asked for to the source."""
    asked = getattr(finding.query, "place", None)
    stops = [] if asked is None else [_stop(asked, "the gradient is asked for here", "important")]
    before: Place | None = None
    for spot in reversed([spot for spot in finding.spots if spot.on_path]):
        if spot.place == before and not spot.breaks:
            continue  # several ops of one expression
        before = spot.place
        if spot.breaks:
            stops.append(_stop(spot.place, f"{spot.name}: the gradient is lost here", "essential"))
        else:
            said = "the gradient passes" if spot.flows else "no sound gradient comes here"
            stops.append(_stop(spot.place, f"{spot.name}: {said}", "important"))
    return stops


def _stop(place: Place, words: str, importance: str) -> dict[str, Any]:
    return {"location": _location(place, words), "importance": importance}


def _fix(finding: Finding) -> dict[str, Any]:
    """The lines that a trial has confirmed, file by file."""
    changes: dict[str, list[dict[str, Any]]] = {}
    for place, text in edits(finding):
        old = sources.line(place.file, place.line).rstrip("\r\n")
        changes.setdefault(place.file, []).append({
            "deletedRegion": {
                "startLine": place.line, "startColumn": 1,
                "endLine": place.line, "endColumn": len(old) + 1,
            },
            "insertedContent": {"text": rewritten(old, text)},
        })  # fmt: skip
    return {
        "description": {"text": "; ".join(filter(None, [finding.fix, checked(finding)]))},
        "artifactChanges": [
            {"artifactLocation": _artifact(file), "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _location(place: Place, words: str = "") -> dict[str, Any]:
    line, column, end_line, end_column = place.span
    region = {
        "startLine": line, "startColumn": column + 1, "endLine": end_line,
        "endColumn": end_column + 1,
    }  # fmt: skip
    physical = {"artifactLocation": _artifact(place.file), "region": region}
    return {"physicalLocation": physical} | ({"message": {"text": words}} if words else {})


def _artifact(file: str) -> dict[str, str]:
    """A file under the current directory by its path from there, as code scanning wants it."""
    cell = called(file)
    if cell is not None:  # no file under any folder
        return {"uri": quote(cell)}
    near = shown(file)
    if os.path.isabs(file) and os.path.abspath(near) != os.path.abspath(file):
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(near.replace(os.sep, "/")), "uriBaseId": ROOT}
