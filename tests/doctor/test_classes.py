"""The classes of faults that people meet: the first finding is right, the cured program quiet."""

from __future__ import annotations

import pytest

from .classes import Program, misjudged, programs

# Keras warns of some of these faults itself, which does not end a program.
pytestmark = [pytest.mark.sampled, pytest.mark.filterwarnings("ignore:::keras")]
EVERY = 4  # of the programs one in so many is in the usual run


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = programs()[:: 1 if metafunc.config.getoption("--all") else EVERY]
    metafunc.parametrize("program", chosen, ids=lambda program: program.id)


def test_the_first_finding_is_right(program: Program) -> None:
    assert not misjudged(program, "gradtape")
