"""Tricky programs are the same under the doctor on gradtape's own engine, to the last bit.

A sample; all of them, on both engines: `python -m tests.doctor.tensorflow.same`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .tensorflow import same

NAMES = sorted(path.stem for path in (same.FOLDER / "tricky").glob("*.py"))
TRICKY = [name for name in NAMES if not same.visible(name, "gradtape")]
SAMPLE = [*TRICKY[::3], "keywords", "signatures", "monkeypatching", "weak_steps"]


@pytest.mark.parametrize("name", sorted(set(SAMPLE)))
def test_a_tricky_program_is_the_same(name: str, tmp_path: Path) -> None:
    verdict = same.compare(same.programs()[name], "gradtape", tmp_path)
    assert verdict.differs == []
    assert verdict.said == []
