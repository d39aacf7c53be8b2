"""Programs that draw without a seed draw the same on every run."""

from __future__ import annotations

import pytest

from .programs import seed


@pytest.fixture(autouse=True)
def seeded() -> None:
    seed()
