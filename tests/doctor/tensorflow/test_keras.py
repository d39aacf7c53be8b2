"""A fixed sample of Keras's own tests goes the same way under the doctor (all: `keras_tests`)."""

from __future__ import annotations

import pytest

from .keras_tests import compare, outcomes
from .running import needs_tensorflow

pytestmark = needs_tensorflow

SAMPLE = (
    "layers/layer_test.py", "layers/core/dense_test.py", "layers/rnn/gru_test.py",
    "optimizers/sgd_test.py", "losses/loss_test.py", "saving/serialization_lib_test.py",
)  # fmt: skip
CHOICE = "not lora and not quantize and not memory"


def test_a_sample_of_keras_s_own_tests(capsys: pytest.CaptureFixture[str]) -> None:
    plain, watched = (outcomes(SAMPLE, CHOICE, watch) for watch in (False, True))
    assert sum(outcome == "passed" for outcome, _ in plain.values()) > 80
    differs = compare("sample", plain, watched)
    assert not differs, capsys.readouterr().out
