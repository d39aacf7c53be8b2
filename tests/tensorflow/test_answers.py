"""gradtape gives the answers that TensorFlow gave, recorded by tests/tensorflow/record.py."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tensorflow import harness
from tests.tensorflow.differs import DIFFERS

RECORD = "run: python -m tests.tensorflow.record"
CASES = {case.id: case for case in harness.load()}
FAMILIES = sorted(
    {case.family for case in CASES.values()}
    | {path.stem for path in harness.ANSWERS.glob("*.json")}
)
STORED = {family: harness.read(family) for family in FAMILIES}


def parameters() -> list[Any]:
    """One parameter for each case, marked where the difference is meant."""
    marked = []
    for case in CASES.values():
        reason = DIFFERS.get(case.id)
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        marked.append(pytest.param(case, id=case.id, marks=marks))
    return marked


@pytest.fixture(scope="session")
def tf() -> Any:
    import gradtape

    return gradtape


@pytest.mark.parametrize("case", parameters())
def test_answer(case: harness.Case, tf: Any) -> None:
    stored = STORED[case.family]
    if case.id not in stored:
        pytest.fail(f"no stored answer for {case.id}; {RECORD} {case.family}", pytrace=False)
    expected, got = stored[case.id], harness.run(case, tf)
    difference = harness.difference(case, expected, got)
    if difference:
        pytest.fail(difference, pytrace=False)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_has_its_case(family: str) -> None:
    orphans = [id for id in STORED[family] if id not in CASES or CASES[id].family != family]
    assert not orphans, f"answers without a case; {RECORD} {family}"


def test_every_difference_is_still_one() -> None:
    assert set(DIFFERS) <= set(CASES), "a difference is declared for a case that is gone"
