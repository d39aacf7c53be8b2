"""What `--fix` and `--diff` change: the lines that a trial has confirmed, and not a byte beside."""

from __future__ import annotations

import linecache
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gradtape.cli import main
from gradtape.doctor.entry.session import Session
from gradtape.doctor.fixing.files import Refused, SourceFile
from gradtape.doctor.fixing.patch import as_bytes
from gradtape.doctor.fixing.plan import confirmed, edits, rewritten
from gradtape.doctor.report import Report
from gradtape.doctor.source import place, sources
from gradtape.doctor.source.writing import replace
from gradtape.doctor.trace.finding import CONFIRMED, Finding, Verdict
from tests.commands import LIMIT, environment, gradtape

from .programs import PREAMBLE, run, seed
from .sections import HERE, sections
from .test_rules import CASES

pytestmark = pytest.mark.filterwarnings("ignore:::keras")
FILED = [(case.id, case.section) for case in CASES]
FILED += [(f"functions: {s.title}", s) for s in sections(HERE / "functions.md")]
EDITED = {name: s.failing for name, s in FILED if "\nedit" in s.expected}

LOST = """\
import numpy as np
import gradtape as tf

w = tf.Variable([1.0, 2.0])  # weights
for _ in range(3):
    with tf.GradientTape() as tape:
        y = np.tanh(w)  # leaves
        loss = tf.reduce_sum(y * y)
    grad = tape.gradient(loss, w)
"""
CURED = LOST.replace("np.tanh", "tf.tanh")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def visited(path: Path) -> Report:
    """The report on a program of a file, as the command makes it."""
    for kept in (sources._kept, linecache.cache):
        kept.pop(str(path), None)
    place.tree.cache_clear()
    place._by_span.cache_clear()
    place.nodes.cache_clear()
    seed()
    session = Session()
    run(SourceFile(str(path)).data, str(path), session)  # type: ignore[arg-type]
    assert not session.faults
    return Report(str(path), "gradtape", session.history, list(session.findings.values()))


def write(report: Report) -> Report:
    """Write what a report would change; the report on the program after that."""
    for file, (_, after) in report.plan().contents().items():
        replace(file, after)
    return visited(Path(report.script))


@pytest.mark.parametrize("text", EDITED.values(), ids=EDITED)
def test_what_is_confirmed_is_fixed(text: str, here: Path) -> None:
    path = here / "program.py"
    path.write_text(PREAMBLE + text)
    report = visited(path)
    sound, others = bool(report.history.gradients), {f.key for f in report.findings}
    for _ in range(4):
        plan = report.plan()
        ready = [f for f in report.findings if f.edit is not None and confirmed(f)]
        assert plan.findings == ready
        assert plan.left == []
        if not ready:
            break
        before = path.read_text().splitlines()
        report = write(report)
        now = path.read_text().splitlines()
        changed = {k + 1 for k, (a, b) in enumerate(zip(before, now, strict=True)) if a != b}
        assert changed == {place.line for finding in ready for place, _ in edits(finding)}
        left = {finding.key for finding in report.findings}
        assert not left & {finding.key for finding in ready}
    assert ready == []
    assert {finding.key for finding in report.findings} <= others
    assert report.history.gradients or not sound  # it still runs


# --- what is left as it is ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("coding", "end"),
    [
        ("utf-8", "\n"), ("utf-8", "\r\n"), ("utf-8", "\r"), ("utf-8-sig", "\r\n"),
        ("latin-1", "\n"), ("shift_jis", "\r\n"),
    ],
)  # fmt: skip
def test_all_other_bytes_survive(coding: str, end: str, here: Path) -> None:
    """Tabs, line ends, a byte order mark, characters of an encoding, no end of the last line."""
    word = "é" if coding == "latin-1" else "表\\u2028" if coding == "shift_jis" else "é表\u2028\x0c"
    head = "" if coding.startswith("utf") else f"# -*- coding: {coding} -*-\n"
    text = head + LOST.replace("    ", "\t").replace("# leaves", f"# {word}\t ") + f"'{word}'"
    path = here / "program.py"
    path.write_bytes(text.replace("\n", end).encode(coding))
    before, report = path.read_bytes(), visited(path)
    assert [finding.code for finding in report.findings] == ["GT103"]
    assert write(report).findings == []
    assert path.read_bytes() == before.replace(b"np.tanh", b"tf.tanh")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    w = w - g  # why", "w.assign_sub(g)", "    w.assign_sub(g)  # why"),
        ("\tx = f('#')\t#y ", "x = g('#')", "\tx = g('#')\t#y "),
        ("x = f(1)  # z", "x = f(2)  # z", "x = f(2)  # z"),
        ("a = (  # z", "b = (", "b = (  # z"),
    ],
)
def test_a_line_keeps_what_is_around_its_statement(old: str, new: str, said: str) -> None:
    assert rewritten(old, new) == said


def test_a_line_with_another_statement_is_left(here: Path) -> None:
    path = here / "program.py"
    path.write_text(
        "import gradtape as tf\nw = tf.Variable(1.0)\n"
        "for _ in range(3):\n    with tf.GradientTape() as tape: loss = w * w\n"
        "    g = tape.gradient(loss, w); w = w - g\n"
    )
    report = visited(path)
    assert report.findings[0].edit == "w.assign_sub(g)"
    assert report.plan().lines == {}
    assert report.plan().left[-1].endswith("line 5 of program.py cannot be written alone")


def test_only_what_a_trial_has_confirmed(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST)
    report = visited(path)
    (finding,) = report.findings
    assert report.plan().lines == {str(path): {7: "        y = tf.tanh(w)  # leaves"}}
    finding.verdict, finding.sure = Verdict("likely"), False
    assert report.plan().lines == {}


def test_a_file_that_has_changed_is_left(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST)
    report = visited(path)
    plan = report.plan()
    path.write_text("# one more line\n" + LOST)
    assert report.plan().lines == {}
    assert report.plan().left == ["GT103 is left: program.py has changed since it ran"]
    with pytest.raises(Refused, match="has changed since it ran"):
        plan.contents()


@pytest.mark.parametrize("folder", ["lib/site-packages/helper", "../elsewhere"])
def test_files_of_others_are_left(folder: str, here: Path) -> None:
    path = here / "work" / folder / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(LOST)
    (here / "work").mkdir(exist_ok=True)
    os.chdir(here / "work")
    report = visited(path)
    report.script = str(here / "work" / "program.py")
    assert len(report.findings) == 1
    assert report.plan().lines == {}
    assert report.plan().left[0].endswith("module.py is no file of the program's own")


def test_a_line_is_changed_by_the_first_who_wants_to(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST)
    report = visited(path)
    (first,) = report.findings
    second = Finding(*("GT101", "not-watched", "x", "none", "w", "loss", first.place, "m", "f"))
    second.edit, second.verdict = "y = w", Verdict(CONFIRMED)
    report.findings = [first, second]
    plan = report.plan()
    assert plan.findings == [first]
    assert plan.left == ["GT101 is left: another finding changes line 7 of program.py"]


def test_the_mode_stays_and_nothing_is_left_over(here: Path) -> None:
    path, link = here / "program.py", here / "link.py"
    path.write_text(LOST)
    path.chmod(0o750)
    link.symlink_to(path)
    write(visited(link))
    assert path.read_text() == CURED
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert link.is_symlink()
    assert sorted(file.name for file in here.iterdir()) == ["link.py", "program.py"]


# --- the patch ------------------------------------------------------------------------------------
@pytest.mark.parametrize("tool", ["git apply", "patch -p1"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("program.py", LOST),
        ("my program.py", LOST.rstrip("\n").replace("\n", "\r\n")),
        ("é.py", LOST.replace("    grad", "    # é 表\n    grad")),
    ],
)
def test_tools_apply_the_patch(tool: str, name: str, text: str, here: Path) -> None:
    command = tool.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"without {command[0]}")
    path = here / name
    path.write_bytes(text.encode())
    made = as_bytes(visited(path).to_patch())
    noise = b"what the program printed\n-- of the loss\n"  # it stands before the patch on a pipe
    subprocess.run(command, input=noise + made, check=True, capture_output=True)
    assert path.read_bytes() == text.replace("np.tanh", "tf.tanh").encode()


def test_a_healthy_program_has_an_empty_patch(here: Path) -> None:
    path = here / "program.py"
    path.write_text(CURED)
    assert visited(path).to_patch() == ""


# --- the command ----------------------------------------------------------------------------------
def test_the_command_fixes_and_runs_again(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST + "print(grad is None)\n")
    asked = gradtape("doctor", "--fix", "--strict", path, "--lr", "1")
    assert (asked.returncode, asked.stdout) == (3, "True\n")
    assert "-        y = np.tanh(w)  # leaves\n+        y = tf.tanh(w)  # leaves\n" in asked.stderr
    assert asked.stderr.endswith(
        "nothing was changed; with --fix --yes it changes 1 line of program.py\n"
    )
    assert path.read_text().startswith(LOST)
    done = gradtape("doctor", "--fix", "--yes", "--strict", path)
    assert (done.returncode, done.stdout) == (0, "True\nFalse\n")
    assert done.stderr.endswith(
        "gradtape doctor: changed 1 line of program.py; running it again\n"
        "gradtape doctor: fixed 1 finding, 3 gradients, all healthy\n"
    )
    assert path.read_text().startswith(CURED)
    quiet = gradtape("doctor", "--fix", path)
    assert (quiet.returncode, quiet.stderr) == (0, "gradtape doctor: 3 gradients, all healthy\n")


def test_a_read_only_file_is_left_and_said_to_be_one(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST)
    path.chmod(0o444)
    done = gradtape("doctor", "--fix", "--yes", path)
    assert done.returncode == 1
    assert "program.py: read-only, so nothing was changed; allow writing (chmod u+w)" in done.stderr
    assert path.read_text() == LOST
    assert [file.name for file in here.iterdir()] == ["program.py"]


def test_a_file_of_several_names_keeps_them(here: Path) -> None:
    path, other = here / "program.py", here / "other.py"
    path.write_text(LOST)
    other.hardlink_to(path)
    path.chmod(0o640)
    before = path.stat()
    done = gradtape("doctor", "--fix", "--yes", path)
    assert done.returncode == 0
    assert path.read_text() == other.read_text() == CURED
    after = path.stat()
    assert (after.st_ino, after.st_mode, after.st_nlink) == (before.st_ino, before.st_mode, 2)
    assert sorted(file.name for file in here.iterdir()) == ["other.py", "program.py"]


# A title for the window, a cleared screen, a link, a C1 control, an order of characters, a return.
WORST = "\x1b]0;title\x07\x1b[2J\x1b]8;;http://x\x1b\\\\link\x9b2J\u202eevil\u2066\rlone\x08"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.skipif(sys.platform == "win32", reason="names of files as POSIX has them")
@pytest.mark.parametrize("colors", [False, True])
def test_nothing_that_a_terminal_obeys_reaches_it(colors: bool, here: Path) -> None:
    """Lines of source and names of files are somebody else's words."""
    path = here / f"pro{WORST.replace('/', '')}gram.py"
    hidden = WORST.replace("\r", "").replace("\x00", "")  # in a line, a return would end it
    path.write_text(LOST.replace("# leaves", f"# leaves {hidden}"))
    color = {"FORCE_COLOR": "1", "NO_COLOR": ""} if colors else {}
    said = []
    for words in (
        ["doctor", path], ["doctor", "--format", "text", "--output", "-", path],
        ["doctor", "--format", "text", "--output", "report.txt", path],
        ["doctor", "--output", f"{path}.html", path], ["doctor", "--fix", path],
        ["doctor", "--fix", "--yes", path], ["explain", WORST], ["doctor", f"{WORST}.py"],
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "gradtape", *map(str, words)], capture_output=True, cwd=here,
            env={**environment(), **color}, stdin=subprocess.DEVNULL, check=False, timeout=LIMIT,
        )  # fmt: skip
        said += [done.stdout.decode(), done.stderr.decode()]
    said.append((here / "report.txt").read_text(encoding="utf-8"))
    for text in said:
        assert not OBEYED.findall(COLOURS.sub("", text) if colors else text), ascii(text)
    assert "leaves \\x1b]0;title" in said[0] + said[1]
    assert hidden in path.read_text()  # and --fix has kept all of it
    assert "tf.tanh" in path.read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of POSIX")
@pytest.mark.parametrize(("answer", "text"), [("y", CURED), ("", LOST)])
def test_on_a_terminal_it_asks(answer: str, text: str, here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST)
    ours, theirs = os.openpty()
    os.write(ours, f"{answer}\n".encode())
    command = [sys.executable, "-m", "gradtape", "doctor", "--fix", path]
    streams = {"stdin": theirs, "stdout": subprocess.PIPE, "stderr": theirs}
    with subprocess.Popen(command, env=environment(), **streams) as process:
        os.close(theirs)
        said = b""
        while b"healthy" not in said and b"nothing was changed" not in said:
            said += os.read(ours, 4096)
        assert process.wait(LIMIT) == 0
    os.close(ours)
    assert b"change 1 line of program.py? [y/N]" in said
    assert path.read_text() == text


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_program_that_is_terminated_is_left_as_it_is(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST + "print('ready', flush=True)\nimport time\nwhile True: time.sleep(0.1)\n")
    command = [sys.executable, "-m", "gradtape", "doctor", "--fix", "--yes", path]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment(), **streams) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGTERM
    assert "GT103 left-the-tape" in said
    assert said.endswith("gradtape doctor: the program was stopped, so nothing was changed\n")
    assert path.read_text().startswith(LOST)


def test_the_command_prints_a_patch_behind_the_programs_output(here: Path) -> None:
    path = here / "program.py"
    path.write_text(LOST + "print('out')\n")
    shown = gradtape("doctor", "--diff", path)
    assert shown.stdout.startswith("out\n--- a/program.py\n+++ b/program.py\n@@ -4,7 +4,7 @@\n")
    assert "GT103 left-the-tape" in shown.stderr
    assert path.read_text().startswith(LOST)
    written = gradtape("doctor", "--output", "fix.patch", path)
    assert written.stdout == "out\n"
    assert (here / "fix.patch").read_text() == shown.stdout.removeprefix("out\n")


def test_a_patch_has_the_bytes_of_the_file(here: Path) -> None:
    path = here / "program.py"
    path.write_bytes(("# coding: latin-1\n" + LOST.replace("# leaves", "# é")).encode("latin-1"))
    gradtape("doctor", "--output", "fix.patch", path)
    assert b"+        y = tf.tanh(w)  # \xe9\n" in (here / "fix.patch").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--yes", "x.py"], "argument --yes: it answers the question of --fix"),
        (["--fix", "-"], "argument --fix: it changes a file"),
        (["--fix", "--diff", "x.py"], "not allowed with argument --fix"),
        (["x.py", "--fix"], "gradtape doctor --fix x.py"),
    ],
)
def test_what_cannot_be_meant(words: list[str], said: str, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["doctor", *words])
    assert said in capsys.readouterr().err
