"""The report as text and as data: what is in it, in which order, and how it fits a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent

import pytest

from gradtape.doctor.report import Exit, Report, words
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.trace.finding import Finding
from gradtape.doctor.trace.history import History

from .programs import PREAMBLE, diagnose
from .schema import faults

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())

LOOP = """
w = tf.Variable([1.0, 2.0])
b = tf.Variable(0.0)
for step in range(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w) + (tf.stop_gradient(b) if {lost} else b)
    dw, db = tape.gradient(loss, [w, b])
"""
WRONG = {
    "none": "x = tf.constant(3.0)\nwith tf.GradientTape() as t:\n    y = x * x\nt.gradient(y, x)\n",
    "nan": """
        v = tf.Variable([0.0, 1.0])
        with tf.GradientTape() as tape:
            s = tf.reduce_sum(tf.sqrt(v) * 0.0)
        tape.gradient(s, v)
        """,
    "zero": """
        v = tf.Variable([-1.0, -2.0])
        with tf.GradientTape() as tape:
            s = tf.reduce_sum(tf.nn.relu(v))
        tape.gradient(s, v)
        """,
    "error": """
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            s = v * v
        tape.gradient(s, v)
        tape.gradient(s, v)
        """,
    "loop": LOOP.replace("{lost}", "step > 2"),
    "healthy": LOOP.replace("{lost}", "False"),
    "nothing": "",
}


def report_on(text: str) -> Report:
    session = diagnose(PREAMBLE + dedent(text))
    return Report("program.py", "gradtape", session.history, list(session.findings.values()))


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_data_is_as_the_schema_says(text: str) -> None:
    made = json.loads(json.dumps(report_on(text).to_json(), allow_nan=False))
    assert list(faults(made, SCHEMA)) == []


@pytest.mark.parametrize(
    "rule", [r for r in CATALOGUE if r.needs != "the real TensorFlow"], ids=lambda r: r.name
)
def test_every_rule_makes_data_as_the_schema_says(rule) -> None:
    assert list(faults(report_on(rule.failing).to_json(), SCHEMA)) == []


def test_the_check_of_the_schema_sees_faults() -> None:
    made = report_on(WRONG["none"]).to_json()
    made["findings"][0]["state"] = "well"
    made["findings"][0]["place"].pop("line")
    made["exit"]["code"] = True
    made["extra"] = 1
    assert len(list(faults(made, SCHEMA))) == 4


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_sarif_has_what_the_standard_requires(text: str) -> None:
    made = json.loads(json.dumps(report_on(text).to_sarif(), allow_nan=False))
    assert (made["version"], len(made["runs"])) == ("2.1.0", 1)
    run = made["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert isinstance(run["invocations"][0]["executionSuccessful"], bool)
    for result in run["results"]:
        assert result["message"]["text"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        for location in [*result["locations"], *result.get("relatedLocations", [])]:
            physical = location["physicalLocation"]
            assert not set(physical["artifactLocation"]["uri"]) & set(" <>\\")
            assert 1 <= physical["region"]["startLine"] <= physical["region"]["endLine"]


# --- words ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("steps", "asked", "said"),
    [
        ([], 1, ""),
        ([1], 1, ""),
        ([1], 500, "in step 1 of 500"),
        ([37], 500, "in step 37 of 500"),
        (range(1, 501), 500, "in all 500 steps"),
        (range(37, 501), 500, "from step 37 on (of 500)"),
        (range(1, 4), 500, "in the first 3 of 500 steps"),
        (range(3, 6), 500, "in steps 3 to 5 of 500"),
        ([2, 5, 9], 500, "in 3 of 500 steps, first in step 2"),
        (range(1, 20_001), 20_000, "in all 20,000 steps"),
    ],
)
def test_steps_are_folded(steps, asked: int, said: str) -> None:
    assert words.steps(_finding(steps=list(steps), asked=asked)) == said


@pytest.mark.parametrize(
    ("steps", "checked", "said"),
    [
        ([1, 2, 3, 4, 16, 64], [1, 2, 3, 4, 16, 64], "in steps 1-300 (checked in 6 of them)"),
        ([16, 64], [1, 2, 3, 4, 16, 64], "in steps 16-300 (checked in 2 of them)"),
        ([1, 2, 3], [1, 2, 3, 4, 16], "in steps 1-3 of 300 (checked in 3 of them)"),
        ([4], [1, 2, 3, 4, 16], "in step 4 of 300 (5 of them were checked)"),
        ([1], [1], "in step 1 of 300 (no other was checked)"),
        ([1, 16], [1, 2, 16, 64],
         "in 2 of the 4 steps that were checked (of 300), first in step 1"),
        (range(1, 301), range(1, 301), "in all 300 steps"),
    ],
)  # fmt: skip
def test_what_was_not_checked_is_not_claimed(steps, checked, said: str) -> None:
    found = _finding(steps=list(steps), checked=list(checked), asked=300, state="wrong")
    assert words.steps(found) == said


def test_a_loop_is_told_once() -> None:
    text = report_on(WRONG["loop"]).to_text()
    assert text.count("GT124") == 2  # its head, and how to learn more
    assert "when      from step 4 on (of 8)" in text
    everywhere = report_on(LOOP.replace("{lost}", "True")).to_text()
    assert "when      in all 8 steps" in everywhere


def test_findings_come_in_the_order_to_look_at_them() -> None:
    made = [_finding(state=s) for s in ("vanishing", "zero", "nan", "none", "error", "wrong")]
    made.append(_finding(state="error", sure=False))
    states = [(f.state, f.sure) for f in Report("", "gradtape", History(), made).findings]
    assert [state for state, sure in states if sure] == [
        "error", "nan", "none", "zero", "wrong", "vanishing",
    ]  # fmt: skip
    assert states[-1] == ("error", False)


def _finding(**given) -> Finding:
    state = given.pop("state", "none")
    return Finding("GT101", "not-watched", "not-watched", state, "x", "y", None, "m", "f", **given)


# --- text -----------------------------------------------------------------------------------------
def test_a_healthy_program_has_one_line() -> None:
    zero = report_on("""\
        w = tf.Variable(0.0)
        with tf.GradientTape() as tape:
            loss = w * w
        grad = tape.gradient(loss, w)
    """)
    assert zero.to_text().endswith("gradtape doctor: 1 gradient (1 zero), no fault found\n")
    assert report_on(WRONG["healthy"]).to_text() == "gradtape doctor: 16 gradients, all healthy\n"
    assert report_on("").to_text() == "gradtape doctor: no gradient was asked for\n"


def test_a_wrong_gradient_is_not_called_ok() -> None:
    report = report_on("""\
        w = tf.Variable([1.0, 2.0])
        y = tf.constant([[0.5], [1.5]])
        for _ in range(40):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(w - y))
            w.assign_sub(0.1 * tape.gradient(loss, w))
    """)
    text = report.to_text()
    assert "GT501 broadcast-mismatch" in text
    assert "in steps 1-40 (checked in 5 of them)" in text
    assert "40 steps, 5 of them checked)\n  w       wrong  " in text


def test_the_path_goes_by_what_is_beside_it() -> None:
    report = report_on("""\
        w = tf.Variable([1.0, 2.0])
        mask = tf.constant([1.0, 0.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_max(tf.exp(w + (1.0 - mask) * -np.inf)) + tf.nn.l2_loss(w)
        tape.gradient(loss, w)
    """)
    (finding,) = report.findings
    assert finding.code == "GT308"
    assert finding.path == ["w", "[add]", "exp", "reduce_max", "add", "loss"]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_the_text_keeps_to_the_width(width: int, text: str) -> None:
    for line in report_on(text).to_text(width).splitlines():
        assert len(line) <= width, line


def test_long_lines_are_cut_around_the_culprit() -> None:
    long = "v = tf.Variable([1.0])\nwith tf.GradientTape() as tape:\n    s = tf.reduce_sum("
    long += " + ".join(f"float_{k:02}" for k in range(12)) + " + tf.stop_gradient(v))\n"
    names = "\n".join(f"float_{k:02} = {k}.0" for k in range(12))
    text = report_on(f"{names}\n{long}tape.gradient(s, v)\n").to_text(80)
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if "^^^" in line)
    begin, end = lines[at].index("^"), lines[at].rindex("^") + 1
    assert lines[at - 1][begin:end] == "tf.stop_gradient(v)"
    assert all(len(line) <= 80 for line in lines)


def test_a_table_of_many_rows_counts_those_that_are_well() -> None:
    text = report_on("""
        ws = [tf.Variable(1.0) for _ in range(60)]
        with tf.GradientTape() as tape:
            loss = tf.add_n([w * w for w in ws[1:]]) + tf.stop_gradient(ws[0])
        tape.gradient(loss, ws)
        """).to_text()
    assert "  … 59 sources, all ok" in text
    assert text.count("ws[") < 12


def test_only_the_first_findings() -> None:
    report = report_on("""
        x, y = tf.constant(1.0), tf.constant(2.0)
        with tf.GradientTape(persistent=True) as tape:
            a = x * x
            b = y * y
        tape.gradient(a, x)
        tape.gradient(b, y)
        """)
    assert len(report.findings) == 2
    assert "… and 1 more finding (--max-findings)" in report.to_text(most=1)
    assert len(report.to_json(most=1)["findings"]) == 1
    assert len(report.to_sarif(most=0)["runs"][0]["results"]) == 0


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_the_marked_part_stays_in_sight(width: int) -> None:
    long = " + ".join(["tf.reduce_sum(w)"] * 5)
    for text in (f"{long} + tf.stop_gradient(v) + {long}", f"tf.stop_gradient(v) + {long}"):
        program = f"""
            w, v = tf.Variable(1.0), tf.Variable(1.0)
            with tf.GradientTape() as tape:
                loss = {text}
            tape.gradient(loss, [w, v])
            """
        lines = report_on(program).to_text(width).splitlines()
        at = next(k for k, line in enumerate(lines) if "^^^" in line)
        begin, end = lines[at].index("^"), lines[at].rindex("^") + 1
        assert lines[at - 1][begin:end] == "tf.stop_gradient(v)"
        assert lines[at - 1].endswith("…")
        assert ("│ …" in lines[at - 1]) == (not text.startswith("tf.stop"))


def test_only_headings_are_bold() -> None:
    shown = report_on(WRONG["none"]).to_text(color=True)
    bold = re.findall(r"\x1b\[(?:\d+;)*1(?:;\d+)*m([^\x1b]*)", shown)
    assert {word.strip() for word in bold} >= {"path", "cause", "fix", "gradtape doctor:"}
    (finding,) = report_on(WRONG["none"]).findings
    assert not any(finding.message[:20] in word or "d " in word[:3] for word in bold)


def test_the_source_has_colours_and_the_culprit_is_bright() -> None:
    lines = report_on(WRONG["loop"]).to_text(color=True).splitlines()
    rows = [line for line in lines if "│" in line and "^" not in line]
    assert any(re.search(r"\x1b\[(2;)?94", line) for line in rows)
    for line in rows:
        code = line.partition("│")[2]
        assert ("\x1b[2m" in code or "\x1b[2;" in code) == ("▸" not in line)


def test_tabs_are_four_columns() -> None:
    text = "w = tf.Variable(1.0)\nwith tf.GradientTape() as tape:\n\ta = 1; b = tf.floor(w)\n"
    lines = report_on(text + "tape.gradient(b, w)\n").to_text().splitlines()
    at = next(k for k, line in enumerate(lines) if "^^^" in line)
    begin, end = lines[at].index("^"), lines[at].rindex("^") + 1
    assert lines[at - 1][begin:end] == "tf.floor(w)"


def test_colours_only_when_asked_for() -> None:
    report = report_on(WRONG["none"])
    assert "\x1b[" not in report.to_text()
    assert "\x1b[" in report.to_text(color=True)


@pytest.mark.parametrize(
    ("file", "said"),
    [("sub/program.py", "sub/program.py"), ("<string>", "<string>"), ("/elsewhere/p.py", "p.py")],
)
def test_files_as_the_reader_knows_them(file: str, said: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert words.shown(file) == said
    assert words.shown(str(tmp_path / "sub" / "program.py")) == str(Path("sub", "program.py"))


def test_an_end_that_is_well() -> None:
    assert Exit().well
    assert Exit("exit", "", 0).well
    assert not Exit("exit", "", 4).well
    assert not Exit("exception", "ValueError", 1).well
