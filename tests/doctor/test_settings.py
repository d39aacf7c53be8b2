"""What is left out of a report: by a comment, by pyproject.toml, by a baseline."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gradtape.cli import main
from gradtape.doctor.entry import settings
from gradtape.doctor.report import Report, baseline, words
from tests.commands import gradtape

from .test_fixing import visited

LOST = """\
import numpy as np
import gradtape as tf

w, v = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = np.tanh(  # inner
        w
    )
    loss = tf.reduce_sum(y * y) + v * v
dw, dv = tape.gradient(
    loss, [w, v]
)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_on(text: str, here: Path) -> Report:
    path = here / "program.py"
    path.write_text(text)
    return visited(path)


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


# --- comments -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "comment", "hidden"),
    [
        ("y = np.tanh(  # inner", "# gradtape: ignore[GT103]", True),
        ("y = np.tanh(  # inner", "# gradtape:ignore [ left-the-tape , GT120 ]", True),
        ("y = np.tanh(  # inner", "# gradtape: ignore", True),
        ("y = np.tanh(  # inner", "# noqa # gradtape: ignore[gt103] (known)", True),
        ("    )\n    loss", "    )  # gradtape: ignore[GT103]\n    loss", True),
        ("dw, dv = tape.gradient(", "# gradtape: ignore[GT103]", True),
        ("y = np.tanh(  # inner", "# gradtape: ignore[GT101]", False),
        ("y = np.tanh(  # inner", "# gradtape: ignored", False),
        ("        w\n", "        w  # gradtape: ignore[GT103]\n", False),
        ("import numpy as np", "# gradtape: ignore[GT103]", False),
        ("import numpy as np", "'# gradtape: ignore'", False),
    ],
)
def test_a_comment_where_it_is(line: str, comment: str, hidden: bool, here: Path) -> None:
    assert codes(report_on(LOST, here)) == ["GT103"]
    if "\n" in line:
        text = LOST.replace(line, comment)
    else:
        text = LOST.replace(line, line.removesuffix("  # inner") + "  " + comment)
        text = text.replace("np  '#", "np; '#")
    report = report_on(text, here)
    assert codes(report) == ([] if hidden else ["GT103"])
    assert len(report.ignored) == hidden
    assert report.to_json()["ignored"] == hidden
    if hidden:
        assert words.summary(report) == "no finding in 2 gradients, 1 ignored"


def test_a_rule_that_there_is_not_is_told_once(here: Path) -> None:
    text = LOST.replace("# inner", "# gradtape: ignore[left-the-tap, GT103]")
    report = report_on(text, here)
    assert codes(report) == []
    told = "program.py:6: there is no rule `left-the-tap`; did you mean `left-the-tape`?"
    assert report.notes == [told]
    report.complete(report.ignored, [])
    assert report.notes == [told]
    assert report.to_text().count(told) == 1


def test_a_rule_that_there_is_not_is_told_where_nothing_is_found(here: Path) -> None:
    text = LOST.replace("np.tanh", "tf.tanh").replace("# inner", "# gradtape: ignore[GT121x]")
    report = report_on(text, here)
    assert report.findings == report.ignored == []
    assert report.notes == ["program.py:6: there is no rule `GT121x`; did you mean `GT121`?"]


# --- pyproject.toml -------------------------------------------------------------------------------
def told(here: Path, text: str) -> dict:
    (here / "pyproject.toml").write_text("[tool.gradtape]\n" + text)
    return settings.read(here)


def test_settings_are_read_from_the_nearest_table(here: Path) -> None:
    inner = here / "project" / "scripts"
    inner.mkdir(parents=True)
    assert settings.read(inner) == {}
    assert told(
        here, 'ignore = ["GT120", "left-the-tape"]\noutput = "r.html"\nfail-fast = true'
    ) == {
        "ignore": ["GT120", "left-the-tape"],
        "output": str(here / "r.html"),
        "fail-fast": ("nan", "inf", "none", "zero", "wrong", "exploding", "vanishing"),
    }
    (here / "project" / "pyproject.toml").write_text("[tool.other]\n")
    assert settings.read(inner)["fail-fast"][0] == "nan"
    (here / "project" / "pyproject.toml").write_text("[tool.gradtape]\nquiet = true\n")
    assert settings.read(inner) == {"quiet": True}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strikt = true", "has no setting 'strikt'; did you mean 'strict'?"),
        ("fail_fast = true", "has no setting 'fail_fast'; did you mean 'fail-fast'?"),
        ("zzz = true", "has no setting 'zzz'; there are ignore, strict, "),
        ('strict = "yes"', "strict = 'yes': it takes true or false"),
        ("strict = 1", "strict = 1: it takes true or false"),
        ('ignore = "GT120"', "it takes a list of codes or names of rules"),
        ('ignore = ["GT121x"]', "ignore: there is no rule `GT121x`; did you mean `GT121`?"),
        ("output = 3", "it takes the name of a file"),
        ('fail-fast = ["nil"]', "it takes true, false or a list of some of nan, inf, none, "),
        ("strict = ", "is no TOML"),
    ],
)
def test_a_wrong_setting_is_told_before_the_program_runs(
    text: str, said: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "program.py").write_text("print('ran')")
    with pytest.raises(settings.WrongSetting):
        told(here, text)
    with pytest.raises(SystemExit):
        main(["doctor", "program.py"])
    printed, error = capsys.readouterr()
    assert printed == ""
    assert "pyproject.toml" in error
    assert said in error


def test_the_command_line_wins(here: Path) -> None:
    (here / "program.py").write_text(LOST)
    told(here, "strict = true")
    assert gradtape("doctor", here / "program.py", cwd=os.sep).returncode == 3
    assert gradtape("doctor", "--no-strict", "program.py").returncode == 0
    told(here, 'strict = true\nignore = ["left-the-tape"]\noutput = "report.txt"')
    process = gradtape("doctor", here / "program.py", cwd=os.sep)
    assert process.returncode == 0
    text = (here / "report.txt").read_text()
    assert text == "gradtape doctor: no finding in 2 gradients, 1 ignored\n"
    assert gradtape("doctor", "--ignore", "GT101", "program.py").returncode == 3


# --- the baseline ---------------------------------------------------------------------------------
def test_what_a_baseline_has_is_known_wherever_it_moves(here: Path) -> None:
    report = report_on(LOST, here)
    (here / "ci").mkdir()
    file = here / "ci" / "baseline.json"
    file.write_text(baseline.written(report.findings, str(file.parent)))
    known = baseline.read(str(file))
    moved = report_on("# a line\n" + LOST.replace("    y = ", "    y  = "), here)
    moved.baseline = known
    moved.complete(moved.findings, [])
    assert (codes(moved), len(moved.known)) == ([], 1)
    assert words.summary(moved) == "no new finding in 2 gradients, 1 known"
    other = report_on(LOST.replace("np.tanh", "np.sin"), here)
    other.baseline = known
    other.complete(other.findings, [])
    assert (codes(other), other.known) == (["GT103"], [])


def test_a_line_in_a_baseline_stands_for_one_finding(here: Path) -> None:
    (finding,) = report_on(LOST, here).findings
    entry = baseline.entry(finding, str(here))
    new, known = baseline.Baseline([entry], str(here)).divide([finding, finding])
    assert (len(new), len(known)) == (1, 1)


def test_the_command_writes_a_baseline_and_reads_it(here: Path) -> None:
    (here / "program.py").write_text(LOST)
    words = ["doctor", "--strict", "--baseline", "known.json", "program.py"]
    missing = gradtape(*words)
    assert missing.returncode == 2
    assert "--write-baseline known.json writes it" in missing.stderr
    assert gradtape("doctor", "--write-baseline", "known.json", "program.py").returncode == 0
    assert [f["code"] for f in json.loads((here / "known.json").read_text())["findings"]] == [
        "GT103"
    ]
    again = gradtape(*words)
    assert again.returncode == 0
    assert again.stderr == "gradtape doctor: no new finding in 2 gradients, 1 known\n"


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', '{"version": 1, "findings": [{}]}'])
def test_a_file_that_is_no_baseline(text: str, here: Path) -> None:
    (here / "b.json").write_text(text)
    with pytest.raises(baseline.NoBaseline, match=r"b\.json is "):
        baseline.read("b.json")


def test_what_is_left_out_is_not_said_at_first_sight_and_stops_nothing(here: Path) -> None:
    (here / "program.py").write_text(LOST.replace("\n", "  # gradtape: ignore\n"))
    process = gradtape("doctor", "--fail-fast", "program.py")
    assert process.returncode == 0
    assert "step 1" not in process.stderr
    assert "1 ignored" in process.stderr
