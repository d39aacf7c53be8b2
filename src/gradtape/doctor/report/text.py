"""The report for a terminal: one screen a finding, then a table of all gradients."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..trace.finding import Finding
from ..trace.history import Line, Record
from ..trace.states import SOUND
from .frame import Mark, Row, frames
from .terminal import console, visible
from .words import checked, headline, plural, shown, steps, summary, times_of, well

BARS = "▁▂▃▄▅▆▇█"
LONGEST = 24  # bars of a sparkline
MARGIN = 10  # columns left of the source: arrow, number, rule
NARROW = 60  # columns of a terminal below which little is indented
FEW = 3  # of those that are only counted, these are named
ROWS = 40  # of the table; of more, those that are well are only counted
# For terminals that know only ASCII.
ASCII = str.maketrans({"▸": ">", "│": "|", "…": "~", **{b: str(k + 1) for k, b in enumerate(BARS)}})


def text(report: Any, width: int = 100, color: bool = False, most: int | None = None) -> str:
    """The whole report; `color` for a terminal."""
    if well(report) and not (color or report.notes or report.faults):
        told = f"gradtape doctor: {summary(report)}"
        if len(told) <= width:  # one line, without the 20 ms that it takes to import rich
            return f"{visible(told)}\n"
    file = io.StringIO()
    screen = console(
        width=width, file=file, force_terminal=color, no_color=not color, highlight=False,
        color_system="standard" if color else None, soft_wrap=True, markup=False, emoji=False,
        force_jupyter=False,  # else rich shows it in the notebook, and the text is empty
    )  # fmt: skip
    _say(screen, report, width, most)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().rstrip("\n").split("\n"))


def prepare(color: bool) -> None:
    """Import all that a text needs, for those who must not when they write one."""
    import rich.console
    import rich.table  # noqa: F401

    if color:
        _highlighted("import this")


def _say(screen: Any, report: Any, width: int, most: int | None) -> None:
    from rich.text import Text

    found = report.findings
    for finding in found if most is None else found[:most]:
        _finding(screen, finding, width)
    if most is not None and most < len(found):
        screen.print(f"… and {plural(len(found) - most, 'more finding')} (--max-findings)\n")
    if report.history.records and not well(report):
        _table(screen, report, width)
    style = "red" if found else "green" if well(report) else ""
    _wrapped(screen, Text("gradtape doctor: ", "bold"), summary(report), width, 2, style)
    for note in report.notes:
        _wrapped(screen, Text("  "), note, width)
    for fault in report.faults:
        screen.print(f"gradtape doctor: a fault of its own, please report it: {fault}")


# --- a finding ------------------------------------------------------------------------------------
def _finding(screen: Any, finding: Finding, width: int) -> None:
    from rich.text import Text

    head = Text.assemble((finding.code, "bold red"), " ", (f"{finding.name}  ", "bold"))
    _wrapped(screen, head, headline(finding), width, indent=2)
    marks = [Mark(finding.place, "", True)] if finding.place is not None else []
    marks += [Mark(place, label) for place, label in finding.also]
    for file, rows in frames(marks):
        screen.print(Text(f"  {shown(file)}:{_line(rows, marks)}", "dim"))
        room = max(width - MARGIN, 20)
        for row in _fitting(rows, room):
            screen.print(_row(row, room, screen.is_terminal))
    screen.print()
    _field(screen, "path", " > ".join(_abridged(finding.path)), width)
    _field(screen, "cause", ("" if finding.sure else "likely: ") + finding.message, width)
    _field(screen, "fix", finding.fix, width)
    lines = [] if finding.edit is None else [finding.edit.strip()]
    lines += [f"line {place.line}: {text.strip()}" for place, text in finding.further]
    indent = " " * (4 if width < NARROW else 12)
    for text in lines:
        for line in textwrap.wrap(
            text, width, initial_indent=indent, subsequent_indent=indent + " " * 4,
            break_long_words=width < NARROW, break_on_hyphens=False,
        ):  # fmt: skip
            screen.print(Text(line, "green"))
    _field(screen, "checked", checked(finding), width)
    _field(screen, "when", steps(finding), width)
    _field(screen, "more", f"gradtape explain {finding.code}", width)
    screen.print()


def _field(screen: Any, name: str, words: str, width: int) -> None:
    from rich.text import Text

    if words:
        head = Text.assemble((f"  {name:<9} ", "bold"))
        _wrapped(screen, head, words, width, 4 if width < NARROW else None)


def _wrapped(
    screen: Any, head: Any, words: str, width: int, indent: int | None = None, style: str = ""
) -> None:
    """Words after a head, which keeps its own style; the further lines are indented."""
    from rich.text import Text

    indent = len(head) if indent is None else indent
    lines = textwrap.wrap(
        words, max(width, indent + 20), initial_indent="-" * len(head),
        subsequent_indent=" " * indent, break_long_words=width < NARROW, break_on_hyphens=False,
    )  # fmt: skip
    first = lines[0][len(head) :] if lines else ""
    screen.print(Text.assemble(head, (first, style)))
    for line in lines[1:]:
        screen.print(Text(line, style))


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
def _row(row: Row, room: int, color: bool) -> Any:
    """A line of source in its colours: that of the culprit bright, its neighbours dim."""
    from rich.text import Text

    number = "" if row.number is None else str(row.number)
    here = row.main and row.number is not None
    margin = Text.assemble("  ", ("▸" if here else " ", "red"), (f"{number:>4} │ ", "dim"))
    if row.number is None:
        return Text.assemble(margin, (row.text, "red" if row.main else "cyan"))
    code = _highlighted(row.text) if color else Text(row.text)
    if not row.main:
        code.stylize("dim")
    return Text.assemble(margin, _cropped(code, row.shift, room))


def _highlighted(line: str) -> Any:
    """One line of Python, as rich colours it for a terminal."""
    from rich.syntax import Syntax

    found = Syntax(line, "python", theme="ansi_dark", background_color="default").highlight(line)
    found.rstrip()
    return found


def _cropped(line: Any, shift: int, room: int) -> Any:
    """A part of a line; an ellipsis stands where something is missing."""
    from rich.text import Text

    part, more = line[shift:], Text("…", "dim")
    if part.plain.strip() and line.plain[:shift].strip():
        part = more + part[1:]
    return part if len(part) <= room else part[: room - 1] + more


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
    shift = indent = min((len(t) - len(t.lstrip()) for t in lines), default=0)
    marks = [row for row in rows if row.number is None]
    if marks:
        main = next((row for row in marks if row.main), marks[0]).text
        begin = len(main) - len(main.lstrip())
        end = begin + len(main.split()[0])
        if end - shift >= room:  # the culprit itself is out of sight: what follows it goes last
            shift = max(min(end + room // 8 - room, begin - 2), shift)
    fitted: list[Row] = []
    for row, below in zip(rows, [*rows[1:], None], strict=True):
        if row.number is None:
            fitted += [Row(None, t, row.main) for t in _label(row.text, shift, room)]
        else:  # a neighbour without marks is shown from its start
            marked = below is not None and below.number is None
            fitted.append(replace(row, shift=shift if marked else indent))
    return fitted


def _label(line: str, shift: int, room: int) -> list[str]:
    """A line of marks; its label goes below when it has no room beside them."""
    indent = len(line) - len(line.lstrip())
    marks, _, label = line[indent:].partition(" ")
    begin, end = indent - shift, indent - shift + len(marks)
    # Marks that are out of sight are pointed at by the edge.
    begin, end = min(max(begin, 0), room - 1), min(max(end, 1), room)
    marks = " " * begin + marks[:1] * max(end - begin, 1)
    if len(marks) + 1 + len(label) <= room:
        return [f"{marks} {label}".rstrip()]
    lines = textwrap.wrap(label, room)
    start = max(min([begin, *(room - len(line) for line in lines)]), 0)
    return [marks, *(" " * start + line for line in lines)]


# --- the table ------------------------------------------------------------------------------------
def _table(screen: Any, report: Any, width: int) -> None:
    """Every query, and the sources of each with their state."""
    from rich.text import Text

    records = list(report.history.records.values())
    brief = sum(len(record.lines) for record in records) > ROWS
    lines = [line for record in records for line in record.lines]
    states = max([len(_states(line)) for line in lines] + [5])
    names = max([len(line.name) for line in lines] + [6])
    sizes = min(names, max(width - 48, 10)), min(states, max(width - 30, 8)), 9
    room = min(LONGEST, width - sum(sizes) - 8)
    over = "over the steps" if any(record.steps > 2 for record in records) else ""
    over = over if len(over) <= room else ""
    for k, record in enumerate(records):
        chosen = _worth_a_row(record, brief)
        title = (
            f"{record.method} of {record.target} ({shown(record.place.file)}:{record.place.line}"
        )
        title += f", {times_of(record)})" if record.steps > 1 else ")"
        if not k:
            _print_rows(screen, sizes, width, [(("source", "state", "norm", over), "bold")])
        _wrapped(screen, Text(), title, width, 2, "dim")
        rows = []
        for line in chosen:
            cells = _short(line.name, sizes[0]), _states(line), _last(line), _spark(line, room)
            rows.append((cells, _style(line)))
            if line.reason:
                _print_rows(screen, sizes, width, rows)
                _wrapped(screen, Text(), line.reason, width, 4, "dim")
                rows = []
        _print_rows(screen, sizes, width, rows)
        hidden = [line for line in record.lines if line not in chosen]
        if hidden:
            _wrapped(screen, Text(), _in_brief(hidden), width, 4)
    screen.print()


def _print_rows(
    screen: Any, sizes: tuple[int, ...], width: int, rows: Sequence[tuple[tuple[str, ...], str]]
) -> None:
    """Rows of the table, which queries share; one that is too long for the terminal is cut."""
    from rich.table import Table

    if not rows:
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(width=0)
    for size, justify in zip(sizes, ("left", "left", "right"), strict=True):
        table.add_column(width=size, no_wrap=True, overflow="ellipsis", justify=justify)  # type: ignore[arg-type]
    table.add_column(no_wrap=True, overflow="crop")
    for cells, style in rows:
        table.add_row("", *cells, style=style)
    screen.print(table, width=width)


def _worth_a_row(record: Record, brief: bool) -> list[Line]:
    return [line for line in record.lines if not brief or set(line.states) - SOUND]


def _in_brief(lines: list[Line]) -> str:
    """The lines of a long table that are well."""
    removed = [f"`{line.name}` ({line.reason})" for line in lines if line.reason]
    said = f"  … {plural(len(lines) - len(removed), 'source')}, all ok"
    if removed:
        more = f" and {len(removed) - FEW:,} more" if len(removed) > FEW else ""
        said += f", and {len(removed):,} cancelled: {', '.join(removed[:FEW])}{more}"
    return said


def _style(line: Line) -> str:
    return "" if line.state in (*SOUND, "vanishing") else "red"


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
