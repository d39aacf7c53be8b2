"""The user's code around a place, with marks under the expressions that matter."""

from __future__ import annotations

from dataclasses import dataclass

from ..source import sources
from ..source.place import Place

AROUND = 2  # lines shown before the first and after the last that is marked
FAR = 6  # marks farther apart than this get frames of their own
TAB = 4  # columns of a tab


@dataclass
class Mark:
    """An expression to underline; the culprit's mark is the main one."""

    place: Place
    label: str
    main: bool = False


@dataclass
class Row:
    """A line of source, or (without a number) of marks."""

    number: int | None
    text: str
    main: bool = False
    shift: int = 0  # columns on the left that are not shown


def frames(marks: list[Mark]) -> list[tuple[str, list[Row]]]:
    """Pieces of source with their marks, one for each neighbourhood: (file, rows)."""
    groups: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda m: (not m.main, m.place.file, m.place.line)):
        near = next((g for g in groups if _near(g, mark)), None)
        if near is None:
            groups.append([mark])
        else:
            near.append(mark)
    return [(group[0].place.file, _rows(group)) for group in groups]


def _near(group: list[Mark], mark: Mark) -> bool:
    return any(
        m.place.file == mark.place.file and abs(m.place.line - mark.place.line) <= FAR
        for m in group
    )


def _rows(marks: list[Mark]) -> list[Row]:
    file = marks[0].place.file
    first = max(1, min(m.place.line for m in marks) - AROUND)
    last = max(m.place.line for m in marks) + AROUND
    lines = sources.lines(file)
    rows: list[Row] = []
    for number in range(first, min(last, len(lines)) + 1):
        text = lines[number - 1].rstrip("\n")
        here = [m for m in marks if m.place.line == number]
        rows.append(Row(number, text.expandtabs(TAB), any(m.main for m in here)))
        marked = sorted(here, key=lambda m: not m.main)
        rows += [Row(None, _underline(mark, text), mark.main) for mark in marked]
    while rows and not rows[0].text.strip():
        rows.pop(0)
    while rows and not rows[-1].text.strip():
        rows.pop()
    return rows


def _underline(mark: Mark, text: str) -> str:
    line, column, end_line, end_column = mark.place.span
    end = len(text[:end_column] if end_line == line else text)
    column, end = (len(text[:k].expandtabs(TAB)) for k in (column, end))
    sign = "^" if mark.main else "-"
    return " " * column + sign * max(end - column, 1) + (f" {mark.label}" if mark.label else "")
