"""The programs of examples/tensorflow: healthy as they are, and found out with --bug."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ..programs import diagnose, sketch
from .running import needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]
EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "tensorflow").glob("*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_a_healthy_program_is_quiet(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [file.name])
    session = diagnose(file.read_text(), "tensorflow")
    assert [sketch(f) for f in session.findings.values()] == []
    assert session.history.gradients > 0


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_bug_is_found_where_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [file.name, "--bug"])
    text = file.read_text()
    ((line, code),) = [
        (number, found[1])
        for number, words in enumerate(text.splitlines(), 1)
        if (found := re.search(r"# (GT\d+)$", words))
    ]
    first, *more = diagnose(text, "tensorflow").findings.values()
    assert first.place is not None
    assert (first.code, first.place.line) == (code, line)
    assert [sketch(f) for f in more] == []
