"""Every rule: its own examples, and the programs of `<rule>.md`, give what they say.

Whether the words of a finding are the accepted ones is a test of its own, beside that of its facts.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from gradtape.doctor.trace.finding import Finding

from .programs import PREAMBLE, diagnose, seed, sketch
from .sections import ACCEPT, Section, facts, file_of, rewritten, sections

# Keras warns of some of what the programs do.
pytestmark = pytest.mark.filterwarnings("ignore:::keras")
RULES = [rule for rule in CATALOGUE if rule.needs != "the real TensorFlow"]


class Case(NamedTuple):
    """A program of a rule's file."""

    rule: Rule
    section: Section

    @property
    def id(self) -> str:
        return f"{self.rule.name}: {self.section.title}"


CASES = [
    Case(rule, section) for rule in RULES if file_of(rule).exists()
    for section in sections(file_of(rule))
    if "tf.queue" not in section.failing  # queues are TensorFlow's alone
]  # fmt: skip


@pytest.fixture(scope="module", params=CASES, ids=[case.id for case in CASES])
def told(request: pytest.FixtureRequest) -> tuple[Case, str]:
    """A program, and its first finding; the tests of one program run it once."""
    seed()
    found = diagnose(PREAMBLE + request.param.section.failing).findings.values()
    return request.param, next(map(sketch, found), "nothing was found")


def test_a_failing_program_is_explained_and_the_cured_one_is_quiet(told: tuple[Case, str]) -> None:
    (_, section), found = told
    assert facts(found) == facts(section.expected)
    if section.cured is not None:
        quiet = diagnose(PREAMBLE + section.cured).findings.values()
        assert [sketch(f) for f in quiet] == []


def test_the_words_are_as_accepted(told: tuple[Case, str]) -> None:
    (rule, section), found = told
    assert found == section.expected, f"if they are better ones: {ACCEPT} {rule.name}"


def test_facts_are_told_from_words() -> None:
    finding = """\
GT205 rounding-op: zero of w, line 5: `tf.round(w)`
likely: a staircase.
edit the line, or: would be, had it not been
fix: leave it out
edit: y = w
would be: norm 3.0, shape (2, 3) (round passed straight through)"""
    assert facts(finding).splitlines() == [
        "GT205 rounding-op: zero of w, line 5: `tf.round(w)`",
        "likely: ",
        "edit: y = w",
        "would be: norm 3.0, shape (2, 3)",
    ]
    assert facts("would be unknown: nobody knows") == "would be unknown: "
    assert facts("would be: [1.5, -2e-05] (by differences)") == "would be: [1.5, -2e-05]"


def test_what_is_accepted_goes_into_its_own_section() -> None:
    program = "```python\nx\n```"
    parts = [f"## {title}\n\n{program}\n\n```finding\n{title} old\n```\n" for title in "abc"]
    parts[1] = f"## b\n\n{program}\n"
    text = "# A rule\n\n" + "\n".join(parts)
    assert rewritten(text, "a", "new") == text.replace("a old", "new")
    parts[1] += "\n```finding\nnew\n```\n"
    assert rewritten(text, "b", "new") == "# A rule\n\n" + "\n".join(parts)


def test_a_program_that_is_run_again_gets_the_same_findings() -> None:
    for section in (case.section for case in CASES if case.rule.name == "left-the-tape"):
        first, second = (diagnose(PREAMBLE + section.failing).findings for _ in range(2))
        assert [*map(sketch, first.values())] == [*map(sketch, second.values())]


EDITED = [case for case in CASES if "\nedit: " in case.section.expected]


@pytest.mark.parametrize("section", [c.section for c in EDITED], ids=[c.id for c in EDITED])
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
    assert not left, "an edit that leads to another fault is no cure"
    assert session.history.gradients  # it still runs
    if first.would_be is not None:
        known = [line for record in session.history.records.values() for line in record.lines]
        norms = [n for line in known if line.name in first.sources for n in line.norms.numbers]
        assert any(norm == pytest.approx(first.would_be.norm, rel=1e-3) for norm in norms)


def _edited(program: str, finding: Finding) -> str:
    lines = program.splitlines(keepends=True)
    assert finding.place is not None
    assert finding.edit is not None
    for place, new in [(finding.place, finding.edit), *finding.further]:
        old = lines[place.line - 1]
        lines[place.line - 1] = old[: len(old) - len(old.lstrip())] + new + "\n"
    return "".join(lines)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_examples_of_a_rule_are_true(rule: Rule) -> None:
    found = list(diagnose(PREAMBLE + rule.failing).findings.values())
    assert [f.code for f in found[:1]] == [rule.code]
    assert [sketch(f) for f in diagnose(PREAMBLE + rule.cured).findings.values()] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_has_programs_of_its_own(rule: Rule) -> None:
    assert len(sections(file_of(rule))) >= 3, "a rule shows the fault written in three ways"


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in CATALOGUE}) == len(CATALOGUE)
    assert len({rule.name for rule in CATALOGUE}) == len(CATALOGUE)
