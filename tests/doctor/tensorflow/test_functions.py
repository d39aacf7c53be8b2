"""The programs of functions.md: tapes in a `tf.function`, around one, and in Keras's `fit`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..programs import sketch
from ..sections import ACCEPT, Section, facts, sections
from .running import diagnosed, needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]
SECTIONS = sections(Path(__file__).with_name("functions.md"))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_a_program_is_explained(section: Section) -> None:
    session = diagnosed(section.failing)
    told = "\n\n".join(map(sketch, session.findings.values()))
    assert facts(told) == facts(section.expected)
    assert told == section.expected, f"if these are better words: {ACCEPT} functions"
    # A function that cannot be traced asks for none.
    ended = [f for f in session.findings.values() if f.query is None and f.state == "error"]
    assert session.history.gradients > 0 or ended
