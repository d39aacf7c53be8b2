"""Faults as people write them, by class: programs that no rule was made from.

A file holds one class. A section has a program whose marked lines (`# <- cause, cause`) are where
the first finding may stand, with the causes that are right there, and the cured program, which must
be quiet. `python -m tests.doctor.classes --engine tensorflow [class …]` scores them on an engine.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..programs import PREAMBLES, diagnose, seed
from ..sections import Section, sections

HERE = Path(__file__).parent
MARK = re.compile(r" *# <- ([\w, -]+)$", re.M)
FILES = sorted(HERE.glob("*.md"))


class Program(NamedTuple):
    """A program of a class."""

    kind: str
    section: Section

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.section.title}"


def programs(kinds: tuple[str, ...] = ()) -> list[Program]:
    """The programs of these classes, or of all."""
    chosen = [file for file in FILES if not kinds or any(k in file.stem for k in kinds)]
    return [Program(file.stem, section) for file in chosen for section in sections(file)]


def misjudged(program: Program, engine: str) -> str:
    """What is wrong with the doctor's judgement of a program; nothing if it is right."""
    failing, cured = program.section.failing, program.section.cured
    first = next(iter(_found(failing, engine)), None)
    marked = dict(marks(PREAMBLES[engine] + failing))
    wanted = " or ".join(f"{'/'.join(causes)} in line {line}" for line, causes in marked.items())
    if first is None:
        return f"nothing was found, and it is {wanted}"
    line = None if first.place is None else first.place.line
    if not {first.cause, first.name} & set(marked.get(line, ())):
        return f"{first.name} in line {line}, and it is {wanted}: {first.message}"
    alarms = [f"{f.name} ({f.message})" for f in _found(cured, engine)] if cured else []
    return f"the cured program has {', '.join(alarms)}" if alarms else ""


def _found(text: str, engine: str) -> list:
    seed()
    return list(diagnose(PREAMBLES[engine] + MARK.sub("", text), engine).findings.values())


def marks(text: str) -> list[tuple[int, list[str]]]:
    lines = enumerate(text.splitlines(), 1)
    return [(k, re.split(r", *", mark[1])) for k, line in lines if (mark := MARK.search(line))]
