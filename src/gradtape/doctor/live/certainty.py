"""Which faults are faults for certain while the program still runs, and what is said of them.

The end of a run withdraws what turned out to be healthy: zeros of a loss that came to nothing, an
overflow that a scaled loss left out, a layer that woke up. Nothing of that is said before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..report.words import headline, shown
from ..rules import CATALOGUE
from ..trace.finding import Finding
from ..trace.history import BROKEN, NEARLY_DONE, NOTHING, STUCK, Line, Record, usual

ALWAYS = ("none", "error")  # what no later step makes otherwise
LONG = 3 * STUCK  # steps of zeros that end a training which went well before


def certain(finding: Finding, record: Record | None, broken: bool) -> bool:
    """Will the end of the run still call it a fault? `broken`: weights of it are not finite."""
    if finding.state in ALWAYS or record is None:
        return True
    rule = next(rule for rule in CATALOGUE if rule.code == finding.code)
    lines = [line for line in record.lines if line.name in finding.sources]
    if not rule.stands(finding, lines, record.targets.numbers):
        return False
    if finding.state in BROKEN:
        return broken
    if finding.state in NOTHING:
        return _lasts(finding, lines, record.targets.numbers)
    lost = bool(lines) and all(line.state in BROKEN for line in lines)
    return (finding.sure and rule.final(finding)) or (lost and broken)


def _lasts(finding: Finding, lines: list[Line], targets: Sequence[float]) -> bool:
    """Has the gradient been nothing for so many steps that it is no chance, and not because there
    is nothing left to learn?"""
    if not any(line.states.get("ok") for line in lines):
        return _ends_with(finding.steps, STUCK)
    sizes = [abs(size) for size in targets if np.isfinite(size)]
    busy = bool(sizes) and sizes[-1] > NEARLY_DONE * usual(sizes)
    return finding.state == "zero" and busy and _ends_with(finding.steps, LONG)


def _ends_with(steps: list[int], many: int) -> bool:
    return len(steps) >= many and steps[-1] - steps[-many] == many - 1


def line(finding: Finding) -> str:
    """A fault in one line: step 1: d loss/d w1 is None, left-the-tape (GT103), train.py:11."""
    said = headline(finding).replace("`", "")
    likely = "" if finding.sure else "likely "
    when = f"step {finding.steps[0]:,}: " if finding.steps else ""
    words = f"{when}{said}, {likely}{finding.name} ({finding.code})"
    place = finding.place
    return words if place is None else f"{words}, {shown(place.file)}:{place.line}"
