"""Turns of phrase that all reports share."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..source.sources import shown as shown
from ..trace.finding import CONFIRMED, Finding, WouldBe
from ..trace.history import Record
from ..trace.states import SOUND

# What is said of one gradient, and of several.
STATES = {
    "none": ("is None", "are None"), "zero": ("is zero", "are zero"),
    "nan": ("contains NaN", "contain NaN"), "inf": ("is infinite", "are infinite"),
    "vanishing": ("vanishes", "vanish"), "exploding": ("explodes", "explode"),
    "wrong": ("is wrong", "are wrong"),
}  # fmt: skip
_WORD = re.compile(r"[\w.#\[\]'\" ]+")  # what may stand after a "d" as it is
LOST = ("none", "nan", "inf", "exploding", "error")  # states that are never called healthy


def headline(finding: Finding) -> str:
    """The symptom, in the user's names."""
    if finding.state == "error" and not finding.source:
        return "the program stopped with an error"
    if finding.state == "wrong" and not finding.source:
        return "the model trains but cannot learn this"
    sources = finding.sources or [finding.source]
    if finding.state == "error":
        return f"asking for the gradient of {listed(sources)} raised an error"
    said = STATES[finding.state][len(sources) > 1]
    if not finding.target:
        return f"the gradient of {listed(sources)} {STATES[finding.state][0]}"
    return f"{listed([derivative(finding.target, source) for source in sources])} {said}"


def derivative(target: str, source: str) -> str:
    """d loss/d w."""
    return f"d {_operand(target)}/d {_operand(source)}"


def _operand(name: str) -> str:
    return name if _WORD.fullmatch(name) else f"({name})"


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
    words = [f"fixed {plural(report.fixed, 'finding')}"] if report.fixed else []
    words.append(_outcome(report))
    for what, findings in (("ignored", report.ignored), ("known", report.known)):
        words += [f"{len(findings):,} {what}"] if findings else []
    return ", ".join(words)


def well(report: Any) -> bool:
    """Is there nothing to look at?"""
    return not report.findings and (_outcome(report).endswith("healthy") or _set_aside(report))


def _set_aside(report: Any) -> bool:
    """Is all that was found ignored or known?"""
    return not report.findings and bool(report.ignored or report.known)


def _outcome(report: Any) -> str:
    asked, found = report.history.gradients, len(report.findings)
    if found:
        return f"{plural(found, 'finding')} in {plural(asked, 'gradient')}"
    if _set_aside(report):
        new = "new " if report.known else ""
        return f"no {new}finding in {plural(asked, 'gradient')}"
    if not asked:
        return "no gradient was asked for"
    others = {s: n for s, n in report.history.states.items() if s not in SOUND}
    if not others:
        return f"{plural(asked, 'gradient')}, all healthy"
    which = ", ".join(f"{n:,} {state}" for state, n in others.items())
    # A gradient may well be zero: at a minimum, of a part that was not used.
    said = "no cause found" if any(state in LOST for state in others) else "no fault found"
    return f"{plural(asked, 'gradient')} ({which}), {said}"


def checked(finding: Finding) -> str:
    """How the finding is known: what a trial of its change gave, or why there was none."""
    verdict = finding.verdict
    if finding.state == "error":
        return ""  # the exception is there to be seen
    if verdict.kind != CONFIRMED and verdict.gradient is None:
        return f"no: {verdict.why}" if verdict.why else ""
    said = verdict.words
    if verdict.gradient is not None:
        what = derivative(finding.target, finding.source) if finding.target else "the gradient"
        said += f", {what} {_numbers(verdict.gradient)}"
    if verdict.kind != CONFIRMED and verdict.why:
        said += f"; {verdict.why}"
    return said


def _numbers(found: WouldBe) -> str:
    array = np.asarray(found.array)
    if array.size <= 6:
        said = "is " + " ".join(np.array2string(array, precision=4, separator=", ").split())
    else:
        said = f"has norm {found.norm:.4g}, shape {array.shape}"
    return said + (f" ({found.how})" if found.how else "")


def steps(finding: Finding) -> str:
    """In which steps of a loop it was seen, and in how many of them one could tell."""
    found = finding.steps
    if not found:
        return ""
    first, last = found[0], found[-1]
    total = max(finding.asked, last)
    if total == 1:
        return ""
    if finding.checked is not None and len(finding.checked) < total:
        return _sampled(finding, total)
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


def _sampled(finding: Finding, total: int) -> str:
    """Of a fault that only some steps can tell of."""
    found, checked = finding.steps, len(finding.checked or ())
    if checked == 1:
        return f"in step {found[0]:,} of {total:,} (no other was checked)"
    if finding.lasting is None:
        return (
            f"in {len(found):,} of the {checked:,} steps that were checked (of {total:,}), first "
            f"in step {found[0]:,}"
        )
    first, last = finding.lasting
    if first == last:
        return f"in step {first:,} of {total:,} ({checked:,} of them were checked)"
    of = "" if last == total else f" of {total:,}"
    return f"in steps {first:,}-{last:,}{of} (checked in {len(found):,} of them)"


def times_of(record: Record) -> str:
    """How often a place asked, and how many of its steps the states are known from."""
    some = f", {record.checked:,} of them checked" if record.checked < record.steps else ""
    return plural(record.steps, "step") + some
