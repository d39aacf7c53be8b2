"""`%load_ext gradtape`, then `%%doctor` on top of a cell: its gradients are looked at.

In a notebook the report is the page, in a terminal the text. The options are those of the command
`gradtape doctor` that make sense for a cell; what `%%doctor?` shows lists them.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from ..engines.choice import ENGINES, in_sight, installed, mentions
from ..report import Report
from ..report.terminal import visible
from ..report.words import summary
from ..source.cells import as_one_cell, in_notebook
from ..source.sources import reached
from .visit import FORMATS, Delivery, format_of, render
from .watch import Watch


def load_ipython_extension(shell: Any) -> None:
    """Give a shell of IPython the magic `%%doctor`."""

    def doctor(line: str, cell: str) -> None:
        """Run the cell, and say why its gradients are missing, zero, not finite or wrong.

        %%doctor [--audit] [--engine auto|gradtape|tensorflow] [--max-findings N] [--output FILE]

        --audit         check gradients that look fine against differences, which takes longer
        --engine        what the cell computes with; by default what its imports say
        --max-findings  show the first N findings only
        --output        write the report to FILE (.html, .json, .sarif, .txt), and show one line
        """
        options = _options(line)
        watch = Watch(options.audit, _engine(options.engine, shell.user_ns, cell))
        report = watch.__enter__()
        # A comment where the magic stood: lines are counted as the notebook counts them.
        with as_one_cell():
            result = shell.run_cell(cell if cell.startswith("%%") else f"# %%doctor {line}\n{cell}")
        error = result.error_before_exec or result.error_in_exec
        watch.__exit__(type(error) if error else None, error, getattr(error, "__traceback__", None))
        _deliver(report, options.output, options.most)

    shell.register_magic_function(doctor, "cell", "doctor")


class _Shown:
    """A report that is shown with so many findings."""

    def __init__(self, report: Report, most: int | None) -> None:
        self.report, self.most = report, most

    def __repr__(self) -> str:
        return self.report.to_text(most=self.most)

    def _repr_html_(self) -> str:
        from ..report.page import framed

        return framed(self.report, self.most)


def show(report: Report, most: int | None = None) -> None:
    """Show the page below the cell that is running."""
    from IPython.display import display

    display(_Shown(report, most))


def _deliver(report: Report, output: str | None, most: int | None) -> None:
    if output is not None:
        content = render(report, Delivery(format_of(output) or "text", output, most), None)
        Path(output).write_text(content, encoding="utf-8")
        print(visible(f"gradtape doctor: {summary(report)}: {reached(output)}"), file=sys.stderr)
    elif in_notebook():
        show(report, most)
    else:
        print(report.to_text(most=most))


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are those of a magic: a line, and no end of the process."""

    def error(self, message: str) -> Any:
        from IPython.core.error import UsageError

        raise UsageError(f"%%doctor: {message}")


def _options(line: str) -> argparse.Namespace:
    parser = _Parser(prog="%%doctor", add_help=False, allow_abbrev=False)
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--engine", choices=ENGINES, default="auto")
    parser.add_argument("--max-findings", dest="most", type=int)
    parser.add_argument("--output", type=os.path.abspath)
    options = parser.parse_args(shlex.split(line))
    if options.most is not None and options.most < 0:
        parser.error(f"argument --max-findings: {options.most} is no whole number from 0 on")
    if options.output is not None and format_of(options.output) is None:
        parser.error(
            f"argument --output: the ending of {os.path.basename(options.output)!r} names no "
            f"format ({', '.join(FORMATS)})"
        )
    return options


def _engine(wanted: str, names: dict[str, Any], cell: str) -> str:
    if wanted != "auto":
        return wanted
    return "tensorflow" if installed() and mentions(cell) else in_sight(names)
