"""Turns of phrase that all reports share."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..trace.finding import Finding

STATES = {
    "none": "no gradient (None)", "zero": "a gradient of zeros", "nan": "a gradient with NaN",
    "inf": "an infinite gradient", "vanishing": "a vanishing gradient",
    "exploding": "an exploding gradient", "wrong": "a wrong gradient",
}  # fmt: skip
LOST = ("none", "nan", "inf", "exploding", "error")  # states that are never called healthy


def headline(finding: Finding) -> str:
    """The symptom, in the user's names."""
    if finding.state == "error" and not finding.source:
        return "the program stopped with an error"
    who = listed(finding.sources or [finding.source])
    if finding.state == "error":
        return f"asking for the gradient of {who} raised an error"
    has = "has" if len(finding.sources) <= 1 else "have"
    target = f" of `{finding.target}`" if finding.target else ""
    return f"{who} {has} {STATES[finding.state]}{target}"


def listed(names: list[str]) -> str:
    """`a`, `b` and 3 more."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= 3:
        return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
    return f"{', '.join(quoted[:2])} and {len(quoted) - 2} more"


def plural(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def summary(report: Any) -> str:
    """The run in one line."""
    asked, found = report.history.gradients, len(report.findings)
    if found:
        return f"{plural(found, 'finding')} in {plural(asked, 'gradient')}"
    if not asked:
        return "no gradient was asked for"
    others = {s: n for s, n in report.history.states.items() if s != "ok"}
    if not others:
        return f"{plural(asked, 'gradient')}, all healthy"
    which = ", ".join(f"{n:,} {state}" for state, n in others.items())
    # A gradient may well be zero: at a minimum, of a part that was not used.
    said = "no cause found" if any(state in LOST for state in others) else "no fault found"
    return f"{plural(asked, 'gradient')} ({which}), {said}"


def would_be(finding: Finding) -> str:
    """The gradient that the user would have had."""
    if finding.would_be is None:
        return f"not known: {finding.why_not}" if finding.why_not else ""
    array = np.asarray(finding.would_be.array)
    if array.size <= 6:
        said = " ".join(np.array2string(array, precision=4, separator=", ").split())
    else:
        said = f"norm {finding.would_be.norm:.4g}, shape {array.shape}"
    return said + (f" ({finding.would_be.how})" if finding.would_be.how else "")


def steps(finding: Finding) -> str:
    """In which steps of a loop."""
    found = finding.steps
    if not found:
        return ""
    first, last = found[0], found[-1]
    total = max(finding.asked, last)
    if total == 1:
        return ""
    if len(found) == total:
        return f"in all {total:,} steps"
    if len(found) == 1:
        return f"in step {first:,} of {total:,}"
    if last - first + 1 > len(found):
        return f"in {len(found):,} of {total:,} steps, first in step {first:,}"
    if last == total:
        return f"from step {first:,} on (of {total:,})"
    if first == 1:
        return f"in the first {last:,} of {total:,} steps"
    return f"in steps {first:,} to {last:,} of {total:,}"


def shown(file: str) -> str:
    """A file as the reader knows it: from the current directory, else by its name alone."""
    if not os.path.isabs(file):
        return file
    try:
        shorter = os.path.relpath(file)
    except (OSError, ValueError):  # the directory is gone; another drive
        return os.path.basename(file)
    return os.path.basename(file) if shorter.startswith(os.pardir) else shorter
