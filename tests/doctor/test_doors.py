"""The doors to the doctor: the command, the environment, `watch`, `tape.explain`, and pytest."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

import gradtape as tf
from gradtape import doctor
from gradtape.api import alias
from gradtape.api.run import Program
from gradtape.doctor.engines import choice
from gradtape.doctor.entry.session import RUNNING
from gradtape.testing import assert_gradients_flow
from tests.commands import LIMIT, SOURCE, environment, gradtape, python

from .screen import read

LOST = """\
import sys
import tensorflow as tf
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x), sys.argv[1:])
"""
FINE = LOST.replace("tf.constant", "tf.Variable")
SIGHT = "gradtape: step 1: d y/d x is None, not-watched (GT101), program.py:4\n"  # at once
FOUND = "gradtape doctor: 1 finding in 1 gradient\n"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture
def write(tmp_path):
    def write_program(text: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.write_text(dedent(text))
        return path

    return write_program


def examine(*words, **options):
    return gradtape("doctor", *words, **options)


def report_of(process, path: Path) -> dict:
    assert path.exists(), process.stderr
    return json.loads(path.read_text())


# --- the command ----------------------------------------------------------------------------------
def test_the_output_is_untouched_and_the_report_follows(write) -> None:
    path = write(LOST)
    process = examine(path.name, "--", "--strict", "-m", "x", cwd=path.parent)
    assert (process.returncode, process.stdout) == (0, "None ['--strict', '-m', 'x']\n")
    assert process.stderr.startswith(f"{SIGHT}GT101 not-watched  `d y/d x` is None\n")
    assert "  program.py:4\n" in process.stderr
    assert process.stderr.endswith(FOUND)


def test_a_healthy_program_has_one_line(write) -> None:
    process = examine("--strict", write(FINE))
    assert process.returncode == 0
    assert process.stderr == "gradtape doctor: 1 gradient, all healthy\n"


def test_a_program_without_gradients() -> None:
    process = examine("-c", "print(1)")
    assert (process.stdout, process.stderr) == (
        "1\n", "gradtape doctor: no gradient was asked for\n",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "code", "strict", "kind"),
    [
        ("", 0, 3, "ok"),
        ("sys.exit()", 0, 3, "exit"),
        ("sys.exit(0)", 0, 3, "exit"),
        ("sys.exit(7)", 7, 7, "exit"),
        ("sys.exit('no')", 1, 1, "exit"),
        ("1 / 0", 1, 1, "exception"),
        ("raise KeyboardInterrupt", -signal.SIGINT, -signal.SIGINT, "interrupted"),
    ],
)
@POSIX
def test_the_exit_code_is_the_programs(end, code, strict, kind, write, tmp_path) -> None:
    path, output = write(LOST + end), tmp_path / "report.json"
    process = examine("--output", output, path)
    # Started as a module, Python ends an interrupted program with 130 rather than by the signal.
    assert process.returncode in (code, 130 if code < 0 else code)
    report = report_of(process, output)
    assert report["exit"]["kind"] == kind
    assert len(report["findings"]) == 1
    assert examine("--strict", path).returncode in (strict, 130 if strict < 0 else strict)


def test_a_traceback_comes_first_as_python_prints_it(write) -> None:
    path = write(LOST + "def fail():\n    raise ValueError('here')\nfail()\n")
    process = examine("--quiet", path)
    shown, _, rest = process.stderr.partition("ValueError: here\n")
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.count("  File ") == 2
    assert rest.startswith("GT101 ")


def test_exit_handlers_and_threads_end_before_the_report(write) -> None:
    path = write("""
        import atexit, sys, threading, time
        def late():
            time.sleep(0.2)
            print("thread", file=sys.stderr)
        atexit.register(lambda: print("handler", file=sys.stderr))
        threading.Thread(target=late).start()
        """)
    for words in ((), ("--strict",)):
        lines = examine(*words, path).stderr.splitlines()
        assert lines == ["thread", "handler", "gradtape doctor: no gradient was asked for"]


def test_equal_functions_of_two_files_are_told_apart(write) -> None:
    derivative = """\
        import tensorflow as tf
        def derivative(x):
            with tf.GradientTape() as tape:
                y = x * x
            return tape.gradient(y, x)
        """
    write(derivative, "one.py")
    write(derivative, "other.py")
    path = write("""
        import one, other
        import tensorflow as tf
        one.derivative(tf.Variable(1.0)), other.derivative(tf.constant(1.0))
        """)
    assert "  other.py:3\n" in examine(path).stderr


def test_a_finding_of_a_thread_counts(write) -> None:
    path = write("""
        import threading, time
        import tensorflow as tf
        def late():
            time.sleep(0.2)
            x = tf.constant(3.0)
            with tf.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
        threading.Thread(target=late).start()
        """)
    assert examine("--strict", path).returncode == 3


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_is_killed_has_its_report(number, write, tmp_path) -> None:
    # Short sleeps: a signal that comes on the way into a long one is heard when that is over.
    path = write(LOST + "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.1)\n")
    output = tmp_path / "report.json"
    words = ["-m", "gradtape", "doctor", "--output", output, path]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A test runner in the background may have handed down that Ctrl-C is to be ignored.
    pipes["preexec_fn"] = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen([sys.executable, *words], env=environment(), **pipes) as process:
        process.stdout.readline()
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, shown = process.communicate(timeout=LIMIT)
    assert process.returncode in (-number, 130)
    assert (process.returncode == 130) <= (number == signal.SIGINT)
    report = json.loads(output.read_text())
    detail = "KeyboardInterrupt" if number == signal.SIGINT else "SIGTERM"
    assert report["exit"] == {"kind": "interrupted", "detail": detail, "code": 128 + number}
    assert [f["code"] for f in report["findings"]] == ["GT101"]
    assert ("Traceback" in shown) == (number == signal.SIGINT)


@POSIX
def test_a_program_that_minds_signals_itself(write) -> None:
    path = write("""
        import os, signal, sys
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
        os.kill(os.getpid(), signal.SIGTERM)
        """)
    assert examine(path).returncode == 9


@POSIX
def test_only_the_process_that_began_reports(write) -> None:
    path = write(
        LOST
        + dedent("""
        import multiprocessing, os, signal, time
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
        child.terminate()
        child.join()
        print(child.exitcode)
        """)
    )
    process = examine(path)
    assert process.stdout.endswith(f"{-signal.SIGTERM}\n")
    assert process.stderr.count(FOUND) == 1


@pytest.mark.parametrize("words", [["-c", LOST], ["-m", "program"], ["-"], ["."]])
def test_every_way_to_name_a_program(words, write) -> None:
    path = write(LOST, "__main__.py" if words == ["."] else "program.py")
    process = examine(*words, "a", cwd=path.parent, input=LOST if words == ["-"] else "")
    assert process.stdout == "None ['a']\n"
    assert "▸   4 │ with tf.GradientTape() as tape:" in process.stderr


def test_a_program_that_is_not_there(tmp_path) -> None:
    process = examine("nosuch.py", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (
        2, gradtape("run", "nosuch.py", cwd=tmp_path).stderr,
    )  # fmt: skip


@pytest.mark.parametrize("format", ["json", "sarif", "html"])
def test_formats_go_to_standard_error_or_a_file(format, write, tmp_path) -> None:
    path, output = write(LOST), tmp_path / "given"
    process = examine("--format", format, path)
    assert process.stdout == "None []\n"
    written = examine("--format", format, "--output", "given", path.name, cwd=tmp_path)
    assert written.stderr == f"{SIGHT}gradtape doctor: 1 finding in 1 gradient: given\n"
    for text in (process.stderr, output.read_text()):
        if format == "html":
            assert text.lower().startswith("<!doctype html>")
        else:
            assert json.loads(text)["version"] == {"json": 1, "sarif": "2.1.0"}[format]


@pytest.mark.parametrize(
    ("name", "begin"),
    [("r.json", "{"), ("r.sarif", "{"), ("r.HTML", "<!"), ("r.txt", "GT101"), ("r", "GT101")],
)
def test_a_files_name_tells_the_format(name, begin, write, tmp_path) -> None:
    examine("--output", name, write(LOST), cwd=tmp_path)
    assert (tmp_path / name).read_text()[: len(begin)].replace("doctype", "") == begin


def test_the_report_on_standard_output(write) -> None:
    path = write(LOST)
    process = examine("--output", "-", path, cwd=path.parent)
    assert process.stdout.startswith("None []\nGT101 ")
    assert process.stderr == SIGHT


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--output", "report.pdf"), "'report.pdf' names no format; give one with --format"),
        (("--max-findings", "few"), "'few' is no whole number from 0 on"),
        (("--max-findings", "-1"), "'-1' is no whole number from 0 on"),
    ],
)
def test_what_cannot_be_meant_is_said_before_the_program_runs(words, said, write, tmp_path) -> None:
    process = examine(*words, write("print('ran')"), cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert said in process.stderr


def test_a_syntax_error_ends_the_command_as_it_ends_python(write) -> None:
    """Started by a script of its own, as pip installs it: not by `python -m`."""
    start = write("import sys\nfrom gradtape.cli import main\nsys.exit(main())", "start.py")
    process = python(start, "doctor", write("x = = 1\n"))
    assert process.returncode == 1
    assert "SyntaxError" in process.stderr


@POSIX
def test_an_explanation_may_be_cut_short() -> None:
    command = f"{sys.executable} -m gradtape explain GT103 | head -1"
    process = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=environment(), check=True
    )
    assert (process.stdout, process.stderr) == ("# GT103 left-the-tape\n", "")


def test_a_program_may_change_the_directory(write, tmp_path) -> None:
    path = write("import os, sys\nos.chdir('/')\n" + LOST)
    process = examine("--output", "report.txt", path.name, cwd=tmp_path)
    assert process.stderr.endswith(": report.txt\n")
    assert "  program.py:6\n" in (tmp_path / "report.txt").read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["--format", "nosuch", "x.py"],
        ["--engine", "nosuch", "x.py"],
        ["--max-findings", "-1", "x.py"],
        ["--output", "no/such/folder/r.json", "x.py"],
        ["--output", ".", "x.py"],
        [],
    ],
)
def test_wrong_usage_is_told_before_the_program_runs(words, tmp_path) -> None:
    (tmp_path / "x.py").write_text("print('ran')")
    process = examine(*words, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("usage: gradtape doctor")


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["x.py", "--strict"], "--strict x.py"),
        (["x.py", "1", "--output", "r.html", "2"], "--output r.html x.py 1 2"),
        (["-m", "x", "--format=json", "--", "--strict"], "--format=json -m x -- --strict"),
        (["--audit", "x.py", "--max-findings", "3"], "--max-findings 3 --audit x.py"),
    ],
)
def test_an_option_of_the_doctor_after_the_program_is_refused(words, right, tmp_path) -> None:
    """It would be the program's, and a check in CI would pass that checks nothing."""
    (tmp_path / "x.py").write_text("print('ran')")
    process = examine(*words, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert f"  for the doctor:   gradtape doctor {right}\n" in process.stderr


@pytest.mark.parametrize(
    ("words", "handed"),
    [
        (["x.py", "--", "--strict", "--output", "m.h5"], ["--strict", "--output", "m.h5"]),
        (["--", "x.py", "--strict"], ["--strict"]),
        (["x.py", "a", "--", "--strict"], ["a", "--", "--strict"]),
        (["x.py", "--", "--", "a"], ["--", "a"]),
        (["x.py", "--help", "-m", "--stricter"], ["--help", "-m", "--stricter"]),
        (["--strict", "--max-findings", "3", "x.py", "-c", "-"], ["-c", "-"]),
    ],
)
def test_what_follows_two_dashes_is_the_programs(words, handed, tmp_path) -> None:
    (tmp_path / "x.py").write_text("import sys\nprint(sys.argv[1:])")
    assert examine(*words, cwd=tmp_path).stdout == f"{handed}\n"


def test_fewer_findings(write) -> None:
    process = examine("--quiet", "--max-findings", "0", write(LOST))
    assert process.stderr.startswith("… and 1 more finding (--max-findings)\n")


def test_help_is_quick_and_whole() -> None:
    shown = examine("--help").stdout
    options = (
        "--engine",
        "--format",
        "--output",
        "--strict",
        "--max-findings",
        "--audit",
        "--tensorboard",
    )
    options += ("--fail-fast", "--quiet", "--serve")
    assert all(option in shown for option in options)


def test_a_fault_of_the_doctor_is_one_line(write) -> None:
    path = write(
        """\
import gradtape.doctor.entry.session as session
def fail(*_):
    raise RuntimeError("oh")
session.examine = fail
"""
        + LOST
    )
    process = examine("--strict", path)
    assert (process.returncode, process.stdout) == (0, "None []\n")
    assert process.stderr.count("a fault of its own, please report it: RuntimeError: oh (") == 1
    assert "Traceback" not in process.stderr


def test_a_report_that_cannot_be_written(write, tmp_path) -> None:
    path = write("import os\nos.mkdir('report.json')\n" + LOST)
    process = examine("--quiet", "--output", "report.json", path.name, cwd=tmp_path)
    assert process.returncode == 0
    assert process.stderr.startswith("gradtape doctor: cannot write ")
    assert process.stderr.endswith(FOUND)  # the report is not lost
    assert "Traceback" not in process.stderr


# --- on a terminal --------------------------------------------------------------------------------
@POSIX
@pytest.mark.parametrize(
    ("more", "colored"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_on_a_terminal_only(more, colored, write) -> None:
    import pty

    ours, theirs = pty.openpty()
    variables = {**environment(), "TERM": "xterm", "NO_COLOR": "", "COLUMNS": "60", **more}
    command = [sys.executable, "-m", "gradtape", "doctor", "--quiet", write(LOST)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=variables) as process:
        os.close(theirs)
        shown = read(ours).decode()
        assert process.stdout.read() == b"None []\n"
    assert ("\x1b[" in shown) == colored
    assert colored or all(len(line) <= 60 for line in shown.splitlines())


def test_a_terminal_that_knows_only_ascii(write) -> None:
    command = [sys.executable, "-m", "gradtape", "doctor", write(LOST)]
    variables = {**environment(), "PYTHONIOENCODING": "ascii"}
    process = subprocess.run(command, capture_output=True, env=variables, check=True)
    assert b"  >   4 | with tf.GradientTape() as tape:" in process.stderr


# --- which engine ---------------------------------------------------------------------------------
@pytest.mark.skipif(alias.installed(), reason="it is there")
def test_an_engine_that_is_not_there() -> None:
    process = examine("--engine", "tensorflow", "-c", "print('ran')")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import tensorflow as tf", True),
        ("def f():\n    from tensorflow.math import log", True),
        ("import keras", True),
        ("import gradtape as tf", False),
        ("import helper", True),
        ("import numpy, other", False),
        ("a b", False),
    ],
)
def test_imports_are_seen_without_running(text, expected, write) -> None:
    write("import tensorflow\n1 / 0\n", "helper.py")
    write("1 / 0\n", "other.py")
    path = write(text)
    assert choice.imports_tensorflow(Program("script", str(path))) == expected
    if "helper" not in text:
        assert choice.imports_tensorflow(Program("command", text)) == expected


# --- the environment ------------------------------------------------------------------------------
def with_variable(value: str, *words, **options):
    variables = {**environment(), "GRADTAPE_DOCTOR": value}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=variables, **options
    )


KILL = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
NATIVE = LOST.replace("import tensorflow", "import gradtape")


def test_the_environment_asks_for_a_report(write) -> None:
    path = write(NATIVE)
    process = with_variable("1", path, cwd=path.parent)
    assert (process.returncode, process.stdout) == (0, "None []\n")
    assert process.stderr.startswith(f"{SIGHT}GT101 ")
    process = with_variable("1", write(NATIVE + "1 / 0\n"))
    assert process.returncode == 1
    assert "ZeroDivisionError: division by zero\nGT101 " in process.stderr


@POSIX
def test_the_environment_leaves_the_end_as_it_is(write) -> None:
    for end, code in (("raise KeyboardInterrupt", signal.SIGINT), (KILL, signal.SIGTERM)):
        process = with_variable("1", write(f"{NATIVE}{end}\n"))
        assert process.returncode == -code
        assert process.stderr.endswith(FOUND)


@pytest.mark.parametrize("value", ["", "0", "off", "False"])
def test_the_environment_asks_for_none(value, write) -> None:
    assert with_variable(value, write(NATIVE)).stderr == ""


def test_the_environment_names_a_file(write, tmp_path) -> None:
    path = write(NATIVE + "1 / 0\n")
    process = with_variable("report.json", path, cwd=tmp_path)
    report = report_of(process, tmp_path / "report.json")
    assert report["script"] == str(path)
    assert report["exit"] == {
        "kind": "exception", "detail": "ZeroDivisionError: division by zero", "code": 1,
    }  # fmt: skip


def test_the_environment_and_the_commands(write) -> None:
    path = write(LOST)
    assert with_variable("1", "-m", "gradtape", "run", path).stderr.endswith(FOUND)
    process = with_variable("1", "-m", "gradtape", "doctor", path)
    assert process.stderr.count(FOUND) == 1
    assert with_variable("1", "-m", "gradtape", "explain", "GT101").stderr == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("ture", "'ture' is neither 1 or 0 nor a file ending in .html, .json, .sarif or .txt"),
        ("report.pdf", "'report.pdf' is neither 1 or 0"),
        ("no/such/folder/r.html", "'no/such/folder/r.html' cannot be written"),
    ],
)
def test_the_environment_is_told_what_cannot_be_meant(value, said, write, tmp_path) -> None:
    process = with_variable(value, write("print('ran')\n" + NATIVE), cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "ran\n")
    assert process.stderr.startswith(f"GRADTAPE_DOCTOR: {said}")
    assert process.stderr.count("\n") == 1


def starting(folder: Path) -> tuple[str, ...]:
    """Words for a Python that starts as where gradtape is installed: its file lies in a folder."""
    for name in ("gradtape_doctor.pth", "_gradtape_doctor.py"):
        (folder / name).write_text((SOURCE / name).read_text())
    code = "import site, runpy, sys; site.addsitedir(sys.argv.pop(1)); sys.argv.pop(0); "
    return "-c", code + "runpy.run_path(sys.argv[0], run_name='__main__')", str(folder)


def test_python_starts_with_nothing_of_ours_unless_asked(write, tmp_path) -> None:
    path = write("import sys\nprint([m for m in sys.modules if 'gradtape' in m], sys.meta_path[0])")
    for value, waits in (("", False), ("0", False), ("1", True), ("ture", True)):
        process = with_variable(value, *starting(tmp_path), path)
        assert (process.returncode, process.stderr) == (0, "")
        assert ("_Waiting" in process.stdout) == waits
        assert ("_gradtape_doctor" in process.stdout) == bool(value)


def test_what_waits_for_tensorflow_is_in_the_wheel() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())
    found = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert sorted(found.values()) == ["_gradtape_doctor.py", "gradtape_doctor.pth"]
    assert all((root / file).name == name for file, name in found.items())
    assert all((root / file).is_file() for file in found)


def test_importing_gradtape_imports_no_doctor() -> None:
    code = "import sys, gradtape; print([m for m in sys.modules if 'doctor' in m or m == 'rich'])"
    assert python("-c", code).stdout == "[]\n"


# --- in code --------------------------------------------------------------------------------------
def lose(variable=None):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x if variable is None else variable * variable
    return tape.gradient(y, x if variable is None else variable)


def test_watch_as_a_block() -> None:
    with doctor.watch() as report:
        lose()
    assert [f.name for f in report.findings] == ["not-watched"]
    assert report.to_json()["findings"][0]["code"] == "GT101"
    assert "<html" in report.to_html()
    assert report._repr_html_()
    assert repr(report) == "<Report: 1 finding in 1 gradient>"
    assert str(report).startswith("GT101")
    assert not RUNNING


def test_watch_as_a_decorator() -> None:
    step = doctor.watch(lose)
    assert step.__name__ == "lose"
    assert step.report is None
    step()
    assert len(step.report.findings) == 1
    for _ in range(4):
        step()
    assert step.report.findings[0].steps == [1, 2, 3, 4, 5]
    assert doctor.watch()(lambda x: x + 1)(1) == 2
    assert not RUNNING


def test_watch_is_for_functions_that_run_when_called() -> None:
    def generator():
        yield 1

    with pytest.raises(TypeError, match="into its body"):
        doctor.watch(generator)


def _ask_twice(v):
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    tape.gradient(y, v)


def test_what_is_raised_goes_on_and_is_told() -> None:
    v = tf.Variable(1.0)
    with doctor.watch() as around, pytest.raises(RuntimeError):
        _ask_twice(v)
    assert [f.name for f in around.findings] == ["tape-reused"]
    with pytest.raises(RuntimeError), doctor.watch() as report:
        _ask_twice(v)
    assert report.exit.kind == "exception"
    assert [f.name for f in report.findings] == ["tape-reused"]
    assert not RUNNING


def test_blocks_in_blocks() -> None:
    with doctor.watch() as outer:
        lose()
        with doctor.watch() as inner:
            lose(tf.Variable(2.0))
        lose()
    assert (inner.history.gradients, outer.history.gradients) == (1, 3)
    assert (len(inner.findings), len(outer.findings)) == (0, 1)
    first, second = doctor.watch(), doctor.watch()
    reports = [first.__enter__(), second.__enter__()]
    lose()
    first.__exit__(None, None, None)  # not in the order of their beginnings
    lose()
    second.__exit__(None, None, None)
    assert [report.history.gradients for report in reports] == [1, 2]
    assert not RUNNING


def test_nothing_is_left_behind() -> None:
    before = tf.GradientTape.gradient, tf.Tensor.__mul__, tf.Tensor.numpy, tf.stop_gradient
    with doctor.watch():
        assert tf.GradientTape.gradient is not before[0]
    after = tf.GradientTape.gradient, tf.Tensor.__mul__, tf.Tensor.numpy, tf.stop_gradient
    assert after == before


def test_a_tape_from_before_is_not_guessed_about() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a * a
    with doctor.watch() as report:
        tape.gradient(y, b)
    assert report.findings == []
    assert "before the doctor listened" in report.notes[0]


# --- one question ---------------------------------------------------------------------------------
def stopped():
    v, u = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        z = tf.stop_gradient(v * v) + u
    return tape, z, [v, u]


def test_explain_where_the_doctor_listens() -> None:
    with doctor.watch() as around:
        tape, z, sources = stopped()
        before = tape.explain(z, sources)
        gradients = tape.gradient(z, sources)
        after = tape.explain(z, sources)
    for report in (before, after):
        assert [f.name for f in report.findings] == ["stop-gradient"]
        assert report.findings[0].sources == ["sources[0]"]
        assert [line.state for r in report.history.records.values() for line in r.lines] == [
            "none", "ok",
        ]  # fmt: skip
    assert gradients[0] is None
    assert around.history.gradients == 2  # the question to the doctor is none to the tape


def test_explain_where_it_does_not() -> None:
    tape, z, (v, u) = stopped()
    report = tape.explain(z, [v, u])
    assert report.findings == []
    assert "followed `v` up to mul at " in report.notes[0]
    assert "`v * v`" in report.notes[0]
    assert "gradtape.doctor.watch" in report.notes[-1]
    assert tape.gradient(z, u).numpy() == 1.0
    assert "has forgotten" in tape.explain(z, u).notes[0]


def test_an_op_without_a_grad_is_named() -> None:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = tf.round(w) * 2.0
    (finding,) = tape.explain(loss, w).findings
    assert (finding.name, finding.place.text) == ("rounding-op", "tf.round(w)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: tf.constant(1.0), "this tape was not told to watch it"),
        (lambda: tf.Variable(1.0), "never saw `source` being read"),
        (lambda: tf.Variable(1.0, trainable=False), "with trainable=False"),
    ],
)
def test_what_the_tape_itself_knows(make, said) -> None:
    source, v = make(), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * v
    report = tape.explain(y, source)
    assert said in report.notes[0]


def test_explain_while_the_tape_records() -> None:
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        count = len(tape._tape.records)
        assert tape.explain(y, v).history.states == {"ok": 1}
        assert len(tape._tape.records) == count
        z = y * y
    assert tape.gradient(z, v).numpy() == 32.0


# --- tests ----------------------------------------------------------------------------------------
def test_gradients_that_flow() -> None:
    v = tf.Variable([1.0, 2.0])
    assert assert_gradients_flow(lambda: tf.reduce_sum(v * v), [v])[0].numpy().tolist() == [2, 4]
    x = tf.constant(3.0)
    assert assert_gradients_flow(lambda: x * x, {"x": x})["x"].numpy() == 6.0


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda v: tf.stop_gradient(v), "the gradient of `v` is missing (None)\n\nGT124 "),
        (lambda v: (tf.nn.relu(-v) - 1.0) ** 2, "the gradient of `v` is all zeros\n\nGT201 "),
        (lambda v: tf.sqrt(v - v), "the gradient of `v` is not a number\n\n"),
    ],
)
def test_gradients_that_do_not(loss, said) -> None:
    v = tf.Variable(1.0)
    with pytest.raises(AssertionError) as caught:
        assert_gradients_flow(lambda: loss(v), v)
    assert str(caught.value).startswith(said)


PLUGIN_TESTS = """
    import gradtape as tf
    import pytest

    v = tf.Variable([1.5, 2.5])

    def lose():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.round(v))
        return tape.gradient(loss, v)

    def test_fine():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        assert tape.gradient(loss, v) is not None

    def test_lost():
        lose()

    def test_fails_by_itself():
        assert lose() is not None

    @pytest.mark.no_gradtape_doctor
    def test_meant():
        lose()

    def test_an_error_that_was_expected():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        tape.gradient(loss, v)
        with pytest.raises(RuntimeError):
            tape.gradient(loss, v)
    """


@pytest.fixture
def run_tests(tmp_path, request):
    (tmp_path / "test_it.py").write_text(dedent(PLUGIN_TESTS))
    known = request.config.pluginmanager.has_plugin("gradtape")  # as the installed package
    plugin = [] if known else ["-p", "gradtape.testing.plugin"]

    def run(*words):
        options = ("-p", "no:cacheprovider", "--strict-markers", "-rA", *plugin)
        return python("-m", "pytest", *options, *words, cwd=tmp_path)

    return run


def test_the_plugin_is_silent_until_asked(run_tests) -> None:
    assert "4 passed, 1 failed" in _counts(run_tests().stdout)


def test_the_plugin_fails_a_test_that_lost_a_gradient(run_tests) -> None:
    shown = run_tests("--gradtape-doctor").stdout
    assert "3 passed, 2 failed" in _counts(shown)
    assert "FAILED test_it.py::test_lost" in shown
    assert "GT128 rounding-op  `d loss/d v` is None" in shown
    assert "Captured gradtape doctor call" in shown


def _counts(shown: str) -> str:
    passed = shown.count("\nPASSED ")
    failed = shown.count("\nFAILED ")
    return f"{passed} passed, {failed} failed"
