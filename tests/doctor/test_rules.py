"""Every rule: its own examples, and the programs of `<rule>.md`, give what they say.

A Markdown file holds sections. Each has a failing program (```python), the finding it must give
first (```finding), and may have the cured program (```python cured), which must be quiet.
`python -m tests.doctor.test_rules rule-name` prints what the programs give now.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from gradtape.doctor.trace.finding import Finding

from .programs import PREAMBLE, diagnose, sketch

HERE = Path(__file__).parent
RULES = [rule for rule in CATALOGUE if not rule.needs]
_BLOCK = re.compile(r"^```(\w+)( cured)?\n(.*?)^```$", re.M | re.S)


class Section(NamedTuple):
    title: str
    failing: str
    expected: str
    cured: str | None


def sections(rule: Rule) -> list[Section]:
    return parts(HERE / f"{rule.name}.md")


def parts(file: Path) -> list[Section]:
    found = []
    for part in file.read_text().split("\n## ")[1:]:
        title, blocks = part.splitlines()[0], _BLOCK.findall(part)
        failing = next(b for kind, cured, b in blocks if kind == "python" and not cured)
        cured = next((b for kind, cured, b in blocks if cured), None)
        expected = next((b for kind, _, b in blocks if kind == "finding"), "")
        found.append(Section(title, failing, expected.strip(), cured))
    return found


def cases() -> list:
    return [
        pytest.param(section, id=f"{rule.name}: {section.title}")
        for rule in RULES
        if (HERE / f"{rule.name}.md").exists()
        for section in sections(rule)
    ]


@pytest.mark.parametrize("section", cases())
def test_a_failing_program_is_explained_and_the_cured_one_is_quiet(section: Section) -> None:
    found = list(diagnose(PREAMBLE + section.failing).findings.values())
    assert found, "nothing was found"
    assert sketch(found[0]) == section.expected
    if section.cured is not None:
        quiet = diagnose(PREAMBLE + section.cured).findings.values()
        assert [sketch(f) for f in quiet] == []


def test_a_program_that_is_run_again_gets_the_same_findings() -> None:
    for section in (case.values[0] for case in cases() if "left-the-tape" in str(case.id)):
        first, second = (diagnose(PREAMBLE + section.failing).findings for _ in range(2))
        assert [*map(sketch, first.values())] == [*map(sketch, second.values())]


EDITED = [case for case in cases() if "\nedit: " in case.values[0].expected]


@pytest.mark.parametrize("section", EDITED)
def test_the_edited_lines_cure_the_program(section: Section) -> None:
    """One finding after the other: each edit removes its own, until nothing is left to edit."""
    program = PREAMBLE + section.failing
    first = finding = next(iter(diagnose(program).findings.values()))
    edits = 0
    while finding.edit is not None:
        program, edits = _edited(program, finding), edits + 1
        session = diagnose(program)
        left = list(session.findings.values())
        assert sketch(finding) not in map(sketch, left)
        assert edits < 4
        if not left:
            break
        finding = left[0]
    elsewhere = " in line " in first.fix  # what is to be changed there, too, the edit does not show
    if edits == 1 and first.would_be is not None and not elsewhere:
        known = [line for record in session.history.records.values() for line in record.lines]
        norms = [n for line in known if line.name in first.sources for n in line.norms.numbers]
        assert any(norm == pytest.approx(first.would_be.norm, rel=1e-3) for norm in norms)


def _edited(program: str, finding: Finding) -> str:
    lines = program.splitlines(keepends=True)
    assert finding.place is not None
    assert finding.edit is not None
    old = lines[finding.place.line - 1]
    lines[finding.place.line - 1] = old[: len(old) - len(old.lstrip())] + finding.edit + "\n"
    return "".join(lines)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_examples_of_a_rule_are_true(rule: Rule) -> None:
    found = list(diagnose(PREAMBLE + rule.failing).findings.values())
    assert [f.code for f in found[:1]] == [rule.code]
    assert [sketch(f) for f in diagnose(PREAMBLE + rule.cured).findings.values()] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_programs_of_its_own(rule: Rule) -> None:
    assert len(sections(rule)) >= 3, "a rule shows the fault written in three ways"


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in CATALOGUE}) == len(CATALOGUE)
    assert len({rule.name for rule in CATALOGUE}) == len(CATALOGUE)


if __name__ == "__main__":
    for wanted in (r for r in RULES if r.name in sys.argv[1:]):
        for section in sections(wanted):
            session = diagnose(PREAMBLE + section.failing)
            print(f"## {section.title}", *map(sketch, session.findings.values()), sep="\n")
            if section.cured is not None:
                print("cured:", *map(sketch, diagnose(PREAMBLE + section.cured).findings.values()))
