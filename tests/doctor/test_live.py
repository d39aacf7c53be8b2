"""What the doctor does while the program runs: nothing of it changes the run or its report."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from textwrap import dedent
from typing import Any
from urllib.parse import urlsplit

import pytest

from gradtape import cli
from gradtape.doctor.entry import settings
from gradtape.doctor.entry.following import Follower
from gradtape.doctor.entry.session import Session
from gradtape.doctor.live.lines import Lines
from gradtape.doctor.report import Report
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.trace import Asked
from tests.commands import LIMIT, environment, gradtape

from .browser import Browser
from .programs import PREAMBLE, diagnose, seed
from .screen import Screen, read
from .sections import file_of, sections
from .truth import Truthful

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of POSIX")
STEPS = """\
import os, sys, time
import tensorflow as tf
w1, b, x = tf.Variable([[0.5, 0.2]]), tf.Variable(0.1), tf.constant([[3.0], [1.0]])
def step():
    with tf.GradientTape() as tape:
        h = tf.constant((x @ w1).numpy())
        loss = tf.reduce_mean(tf.square(h + b))
    b.assign_sub(0.01 * tape.gradient(loss, [w1, b])[1])
"""
SIGHT = "gradtape: step 1: d loss/d w1 is None, left-the-tape (GT103), program.py:6\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_program(text: str, before: str = STEPS) -> Path:
        path = tmp_path / "program.py"
        path.write_text(before + dedent(text))
        return path

    return write_program


def examine(path: Path, *words: Any, **options: Any) -> subprocess.CompletedProcess:
    return gradtape("doctor", *words, path.name, cwd=path.parent, **options)


@contextlib.contextmanager
def started(path: Path, *words: str, **streams: Any) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "gradtape", "doctor", *words, path.name]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **streams}
    # A test runner in the background may have handed down that Ctrl-C is to be ignored.
    pipes["preexec_fn"] = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, cwd=path.parent, env=environment(), **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


# --- the report so far ----------------------------------------------------------------------------
class Asking(Truthful):
    """A session that is asked for all it knows after every query."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked_for = 0
        self.follower = self._ask

    def _ask(self, asked: Asked) -> None:
        self.asked_for += 1
        for whole in (False, True):
            history, findings = self.so_far(whole)
            assert Report("", "gradtape", history, findings).to_json()


# One program of each rule, and those whose faults show only over the whole run.
PROGRAMS = [
    (rule.name, section) for rule in CATALOGUE
    if file_of(rule).exists() and rule.needs != "the real TensorFlow"
    for section in sections(file_of(rule))[:1]
    if "tf.queue" not in section.failing
]  # fmt: skip


def told(session: Session) -> Any:
    findings = list(session.findings.values())
    made = Report("", "gradtape", session.history, findings).to_json()
    # Keras counts its layers on, and so do we the programs.
    return re.sub(r"<program \d+>|(?<=[a-z])_\d+\b", "", json.dumps(made))


@pytest.mark.filterwarnings("ignore:::keras")
@pytest.mark.parametrize(("name", "section"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_to_be_asked_changes_nothing(name: str, section: Any, monkeypatch: Any) -> None:
    text = PREAMBLE + section.failing
    seed()
    plain = diagnose(text)
    seed()
    monkeypatch.setattr("tests.doctor.programs.Truthful", Asking)
    asked = diagnose(text)
    assert told(asked) == told(plain)


# --- at first sight -------------------------------------------------------------------------------
class Followed(Truthful):
    """A session with a follower, and what that says."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.said = io.StringIO()
        Follower(self, Lines(self.said))


@pytest.mark.filterwarnings("ignore:::keras")
@pytest.mark.parametrize(("name", "section"), PROGRAMS, ids=[name for name, _ in PROGRAMS])
def test_nothing_is_said_that_the_report_does_not_say(
    name: str, section: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("tests.doctor.programs.Truthful", Followed)
    for text in (section.failing, section.cured):
        session: Any = diagnose(PREAMBLE + (text or ""))
        lines = session.said.getvalue().splitlines()
        said = [found for line in lines for found in re.findall(r"\((GT\d+)\)", line)]
        assert len(said) == len(lines) == len(set(lines))
        assert set(said) <= {finding.code for finding in session.findings.values()}
        lost = [f for f in session.findings.values() if f.state == "none"]
        assert {f.code for f in lost} <= set(said)


HARMLESS = {
    "a loss that comes to nothing": """\
w = tf.Variable(1.0)
for _ in range(60):
    with tf.GradientTape() as tape:
        loss = tf.nn.relu(w - 0.5) ** 2
    w.assign_sub(0.6 * tape.gradient(loss, w))
""",
    "an overflow that is left out": """\
w = tf.Variable(tf.constant([0.5, 0.25]))
scale = 2.0 ** 20
for _ in range(12):
    with tf.GradientTape() as tape:
        half = tf.cast(w, tf.float16)
        loss = tf.reduce_sum(half * half) * tf.cast(scale, tf.float16)
    gradient = tape.gradient(loss, w)
    if np.isfinite(gradient).all():
        w.assign_sub(0.1 * gradient / scale)
    else:
        scale /= 2.0
""",
    "a batch without an entry": """\
w = tf.Variable([1.0, 2.0])
for k in range(20):
    mask = tf.zeros(2) if k < 2 else tf.ones(2)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w) * mask)
    w.assign_sub(0.01 * tape.gradient(loss, w))
""",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_nothing_is_said_of_what_turns_out_to_be_harmless(text: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.doctor.programs.Truthful", Followed)
    session: Any = diagnose(PREAMBLE + text)
    assert session.said.getvalue() == ""
    assert list(session.findings.values()) == []


def test_zeros_are_said_when_they_last(monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.doctor.programs.Truthful", Followed)
    text = """\
w = tf.Variable(1.0)
for k in range(steps):
    with tf.GradientTape() as tape:
        loss = tf.nn.relu(w - 5.0) + 1.0
    tape.gradient(loss, w)
"""
    few: Any = diagnose(f"{PREAMBLE}steps = 9\n{text}")
    assert few.said.getvalue() == ""
    many: Any = diagnose(f"{PREAMBLE}steps = 12\n{text}")
    assert many.said.getvalue().startswith("gradtape: step 1: d loss/d w is zero, dead-relu (GT")


def test_a_fault_is_said_while_the_program_runs(write) -> None:
    path = write("while True:\n    step()\n")
    with started(path) as process:
        assert process.stderr.readline() == SIGHT


def test_each_kind_is_said_once(write) -> None:
    path = write("for _ in range(40):\n    step()\n")
    assert examine(path).stderr.count("gradtape: ") == 1
    assert "gradtape: " not in examine(path, "--quiet").stderr


def test_what_is_not_wanted_is_not_said(write) -> None:
    path = write("step()\n", STEPS.replace(".numpy())\n", ".numpy())  # gradtape: ignore[GT103]\n"))
    process = examine(path, "--fail-fast")
    assert process.returncode == 0
    assert "gradtape: " not in process.stderr
    path = write("step()\nprint('went on')\n")
    examine(path, "--write-baseline", "known.json")
    process = examine(path, "--fail-fast", "--baseline", "known.json")
    assert (process.returncode, process.stdout) == (0, "went on\n")
    assert "gradtape: " not in process.stderr


def test_what_reads_the_report_reads_nothing_else(write) -> None:
    process = examine(write("step()\n"), "--format", "json")
    assert [f["code"] for f in json.loads(process.stderr)["findings"]] == ["GT103"]


def test_a_line_is_never_in_the_middle_of_another(write, tmp_path) -> None:
    path = write("""
        os.write(2, b"half a line")
        sys.stderr.write("held back")
        step()
        sys.stderr.write(" and whole\\n")
        """)
    with (tmp_path / "err.txt").open("w") as file:
        command = [sys.executable, "-m", "gradtape", "doctor", path.name]
        variables = {**environment(), "PYTHONUNBUFFERED": ""}
        subprocess.run(command, cwd=tmp_path, stderr=file, env=variables, check=True)
    lines = (tmp_path / "err.txt").read_text().splitlines(keepends=True)
    assert lines[:3] == ["half a line\n", SIGHT, "held back and whole\n"]


@POSIX
@pytest.mark.parametrize("end", ["sys.stderr.close()", "os.close(2)", "sys.stderr = None"])
def test_without_standard_error(end: str, write) -> None:
    path = write(f"{end}\nstep()\nprint('done')\n")
    process = examine(path)
    assert (process.returncode, process.stdout) == (0, "done\n")


@POSIX
def test_a_child_process_says_nothing(write, tmp_path) -> None:
    path = write("""
        if os.fork():
            os.wait()
        else:
            step()
            os._exit(0)
        """)
    process = examine(path, "--output", "report.json")
    assert process.stderr == "gradtape doctor: no gradient was asked for: report.json\n"


# --- on a terminal --------------------------------------------------------------------------------
CHAT = """\
import ctypes, subprocess
import tensorflow as tf
w = tf.Variable(0.5)
libc, end, k = ctypes.CDLL(None), time.monotonic() + 2.5, 0
while time.monotonic() < end:
    with tf.GradientTape() as tape:
        loss = tf.square(w * 3.0 - 1.0)
    tape.gradient(loss, w)
    k += 1
    if k % 50 == 0:
        print("half", end="", flush=True)
        with tf.GradientTape() as tape:
            loss = tf.square(tf.constant(2.0) * w)
        lost = tape.gradient(loss, [w, b])
        print(" and half", k)
        os.write(1, b"raw\\n")
        libc.puts(b"from C")
        libc.fflush(None)
        subprocess.run(["echo", "from a child"])
        sys.stderr.write("to standard error\\n")
print("ended")
"""


def on_terminal(path: Path, *words: str, **more: str) -> tuple[Screen, str]:
    """The screen after a program has run on a terminal, and all that was written to it."""
    import fcntl
    import pty
    import struct
    import termios

    screen = Screen()
    ours, theirs = pty.openpty()
    size = struct.pack("HHHH", screen.rows, screen.columns, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    variables = {**environment(), "TERM": "xterm", "NO_COLOR": "", **more}
    command = [sys.executable, "-m", "gradtape", "doctor", *words, path.name]
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(command, cwd=path.parent, env=variables, **streams):
        os.close(theirs)
        written = read(ours)
    screen.feed(written)
    return screen, written.decode()


@POSIX
def test_the_status_mixes_with_nothing_that_anybody_writes(write) -> None:
    screen, written = on_terminal(write(CHAT))
    assert re.search(r"gradtape 0:00:0\d · step [\d,]+ · loss 0.25 · ", written)
    lines = screen.lines[: screen.lines.index("ended")]
    said = [line for line in lines if line.startswith("gradtape")]
    assert said == ["gradtape: step 1: d loss/d b is None, unused-variable (GT120), program.py:3"]
    rest = [line for line in lines if line not in said]
    ours = ("half and half 50", "half", " and half 50")  # the fault is said after half a line
    assert [line for line in rest[:3] if line not in ours] == ["raw"]
    block = {"raw", "from C", "from a child", "to standard error"}
    assert {re.sub(r"\d+", "", line) for line in rest} - {"half", " and half "} == (
        block | {"half and half "}
    )
    assert screen.margins == (0, screen.rows - 1)
    assert "gradtape 0:" not in "\n".join(screen.lines)


@POSIX
@pytest.mark.parametrize(("words", "more"), [(("--quiet",), {}), ((), {"TERM": "dumb"})])
def test_without_a_status(words: tuple, more: dict, write) -> None:
    _, written = on_terminal(write(CHAT.replace("2.5", "1.5")), *words, **more)
    assert "gradtape 0:" not in written
    assert ("gradtape: " in written) == (not words)


# --- stopping -------------------------------------------------------------------------------------
ENDLESS = """\
import atexit, threading
atexit.register(print, "handler")
try:
    while True:
        step()
finally:
    print("finally")
"""


def test_fail_fast_stops_the_program(write) -> None:
    path = write(ENDLESS)
    process = examine(path, "--fail-fast", "--output", "report.json")
    assert (process.returncode, process.stdout) == (3, "finally\nhandler\n")
    report = json.loads((path.parent / "report.json").read_text())
    assert report["exit"]["kind"] == "stopped"
    assert report["queries"][0]["step"] == 1
    assert "Traceback" not in process.stderr


def test_fail_fast_of_other_states_does_not(write) -> None:
    path = write("for _ in range(3):\n    step()\n")
    assert examine(path, "--fail-fast=nan,zero").returncode == 0
    assert examine(path, "--fail-fast=nan,none").returncode == 3


def test_fail_fast_knows_at_the_end_what_it_could_not_know_before(write) -> None:
    path = write("""
        w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = tf.nn.relu(w - 5.0) + 1.0
        tape.gradient(loss, w)
        """)
    assert examine(path, "--fail-fast").returncode == 3


def test_the_command_and_the_settings_know_the_same_states() -> None:
    assert set(cli.STOPPING) == set(settings.STATES)


def test_fail_fast_names_states(write) -> None:
    process = examine(write("print('ran')"), "--fail-fast=nan,no")
    assert (process.returncode, process.stdout) == (2, "")
    assert "'no' is no state of a gradient; name some of none, zero" in process.stderr


@POSIX
def test_fail_fast_from_a_thread_ends_the_program(write) -> None:
    path = write("""
        import threading
        threading.Thread(target=step).start()
        try:
            threading.Event().wait()
        finally:
            print("finally")
        """)
    process = examine(path, "--fail-fast")
    assert (process.returncode, process.stdout) == (3, "finally\n")


def test_an_interrupt_of_a_question_is_no_answer() -> None:
    session: Any = diagnose(
        PREAMBLE
        + """\
@tf.custom_gradient
def interrupted(x):
    def grad(g):
        raise KeyboardInterrupt
    return x * x, grad

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = interrupted(w)
try:
    tape.gradient(loss, w)
except KeyboardInterrupt:
    pass
"""
    )
    assert not session.history.records


# --- files ----------------------------------------------------------------------------------------
@POSIX
@pytest.mark.parametrize("name", ["report.json", "report.html", "report.sarif", "report.txt"])
def test_a_killed_program_leaves_its_report(name: str, write) -> None:
    path = write("while True:\n    step()\n")
    with started(path, "--output", name) as process:
        text = until(lambda: (found := path.with_name(name)).exists() and found.read_text())
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT)
    assert "GT103" in text
    assert ("still running" if name != "report.sarif" else '"executionSuccessful": false') in text
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(".")] == []


def test_a_report_keeps_what_the_file_was(write, tmp_path) -> None:
    path, output = write("step()\n"), tmp_path / "kept.json"
    output.write_text("old")
    output.chmod(0o640)
    link = tmp_path / "report.json"
    link.symlink_to(output)
    examine(path, "--output", link.name)
    assert link.is_symlink()
    assert json.loads(output.read_text())["exit"]["kind"] == "ok"
    assert output.stat().st_mode & 0o777 == 0o640


@POSIX
@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("import shutil; os.mkdir('out'); os.chdir('out'); shutil.rmtree('../gone')", "No such"),
        ("os.rename('gone', 'there'); open('gone', 'w').close()", "Not a dir"),
    ],
)
def test_a_folder_that_is_gone(before: str, words: str, write, tmp_path) -> None:
    (tmp_path / "gone").mkdir()
    process = examine(write(f"{before}\nstep()\nprint('done')\n"), "--output", "gone/report.json")
    assert (process.returncode, process.stdout) == (0, "done\n")
    assert process.stderr.count(f"({words}") == 2  # now, and at the end
    assert process.stderr.endswith("gradtape doctor: 1 finding in 2 gradients\n")


@POSIX
def test_a_device_is_written_once(write) -> None:
    process = examine(write("step()\nprint('done')\n"), "--output", "/dev/full", "--quiet")
    assert (process.returncode, process.stdout) == (0, "done\n")
    assert process.stderr.startswith("gradtape doctor: cannot write '/dev/full' (No space left")


@POSIX
def test_a_signal_asks_for_the_report_so_far(write) -> None:
    path = write("step()\nprint('ready', flush=True)\nwhile True: time.sleep(0.05)\n")
    with started(path) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGUSR1)
        lines = iter(process.stderr.readline, "")
        assert next(lines) == SIGHT
        assert next(lines).startswith("GT103 left-the-tape")
        said = [next(line for line in lines if line.startswith(w)) for w in ("gradtape d", "  The")]
        assert said[1].startswith("  The program was still running")
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate(timeout=LIMIT)[1]


@POSIX
def test_a_program_with_a_signal_of_its_own(write) -> None:
    path = write("""
        import signal
        print(signal.signal(signal.SIGUSR1, lambda *_: print("mine")))
        os.kill(os.getpid(), signal.SIGUSR1)
        """)
    process = examine(path)
    assert process.stdout == "0\nmine\n"


# --- the page -------------------------------------------------------------------------------------
SERVED = """\
print("ready", flush=True)
for line in sys.stdin:
    step()
    print("step", flush=True)
"""


def get(address: str, what: str = "", method: str = "GET", **headers: str) -> tuple[int, str]:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=LIMIT)
    connection.request(method, parts.path + what, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


@contextlib.contextmanager
def served(path: Path) -> Iterator[tuple[subprocess.Popen, str]]:
    with started(path, "--serve", stdin=subprocess.PIPE) as process:
        said = process.stderr.readline()
        assert re.fullmatch(
            r"gradtape doctor: follow the run at http://127\.0\.0\.1:\d+/[\w-]{20,}/\n", said
        )
        assert process.stdout.readline() == "ready\n"
        yield process, said.split()[-1]


def take_a_step(process: subprocess.Popen) -> None:
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "step\n"


def test_the_page_follows_the_run(write) -> None:
    with served(write(SERVED)) as (process, address):
        code, page = get(address)
        assert (code, page[:15]) == (200, "<!doctype html>")
        assert "GT103" not in page
        first, state = get(address, "version")[1].split()
        assert state == "running"
        take_a_step(process)
        until(lambda: int(get(address, "version")[1].split()[0]) > int(first))
        assert "GT103" in get(address, "page")[1]
        process.stdin.close()
        until(lambda: get(address, "version")[1].endswith(" ended"))
        assert "ran to its end" in get(address, "page")[1]
        assert process.wait(LIMIT) == 0


def test_a_browser_follows_the_run(write, browser: Browser) -> None:
    with served(write(SERVED)) as (process, address):
        browser.open(address)
        assert not browser.run("document.body.textContent.includes('GT103')")
        take_a_step(process)
        browser.until("document.body.textContent.includes('GT103')")
        process.stdin.close()
        browser.until("document.body.textContent.includes('ran to its end')")
        assert process.wait(LIMIT) == 0


def test_the_page_is_for_this_machine_and_who_knows_the_address(write) -> None:
    with served(write(SERVED)) as (process, address):
        parts = urlsplit(address)
        root = f"http://{parts.netloc}"
        for other in ("/", "/wrong/", f"{parts.path[:-1]}", f"{parts.path}../", "//"):
            assert get(root, other)[0] == 404
        assert get(address, "other")[0] == 404
        assert get(address, Host=f"example.com:{parts.port}")[0] == 404
        assert get(address, Host=f"localhost:{parts.port}")[0] == 200
        assert get(address, method="POST")[0] == 405
        assert get(root, "/wrong/", method="POST")[0] == 404
        # Who listened to all addresses would answer to this one, too.
        with pytest.raises(OSError, match=r"."):
            socket.create_connection(("127.0.0.2", parts.port), timeout=5).close()
        process.stdin.close()
        assert process.wait(LIMIT) == 0


@POSIX
def test_a_child_process_does_not_serve(write) -> None:
    path = write("""
        child = os.fork()
        if not child:
            sys.stdin.read()
            os._exit(0)
        print(child, flush=True)
        """)
    with started(path, "--serve", stdin=subprocess.PIPE) as process:
        parts = urlsplit(process.stderr.readline().split()[-1])
        process.stdout.readline()
        assert process.stderr.readline().startswith("gradtape doctor: no gradient")
        process.wait(LIMIT)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((parts.hostname, parts.port), timeout=5).close()
        process.stdin.close()
