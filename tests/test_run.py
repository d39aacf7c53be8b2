"""``gradtape run`` runs a program as Python does, with gradtape in TensorFlow's place."""

import doctest
import re
import subprocess
import sys
import zipfile
from textwrap import dedent

import pytest

from gradtape.api import alias
from tests.commands import environment, gradtape, python


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a program and returns its path."""

    def write_program(text, name="program.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else dedent(text).encode())
        return path

    return write_program


def outcome(process):
    """Return what can be seen of a finished process, without addresses in memory."""
    seen = (re.sub("0x[0-9a-fA-F]+", "0x", text) for text in (process.stdout, process.stderr))
    return process.returncode, *seen


# --- as Python does it ----------------------------------------------------------------------------

PROGRAMS = {
    "attributes of main": """
        for name, value in list(globals().items()):
            print(name, value)
        """,
    "docstring": '''
        """What it is for."""
        print(__doc__)
        ''',
    "annotations": """
        x: int = 1
        print(__annotations__)
        """,
    "main is this module": """
        import __main__, sys
        here = 1
        print(__main__.here, sys.modules["__main__"] is __main__, vars(__main__) is globals())
        """,
    "pickle of own class": """
        import pickle
        class Point:
            pass
        print(type(pickle.loads(pickle.dumps(Point()))) is Point)
        """,
    "arguments and import path": """
        import sys
        print(sys.argv, sys.path[0], sys.path.count(sys.path[0]))
        """,
    "standard input": """
        import sys
        print(input(), sys.stdin.read())
        """,
    "own source": """
        import inspect, linecache
        def double(x):
            return 2 * x
        print(inspect.getsource(double), linecache.getline(__file__, 2))
        """,
    "warning": """
        import warnings
        warnings.warn("beware")
        """,
    "future import": """
        from __future__ import annotations
        def f(x: nosuch): ...
        print(f.__annotations__)
        """,
    "no inherited future": """
        def f(x: int): ...
        print(f.__annotations__)
        """,
    "threads and exit handlers": """
        import atexit, threading, time
        atexit.register(print, "exit handler")
        threading.Thread(target=lambda: (time.sleep(0.1), print("thread", __name__))).start()
        print("end")
        """,
    "exit code": "raise SystemExit(3)",
    "exit code zero": "import sys; sys.exit()",
    "exit with message": "import sys; sys.exit('enough')",
    "exit with a line unfinished": """
        import atexit, sys
        atexit.register(print, "exit handler")
        print("no newline", end="")
        sys.exit(7)
        """,
    "exception": """
        def inner():
            return 1 + None
        def outer():
            return [inner() for _ in range(3)]
        outer()
        """,
    "exception deep down": """
        def deeper(n):
            return deeper(n - 1) if n else undefined
        deeper(20)
        """,
    "chained exceptions": """
        try:
            try:
                {}["key"]
            except KeyError as error:
                raise ValueError("from") from error
        except ValueError:
            raise TypeError("during")
        """,
    "exception group": "raise ExceptionGroup('two', [TypeError(1), ValueError(2)])",
    "note": """
        error = ValueError("noted")
        error.add_note("and a note")
        raise error
        """,
    "caught and printed": """
        import traceback
        try:
            1 / 0
        except ZeroDivisionError:
            traceback.print_exc()
        """,
    "own exception hook": """
        import sys
        def hook(kind, value, trace):
            print(kind, value, trace.tb_lineno, trace is value.__traceback__ is sys.last_traceback)
        sys.excepthook = hook
        1 / 0
        """,
    "exception in a thread": """
        import threading
        thread = threading.Thread(target=lambda: 1 / 0, name="worker")
        thread.start()
        thread.join()
        """,
    "exception in an exit handler": """
        import atexit
        atexit.register(lambda: 1 / 0)
        """,
    "interrupt": """
        import atexit, signal
        atexit.register(print, "exit handler")
        signal.raise_signal(signal.SIGINT)
        """,
    "syntax error": "total = (1 +\nprint(total)\n",
    "syntax error with caret": "x = 1\nif x = 2:\n    pass\n",
    "indentation error": "if True:\n    x = 1\n  y = 2\n",
    "syntax error while running": "compile('a b', 'inner', 'exec')",
    "import error": "import nosuchmodule",
    "declared encoding": b"# -*- coding: latin-1 -*-\nprint('\xe9')\nraise ValueError('\xe8')\n",
    "undeclared encoding": b"x = 1\nprint('\xe9')\n",
    "byte order mark": b"\xef\xbb\xbfprint('marked')\n",
    "empty": "",
}

WHERE = dedent(PROGRAMS["attributes of main"] + PROGRAMS["arguments and import path"])


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_script_runs_as_python_runs_it(text, write, tmp_path):
    write(text)
    words = ("program.py", "--help", "-m", "--", "-c", "")
    options = {"input": "one\ntwo\n", "cwd": tmp_path}
    assert outcome(gradtape("run", *words, **options)) == outcome(python(*words, **options))


@pytest.mark.parametrize("path", ["sub/program.py", "./sub/../sub/program.py", "link.py"])
def test_paths_are_those_of_python(path, write, tmp_path):
    write(WHERE, "sub/program.py")
    (tmp_path / "link.py").symlink_to("sub/program.py")
    expected = outcome(python(path, cwd=tmp_path))
    assert outcome(gradtape("run", path, cwd=tmp_path)) == expected


def test_a_script_imports_its_neighbours_and_shows_their_lines(write, tmp_path):
    write("import neighbour\nneighbour.fail()\n", "sub/program.py")
    write("def fail():\n    raise RuntimeError('here')\n", "sub/neighbour.py")
    expected = outcome(python("sub/program.py", cwd=tmp_path))
    assert outcome(gradtape("run", "sub/program.py", cwd=tmp_path)) == expected


@pytest.mark.parametrize("name", ["package", "package.inner", "broken", "broken.inner", "wrong"])
def test_a_module_runs_as_python_runs_it(name, write, tmp_path):
    text = WHERE + "1 / 0\n"
    for file in ("package/__main__.py", "package/inner.py"):
        write(text, file)
    for file in ("package/__init__.py", "broken/inner.py", "broken/__main__.py"):
        write("", file)
    write("import package\n1 / 0\n", "broken/__init__.py")
    write("a b\n", "wrong.py")
    code, printed, shown = outcome(python("-m", name, "--help", cwd=tmp_path))
    shown = re.sub(r'  File "<frozen (runpy|importlib).*\n', "", shown)
    if name == "wrong":  # with nothing between, a syntax error needs no traceback
        shown = shown.removeprefix("Traceback (most recent call last):\n")
    process = gradtape("run", "-m", name, "--help", cwd=tmp_path)
    assert outcome(process) == (code, printed, shown)


@pytest.mark.parametrize("name", ["folder", "folder/", "archive.zip"])
def test_a_directory_or_archive_runs_its_main(name, write, tmp_path):
    main = write(WHERE, "folder/__main__.py")
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.write(main, "__main__.py")
    expected = outcome(python("-B", name, "x", cwd=tmp_path))
    assert outcome(gradtape("run", name, "x", cwd=tmp_path)) == expected


def test_compiled_code_runs(write, tmp_path):
    path = write("print(__file__)\n")
    python("-m", "compileall", "-b", path.name, cwd=tmp_path)
    expected = outcome(python("program.pyc", cwd=tmp_path))
    assert outcome(gradtape("run", "program.pyc", cwd=tmp_path)) == expected


@pytest.mark.parametrize("words", [["--", "a"], ["a", "--"], ["-m", "--strict", "--help"]])
def test_arguments_are_handed_on_as_they_are(words, write):
    path = write("import sys\nprint(sys.argv[1:])")
    assert gradtape("run", path, *words).stdout == python(path, *words).stdout


def test_code_on_the_command_line(tmp_path):
    words = ("-c", "import sys; print(sys.argv, repr(sys.path[0])); sys.exit(4)", "--help", "-m")
    assert outcome(gradtape("run", *words, cwd=tmp_path)) == outcome(python(*words, cwd=tmp_path))


def test_code_from_standard_input(tmp_path):
    options = {"input": WHERE + "1 / 0\n", "cwd": tmp_path}
    assert outcome(gradtape("run", "-", "x", **options)) == outcome(python("-", "x", **options))


def test_no_import_path_of_its_own_in_safe_mode(write, tmp_path):
    write("import sys; print(sys.path)")
    expected = outcome(python("-P", "program.py", cwd=tmp_path))
    assert outcome(python("-P", "-m", "gradtape", "run", "program.py", cwd=tmp_path)) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_broken_pipe_ends_it_as_python_does(write):
    path = write("for i in range(100_000):\n    print(i)\n")

    def read_one_line(*words):
        command = [sys.executable, *words, path]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment()) as process:
            process.stdout.readline()
            process.stdout.close()
            return process.stderr.read(), process.wait()

    assert read_one_line("-m", "gradtape", "run") == read_one_line()


# --- with gradtape in TensorFlow's place ----------------------------------------------------------


def test_every_way_to_import_tensorflow_is_gradtape(write):
    path = write("""
        import importlib, sys
        import gradtape
        import tensorflow as tf
        import tensorflow.math
        import tensorflow.linalg as la
        from tensorflow import GradientTape, nn
        from tensorflow.math import log

        assert tf is tensorflow is gradtape
        assert sys.modules["tensorflow"] is sys.modules["gradtape"]
        assert tensorflow.math is gradtape.math is sys.modules["tensorflow.math"]
        assert sys.modules["gradtape.math"] is gradtape.math
        assert la is gradtape.linalg
        assert log is gradtape.math.log
        assert GradientTape is gradtape.GradientTape
        assert importlib.import_module("tensorflow.nn") is nn is gradtape.nn
        assert importlib.util.find_spec("tensorflow") is not None
        assert gradtape.__name__ == gradtape.__spec__.name == "gradtape"
        assert gradtape.math.__spec__.name == "gradtape.math"
        """)
    assert outcome(gradtape("run", path)) == (0, "", "")


def test_an_installed_tensorflow_is_left_alone(write):
    write("raise SystemExit('the real one')\n", "tensorflow/__init__.py")
    path = write("import tensorflow as tf\nprint(tf.GradientTape.__name__)\n")
    assert outcome(gradtape("run", path)) == (0, "GradientTape\n", "")


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.skipif(sys.platform == "win32", reason="has one start method only")
def test_processes_started_afresh_have_it_too(method, write):
    path = write(f"""
        import multiprocessing
        import tensorflow as tf

        def square(x):
            return float(tf.square(x))

        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(1) as pool:
                print(pool.map(square, [1.0, 2.0, 3.0]))
        """)
    assert outcome(gradtape("run", path)) == (0, "[1.0, 4.0, 9.0]\n", "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("import tensorflow.mth", "gradtape does not have it; did you mean tensorflow.math?"),
        ("import tensorflow.nosuch", "No module named 'tensorflow.nosuch': gradtape does not"),
        ("from tensorflow.python.framework import ops", "the inside of TensorFlow: use the public"),
        ("import tensorflow.contrib.layers", "it left TensorFlow in 2.0"),
    ],
)
def test_a_module_that_is_not_there(line, message, write):
    path = write(f"{line}\n")
    process = gradtape("run", path)
    *places, last = process.stderr.splitlines()
    assert (process.returncode, process.stdout) == (1, "")
    assert last.startswith("ModuleNotFoundError: No module named 'tensorflow.")
    assert message in last
    assert places == [
        "Traceback (most recent call last):",
        f'  File "{path}", line 1, in <module>',
        f"    {line}",
        *places[3:],
    ]
    assert len(places) <= 4  # the fourth is the caret line of some versions of Python


def test_a_module_that_is_not_there_can_be_handled(write):
    path = write("""
        try:
            import tensorflow.nosuch
        except ModuleNotFoundError as error:
            print(error.name)
        """)
    assert outcome(gradtape("run", path)) == (0, "tensorflow.nosuch\n", "")


def test_a_name_that_is_not_there(write):
    process = gradtape("run", write("import tensorflow as tf\ntf.to_float(1)\n"))
    assert process.returncode == 1
    assert process.stderr.count("  File ") == 1
    assert process.stderr.endswith("has no attribute 'to_float'; use tf.cast(x, tf.float32)\n")


def test_an_import_of_what_is_not_there_says_why(write):
    process = gradtape("run", write("from tensorflow import estimator\n"))
    assert process.returncode == 1
    assert "\nImportError: No module named 'tensorflow.estimator': gradtape does" in process.stderr
    assert "use tf.keras" in process.stderr


def test_a_name_that_cannot_be_imported(write):
    process = gradtape("run", write("from tensorflow import nosuch\n"))
    assert process.returncode == 1
    assert "\nImportError: cannot import name 'nosuch' from 'gradtape'" in process.stderr


@pytest.mark.parametrize(
    ("name", "counsel"),
    [
        ("log", "; did you mean tf.math.log?"),
        ("reduce_men", "; did you mean tf.reduce_mean?"),
        ("expp", "; did you mean tf.exp?"),
        ("Session", "; code runs as it is called and there is no graph: drop the session and read"),
        ("mean", "; use tf.reduce_mean"),
        ("math.mean", "; use tf.reduce_mean"),
        ("train", "; TensorFlow's models and protocol buffers are not here: write"),
        ("layers", "; of Keras there is Keras 3: use tf.keras"),
        ("_private", ""),
        ("nothing_like_it", ""),
    ],
)
def test_what_is_said_of_a_missing_name(name, counsel):
    names = ["math.exp", "math.log", "exp", "reduce_mean"]
    module, _, name = f"gradtape.{name}".rpartition(".")
    message = alias.missing(module, name, names)
    assert message.startswith(f"module {module!r} has no attribute {name!r}{counsel}")
    assert bool(counsel) == (";" in message)


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(alias).failed == 0


# --- the command line itself ----------------------------------------------------------------------


def test_version():
    process = gradtape("--version")
    assert process.returncode == 0
    assert re.fullmatch(r"gradtape [\d.]+\w* \(.*TensorFlow [\d.]+\)\n", process.stdout)


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"]])
def test_help(words):
    process = gradtape(*words)
    assert (process.returncode, process.stderr) == (0, "")
    assert "gradtape run train.py --epochs 3" in process.stdout


@pytest.mark.parametrize("words", [[], ["nosuch"], ["run"], ["run", "-m"], ["run", "--nosuch"]])
def test_wrong_usage(words):
    process = gradtape(*words)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("usage: gradtape")
    assert "error: " in process.stderr


def test_a_script_that_is_not_there(tmp_path):
    process = gradtape("run", "nosuch.py", cwd=tmp_path)
    path = str(tmp_path / "nosuch.py")
    message = f"gradtape: can't open file {path!r}: [Errno 2] No such file or directory\n"
    assert outcome(process) == (2, "", message)


@pytest.mark.parametrize("words", [["-m", "nosuch"], ["-m", "json"], ["."]])
def test_a_program_that_cannot_be_run(words, tmp_path):
    expected = python(*words, cwd=tmp_path)
    message = expected.stderr.replace(sys.executable, "gradtape")
    assert outcome(gradtape("run", *words, cwd=tmp_path)) == (1, "", message)
