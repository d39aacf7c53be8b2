"""The report for a terminal: one screen a finding, then a table of all gradients."""

from __future__ import annotations

import io
import math
import textwrap
from typing import Any

from ..trace.finding import Finding
from ..trace.history import Line, Record
from .frame import Mark, Row, frames
from .words import checked, headline, plural, shown, steps, summary, times_of

BARS = "▁▂▃▄▅▆▇█"
LONGEST = 24  # bars of a sparkline
MARGIN = 10  # columns left of the source: arrow, number, rule
ROWS = 40  # of the table; of more, those that are well are only counted
# For terminals that know only ASCII.
ASCII = str.maketrans({"▸": ">", "│": "|", "…": "~", **{b: str(k + 1) for k, b in enumerate(BARS)}})


def text(report: Any, width: int = 100, color: bool = False, most: int | None = None) -> str:
    """The whole report; `color` for a terminal."""
    if not (color or report.findings or report.notes or report.faults):
        told = summary(report)
        if told.endswith("healthy"):  # one line, without the 20 ms that it takes to import rich
            return f"gradtape doctor: {told}\n"
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        width=width, file=file, force_terminal=color, no_color=not color, highlight=False,
        color_system="standard" if color else None, soft_wrap=True, markup=False, emoji=False,
        force_jupyter=False,  # else rich shows it in the notebook, and the text is empty
    )  # fmt: skip
    _say(console, report, width, most)
    return file.getvalue()


def _say(console: Any, report: Any, width: int, most: int | None) -> None:
    from rich.text import Text

    found = report.findings
    for finding in found if most is None else found[:most]:
        _finding(console, finding, width)
    if most is not None and most < len(found):
        console.print(f"… and {plural(len(found) - most, 'more finding')} (--max-findings)\n")
    healthy = summary(report).endswith("healthy")
    if report.history.records and not healthy:
        _table(console, report, width)
    style = "bold red" if found else "green" if healthy else ""
    console.print(Text(f"gradtape doctor: {summary(report)}", style))
    for note in report.notes:
        _wrapped(console, Text("  "), note, width)
    for fault in report.faults:
        console.print(f"gradtape doctor: a fault of its own, please report it: {fault}")


# --- a finding ------------------------------------------------------------------------------------
def _finding(console: Any, finding: Finding, width: int) -> None:
    from rich.text import Text

    head = Text(f"{finding.code} ", "bold red").append(f"{finding.name}  ", "bold")
    _wrapped(console, head, headline(finding), width, indent=2)
    marks = [Mark(finding.place, "", True)] if finding.place is not None else []
    marks += [Mark(place, label) for place, label in finding.also]
    for file, rows in frames(marks):
        console.print(Text(f"  {shown(file)}:{_line(rows, marks)}", "dim"))
        for row in _fitting(rows, width - MARGIN):
            console.print(_row(row))
    console.print()
    _field(console, "path", " > ".join(_abridged(finding.path)), width)
    _field(console, "cause", ("" if finding.sure else "likely: ") + finding.message, width)
    _field(console, "fix", finding.fix, width)
    lines = [] if finding.edit is None else [finding.edit.strip()]
    lines += [f"line {place.line}: {text.strip()}" for place, text in finding.further]
    for text in lines:
        for line in textwrap.wrap(
            text, width, initial_indent=" " * 12, subsequent_indent=" " * 16,
            break_long_words=False, break_on_hyphens=False,
        ):  # fmt: skip
            console.print(Text(line, "green"))
    _field(console, "checked", checked(finding), width)
    _field(console, "when", steps(finding), width)
    _field(console, "more", f"gradtape explain {finding.code}", width)
    console.print()


def _field(console: Any, name: str, words: str, width: int) -> None:
    from rich.text import Text

    if words:
        _wrapped(console, Text(f"  {name:<9} ", "bold"), words, width)


def _wrapped(console: Any, head: Any, words: str, width: int, indent: int | None = None) -> None:
    """Words after a head, the further lines indented."""
    indent = len(head) if indent is None else indent
    room = max(width, indent + 30)
    lines = textwrap.wrap(
        words, room, initial_indent="-" * len(head), subsequent_indent=" " * indent,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    console.print(head + lines[0][len(head) :] if lines else head)
    for line in lines[1:]:
        console.print(line)


def _abridged(path: list[str], most: int = 24) -> list[str]:
    """A path that one can read: its ends, and the neighbourhood of the break."""
    if len(path) <= most:
        return path
    broken = next((k for k, word in enumerate(path) if word.startswith("[")), 0)
    last = len(path) - 1
    kept = [k for k in range(len(path)) if min(k, last - k, abs(k - broken)) < most // 4]
    words: list[str] = []
    for before, k in zip([-1, *kept], kept, strict=False):
        words += ([f"… {k - before - 1} more …"] if k > before + 1 else []) + [path[k]]
    return words


# --- source ---------------------------------------------------------------------------------------
def _row(row: Row) -> Any:
    from rich.text import Text

    number = "" if row.number is None else str(row.number)
    arrow = "▸" if row.main and row.number is not None else " "
    style = "" if row.number is not None else "red" if row.main else "cyan"
    return Text(f"  {arrow}{number:>4} │ ", "dim").append(row.text, style)


def _line(rows: list[Row], marks: list[Mark]) -> int:
    """The line to name: the culprit's, else the first; without source, what the marks say."""
    numbers = [row.number for row in rows if row.number is not None]
    chosen = [row.number for row in rows if row.number is not None and row.main]
    return (chosen or numbers or [marks[0].place.line])[0]


def _fitting(rows: list[Row], room: int) -> list[Row]:
    """Rows cut to the terminal: common indentation goes first, then what is far from the marks."""
    lines = [row.text for row in rows if row.text.strip()]
    if all(len(line) <= room for line in lines):
        return rows
    shift = min((len(t) - len(t.lstrip()) for t in lines), default=0)
    marks = [row for row in rows if row.number is None]
    if marks:
        main = next((row for row in marks if row.main), marks[0]).text
        begin = len(main) - len(main.lstrip())
        if begin + len(main.split()[0]) - shift > room:  # the culprit itself is out of sight
            shift = max(begin - room // 3, shift)
    fitted: list[Row] = []
    for row in rows:
        cut = row.text[shift:]
        if row.number is None:
            fitted += [Row(None, t, row.main) for t in _label(cut, room)]
        else:
            fitted.append(Row(row.number, _cropped(cut, room), row.main))
    return fitted


def _cropped(line: str, room: int) -> str:
    return line if len(line) <= room else line[: room - 1] + "…"


def _label(line: str, room: int) -> list[str]:
    """A line of marks; its label goes below when it has no room beside them."""
    if len(line) <= room:
        return [line]
    indent = len(line) - len(line.lstrip())
    marks, _, label = line[indent:].partition(" ")
    marks = marks[: max(room - indent, 1)]
    start = max(min(indent, room - len(label)), 0)
    return [" " * indent + marks, *([" " * start + label] if label else [])]


# --- the table ------------------------------------------------------------------------------------
def _table(console: Any, report: Any, width: int) -> None:
    """Every query, and the sources of each with their state."""
    from rich.text import Text

    records = list(report.history.records.values())
    brief = sum(len(record.lines) for record in records) > ROWS
    name = max([len(line.name) for r in records for line in r.lines] + [6])
    name = min(name, max(width - 48, 16))
    state = max([len(_states(line)) for r in records for line in r.lines] + [5])
    over = "  over the steps" if any(record.steps > 2 for record in records) else ""
    head = f"  {'source':<{name}}  {'state':<{state}}  {'norm':>9}{over}"
    console.print(Text(head[:width].rstrip(), "bold"))
    for record in records:
        where = f"{shown(record.place.file)}:{record.place.line}"
        times = f", {times_of(record)}" if record.steps > 1 else ""
        console.print(Text(f"{record.method} of {record.target} ({where}{times})", "dim"))
        for line in _worth_a_row(record, brief):
            row = f"  {_short(line.name, name):<{name}}  {_states(line):<{state}}  {_last(line):>9}"
            bars = _spark(line, min(LONGEST, width - len(row) - 2))
            console.print(Text(f"{row}  {bars}".rstrip(), _style(line)))
        well = len(record.lines) - len(_worth_a_row(record, brief))
        if well:
            console.print(f"  … {plural(well, 'source')}, all ok")
    console.print()


def _worth_a_row(record: Record, brief: bool) -> list[Line]:
    return [line for line in record.lines if not brief or set(line.states) != {"ok"}]


def _style(line: Line) -> str:
    return "" if line.state in ("ok", "vanishing") else "red"


def _short(name: str, room: int) -> str:
    """A name that is too long loses its middle: the end tells which one it is."""
    if len(name) <= room:
        return name
    tail = (room - 1) * 2 // 3
    return f"{name[: room - 1 - tail]}…{name[-tail:]}"


def _states(line: Line) -> str:
    if len(line.states) == 1:
        return next(iter(line.states))
    return ", ".join(f"{state} x{count:,}" for state, count in line.states.items())


def _last(line: Line) -> str:
    return f"{line.norms.numbers[-1]:.3g}" if line.norms.numbers else "-"


def _spark(line: Line, length: int) -> str:
    """The norm over the steps, in bars; "!" where it is no number."""
    numbers = line.norms.numbers
    if len(numbers) < 3 or length < 3:
        return ""
    if len(numbers) > length:
        numbers = [numbers[k * (len(numbers) - 1) // (length - 1)] for k in range(length)]
    finite = [x for x in numbers if math.isfinite(x)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((x - low) * scale)] if math.isfinite(x) else "!" for x in numbers)
