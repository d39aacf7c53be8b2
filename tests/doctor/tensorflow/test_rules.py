"""The programs of every rule, on the real TensorFlow: the facts are those on gradtape.

Their words are compared on gradtape, and here for the rules of what only TensorFlow has. Numbers
that were found by differences in single precision differ in their last digits.
"""

from __future__ import annotations

import re

import pytest

from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule

from ..programs import sketch
from ..sections import ACCEPT, Section, facts, file_of, sections
from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [
    *needs_tensorflow, pytest.mark.usefixtures("on_tensorflow"),
    # Keras warns of some of what the programs do.
    pytest.mark.filterwarnings("ignore:::keras"),
]  # fmt: skip

# Programs that mean something else on TensorFlow: what the first line of the finding is there.
DIFFERS = {
    # TensorFlow's gradient of py_function is a scalar 0, whatever the shape of the argument, and
    # the op before it fails on that.
    "py-function: py_function with NumPy inside, in a loop": "GT111 py-function: error of w",
    # A tensor that is watched late has a gradient by the ops that were recorded for others' sake.
    "watch-too-late: watch at the end of the block, in a method": "",
    # A function that raises while it is traced has no numbers there.
    "stop-gradient: in the loss of a fit that ends with an exception":
        "GT124 stop-gradient: none of net/hidden/kernel, net/hidden/bias",
}  # fmt: skip


CASES = [
    pytest.param(rule, section, id=f"{rule.name}: {section.title}")
    for rule in CATALOGUE if file_of(rule).exists()
    for section in sections(file_of(rule))
]  # fmt: skip


@pytest.mark.parametrize(("rule", "section"), CASES)
def test_a_failing_program_is_explained_and_the_cured_one_is_quiet(
    rule: Rule, section: Section
) -> None:
    found = [sketch(f) for f in diagnosed(section.failing).findings.values()]
    first, title = found[0] if found else "", f"{rule.name}: {section.title}"
    if title in DIFFERS:
        assert first.startswith(DIFFERS[title])
        assert bool(first) == bool(DIFFERS[title])
    else:
        ours, theirs = facts(section.expected), facts(first)
        assert _NUMBERS.sub("", theirs) == _NUMBERS.sub("", ours)
        assert _numbers(theirs) == pytest.approx(_numbers(ours), rel=2e-3)
    if rule.needs == "the real TensorFlow":
        assert first == section.expected, f"if these are better words: {ACCEPT} {rule.name}"
    if section.cured is not None:
        quiet = diagnosed(section.cured).findings.values()
        assert [sketch(f) for f in quiet] == []


@pytest.mark.parametrize("rule", CATALOGUE, ids=lambda rule: rule.name)
def test_the_examples_of_a_rule_are_true(rule: Rule) -> None:
    found = list(diagnosed(rule.failing).findings.values())
    assert [f.code for f in found[:1]] == [rule.code]
    assert [sketch(f) for f in diagnosed(rule.cured).findings.values()] == []


_NUMBERS = re.compile(r"^would be: (.*)", re.M)


def _numbers(text: str) -> list[float]:
    return [float(n) for part in _NUMBERS.findall(text) for n in re.findall(r"-?\d[-+\d.e]*", part)]


def test_a_fault_of_every_step_is_one_finding() -> None:
    """`assign` gives an object of its own each time, and 1,000 of these took the place of the
    variables in the log: after 255 steps, nobody knew where the unused one had been made."""
    session = diagnosed("""\
used = [tf.Variable(1.0) for _ in range(5)]
unused = tf.Variable(1.0)
for _ in range(260):
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.square(v) for v in used])
    *grads, nothing = tape.gradient(loss, [*used, unused])
    for variable, grad in zip(used, grads):
        variable.assign_sub(0.01 * grad)
""")
    (finding,) = session.findings.values()
    assert (finding.name, finding.place.line) == ("unused-variable", 4)
    assert finding.length == 260
