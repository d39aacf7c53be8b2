"""`gradtape doctor --fix`: runs the program, changes the lines that were confirmed, runs it again.

Each run is a process of its own, in which the program behaves as it does under the doctor without
`--fix`. This one only waits, hands on signals, shows the changes, asks, and writes them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from ..fixing.files import Refused
from ..fixing.patch import as_text, patch
from ..fixing.plan import Plan
from ..report.terminal import colored, console, visible, width
from ..report.words import plural, shown
from ..source.writing import read_only, replace

HANDED_ON = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]  # fmt: skip
ROUNDS = 5  # of changes, at most
INTERRUPTED = (130, -signal.SIGINT)


def fix(words: Sequence[str], asks: bool) -> int:
    """Run, change and run again until there is nothing to change; returns the last exit code.

    `words` are those of the command line behind "doctor". Where it `asks`, and nobody is there to
    answer, nothing is changed.
    """
    rewind, fixed = _position(sys.stdin), 0
    for last in [False] * ROUNDS + [True]:  # what one fault has hidden shows in the next run
        code, plan = _visit(words, fixed)
        if plan is None:
            break
        if code in INTERRUPTED or code < 0:
            if plan.lines:
                _say("the program was stopped, so nothing was changed")
            break
        for why in plan.left:
            _say(why)
        if not plan.lines:
            if plan.found and not fixed:
                _say("no finding has a confirmed change, so nothing was changed")
            break
        if locked := [shown(path) for path in plan.lines if read_only(path)]:
            _show(as_text(patch(plan)))
            _say(
                f"{' and '.join(locked)}: read-only, so nothing was changed; allow writing "
                "(chmod u+w), or apply the patch that --format patch writes"
            )
            return code or 1
        if last or not _agreed(plan, asks):
            break
        try:
            for path, (_, after) in plan.contents().items():
                replace(path, after)
        except (Refused, OSError) as why:
            _say(f"nothing more was changed: {why}")
            return 1
        _say(f"changed {_told(plan)}; running it again")
        fixed += plan.count
        rewind()
    return _end(code)


# --- a run ----------------------------------------------------------------------------------------
def _visit(words: Sequence[str], fixed: int = 0) -> tuple[int, Plan | None]:
    """Run the program under the doctor in a process; its exit code, and what could be changed."""
    handle, path = tempfile.mkstemp(prefix="gradtape-", suffix=".json")
    os.close(handle)
    try:
        with _handing_on() as hand:
            child = subprocess.Popen([*_self(), "doctor", f"--visit={path}:{fixed}", *words])
            hand(child)
            code = child.wait()
        with open(path, encoding="utf-8") as file:
            text = file.read()
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return code, Plan.from_json(text) if text else None


def _self() -> list[str]:
    """The command that started this process, without its words: with Python's own options."""
    told = len(sys.orig_argv) - len(sys.argv) + 1
    if sys.orig_argv[told:] == sys.argv[1:] and told > 1:
        return [sys.executable, *sys.orig_argv[1:told]]
    return [sys.executable, "-m", "gradtape"]


@contextlib.contextmanager
def _handing_on() -> Iterator[Callable[[Any], None]]:
    """Meanwhile, signals are the business of the child that is handed over; those of the keyboard
    reach it by themselves."""
    children: list[Any] = []
    early: list[int] = []

    def handle(number: int, frame: Any) -> None:
        if number != signal.SIGINT:
            early.append(number)
            for child in children:
                child.send_signal(number)

    def hand(child: Any) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    kept = {}
    for number in HANDED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:  # which a child inherits
            kept[number] = signal.signal(number, handle)
    try:
        yield hand
    finally:
        for number, old in kept.items():
            signal.signal(number, old)


def _end(code: int) -> int:
    """End as the program did: also by a signal."""
    if code < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
    return code if code >= 0 else 128 - code


def _position(stream: IO[str] | None) -> Any:
    """Brings a standard input that is a file back to where it is now, for the second run."""
    try:
        handle = stream.fileno()  # type: ignore[union-attr]
        at = os.lseek(handle, 0, os.SEEK_CUR)
    except (OSError, ValueError, AttributeError):
        return lambda: None
    return lambda: os.lseek(handle, at, os.SEEK_SET)


# --- what is said ---------------------------------------------------------------------------------
def _agreed(plan: Plan, asks: bool) -> bool:
    """Show the changes; does the user want them?"""
    _show(as_text(patch(plan)))
    if not asks:
        return True
    if sys.stdin is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        _say(f"nothing was changed; with --fix --yes it changes {_told(plan)}")
        return False
    question = visible(f"gradtape doctor: change {_told(plan)}? [y/N] ")
    print(question, end="", file=sys.stderr, flush=True)
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return True
    _say("nothing was changed")
    return False


def _told(plan: Plan) -> str:
    """2 lines of train.py."""
    files = [f"{plural(len(lines), 'line')} of {shown(f)}" for f, lines in plan.lines.items()]
    return " and ".join(files)


def _show(diff: str) -> None:
    """The diff on standard error, in colours where it wants them."""
    words = diff.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if not colored(sys.stderr):
        print(visible(words), end="", file=sys.stderr, flush=True)
        return
    from rich.syntax import Syntax

    screen = console(file=sys.stderr, force_terminal=True, width=width(sys.stderr))
    screen.print(Syntax(words.rstrip("\n"), "diff", theme="ansi_dark", background_color="default"))


def _say(words: str) -> None:
    print(visible(f"gradtape doctor: {words}"), file=sys.stderr, flush=True)
