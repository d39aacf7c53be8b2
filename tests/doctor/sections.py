"""The programs of the Markdown files: how they are read, and which lines of a finding are facts.

A file holds sections. Each has a failing program (```python), the finding that it must give first
(```finding), and may have the cured program (```python cured), which must be quiet. Of a finding
the facts (code, name, state, sources, place, whether it is only likely, edit, would-be gradient)
are what a test means. The words beside them are kept to be read when they change:
`python -m tests.doctor.accept` writes what the programs say now.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from gradtape.doctor.rules.base import Rule

HERE = Path(__file__).parent
ACCEPT = "python -m tests.doctor.accept"
_BLOCK = re.compile(r"^```(\w+)( cured)?\n(.*?)^```$", re.M | re.S)
_FACT = re.compile(
    r"""GT\d+\ [\w-]+:\ .*                          # GT103 left-the-tape: none of w, line 6: `x`
    | likely:\                                      # and not proved
    | edit(\ in\ line\ \d+)?:\ .*
    | would\ be:\ (\[.*?\]|norm\ \S+,\ shape\ \(.*?\))  # without how it was found
    | would\ be\ unknown:\ """,
    re.X,
)


class Section(NamedTuple):
    """One program with what is expected of it."""

    title: str
    failing: str
    expected: str
    cured: str | None


def file_of(rule: Rule) -> Path:
    """Where the programs of a rule are."""
    return HERE / f"{rule.name}.md"


def sections(file: Path) -> list[Section]:
    """The sections of a file, in order."""
    found = []
    for part in file.read_text().split("\n## ")[1:]:
        title, blocks = part.splitlines()[0], _BLOCK.findall(part)
        failing = next(b for kind, cured, b in blocks if kind == "python" and not cured)
        cured = next((b for kind, cured, b in blocks if cured), None)
        expected = next((b for kind, _, b in blocks if kind == "finding"), "")
        found.append(Section(title, failing, expected.strip(), cured))
    return found


def rewritten(text: str, title: str, finding: str) -> str:
    """The text of a file with another finding in one of its sections."""
    start = text.index(f"\n## {title}\n") + 1
    blocks = {m[1] + (m[2] or ""): m for m in reversed([*_BLOCK.finditer(text, start)])}
    shown = f"```finding\n{finding}\n```"
    end = text.find("\n## ", start)
    old = blocks.get("finding")
    if old is not None and (end < 0 or old.start() < end):
        return text[: old.start()] + shown + text[old.end() :]
    failing = blocks["python"].end()
    return f"{text[:failing]}\n\n{shown}{text[failing:]}"


def facts(finding: str) -> str:
    """What a finding says in lines of data, without its words."""
    found = (_FACT.match(line) for line in finding.splitlines())
    return "\n".join(fact[0] for fact in found if fact)
