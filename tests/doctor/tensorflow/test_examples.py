"""TensorFlow's usual programs: the doctor is quiet about them, and finds the bug planted in each.

CI runs three of them (.ci/tensorflow); all, which takes minutes:
`python -m pytest -n 2 tests/doctor/tensorflow/test_examples.py`.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
from pathlib import Path

import pytest

from ..programs import diagnose, sketch
from .running import needs_tensorflow, on_tensorflow  # noqa: F401

HEALTHY = sorted((Path(__file__).parents[3] / "examples" / "tensorflow").glob("*.py"))
on_the_real_one = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]


def the_bug_of(path: Path) -> Path:
    return path.parent / "bugs" / path.name


def marked(text: str) -> list[tuple[str, int]]:
    """The lines with `# bug: <cause>`: any of them is a right answer."""
    found = [(re.search(r"# bug: (\S+)$", line), n) for n, line in enumerate(text.splitlines(), 1)]
    return [(mark[1], n) for mark, n in found if mark]


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_the_bug_is_all_that_differs(path: Path) -> None:
    sound, broken = (p.read_text().splitlines() for p in (path, the_bug_of(path)))
    changes = [line for line in difflib.ndiff(sound, broken) if line[0] in "+-"]
    assert 0 < len(changes) <= 12
    assert marked(the_bug_of(path).read_text())
    assert len(sound) <= 60


class TestOnTensorFlow:
    pytestmark = on_the_real_one

    @pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
    def test_a_healthy_program(self, path: Path) -> None:
        text = path.read_text()
        alone, watched = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(alone):
            exec(compile(text, str(path), "exec"), {"__name__": "__main__"})
        session = diagnose(text, "tensorflow", printed=watched)
        assert session.history.gradients
        assert [sketch(f) for f in session.findings.values()] == []
        assert watched.getvalue() == alone.getvalue()

    @pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
    def test_a_bug(self, path: Path) -> None:
        text = the_bug_of(path).read_text()
        first = next(iter(diagnose(text, "tensorflow").findings.values()), None)
        assert first is not None
        assert first.place is not None
        assert (first.cause, first.place.line) in marked(text), sketch(first)
