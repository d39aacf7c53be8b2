"""The classes of faults that people meet, on the real TensorFlow: one program in eight."""

from __future__ import annotations

import pytest

from ..classes import Program, misjudged, programs
from .running import needs_tensorflow, on_tensorflow  # noqa: F401

pytestmark = [
    *needs_tensorflow, pytest.mark.usefixtures("on_tensorflow"), pytest.mark.sampled,
    pytest.mark.filterwarnings("ignore:::keras"),
    pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning"),
]  # fmt: skip
EVERY = 8


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = programs()[:: 1 if metafunc.config.getoption("--all") else EVERY]
    metafunc.parametrize("program", chosen, ids=lambda program: program.id)


def test_the_first_finding_is_right(program: Program) -> None:
    assert not misjudged(program, "tensorflow")
