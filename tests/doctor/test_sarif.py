"""SARIF: valid against the schema of OASIS, with fixes, the gradient's way, and stable prints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, FormatChecker

from gradtape.doctor.report import Exit, Report
from gradtape.doctor.rules import CATALOGUE

from .programs import PREAMBLE
from .sections import HERE
from .test_fixing import LOST, visited

pytestmark = pytest.mark.filterwarnings("ignore:::keras")
FORMATS = FormatChecker()
# RFC 3986: an absolute URI, and one that may be relative.
FORMATS.checks("uri")(lambda text: re.fullmatch(r"[a-z][a-z0-9+.-]*:[!#-;=?-Z_a-z~]+", text))
FORMATS.checks("uri-reference")(lambda text: re.fullmatch(r"[!#-;=?-Z_a-z~]*", text))
SCHEMA = json.loads((HERE / "sarif" / "schema-2.1.0.json").read_text(encoding="utf-8"))
VALID = Draft7Validator(SCHEMA, format_checker=FORMATS)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(text: str, here: Path) -> dict[str, Any]:
    path = here / "my program.py"
    path.write_text(text)
    return valid(visited(path))


def valid(report: Report) -> dict[str, Any]:
    found = json.loads(json.dumps(report.to_sarif(), allow_nan=False))
    assert [f"{e.json_path}: {e.message}" for e in VALID.iter_errors(found)] == []
    return found["runs"][0]


@pytest.mark.parametrize(
    "rule", [r for r in CATALOGUE if r.needs != "the real TensorFlow"], ids=lambda r: r.name
)
def test_every_rule_is_valid(rule: Any, here: Path) -> None:
    run = made(PREAMBLE + rule.failing, here)
    assert rule.code in [result["ruleId"] for result in run["results"]]


def test_the_check_sees_faults(here: Path) -> None:
    (here / "program.py").write_text(LOST)
    found = visited(here / "program.py").to_sarif()
    run = found["runs"][0]
    run["tool"]["driver"]["rules"][0]["helpUri"] = "docs/rules/x.md"
    run["results"][0]["level"] = "fatal"
    run["results"][0]["fixes"][0]["artifactChanges"] = []
    assert len(list(VALID.iter_errors(found))) == 3


def test_rules_have_pages(here: Path) -> None:
    rules = made(LOST, here)["tool"]["driver"]["rules"]
    folder = HERE.parents[1] / "docs" / "rules"
    assert len(rules) == len(CATALOGUE)
    for rule in rules:
        assert (folder / rule["helpUri"].rpartition("/")[2]).is_file()
        assert rule["help"]["markdown"].startswith(f"# {rule['id']} {rule['name']}\n")
        assert "```" not in rule["help"]["text"]


def test_a_fix_is_the_line_as_it_should_be(here: Path) -> None:
    (result,) = made(LOST, here)["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "my%20program.py", "uriBaseId": "SRCROOT"}
    lines = LOST.splitlines()
    for replacement in change["replacements"]:
        region = replacement["deletedRegion"]
        assert region["startLine"] == region["endLine"]
        assert (region["startColumn"], region["endColumn"]) == (1, len(lines[6]) + 1)
        lines[region["startLine"] - 1] = replacement["insertedContent"]["text"]
    assert "\n".join(lines) + "\n" == LOST.replace("np.tanh", "tf.tanh")


def test_what_is_only_likely_has_no_fix(here: Path) -> None:
    (here / "program.py").write_text(LOST)
    report = visited(here / "program.py")
    report.findings[0].sure = False
    assert "fixes" not in valid(report)["results"][0]


def test_the_way_of_the_gradient_leads_to_the_source(here: Path) -> None:
    (result,) = made(LOST, here)["results"]
    (thread,) = result["codeFlows"][0]["threadFlows"]
    stops = [(s["location"]["physicalLocation"], s["location"]["message"]["text"], s["importance"])
             for s in thread["locations"]]  # fmt: skip
    lines = [place["region"]["startLine"] for place, _, _ in stops]
    assert (lines[0], lines[-1]) == (9, 4)
    assert [
        line for line, (_, _, weight) in zip(lines, stops, strict=True) if weight == "essential"
    ] == [7]
    assert stops[0][1] == "the gradient is asked for here"


def test_prints_stay_when_lines_move(here: Path) -> None:
    first, moved, other = (
        made(text, here)["results"][0]["partialFingerprints"]
        for text in (LOST, "\n# a line\n" + LOST, LOST.replace("np.tanh", "np.sin"))
    )
    assert first == moved != other


@pytest.mark.parametrize(
    ("exit", "well"), [(Exit(), True), (Exit("exception", "ValueError: no", 1), False)]
)
def test_how_the_program_ended(exit: Exit, well: bool, here: Path) -> None:
    (here / "program.py").write_text(LOST)
    report = visited(here / "program.py")
    report.exit, report.notes = exit, ["something to know"]
    (invocation,) = valid(report)["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (well, exit.code)
    assert invocation.get("exitCodeDescription", "") == exit.detail
    assert invocation["toolExecutionNotifications"] == [
        {"level": "note", "message": {"text": "something to know"}}
    ]
