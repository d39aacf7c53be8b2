"""Nothing is found in healthy programs: written ones, the examples, and what the fuzzer makes."""

from __future__ import annotations

import copy
import logging
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradtape.api import alias
from gradtape.doctor.entry.session import Session
from tests.tensorflow.fuzz import render
from tests.tensorflow.fuzz.generate import generate

from .programs import PREAMBLE, diagnose, sketch

HERE = Path(__file__).parent
EXAMPLES = sorted((HERE.parents[1] / "examples").glob("*.py"))
WRITTEN, TRAININGS = (
    re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```$", (HERE / name).read_text(), re.M | re.S)
    for name in ("healthy.md", "healthy_training.md")
)
SOUND = {"ok", "exploding"}
WANTED, SAMPLE = 200, 25
# Gradients that the fuzzer makes wrong on purpose.
WRONG = re.compile(r"lambda g: g \* tf\.cos\(v\) \* 2\.0|lambda g: \(g \* w, None\)")


def written() -> list:
    """Each program, as it is and with the audit, which reports gradients changed on purpose."""
    return [
        pytest.param(text, audit, id=f"{title}-{'audit' if audit else ''}")
        for title, text in WRITTEN
        for audit in (False, True)
        if not (audit and "changed on purpose" in title)
    ]


@pytest.mark.parametrize(("text", "audit"), written())
def test_a_written_program(text: str, audit: bool) -> None:
    session = diagnose(PREAMBLE + text, audit=audit)
    assert session.history.gradients
    assert [sketch(f) for f in session.findings.values()] == []
    assert session.notes == []


# Keras warns of some of what the programs do.
@pytest.mark.filterwarnings("ignore:::keras")
@pytest.mark.parametrize("text", [pytest.param(text, id=title) for title, text in TRAININGS])
def test_a_training(text: str) -> None:
    session = diagnose(PREAMBLE + text)
    assert session.history.gradients
    assert [sketch(f) for f in session.findings.values()] == []
    assert session.notes == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example(path: Path, capsys: Any) -> None:
    alias.install()
    session = Session()
    session.start()
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        session.stop()
    assert session.history.gradients
    assert session.faults == []
    assert [sketch(f) for f in session.findings.values()] == []


@pytest.mark.sampled
def test_programs_of_the_fuzzer(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
) -> None:
    monkeypatch.setattr(logging.getLogger("gradtape"), "disabled", True)
    wanted = WANTED if pytestconfig.getoption("--all") else SAMPLE
    alarms = []
    for _, (id, session) in zip(range(wanted), healthy_programs(), strict=False):
        alarms += [f"{id}: {sketch(f)}" for f in session.findings.values()]
    assert alarms == []


def healthy_programs(seed: int = 11) -> Iterator[tuple[str, Session]]:
    """Generated programs whose gradients are all there, and what the doctor made of them.

    Of a program that also asks for gradients that do not exist, the others are asked for.
    """
    for index in range(WANTED * 10):
        program = generate(seed, index)
        while program is not None and not WRONG.search(render.script(program)):
            session = diagnose(render.script(program))
            states = set(session.history.states)
            if states <= SOUND:
                if states:
                    yield program["id"], session
                break
            program = None if "error" in states else _sound_part(program, session)


def _sound_part(program: dict[str, Any], session: Session) -> dict[str, Any] | None:
    lines = [line for record in session.history.records.values() for line in record.lines]
    bad = {line.name for line in lines if not set(line.states) <= SOUND}
    part = copy.deepcopy(program)
    for query in part["scenario"]["queries"]:
        query["sources"] = [name for name in query["sources"] if name not in bad]
    part["scenario"]["queries"] = [q for q in part["scenario"]["queries"] if q["sources"]]
    return part if part["scenario"]["queries"] and part != program else None
