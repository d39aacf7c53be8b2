"""gradtape gives the answers that TensorFlow gave, recorded by tests/tensorflow/record.py.

The cases of one function are one test (some thousand tests would take longer than what they ask),
and its failure names each of them; `--case TEXT` runs only the cases with the text in their id. Of
the three families that a table makes by the thousand, there is one case of each kind; with `--all`
there are all of them.
"""

from __future__ import annotations

import itertools
import json
import re

import pytest

import gradtape
from tests.tensorflow import harness, thinned
from tests.tensorflow.differs import DIFFERS

RECORD = "run: python -m tests.tensorflow.record"
CASES = {case.id: case for case in harness.load()}
FAMILIES = sorted(
    {case.family for case in CASES.values()}
    | {path.stem for path in harness.ANSWERS.glob("*.json")}
)
STORED = {family: harness.read(family) for family in FAMILIES}
NEEDS = {"image_files": "PIL"}  # what gradtape itself can do without
TOGETHER = 100  # so that the workers of pytest-xdist have shares of about the same size


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One parameter for the cases of each function, or for every hundred of them."""
    if "asked" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--case")
    chosen = [case for case in CASES.values() if wanted is None or wanted in case.id]
    whole = wanted is not None or metafunc.config.getoption("--all")
    shares = []
    for function, of_function in itertools.groupby(chosen, lambda case: case.id.partition("[")[0]):
        several = list(of_function)
        marks: list[pytest.MarkDecorator] = []
        if (family := several[0].family) in thinned.FAMILIES:
            marks = [pytest.mark.sampled]
            several = several if whole else thinned.thinned(several, STORED[family])
        for at in range(0, len(several), TOGETHER):
            share, id = several[at : at + TOGETHER], f"{function}-{at}" if at else function
            shares.append(pytest.param(share, id=id, marks=marks))
    metafunc.parametrize("asked", shares)


def test_answers(asked: list[harness.Case]) -> None:
    if needed := NEEDS.get(asked[0].family):
        pytest.importorskip(needed)
    wrong = [f"{case.id}: {fault}" for case in asked if (fault := _fault(case))]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


def _fault(case: harness.Case) -> str | None:
    """What is wrong with our answer to the case, in words, or None."""
    stored = STORED[case.family]
    if case.id not in stored:
        return f"no stored answer; {RECORD} {case.family}"
    difference = harness.difference(case, stored[case.id], harness.run(case, gradtape))
    if case.id not in DIFFERS:
        return difference
    meant = DIFFERS[case.id]
    return None if difference else f"answered as TensorFlow does, although it is said: {meant}"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_has_its_case(family: str) -> None:
    orphans = [id for id in STORED[family] if id not in CASES or CASES[id].family != family]
    assert not orphans, f"answers without a case; {RECORD} {family}"


@pytest.mark.parametrize("family", thinned.FAMILIES)
def test_a_sample_has_every_exception_of_every_function(family: str) -> None:
    cases = [case for case in CASES.values() if case.family == family]
    sample = thinned.thinned(cases, STORED[family])
    assert _raised(sample) == _raised(cases)
    assert len(sample) < 0.8 * len(cases)


def _raised(cases: list[harness.Case]) -> set[tuple[str, str]]:
    answers = ((case, json.dumps(STORED[case.family].get(case.id))) for case in cases)
    return {
        (thinned.function(case), word)
        for case, answer in answers
        for word in re.findall(r'"raises": "(\w+)"', answer)
    }


def test_every_difference_is_still_one() -> None:
    assert set(DIFFERS) <= set(CASES), "a difference is declared for a case that is gone"
