"""A fixed sample of Keras's own tests, which need nothing but Keras, passes on gradtape."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from .outcomes import lines
from .run import command, find_files, start

SAMPLE = Path(__file__).with_name("sample.txt")
VERSION = "3.15.1"  # of the Keras whose tests these are: others may not have all of them, or none
PARTS = 4  # as many processes may run beside each other
LIMIT = 900  # seconds


@pytest.mark.parametrize("part", range(PARTS))
def test_the_sample_passes(part: int, tmp_path: Path) -> None:
    chosen = SAMPLE.read_text(encoding="utf-8").splitlines()
    files = [file for file in find_files() if any(t.startswith(f"{file}::") for t in chosen)]
    files = files[part::PARTS]
    if not files and version("keras") != VERSION:
        pytest.skip("this Keras was shipped without its tests")
    outcomes = tmp_path / "outcomes.jsonl"
    died = start(command("gradtape", files, outcomes, "--only", str(SAMPLE)), tmp_path, LIMIT)
    found = {line["id"]: line for line in lines(outcomes)}
    mine = [test for test in chosen if test.partition("::")[0] in files]
    if version("keras") != VERSION:
        mine = [test for test in mine if test in found]
    wrong = {test: found.get(test, {"outcome": "not run"}) for test in mine}
    wrong = {test: line for test, line in wrong.items() if line["outcome"] != "passed"}
    assert not wrong, died
    assert mine
