"""What a program can see of itself is the same under the doctor, and when gradtape runs it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.commands import gradtape, python

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals end processes differently")
# All but the frames below the program, which are gradtape's own. NumPy, which sets filters of
# warnings, is there already when gradtape runs it.
LOOKS = """\
import faulthandler, gc, inspect, os, signal, sys, threading, traceback, warnings
import numpy

main = sys.modules["__main__"]
print(main.__file__, main.__spec__, main.__builtins__, main.__loader__.__class__.__name__,
      main.__cached__, main.__name__, main.__package__, main.__doc__, sorted(vars(main)))
print(sys.argv, sys.path, sys.flags, sys.getrecursionlimit(), gc.get_threshold(), gc.isenabled())
print(sys.excepthook, sys.unraisablehook, threading.excepthook.__name__, sys.displayhook)
print(sys.gettrace(), sys.getprofile(), threading.gettrace(), faulthandler.is_enabled())
print([signal.getsignal(k) for k in signal.valid_signals()])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
print(inspect.signature(signal.getsignal), inspect.signature(signal.signal), signal.getsignal)
print(warnings.filters, warnings.showwarning.__module__, sorted(os.environ.items()))
print(threading.enumerate(), threading.main_thread(), threading.current_thread(), os.getcwd())
print([f.function for f in inspect.stack()][:1], inspect.stack()[0].code_context)
print(traceback.format_list(traceback.extract_stack()[-1:]))


def handle(number, frame):
    print("handled", number)
    sys.exit(7)


print(signal.signal(signal.SIGTERM, handle), signal.getsignal(signal.SIGTERM) is handle)
print(signal.signal(signal.SIGTERM, signal.SIG_IGN) is handle)
print(signal.signal(signal.SIGTERM, handle))
os.kill(os.getpid(), signal.SIGTERM)
"""


@POSIX
@pytest.mark.parametrize("command", [("run",), ("doctor", "--engine", "gradtape")])
def test_a_program_that_looks_around_sees_the_same(command: tuple, tmp_path: Path) -> None:
    script = tmp_path / "look.py"
    script.write_text(LOOKS)
    plain = python(script, "--an", "argument")
    watched = gradtape(*command, script, "--an", "argument")
    assert plain.stdout.count("handled") == 1
    same = [_at_no_address(done.stdout) for done in (plain, watched)]
    assert same[1] == same[0]
    assert watched.returncode == plain.returncode == 7


def _at_no_address(text: str) -> list[str]:
    return re.sub(r"0x[0-9a-f]+|(started|main,?) \d+", "", text).splitlines()


@POSIX
def test_children_are_ended_as_without(tmp_path: Path) -> None:
    script = tmp_path / "children.py"
    script.write_text(
        "import os, signal, subprocess, sys\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    print(signal.getsignal(signal.SIGTERM), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "print(os.waitpid(child, 0)[1], signal.getsignal(signal.SIGTERM), flush=True)\n"
        "code = 'import signal; print(signal.getsignal(signal.SIGTERM))'\n"
        "subprocess.run([sys.executable, '-c', code])\n"
    )
    plain = python(script)
    watched = gradtape("doctor", "--engine", "gradtape", script)
    assert plain.stdout.splitlines() == ["0", "15 0", "0"]
    assert watched.stdout == plain.stdout
