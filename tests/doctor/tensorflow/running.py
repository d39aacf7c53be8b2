"""What the tests of the adapter share: whether TensorFlow is there, and programs that run on it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import pytest

import gradtape
from gradtape.api.alias import installed
from gradtape.doctor.entry.session import Session

from ..programs import PREAMBLES, diagnose

PREAMBLE = PREAMBLES["tensorflow"]
needs_tensorflow = [
    pytest.mark.skipif(
        not installed(),
        reason="TensorFlow is not installed, so the doctor's adapter for it is not tested",
    ),
    pytest.mark.filterwarnings("default"),  # of TensorFlow's own
]


@contextlib.contextmanager
def fresh() -> Iterator[None]:
    """TensorFlow, imported once a process, as if it had just been imported."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    assert tf is not gradtape, "another test left gradtape in TensorFlow's place"
    tf.random.set_seed(0)
    yield
    tf.keras.backend.clear_session(free_memory=False)


@pytest.fixture
def on_tensorflow() -> Iterator[None]:
    with fresh():
        yield


def diagnosed(program: str) -> Session:
    """Run a program on TensorFlow under the doctor."""
    return diagnose(PREAMBLE + program, "tensorflow")
