"""The user's source with the path of each finding's gradient drawn through it.

Every piece of the drawing says in `data-for` for which findings it is there, and as what:
"0:flow 2:break". The page shows one finding at a time by copying that word to `data-now`, which the
style sheet colours; the first finding is drawn from the start, for readers without scripts.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..facts.spots import Spot
from ..source import sources
from ..source.cells import called
from ..source.place import Place
from ..trace.finding import Finding
from .anchors import Piece, anchor, pieces
from .markup import Safe, escape, join, opening, prose, tag
from .panels import panel
from .rail import Stop, rail
from .words import plural, shown

WHOLE = 400  # lines up to which a file is shown whole
AROUND = 30  # lines around what is marked, of longer files
FILES = 8  # shown at most

BREAKS = {
    "none": "the gradient stops here", "zero": "the gradient becomes zero here",
    "nan": "NaN begins here", "inf": "infinity begins here",
    "vanishing": "the gradient shrinks here", "exploding": "the gradient grows here",
    "wrong": "the gradient goes wrong here", "error": "the error comes from here",
}  # fmt: skip


@dataclass
class Group:
    """The spots of one finding that share an expression."""

    place: Place
    spots: list[Spot] = field(default_factory=list)

    @property
    def role(self) -> str:
        if any(spot.breaks for spot in self.spots):
            return "break"
        return "flow" if any(spot.flows for spot in self.spots) else "lost"


@dataclass
class Mark:
    """A piece of a line that some findings colour; `rank` tells who lies inside whom."""

    piece: Piece
    kind: str  # "culprit", "also" or "spot"
    rank: int
    roles: dict[int, str] = field(default_factory=dict)  # by number of the finding
    panels: dict[int, str] = field(default_factory=dict)
    said: str = ""  # to those who cannot see it


@dataclass
class Note:
    """Words below a line."""

    line: int
    column: int
    words: str
    kind: str  # "culprit" or "also"


class Listing:
    """All files that the findings speak of, and what is drawn into them."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings
        self.files: dict[str, dict[tuple[str, Piece], Mark]] = {}
        self.notes: dict[str, dict[int, list[Note]]] = {}  # by file and finding
        self.stops: dict[str, dict[int, list[Stop]]] = {}
        self.panels: list[Safe] = []
        for k, finding in enumerate(findings):
            self._take(k, finding)

    # --- collecting -------------------------------------------------------------------------------
    def _take(self, k: int, finding: Finding) -> None:
        if finding.place is not None:
            for piece in pieces(finding.place):
                self._mark(finding.place.file, "culprit", piece, 0, k, "on")
            broken = [spot for spot in finding.spots if spot.breaks]
            here = any(finding.place.contains(spot.place) for spot in broken) or not broken
            words = BREAKS[finding.state] if here else "the cause is here"
            self._note(k, finding.place, words if finding.sure else f"likely, {words}", "culprit")
        for place, label in finding.also:
            for piece in pieces(place):
                self._mark(place.file, "also", piece, 1, k, "on")
            self._note(k, place, label, "also")
        for n, group in enumerate(_groups(finding.spots)):
            name = f"p{k}-{n}"
            mark = self._mark(group.place.file, "spot", anchor(group.place), 2, k, group.role)
            mark.panels[k], mark.said = name, group.spots[0].name
            self.panels.append(panel(name, group.place, group.spots, group.role))
        self._route(k, finding)

    def _mark(self, file: str, kind: str, piece: Piece, rank: int, k: int, role: str) -> Mark:
        marks = self.files.setdefault(file, {})
        mark = marks.setdefault((kind, piece), Mark(piece, kind, rank))
        mark.roles[k] = role
        return mark

    def _note(self, k: int, place: Place, words: str, kind: str) -> None:
        line, column, _ = pieces(place)[-1]
        notes = self.notes.setdefault(place.file, {}).setdefault(k, [])
        notes.append(Note(line, column, words, kind))

    def _route(self, k: int, finding: Finding) -> None:
        """The lines that the path goes through, from the source on."""
        asked = getattr(finding.query, "place", None)
        on_path = [spot for spot in finding.spots if spot.on_path]
        for spot in on_path:
            stops = self.stops.setdefault(spot.place.file, {}).setdefault(k, [])
            role = "break" if spot.breaks else "flow" if spot.flows else "lost"
            stops.append(Stop(anchor(spot.place)[0], role, spot.flows))
        if asked is not None:
            self.files.setdefault(asked.file, {})
            stops = self.stops.setdefault(asked.file, {}).setdefault(k, [])
            stops.append(Stop(asked.line, "start", bool(on_path)))
        broken = any(spot.breaks for spot in on_path)
        if finding.place is not None and not broken:
            stops = self.stops.setdefault(finding.place.file, {}).setdefault(k, [])
            at = anchor(finding.place)[0]
            passed = next((stop for stop in stops if stop.line == at), None)
            if passed is None:
                stops.insert(0, Stop(at, "break", False, apart=True))
            else:
                passed.role = "break"

    # --- showing ----------------------------------------------------------------------------------
    def html(self) -> Safe:
        """The files, that of the first finding first."""
        listed = [file for file in self.files if sources.lines(file)][:FILES]
        return join(self._file(n, file) for n, file in enumerate(listed))

    def _file(self, n: int, file: str) -> Safe:
        lines = [line.rstrip("\r\n") for line in sources.lines(file)]
        chosen = self._chosen(file, len(lines))
        rows, inks = [], _ink("".join(sources.lines(file)))
        marks: dict[int, list[Mark]] = {}
        for mark in self.files[file].values():
            marks.setdefault(mark.piece[0], []).append(mark)
        before = 0
        for number in chosen:
            if number > before + 1:
                rows.append(_fold(number - before - 1))
            text, here = lines[number - 1], marks.get(number, [])
            rows.append(_row(n, number, text, here, inks.get(number, [])))
            rows += self._under(file, number, text)
            before = number
        if before < len(lines):
            rows.append(_fold(len(lines) - before))
        rails = [
            rail(k, stops, self._rows(file, k, chosen, len(lines)))
            for k, stops in self.stops.get(file, {}).items()
        ]
        code = tag("div", *rows, class_="lines")
        return tag(
            "figure",
            tag("figcaption", shown(file), title=called(file) or file),
            tag(
                "div",
                tag("div", *rails, class_="gutter"),
                code,
                class_="sheet",
                tabindex=0,
                role="group",
                aria_label=shown(file),
            ),
            class_="file",
        )

    def _chosen(self, file: str, length: int) -> list[int]:
        """The numbers of the lines that are shown."""
        if length <= WHOLE:
            return list(range(1, length + 1))
        marked = {mark.piece[0] for mark in self.files[file].values()}
        marked |= {s.line for stops in self.stops.get(file, {}).values() for s in stops}
        near = {n for m in marked for n in range(m - AROUND, m + AROUND + 1)}
        return sorted(n for n in near if 1 <= n <= length)

    def _under(self, file: str, line: int, text: str) -> list[Safe]:
        """The notes below a line, of all findings."""
        return [
            _note(k, note, text)
            for k, notes in self.notes.get(file, {}).items()
            for note in sorted(notes, key=lambda note: note.kind != "culprit")
            if note.line == line
        ]

    def _rows(self, file: str, k: int, chosen: list[int], length: int) -> dict[int, int]:
        """At which height each line stands when a finding's notes are shown; -1: all of it."""
        notes = self.notes.get(file, {}).get(k, [])
        heights, height, before = {}, 0, 0
        for number in chosen:
            height += number > before + 1
            heights[number] = height
            height += 1 + sum(note.line == number for note in notes)
            before = number
        heights[-1] = height + (before < length)
        return heights


def _groups(spots: Iterable[Spot]) -> list[Group]:
    found: dict[Place, Group] = {}
    for spot in spots:
        found.setdefault(spot.place, Group(spot.place)).spots.append(spot)
    return list(found.values())


# --- rows -----------------------------------------------------------------------------------------
def _row(n: int, number: int, text: str, marks: list[Mark], inks: list[tuple]) -> Safe:
    broken = {k: "here" for mark in marks if mark.kind == "culprit" for k in mark.roles}
    spans = [(m.piece[1], m.piece[2], m.rank, _opening(m)) for m in marks]
    spans += [(start, end, 3, opening("span", class_=ink)) for start, end, ink in inks]
    return tag(
        "div",
        tag("span", number, class_="number"),
        tag("code", _weave(text, spans)),
        id=f"L{n}-{number}", class_="row", **roles(broken),
    )  # fmt: skip


def inked(text: str) -> Safe:
    """A program with its comments, strings and keywords told apart."""
    inks = _ink(text)
    lines = [
        _weave(line, [(start, end, 0, opening("span", class_=ink)) for start, end, ink in marks])
        for n, line in enumerate(text.strip("\n").splitlines(), 1)
        for marks in [inks.get(n, [])]
    ]
    return tag("pre", tag("code", Safe("\n".join(lines))), class_="program", tabindex=0)


def _opening(mark: Mark) -> Safe:
    if mark.kind != "spot":
        return opening("mark", class_=mark.kind, **roles(mark.roles))
    panels = " ".join(f"{k}:{name}" for k, name in mark.panels.items())
    return opening(
        "span", class_="spot", role="button", tabindex=0 if 0 in mark.roles else -1,
        aria_label=f"{mark.said}: numbers", data_panel=panels, **roles(mark.roles),
    )  # fmt: skip


def roles(of: dict[int, str]) -> dict[str, str]:
    """The attributes that tell for which findings a piece is there, and as what."""
    if not of:
        return {}
    said = {"data_for": " ".join(f"{k}:{role}" for k, role in of.items())}
    return said | {"data_now": of[0]} if 0 in of else said


def _note(k: int, note: Note, text: str) -> Safe:
    # Tabs are four columns wide on the page.
    column = len(text[: note.column].expandtabs(4))
    words = tag("span", prose(note.words), class_="words", style=f"margin-left:{column}ch")
    empty = tag("span", class_="number")
    return tag("div", empty, words, class_=f"note {note.kind}", **roles({k: "on"}))


def _fold(count: int) -> Safe:
    return tag("div", tag("span", "⋯", class_="number"), plural(count, "line"), class_="fold")


def _weave(text: str, spans: list[tuple[int, int, int, Safe]]) -> Safe:
    """Text with elements around parts of it, which may lie inside or across one another."""
    ends = {len(text)} | {min(x, len(text)) for start, end, *_ in spans for x in (start, end)}
    cuts = sorted({0} | ends)
    out: list[str] = []
    stack: list[tuple[int, int, int, Safe]] = []
    for start, end in pairwise(cuts):
        wanted = [span for span in spans if span[0] <= start and end <= span[1]]
        wanted.sort(key=lambda span: (span[2], span[0] - span[1]))
        same = 0
        while same < min(len(stack), len(wanted)) and stack[same] is wanted[same]:
            same += 1
        out += [_closing(span[3]) for span in reversed(stack[same:])]
        out += [span[3] for span in wanted[same:]]
        out.append(escape(text[start:end]))
        stack = wanted
    out += [_closing(span[3]) for span in reversed(stack)]
    return Safe("".join(out))


def _closing(opened: Safe) -> str:
    return f"</{opened[1:].split('>')[0].split()[0]}>"


def _ink(text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Comments, strings and keywords, line by line."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    lines = text.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            ink = _kind(token)
            if not ink:
                continue
            (line, start), (last, end) = token.start, token.end
            for number in range(line, last + 1):
                left = start if number == line else 0
                right = end if number == last else len(lines[number - 1])
                found.setdefault(number, []).append((left, right, ink))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # what was read until here is coloured
    return found


def _kind(token: tokenize.TokenInfo) -> str:
    name = tokenize.tok_name[token.type]
    if name == "COMMENT":
        return "comment"
    if name.startswith(("STRING", "FSTRING")):
        return "string"
    return "keyword" if name == "NAME" and keyword.iskeyword(token.string) else ""
