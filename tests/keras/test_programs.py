"""Programs that train, save and restore with Keras print what they printed on the real TensorFlow.

`programs/NAME.py` runs unchanged on both; `programs/NAME.out` is what TensorFlow printed:

    KERAS_BACKEND=tensorflow python tests/keras/programs/fit.py > tests/keras/programs/fit.out
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import gradtape

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(program: Path) -> None:
    process = gradtape("run", program)
    assert process.returncode == 0, process.stderr
    found = [json.loads(line) for line in process.stdout.splitlines()]
    wanted = [json.loads(line) for line in program.with_suffix(".out").read_text().splitlines()]
    assert [name for name, _ in found] == [name for name, _ in wanted]
    wrong = [
        (name, have, want)
        for (name, have), (_, want) in zip(found, wanted, strict=True)
        if not near(have, want)
    ]
    assert wrong == []


def near(have: Any, want: Any) -> bool:
    """Whether two structures are equal, numbers to 1e-4."""
    if isinstance(want, dict):
        return have.keys() == want.keys() and all(near(have[key], want[key]) for key in want)
    if isinstance(want, list):
        return len(have) == len(want) and all(map(near, have, want))
    if isinstance(want, float):
        return bool(have == pytest.approx(want, rel=1e-4, abs=1e-5))
    return bool(have == want)
