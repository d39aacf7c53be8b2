"""The README shows what its first command prints, CONTRIBUTING.md how ops are declared."""

import re
from pathlib import Path

from tests.commands import gradtape

ROOT = Path(__file__).parents[1]


def test_the_report_in_the_readme_is_real(monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition("```text\n")[2].partition("```")[0]
    monkeypatch.setenv("COLUMNS", "90")
    words = ("doctor", "--engine", "gradtape", "examples/doctor/lost_gradient.py")
    process = gradtape(*words, cwd=ROOT)
    assert process.stdout + process.stderr == shown


def test_declarations_in_contributing_stand_in_the_source():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Adding an op")[2].partition("\n## ")[0]
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "src/gradtape").rglob("*.py"))
    shown = re.findall(r"```python\n(.*?)```", section, re.S)
    assert len(shown) >= 3
    for block in shown:
        assert block.strip() in source
