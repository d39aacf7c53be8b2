"""`gradtape doctor`: runs a program as `gradtape run` does, and reports on its gradients."""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ...api.run import Program, run
from ..engines.choice import choose
from ..source import sources
from . import environment
from .following import FOUND
from .visit import Delivery, Visit


class Options(NamedTuple):
    """What the command line says about the doctor."""

    engine: str = "auto"
    delivery: Delivery = Delivery()
    strict: bool = False
    audit: bool = False
    fail_fast: tuple[str, ...] = ()  # the states that stop the program
    others: tuple[Delivery, ...] = ()  # further forms of the report
    # What the report is told beforehand: `fixed`, `ignore`, `baseline`.
    known: Mapping[str, Any] = MappingProxyType({})


def doctor(program: Program, options: Options) -> None:
    """Run the program; what it raises goes on, and the report is written when the process ends."""
    environment.cancel()
    _remember(program)
    engine = choose(options.engine, program)
    visit = Visit(
        _name(program), options.delivery, engine, options.audit, options.fail_fast, options.others,
        **options.known,
    )  # fmt: skip
    visit.begin()
    try:
        run(program)
    except BaseException as error:
        visit.ended(error)
        if isinstance(error, KeyboardInterrupt):
            visit.compose()
        if not (isinstance(error, SystemExit) and visit.exit.well):
            raise
        _judge(visit, options)
        raise
    _judge(visit, options)


def _judge(visit: Visit, options: Options) -> None:
    """A program that succeeded fails when there are findings that it should not have."""
    if not (options.strict or options.fail_fast):
        return
    for thread in threading.enumerate():  # as Python would next
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    report = visit.conclude()
    found = [] if report is None else [finding.state for finding in report.findings]
    if visit.stopped or (options.strict and found) or not set(found).isdisjoint(options.fail_fast):
        raise SystemExit(FOUND)


def _name(program: Program) -> str:
    if program.kind == "command":
        return "<string>"
    if program.kind == "script":
        return "<stdin>" if program.target == "-" else str(Path(program.target).absolute())
    return program.target


def _remember(program: Program) -> None:
    """Keep the source, to show it in the report: the file may not be there any more by then."""
    if program.kind == "command":
        sources.keep("<string>", program.target)
    elif program.kind == "script" and program.target != "-":
        sources.keep(os.path.join(os.getcwd(), program.target))
    elif program.kind == "script" and sys.stdin is not None:
        text = sys.stdin.buffer.read()
        sources.keep("<stdin>", text.decode(errors="replace"))
        sys.stdin = io.TextIOWrapper(io.BytesIO(text))
