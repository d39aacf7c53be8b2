"""The findings in SARIF 2.1.0, which code-scanning tools read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...version import __version__
from ..rules import CATALOGUE
from ..source.place import Place
from ..trace.finding import Finding
from .words import folder, headline, shown

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "SRCROOT"


def sarif(report: Any, most: int | None = None) -> dict[str, Any]:
    """One run of the tool, with its rules and results."""
    codes = [rule.code for rule in CATALOGUE]
    driver = {"name": "gradtape doctor", "version": __version__, "rules": _rules()}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.exit.well, "exitCode": report.exit.code}],
        "originalUriBaseIds": {ROOT: {"uri": Path(folder()).as_uri() + "/"}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes) for finding in report.findings[:most]],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rules() -> list[dict[str, Any]]:
    return [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.title},
            "fullDescription": {"text": rule.lesson},
            "help": {"text": f"gradtape explain {rule.code}"},
        }
        for rule in CATALOGUE
    ]


def _result(finding: Finding, codes: list[str]) -> dict[str, Any]:
    words = f"{headline(finding)}: {finding.message} Fix: {finding.fix}."
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": words},
        "locations": [] if finding.place is None else [_location(finding.place)],
    }
    if finding.also:
        result["relatedLocations"] = [
            {**_location(place), "message": {"text": label}} for place, label in finding.also
        ]
    return result


def _location(place: Place) -> dict[str, Any]:
    line, column, end_line, end_column = place.span
    region = {
        "startLine": line, "startColumn": column + 1, "endLine": end_line,
        "endColumn": end_column + 1,
    }  # fmt: skip
    return {"physicalLocation": {"artifactLocation": _artifact(place.file), "region": region}}


def _artifact(file: str) -> dict[str, str]:
    """A file under the current directory by its path from there, as code scanning wants it."""
    near = shown(file)
    if os.path.isabs(file) and os.path.abspath(near) != os.path.abspath(file):
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(near.replace(os.sep, "/")), "uriBaseId": ROOT}
