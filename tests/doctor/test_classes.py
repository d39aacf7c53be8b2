"""The classes of faults that people meet: the first finding is right, the cured program quiet."""

from __future__ import annotations

import pytest

from .classes import Program, misjudged, programs

# Keras and NumPy warn of some of these faults themselves, which does not end a program.
pytestmark = [
    pytest.mark.sampled, pytest.mark.filterwarnings("ignore:::keras"),
    pytest.mark.filterwarnings("ignore:(invalid value|divide by zero):RuntimeWarning"),
]  # fmt: skip
EVERY = 4  # of the programs one in so many is in the usual run


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = programs()[:: 1 if metafunc.config.getoption("--all") else EVERY]
    metafunc.parametrize("program", chosen, ids=lambda program: program.id)


def test_the_first_finding_is_right(program: Program) -> None:
    assert not misjudged(program, "gradtape")
