"""Runs every rule's failing program under the doctor and writes its report, as text and as a page.

`python -m tests.documents.gallery FOLDER`; what needs the real TensorFlow is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import gradtape
from gradtape.api import alias
from gradtape.doctor.report import Report
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule

PREAMBLE = "import numpy as np\nimport tensorflow as tf\n\n"
WIDTH = 92  # columns of the text: what a page of the site shows without scrolling


def main(folder: Path) -> None:
    """Write the reports of all rules into a folder."""
    alias.install()
    warnings.simplefilter("ignore")  # the programs have faults
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for rule in CATALOGUE:
            if rule.needs != "the real TensorFlow":
                report = diagnose(rule)
                (folder / f"{rule.name}.txt").write_text(report.to_text(WIDTH), encoding="utf-8")
                (folder / f"{rule.name}.html").write_text(report.to_html(), encoding="utf-8")


def diagnose(rule: Rule) -> Report:
    """The report of a rule's failing program, run as a script of its own in this folder."""
    file = Path(f"{rule.name.replace('-', '_')}.py")
    file.write_text(PREAMBLE + rule.failing.strip() + "\n", encoding="utf-8")
    path = os.path.abspath(file)
    random.seed(2)
    np.random.seed(2)
    gradtape.random.set_seed(2)
    code = compile(file.read_text(encoding="utf-8"), path, "exec")
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.suppress(Exception),
        gradtape.doctor.watch(engine="gradtape") as report,
    ):
        exec(code, {"__name__": "__main__", "__file__": path})
    report.script = file.name
    return report


if __name__ == "__main__":
    main(Path(sys.argv[1]))
