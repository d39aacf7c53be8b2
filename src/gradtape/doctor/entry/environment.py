"""`GRADTAPE_DOCTOR=1`: a report for any program that imports gradtape, written when it ends.

`GRADTAPE_DOCTOR=report.html` writes a file; its ending (`.html`, `.json`, `.sarif`) is the format.
"""

from __future__ import annotations

import os
import sys

from ..report import Exit, Report, text
from ..report.terminal import colored
from ..trace.history import History
from .visit import Delivery, Visit, format_of, render
from .watch import _script, exit_of

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
    output = None if given.lower() in ON else os.path.abspath(given)
    visit = _Unasked("", Delivery(format_of(output) or "text", output))
    visit.begin()
    # Imported now, because what is imported after an interrupt changes the exit code.
    if visit.delivery.format == "text":
        text.prepare(output is None and colored(sys.stderr))
    render(Report("", "", History(), []), visit.delivery, None)


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
        self.script = _script()
        error = getattr(sys, "last_value", None)
        if error is not None and self.exit == Exit() and not hasattr(sys, "ps1"):
            self.error, self.exit = error, exit_of(error)
        return super().conclude()
