"""Nothing is found in the healthy programs of `healthy.md` here and of `healthy_training.md` beside
gradtape's own, which run on the real TensorFlow.

CI runs one in eight of them (`GRADTAPE_HEALTHY=8`); `python -m tests.doctor.tensorflow.test_healthy
WORDS` prints what is found in those whose titles hold the words.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from ..programs import diagnose, sketch
from .running import PREAMBLE as PLAIN
from .running import needs_tensorflow, on_tensorflow  # noqa: F401

PREAMBLE = """\
import numpy as np
import tensorflow as tf
keras, layers, rng = tf.keras, tf.keras.layers, np.random.default_rng(0)
keras.utils.set_random_seed(1)
def table(n, d):
    return rng.normal(size=(n, d)).astype("float32")
def blobs(n, d, k):
    labels = np.arange(n) % k
    return table(n, d) + 2.0 * np.eye(k, d, dtype="float32")[labels], labels
def images(n, s):
    labels = np.arange(n) % 3
    light = rng.uniform(0, 255, (n, s, s, 3)) * (np.eye(3)[labels][:, None, None] * 0.5 + 0.5)
    return light.astype("float32"), labels
def texts(n, t, v):
    words = rng.integers(1, v, (n, t))
    words[np.arange(t) >= rng.integers(1, t + 1, (n, 1))] = 0
    return words, np.float32(words[:, 0] % 2)
"""
HERE = Path(__file__).parent
TEXTS = (HERE / "healthy.md", HERE.parent / "healthy_training.md")
PROGRAMS, TRAININGS = (
    re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```$", text.read_text(), re.M | re.S)
    for text in TEXTS
)
SHARE = int(os.environ.get("GRADTAPE_HEALTHY", "1"))
pytestmark = [*needs_tensorflow, pytest.mark.usefixtures("on_tensorflow")]


@pytest.mark.parametrize("text", [pytest.param(t, id=title) for title, t in PROGRAMS[::SHARE]])
def test_a_healthy_program(text: str) -> None:
    session = diagnose(PREAMBLE + text, "tensorflow")
    assert session.history.gradients
    assert [sketch(f) for f in session.findings.values()] == []


@pytest.mark.parametrize("text", [pytest.param(t, id=title) for title, t in TRAININGS[::SHARE]])
def test_a_training(text: str) -> None:
    session = diagnose(PLAIN + text, "tensorflow")
    assert session.history.gradients
    assert [sketch(f) for f in session.findings.values()] == []


if __name__ == "__main__":
    for title, text in [*PROGRAMS, *TRAININGS]:
        if all(word in title for word in sys.argv[1:]):
            try:
                session = diagnose(PREAMBLE + text, "tensorflow")
            except AssertionError as error:
                print(f"## {title}\nUNTRUE {error}", flush=True)
                continue
            found = [sketch(f) for f in session.findings.values()]
            print(f"## {title}: {session.history.states}", *found, sep="\n", flush=True)
