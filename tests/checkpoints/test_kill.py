"""A process that is killed leaves the last complete checkpoint; see `kill.py` for the long run."""

from __future__ import annotations

import sys

import pytest

from .kill import kill


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_training_goes_on_with_the_same_losses() -> None:
    kill(times=3)
