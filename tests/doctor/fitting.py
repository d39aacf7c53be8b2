"""Programs that train with `fit`: what `gradtape.doctor.Callback` says of them, beside what the
doctor says that runs the whole program."""

from __future__ import annotations

import linecache
import re
from itertools import count
from typing import Any

from gradtape import doctor

from .classes import MARK, programs
from .programs import PREAMBLES, diagnose, seed
from .sections import Section

FIT = re.compile(r"(\.fit\(.*)\)$", re.M)
_serial = count()


def fitted() -> list[Section]:
    """The programs about the ends of models that call `fit` once, and have no callbacks."""
    known = [program.section for program in programs(("10a", "10b"))]
    return [s for s in known if s.failing.count(".fit(") == 1 == len(FIT.findall(s.failing))]


def otherwise(section: Section, engine: str) -> str:
    """What the callback says otherwise than the doctor; nothing if it says the same."""
    text = PREAMBLES[engine] + MARK.sub("", section.failing)
    seed()
    theirs = next(iter(diagnose(text, engine).findings.values()))
    mine = next(iter(found(text)), None)
    if mine is None or mine.name != theirs.name:
        return f"{mine and mine.name} was found, and it is {theirs.name}"
    # It has not seen where layers were made.
    fit = next(k for k, line in enumerate(text.splitlines(), 1) if FIT.search(line))
    lines = fit, theirs.place and theirs.place.line
    if mine.place is None or mine.place.line not in lines:
        return f"{mine.name} is not at {mine.place}"
    alarms = [f.name for f in found(PREAMBLES[engine] + section.cured)] if section.cured else []
    return f"the cured program has {', '.join(alarms)}" if alarms else ""


def found(text: str) -> list[Any]:
    """What the callback finds in the `fit` of a program."""
    name = f"<fitted program {next(_serial)}>"
    text = FIT.sub(r"\1, callbacks=[callback])", text)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    callback = doctor.Callback(quiet=True)
    seed()
    exec(compile(text, name, "exec"), {"__name__": "__main__", "callback": callback})
    assert not callback.report.faults, callback.report.faults
    return list(callback.report.findings)
