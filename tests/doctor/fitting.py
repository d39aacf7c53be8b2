"""Runs programs that train with `fit`, with the doctor's callback instead of a session."""

from __future__ import annotations

import linecache
import re
from itertools import count
from typing import Any

from gradtape import doctor

from .classes import MARK, programs
from .programs import PREAMBLES, diagnose, seed

FITS = re.compile(r"(\.fit\(.*)\)$", re.M)
_serial = count()


def fitted() -> list[Any]:
    """The programs about heads of models that call `fit` once, with no callbacks of their own."""
    return [
        p for p in programs(("10a", "10b"))
        if len(FITS.findall(p.section.failing)) == 1 and "callbacks" not in p.section.failing
    ]  # fmt: skip


def misjudged(program: Any, engine: str) -> str:
    """What the callback says of a program otherwise than the doctor; nothing if it is the same."""
    failing, cured = program.section.failing, program.section.cured
    text = PREAMBLES[engine] + MARK.sub("", failing)
    seed()
    theirs = next(iter(diagnose(text, engine).findings.values()))
    mine = next(iter(with_callback(text)), None)
    if mine is None or mine.name != theirs.name:
        return f"{mine} is found, and it is {theirs.name}"
    lines = text.splitlines()
    fit = next(k for k, line in enumerate(lines, 1) if FITS.search(line))
    if mine.place is None or mine.place.line not in (theirs.place.line, fit):
        return f"{mine.name} is said to be at {mine.place}"
    alarms = [f.name for f in with_callback(PREAMBLES[engine] + cured)] if cured else []
    return f"the cured program has {', '.join(alarms)}" if alarms else ""


def with_callback(text: str) -> list[Any]:
    """What the callback finds in the only `fit` of a program."""
    name = f"<fitted program {next(_serial)}>"
    text = FITS.sub(r"\1, callbacks=[callback])", text)
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    callback = doctor.Callback(quiet=True)
    seed()
    exec(compile(text, name, "exec"), {"__name__": "__main__", "callback": callback})
    assert not callback.report.faults, callback.report.faults
    return list(callback.report.findings)
