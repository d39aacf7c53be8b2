"""Accepts what the doctor says now: `python -m tests.doctor.accept [rule …]`.

Runs the programs of `tests/doctor/<rule>.md` (of all rules, if none is named) and writes their
findings into the files, in place. It shows what changes, and says where that is more than words:
a changed fact is a changed diagnosis, and seldom what one meant. A new program needs no finding
beside it: it gets the one that it gives.

Programs that need what only TensorFlow has run there, and without it they are left as they are. Of
`functions` there are two files, for each engine its own.
"""

from __future__ import annotations

import contextlib
import difflib
import sys
from pathlib import Path

from gradtape.api.alias import installed
from gradtape.doctor.rules import CATALOGUE

from .programs import PREAMBLES, diagnose, seed, sketch
from .sections import HERE, Section, facts, file_of, rewritten, sections
from .tensorflow.running import fresh

FUNCTIONS = HERE / "tensorflow" / "functions.md"


def said(section: Section, engine: str, every: bool = False) -> str:
    """The first finding in a program, or all of them, as its file states it."""
    around = fresh() if engine == "tensorflow" else contextlib.nullcontext()
    seed()
    with around:
        found = diagnose(PREAMBLES[engine] + section.failing, engine).findings.values()
    return "\n\n".join([*map(sketch, found)][: None if every else 1])


def accept(file: Path, engine: str, every: bool = False) -> int:
    """Write the findings of a file anew; how many are other ones than before."""
    changed = 0
    for section in sections(file):
        now = said(section, engine, every)
        if now == section.expected:
            continue
        changed += 1
        more = "" if facts(now) == facts(section.expected) else " (and not its words only)"
        print(f"{file.name}: {section.title}{more}")
        lines = difflib.ndiff(section.expected.splitlines(), now.splitlines())
        print(*(f"    {line.rstrip()}" for line in lines if line[0] != "?"), sep="\n")
        if now:
            file.write_text(rewritten(file.read_text(), section.title, now))
    return changed


def main(wanted: list[str]) -> None:
    """Accept what the named rules say, or all."""
    known = {rule.name: rule for rule in CATALOGUE} | {FUNCTIONS.stem: None}
    if unknown := set(wanted) - set(known):
        sys.exit(f"there is no rule {', '.join(sorted(unknown))}")
    changed, left = 0, []
    for name in wanted or known:
        rule = known[name]
        if rule is None:
            changed += accept(HERE / FUNCTIONS.name, "gradtape", every=True)
        engine = "gradtape" if rule and rule.needs != "the real TensorFlow" else "tensorflow"
        if engine == "tensorflow" and not installed():
            left.append(name)
        elif rule is None:
            changed += accept(FUNCTIONS, engine, every=True)
        elif file_of(rule).exists():
            changed += accept(file_of(rule), engine)
    print(f"{changed} findings changed")
    if left:
        print(f"without TensorFlow nothing is known of: {', '.join(left)}")


if __name__ == "__main__":
    main(sys.argv[1:])
