"""A place that asks for gradients, over its steps: the numbers from which the page's script draws
the loss, a heat map of all gradients and their norms; and a plain plot for readers without scripts.

Numbers are many, so they travel packed: the logarithm of a norm as 16 bits between the smallest and
the largest of its line (three digits), states as the steps at which they changed.
"""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..trace.finding import Finding
from ..trace.history import UNSEEN, Line, Record, Series
from ..trace.states import SOUND, WORST
from .markup import Safe, prose, tag
from .plots import legend, plot
from .words import plural, shown, times_of

NUMBERS = 600_000  # norms that a page holds, over all of its lines: 1.6 MB
SPELLS = 40_000  # changes of state
ROWS = 200  # of a heat map
FIGURES = 12
RANGES = 64  # of the steps of a finding
ZERO, INFINITE, NAN = 65533, 65534, 65535  # codes of norms that have no logarithm
CODES = 65532
STATES = [*WORST, "ok", UNSEEN]


def timelines(report: Any, findings: Sequence[Finding]) -> list[Safe]:
    """The figures of the places that asked more than once; of too many, of the sick ones."""
    asked = [record for record in report.history.records.values() if record.steps > 1]
    records = sorted(sorted(asked, key=_well)[:FIGURES], key=asked.index)
    shared = _budget([kept(record.lines) for record in records])
    figures = []
    for k, record in enumerate(records):
        here = [
            (n, finding) for n, finding in enumerate(findings)
            if finding.steps and finding.query is not None and finding.query.place == record.place
        ]  # fmt: skip
        figures.append(_figure(k, record, here, *shared))
    return figures


def _well(record: Record) -> bool:
    return all(set(line.states) <= SOUND for line in record.lines)


def kept(lines: Sequence[Line], most: int = ROWS) -> list[Line]:
    """So many lines, in their order: of too many the sick ones rather than the first ones."""
    if len(lines) <= most:
        return list(lines)
    sick = [k for k, line in enumerate(lines) if set(line.states) - SOUND][:most]
    well = [k for k, line in enumerate(lines) if not set(line.states) - SOUND]
    return [lines[k] for k in sorted([*sick, *well[: most - len(sick)]])]


def _budget(all_lines: list[list[Line]]) -> tuple[int, int]:
    """How many norms and how many changes of state each line may have."""
    count = max(sum(map(len, all_lines)), 1)
    return max(NUMBERS // count, 64), max(SPELLS // count, 32)


def _figure(
    k: int, record: Record, found: list[tuple[int, Finding]], most: int, spells: int
) -> Safe:
    since = {finding.steps[0] for _, finding in found if finding.steps}
    # The plot shows the norms, and the words stand below it, until the script draws both.
    still = plot(record, since)
    title = prose(f"Gradients of `{record.target}` over {times_of(record)}")
    where = tag("span", f"{shown(record.place.file)}:{record.place.line}", class_="where")
    numbers = _plain(_numbers(record, found, most, spells))
    return tag(
        "figure", tag("figcaption", title, " ", where),
        None if still is None else tag("div", still, legend(record), class_="still"),
        tag("div", numbers, class_="numbers", hidden=True), class_="timeline", data_record=k,
        data_key=f"{shown(record.place.file)}:{record.place.line}:{record.target}",
    )  # fmt: skip


def _plain(data: dict[str, Any]) -> Safe:
    """JSON as text of the page; in quotes nothing needs to be escaped but what opens markup."""
    return Safe(html.escape(json.dumps(data, separators=(",", ":")), quote=False))


def _numbers(
    record: Record, found: list[tuple[int, Finding]], most: int, spells: int
) -> dict[str, Any]:
    lines = kept(record.lines)
    return {
        "target": record.target,
        "states": STATES,
        "steps": record.steps,
        "loss": _loss(record),
        "lines": [_line(line, most, spells) for line in lines],
        "left": len(record.lines) - len(lines),
        "findings": [_finding(n, finding, lines) for n, finding in found],
    }


def _loss(record: Record) -> dict[str, Any] | None:
    """The target over the steps, where it was one number in each."""
    if record.several or record.targets.count != record.steps:
        return None
    numbers = np.asarray(record.targets.numbers, "<f8")
    return {"every": record.targets.every, "numbers": _base64(numbers)}


def _line(line: Line, most: int, spells: int) -> dict[str, Any]:
    every, norms = _thinned(line.norms, most)
    low, high, codes = pack(norms)
    turns = [
        number for step, state in line.spells(spells) for number in (step, STATES.index(state))
    ]
    return {
        "name": line.name, "shape": list(line.shape), "dtype": line.dtype, "every": every,
        "count": line.norms.count, "low": low, "high": high, "norms": _base64(codes),
        "turns": turns,
    }  # fmt: skip


def _thinned(series: Series, most: int) -> tuple[int, list[float]]:
    size = math.ceil(len(series.numbers) / most)
    return (series.every * size, series.numbers[::size]) if size > 1 else (
        series.every, series.numbers
    )  # fmt: skip


def pack(norms: Iterable[float]) -> tuple[float, float, np.ndarray]:
    """The ends of the logarithms, and each as a share of the way between them."""
    numbers = np.abs(np.asarray(list(norms), np.float64))
    codes = np.full(numbers.size, NAN, "<u2")
    codes[numbers == np.inf], codes[numbers == 0] = INFINITE, ZERO
    plain = np.isfinite(numbers) & (numbers > 0)
    if not plain.any():
        return 0.0, 0.0, codes
    logs = np.log10(numbers[plain])
    low, high = float(logs.min()), float(logs.max())
    codes[plain] = np.rint((logs - low) / ((high - low) or 1.0) * CODES).astype("<u2")
    return round(low, 7), round(high, 7), codes


def _base64(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


def _finding(n: int, finding: Finding, lines: list[Line]) -> dict[str, Any]:
    """Where in the heat map a finding is; a gradient that looks well is known to be wrong there."""
    names = {line.name: k for k, line in enumerate(lines)}
    return {
        "finding": n, "state": finding.state, "steps": _ranges(finding),
        "drawn": finding.query.step,
        "lines": [names[source] for source in finding.sources if source in names],
    }  # fmt: skip


def _ranges(finding: Finding) -> list[tuple[int, int]]:
    """The steps, as first and last of each stretch; of too many, small gaps are shut."""
    if finding.lasting is not None:
        return [finding.lasting]
    gap = 1
    while True:
        found: list[tuple[int, int]] = []
        for step in finding.steps:
            if found and step - found[-1][1] <= gap:
                found[-1] = found[-1][0], step
            else:
                found.append((step, step))
        if len(found) <= RANGES:
            return found
        gap *= 2


def left_out(records: Sequence[Record]) -> str | None:
    """What is left out, in words."""
    left = len([record for record in records if record.steps > 1]) - FIGURES
    return f"… and {plural(left, 'more place')}" if left > 0 else None
