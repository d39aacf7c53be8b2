"""Programs that draw without a seed draw the same on every run."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest

import gradtape


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.seed(2)
    np.random.seed(2)
    gradtape.random.set_seed(2)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(2)
