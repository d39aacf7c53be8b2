"""TensorFlow's usual programs, with Keras, on gradtape's own engine: the doctor is quiet about the
healthy ones, and finds the bug planted in each of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import gradtape

from .tensorflow.test_examples import HEALTHY, marked, the_bug_of


def _report(path: Path, folder: Path) -> dict[str, Any]:
    output = folder / "report.json"
    words = ("doctor", "--engine", "gradtape", "--format", "json", "--output", output, path)
    process = gradtape(*words)
    assert output.exists(), process.stderr
    report: dict[str, Any] = json.loads(output.read_text())
    assert report["faults"] == []
    return report


@pytest.mark.sampled
def test_programs_with_keras(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    for path in HEALTHY if pytestconfig.getoption("--all") else HEALTHY[::4]:
        assert _report(path, tmp_path)["findings"] == [], path
        bug = the_bug_of(path)
        first = _report(bug, tmp_path)["findings"][0]
        assert (first["cause"], first["place"]["line"]) in marked(bug.read_text())
