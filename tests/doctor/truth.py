"""Holds the sentences of a report against what was recorded, by a search of its own.

A sentence about a path is true if there is one, "is not used" if it is not used, and "not known"
only where it cannot be known. All tests that run programs do this (`programs.diagnose`); of a
folder of cases: `python -m tests.doctor.truth FOLDER --engine tensorflow`.
"""

from __future__ import annotations

import argparse
import linecache
import re
import sys
from pathlib import Path
from typing import Any

from gradtape.doctor.entry.session import Session
from gradtape.doctor.trace import Value, Variable
from gradtape.doctor.trace.finding import Finding

NO_PATH = "no computation leads from it to the target"
UNUSED = re.compile(r"`([^`]+)` is not used on the way to")
UNREAD = re.compile(r"is never (read|used) while `[^`]+` records")
APART = re.compile(r"does not depend on it|nothing on the way to `[^`]+` is computed from")


class Truthful(Session):
    """A session that checks each finding when it is made, while the trace is at hand."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.untrue: list[str] = []

    def _keep(self, finding: Finding) -> Finding:
        self.untrue += [f"{what}: {finding!r} {finding.message}" for what in untruths(finding)]
        return super()._keep(finding)


def untruths(finding: Finding) -> list[str]:
    """What a finding says that is not so."""
    found = []
    query = finding.query
    if finding.edit is not None and finding.place is not None:
        line = linecache.getline(finding.place.file, finding.place.line)
        if line.strip() == finding.edit.strip():
            found.append("the edit changes nothing")
    if query is None or query.error is not None:
        return found
    answers = [a for a in query.answers if a.name == finding.source]
    if not answers or not query.targets:
        return found
    above = _above(query)
    leads = any(_is(v, answers[0].source) for v in above)
    if finding.state == "none":
        if finding.why_not == NO_PATH and leads:
            found.append("a computation does lead from it to the target")
        if leads != bool(finding.path):
            found.append(f"the path is {finding.path or 'not shown'}, and there is one: {leads}")
        if leads and (UNREAD.search(finding.message) or APART.search(finding.message)):
            found.append("the target does depend on it")
    names = {v.maker.name for v in above if v.maker is not None}
    events = [re.sub(r"^\[(.*)\]$", r"\1", word) for word in finding.path[1:-1]]
    if not names.issuperset(events):
        found.append(f"the path goes by {set(events) - names}, which did not make the target")
    if unused := UNUSED.search(finding.message):
        makers = [v.maker for v in above if v.maker is not None]
        if any(m.place == finding.place for m in makers if not _quoted(unused[1], finding)):
            found.append(f"`{unused[1]}` is used")
    if UNREAD.search(finding.message) and _read(answers[0].source, query):
        found.append("it is read")
    return found


def _quoted(text: str, finding: Finding) -> bool:
    """Does the sentence speak of one op of an expression, and not of what has a name?"""
    layer = f"in layer `{text}` is not used"
    return f"the result of `{text}`" in finding.message or layer in finding.message


def _above(query: Any) -> list[Value]:
    """All that the targets were computed from, but not how a variable was trained before."""
    targets = [(t, False) for t in query.targets if isinstance(t, Value)]
    began = query.tape.spans[0][0] if query.tape.spans else 0
    found, queue = dict.fromkeys(targets), targets
    while queue:
        value, past = queue.pop()
        maker = value.maker
        if maker is None or (past and maker.way == "gradient"):
            continue
        past = past or (maker.way == "assign" and maker.time < began)
        for given in maker.inputs:
            if (given, past) not in found:
                found[given, past] = None
                queue.append((given, past))
    return list(dict.fromkeys(value for value, _ in found))


def _is(value: Value, source: Any) -> bool:
    return value is source or (isinstance(source, Variable) and value.variable is source)


def _read(source: Any, query: Any) -> bool:
    """Did an op take it while the tape recorded?"""
    if not isinstance(source, Value):
        return False
    return any(query.tape.number in e.tapes and e.way == "op" for e in source.users)


def main() -> int:
    from .programs import diagnose

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", choices=("gradtape", "tensorflow"), default="gradtape")
    options = parser.parse_args()
    if options.engine == "gradtape":
        from gradtape.api import alias

        alias.install()
    bad = 0
    for file in sorted(options.folder.glob("*/case.py")):
        try:
            diagnose(file.read_text(), options.engine)
        except AssertionError as error:
            bad += 1
            print(f"{file.parent.name}: {error}")
    print(f"{bad} reports say what is not so")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
