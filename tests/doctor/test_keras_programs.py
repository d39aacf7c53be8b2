"""Programs with Keras, written for the doctor on TensorFlow, on gradtape's own engine: it is quiet
about the healthy ones, and explains the others with the same facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradtape.api import alias
from tests.commands import gradtape

from .programs import PREAMBLES, diagnose, seed, sketch
from .sections import Section, facts, sections
from .tensorflow.test_examples import HEALTHY, marked, the_bug_of
from .tensorflow.test_healthy import PREAMBLE, PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore")  # Keras warns of what the programs do
FUNCTIONS = sections(Path(__file__).parent / "tensorflow" / "functions.md")
# Where TensorFlow cannot trace a function, gradtape runs it, and a gradient is lost.
DIFFERS = {
    "numbers of a tensor in a function": "GT103 left-the-tape: none of w, line 10: `h.numpy()`",
    "a function of NumPy on a tensor in a function": "GT103 left-the-tape: none of w, line 9",
}


@pytest.fixture
def keras() -> Any:
    """Keras on gradtape, in this process; layers are counted from 0."""
    alias.install()
    module = pytest.importorskip("gradtape").keras
    module.utils.clear_session()
    return module


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


@pytest.mark.sampled
def test_healthy_programs(pytestconfig: pytest.Config, keras: Any) -> None:
    alarms = []
    for title, text in PROGRAMS if pytestconfig.getoption("--all") else PROGRAMS[::9]:
        keras.utils.clear_session()
        session = diagnose(PREAMBLE + text)
        assert session.history.gradients, title
        alarms += [f"{title}: {sketch(f)}" for f in session.findings.values()]
    assert alarms == []


@pytest.mark.parametrize("section", FUNCTIONS, ids=lambda section: section.title)
def test_functions_and_fit(section: Section, keras: Any) -> None:
    seed()
    session = diagnose(PREAMBLES["tensorflow"] + section.failing)
    told = "\n\n".join(map(sketch, session.findings.values()))
    if section.title in DIFFERS:
        assert told.startswith(DIFFERS[section.title])
    else:
        assert _untold(facts(told)) == _untold(facts(section.expected))


def _untold(text: str) -> str:
    """Without the gradient that would have been, whose last digits are the engine's own."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("would be"))
