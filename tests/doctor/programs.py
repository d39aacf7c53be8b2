"""Runs programs under the doctor, for the tests: in this process, each in a module of its own."""

from __future__ import annotations

import contextlib
import io
import linecache
import random
import sys
from itertools import count
from typing import Any

import numpy as np

import gradtape
from gradtape.doctor.entry.session import Session
from gradtape.doctor.rules import CATALOGUE
from gradtape.doctor.rules.base import Rule
from gradtape.doctor.trace.finding import Finding

from .truth import Truthful

_serial = count()
PREAMBLES = {
    engine: f"import numpy as np\nimport {engine} as tf\n" for engine in ("gradtape", "tensorflow")
}
PREAMBLE = PREAMBLES["gradtape"]


def seed() -> None:
    """Programs that draw without a seed draw the same from here."""
    random.seed(2)
    np.random.seed(2)
    gradtape.random.set_seed(2)
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(2)


def diagnose(
    text: str,
    engine: str = "gradtape",
    audit: bool = False,
    printed: io.StringIO | None = None,
    rules: tuple[Rule, ...] = CATALOGUE,
) -> Session:
    """Run a program and return the session; what it raises ends it and is told to the doctor."""
    name = f"<program {next(_serial)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    session = Truthful(engine, audit, rules)
    run(text, name, session, printed)
    assert not session.faults, session.faults
    assert not session.untrue, session.untrue
    return session


def run(text: str, name: str, session: Session, printed: io.StringIO | None = None) -> None:
    """Run a program in a session, as a file of this name: what it prints goes nowhere, what it
    raises ends it and is told to the doctor."""
    code = compile(text, name, "exec")
    with contextlib.redirect_stdout(printed or io.StringIO()):
        session.start()
        try:
            exec(code, {"__name__": "__main__", "__file__": name})
        except Exception as error:
            session.raised(error)
        finally:
            session.stop()


def sketch(finding: Finding) -> str:
    """A finding in a few plain lines, as the Markdown tests state it."""
    at = "" if finding.place is None else f", line {finding.place.line}"
    code = "" if finding.place is None else f": `{finding.place.text.splitlines()[0]}`"
    sources = ", ".join(finding.sources)
    lines = [f"{finding.code} {finding.name}: {finding.state} of {sources}{at}{code}"]
    lines += [("" if finding.sure else "likely: ") + finding.message, f"fix: {finding.fix}"]
    if finding.edit is not None:
        lines.append(f"edit: {finding.edit.strip()}")
    lines += [f"edit in line {place.line}: {text.strip()}" for place, text in finding.further]
    if finding.would_be is not None:
        how = f" ({finding.would_be.how})" if finding.would_be.how else ""
        lines.append(f"would be: {_number(finding.would_be)}{how}")
    elif finding.why_not:
        lines.append(f"would be unknown: {finding.why_not}")
    return "\n".join(lines)


def _number(would_be: Any) -> str:
    if would_be.array.size <= 4:
        return str([float(f"{x:.4g}") for x in would_be.array.ravel().real])
    return f"norm {would_be.norm:.4g}, shape {would_be.array.shape}"
