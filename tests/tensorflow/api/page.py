"""Writes docs/api.md from what the survey found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.tensorflow.api.survey import (
    ABSENT,
    DIFFERS,
    THERE,
    Entry,
    by_name,
    offered,
    survey,
    throughout,
)
from tests.tensorflow.api.used import PAST, PROGRAMS, TESTS

PAGE = Path(__file__).parents[3] / "docs" / "api.md"
HEAD = """\
# TensorFlow's names, one by one

What gradtape has of the public API of TensorFlow {version}, what differs, and what is not there and
why. `python -m tests.tensorflow.api` writes this page from the code, and a test keeps it current.

- **there**: the arguments, their order and their defaults are TensorFlow's (a test compares them).
- **differs**: there, with a documented difference.
- **not there**: asking for it raises an `AttributeError` that gives the reason stated here.

Something with several names (`tf.exp`, `tf.math.exp`) counts once, under the shortest. `keras`,
`raw_ops` and `compat.v1` count as one name each. Names are written without `tf.`.
"""
USED = """
Of the {programs} names that {of} real programs with a gradient tape use, **{there} are there
({share})**; of the {tests} more that only tests of such programs use, {more} ({rest}).
({past}, met there too, are TensorFlow 1's.)
"""
PROGRAM_COUNT = 205


def page() -> str:
    """The whole text."""
    found = survey()
    return "\n".join(
        [
            HEAD.format(version=found.tensorflow),
            *_summary(found.names),
            _used(found.tensorflow),
            "## Differs from TensorFlow\n",
            "Everything else that differs is a bug.\n",
            "| where | how |\n|---|---|",
            *(f"| `{name}` | {_cell(text)} |" for name, text in by_name()),
            "\nThroughout:\n",
            *(f"- {text[0].upper()}{text[1:].rstrip('.')}." for text in throughout()),
            "",
            *_namespaces(found.names),
            *_classes(found.members),
        ]
    )


def figures() -> tuple[float, float]:
    """The shares of the names that programs use, and that their tests use, which are there."""
    first, rest = (sum(map(offered, names)) / len(names) for names in (PROGRAMS, TESTS))
    return first, rest


def _used(version: str) -> str:
    first, rest = figures()
    return USED.format(
        programs=len(PROGRAMS), of=PROGRAM_COUNT, there=round(first * len(PROGRAMS)),
        share=_percent(first), tests=len(TESTS), more=round(rest * len(TESTS)),
        rest=_percent(rest), past=", ".join(f"`{name}`" for name in PAST), version=version,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{int(1000 * share) / 10:g} %"  # never rounded up to 100


def _summary(names: list[Entry]) -> Iterable[str]:
    yield "| namespace | there | differs | not there |\n|---|--:|--:|--:|"
    total: Counter[str] = Counter()
    for space, entries in _by_root(names).items():
        counts = Counter(entry.status for entry in entries)
        total += counts
        link = f"[{_plain(_title(space))}](#{_title(space).replace('.', '')})"
        yield f"| {link} | {_row(counts)} |"
    yield f"| **all** | {_row(total)} |"


def _row(counts: Counter[str]) -> str:
    return " | ".join(str(counts[status] or "") for status in (THERE, DIFFERS, ABSENT))


def _title(space: str) -> str:
    return f"tf.{space}" if space else "tf"


def _plain(name: str) -> str:
    """A name in Markdown, where two underscores would begin bold letters."""
    return name.replace("__", r"\_\_")


def _by_root(names: list[Entry]) -> dict[str, list[Entry]]:
    """The entries by their first namespace; the namespace itself stands with its names."""
    homes = {entry.name.partition(".")[0] for entry in names if "." in entry.name}
    found: dict[str, list[Entry]] = {"": []}
    for entry in names:
        first = entry.name.partition(".")[0]
        found.setdefault(first if first in homes else "", []).append(entry)
    return found


def _namespaces(names: list[Entry]) -> Iterable[str]:
    for space, entries in _by_root(names).items():
        yield f"## {_plain(_title(space))}\n"
        yield "| | names |\n|---|---|"
        yield from _rows(entries, space)
        yield from _elsewhere(names, space)
        yield ""


def _rows(entries: list[Entry], space: str) -> Iterable[str]:
    groups: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: (e.status == ABSENT, e.status == DIFFERS)):
        head = f"**{entry.status}**"
        groups.setdefault(f"{head}: {_cell(entry.note)}" if entry.note else head, []).append(entry)
    for head, group in groups.items():
        yield f"| {head} | {', '.join(_name(entry, space) for entry in group)} |"


def _name(entry: Entry, space: str) -> str:
    own = f"`{entry.name.removeprefix(space + '.')}`"
    others = ", ".join(f"`{alias}`" for alias in entry.aliases)
    return f"{own} (also {others})" if others else own


def _elsewhere(names: list[Entry], space: str) -> Iterable[str]:
    """What is found in a namespace too, and counted where its name is shorter."""
    aliases = sorted(
        alias.removeprefix(space + ".")
        for entry in names
        for alias in entry.aliases
        if entry.status != ABSENT and space and alias.startswith(space + ".") and offered(alias)
    )
    if aliases:
        yield f"| second names | {', '.join(f'`{alias}`' for alias in aliases)} |"


def _classes(members: dict[str, list[Entry]]) -> Iterable[str]:
    yield "## Methods and attributes of classes\n"
    yield "Operators are among them. What Python itself gives to every class is left out.\n"
    for name, entries in members.items():
        yield f"### {_plain(name)}\n"
        yield "| | names |\n|---|---|"
        yield from _rows(entries, name)
        yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").rstrip(".")
