"""Programs that draw without a seed draw the same on every run; one browser serves all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .browser import INSTALL, Browser, find
from .programs import seed


@pytest.fixture(autouse=True)
def seeded() -> None:
    seed()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = find()
    if program is None:
        pytest.skip(INSTALL)
    with Browser(program) as started:
        yield started
