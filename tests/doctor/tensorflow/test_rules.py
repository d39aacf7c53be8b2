"""The programs of every rule, on the real TensorFlow: the findings are those on gradtape.

Two things may differ. An op that has no derivative is called by the engine's own name, and numbers
that were found by differences in single precision differ in their last digits.
"""

from __future__ import annotations

import re

import pytest

from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule

from ..programs import sketch
from ..test_rules import HERE, Section, sections
from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]

# Programs that mean something else on TensorFlow: what the first line of the finding is there.
DIFFERS = {
    # TensorFlow's gradient of py_function is a scalar 0, whatever the shape of the argument, and
    # the op before it fails on that.
    "py-function: py_function with NumPy inside, in a loop": "GT111 py-function: error of w",
    # A tensor that is watched late has a gradient by the ops that were recorded for others' sake.
    "watch-too-late: watch at the end of the block, in a method": "",
}


def cases() -> list:
    return [
        pytest.param(section, f"{rule.name}: {section.title}", id=f"{rule.name}: {section.title}")
        for rule in CATALOGUE
        if (HERE / f"{rule.name}.md").exists()
        for section in sections(rule)
    ]


@pytest.mark.parametrize(("section", "title"), cases())
def test_a_failing_program_is_explained_and_the_cured_one_is_quiet(
    section: Section, title: str
) -> None:
    found = [sketch(f) for f in diagnosed(section.failing).findings.values()]
    first = found[0] if found else ""
    if title in DIFFERS:
        assert first.startswith(DIFFERS[title])
        assert bool(first) == bool(DIFFERS[title])
    else:
        assert _words(first) == _words(section.expected)
        assert _numbers(first) == pytest.approx(_numbers(section.expected), rel=2e-3)
    if section.cured is not None:
        quiet = diagnosed(section.cured).findings.values()
        assert [sketch(f) for f in quiet] == []


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_the_examples_of_a_rule_are_true(rule: Rule) -> None:
    found = list(diagnosed(rule.failing).findings.values())
    assert [f.code for f in found[:1]] == [rule.code]
    assert [sketch(f) for f in diagnosed(rule.cured).findings.values()] == []


_UNKNOWN = re.compile(r"^would be unknown: \w+ ", re.M)
_NUMBERS = re.compile(r"^would be: .*?([\[\d].*?)(?= \(|$)", re.M)


def _words(text: str) -> str:
    return _NUMBERS.sub("would be: ", _UNKNOWN.sub("would be unknown: the op ", text))


def _numbers(text: str) -> list[float]:
    return [float(n) for part in _NUMBERS.findall(text) for n in re.findall(r"-?\d[-+\d.e]*", part)]
