"""`GRADTAPE_DOCTOR=1`: a report for any program that imports gradtape or, in an environment in
which gradtape is installed, TensorFlow; it is written when the program ends.

`GRADTAPE_DOCTOR=report.html` writes a file; its ending (`.html`, `.json`, `.sarif`, `.txt`) is the
format.
"""

from __future__ import annotations

import os
import sys

from ..report import Exit, Report, text
from ..report.terminal import colored
from ..trace.history import History
from .visit import Delivery, Visit, format_of, render
from .watch import exit_of, script

NAME = "GRADTAPE_DOCTOR"
OFF = ("", "0", "false", "no", "off")
ON = ("1", "true", "yes", "on")

visit: Visit | None = None


def begin() -> None:
    """Begin the visit that the environment asks for, if it does."""
    global visit
    given = os.environ.get(NAME, "")
    if given.lower() in OFF or visit is not None:
        return
    output = None if given.lower() in ON else _file(given)
    waiting = sys.modules.get("_gradtape_doctor")  # for TensorFlow: it is being imported now
    engine = getattr(waiting, "engine", "gradtape")
    visit = _Unasked("", Delivery(format_of(output) or "text", output), engine)
    visit.begin()
    # Imported now, because what is imported after an interrupt changes the exit code.
    if visit.delivery.format == "text":
        text.prepare(output is None and colored(sys.stderr))
    render(Report("", "", History(), []), visit.delivery, None)


def _file(given: str) -> str:
    """The file that is named; what can be none is a mistake, which is told before anything runs."""
    path = os.path.abspath(given)
    wrong = ""
    if not os.path.splitext(given)[1] or format_of(given) is None:
        wrong = "is neither 1 or 0 nor a file ending in .html, .json, .sarif or .txt"
    elif os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        wrong = "cannot be written: there is no such folder"
    if wrong:
        print(
            f"{NAME}: {given!r} {wrong}; {NAME}=1 prints the report, {NAME}=report.html writes "
            f"a page, and without {NAME} the program runs as usual",
            file=sys.stderr,
        )
        raise SystemExit(2)
    return path


def cancel() -> None:
    """A command that has a report of its own takes over."""
    if visit is not None:
        visit.cancel()


class _Unasked(Visit):
    """A visit that the program does not know of: how it ended is read from what Python left."""

    status = False  # helpers of the program's would draw on the same row

    def _write(self, report: Report, content: str) -> None:
        # Helpers of all kinds import gradtape; one that asked for no gradient has nothing to hear.
        if report.history.records or report.findings or report.faults:
            super()._write(report, content)

    def conclude(self) -> Report | None:
        self.script = script()
        error = getattr(sys, "last_value", None)
        if error is not None and self.exit == Exit() and not hasattr(sys, "ps1"):
            self.error, self.exit = error, exit_of(error)
        return super().conclude()
