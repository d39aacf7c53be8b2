"""`%load_ext gradtape`, then `%%doctor` on top of a cell: its gradients are looked at.

In a notebook the report is the page, in a terminal the text. `%%doctor --audit` also checks
gradients that look fine, `--engine` says which engine the cell computes with.
"""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from ..engines.choice import ENGINES, in_sight, installed, mentions
from .watch import Watch


def load_ipython_extension(shell: Any) -> None:
    """Give a shell of IPython the magic `%%doctor`."""

    def doctor(line: str, cell: str) -> None:
        options = _parser().parse_args(shlex.split(line))
        watch = Watch(options.audit, _engine(options.engine, shell.user_ns, cell))
        report = watch.__enter__()
        result = shell.run_cell(cell)
        error = result.error_before_exec or result.error_in_exec
        watch.__exit__(type(error) if error else None, error, getattr(error, "__traceback__", None))
        if getattr(shell, "kernel", None) is None:
            print(report)
        else:
            from IPython.display import display

            display(report)

    shell.register_magic_function(doctor, "cell", "doctor")


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="%%doctor", exit_on_error=False)
    made.add_argument("--audit", action="store_true")
    made.add_argument("--engine", choices=ENGINES, default="auto")
    return made


def _engine(wanted: str, names: dict[str, Any], cell: str) -> str:
    if wanted != "auto":
        return wanted
    return "tensorflow" if installed() and mentions(cell) else in_sight(names)
