"""A test says the same on every run: what Hypothesis and the programs draw is fixed.

`--hypothesis-profile=default` draws anew, to look for what the fixed examples do not show.
"""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes is a matter of the machine and its load.
patient = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("gradtape", derandomize=True, **patient)
settings.load_profile("gradtape")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What CI asks for beyond the usual run, and what one asks for who looks into a failure."""
    parser.addoption("--all", action="store_true", help="no samples: tests marked so do it all")
    help = "of the recorded answers of TensorFlow, only those with this text in their id"
    parser.addoption("--case", metavar="TEXT", help=help)


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage: collections, of which many tests ask, pass them by."""
    gc.collect()
    gc.freeze()
