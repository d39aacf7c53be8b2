"""The README shows what its first command prints."""

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
