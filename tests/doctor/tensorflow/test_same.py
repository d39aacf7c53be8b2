"""A sample of `programs/` is the same under the doctor, which has nothing to say about it.

All of them, which takes a quarter of an hour: `python -m tests.doctor.tensorflow.same`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from . import same
from .running import needs_tensorflow

pytestmark = needs_tensorflow
# Two devices, layers without a constructor, names in files, XLA, processes, a crash, an exit code.
SAMPLE = (
    "mirrored_loop", "layers_without_init", "saved_model_module", "jit_step", "spawn_loader",
    "crash_traceback", "exit_code",
)  # fmt: skip


@pytest.mark.parametrize("name", SAMPLE)
def test_a_program_is_the_same(name: str, tmp_path: Path) -> None:
    verdict = same.compare(same.programs()[name], "tensorflow", tmp_path)
    assert verdict.differs == []
    assert verdict.said == []


@pytest.mark.parametrize("name", ["custom_gradients", "meta_gradients", "rnn_while_loop"])
def test_a_program_on_gradtapes_own_engine(name: str, tmp_path: Path) -> None:
    verdict = same.compare(same.programs()[name], "gradtape", tmp_path)
    assert verdict.differs == []
    assert verdict.said == []
