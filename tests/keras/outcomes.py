"""A pytest plugin that writes how each test ended, as lines of JSON, and ends a test that hangs.

A line is written when a test begins and when it ended, so that a process that dies keeps what it
had; started again with the same file, it goes on with the test after the one that killed it.
"""

from __future__ import annotations

import faulthandler
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NoReturn

import pytest

WORSE = ["passed", "skipped", "failed"]  # of several phases and subtests the worst counts


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("outcomes")
    group.addoption("--outcomes", metavar="FILE", help="lines of JSON, one for each test")
    group.addoption("--limit", metavar="SECONDS", type=float, default=0.0, help="for each test")
    group.addoption("--only", metavar="FILE", help="the ids of the tests to run, one to a line")


def pytest_configure(config: pytest.Config) -> None:
    sys.modules.setdefault("conftest", _conftest())
    file, only = config.getoption("outcomes"), config.getoption("only")
    limit = config.getoption("limit")
    config.pluginmanager.register(
        Outcomes(Path(file) if file else None, limit, Path(only) if only else None)
    )


def _conftest() -> ModuleType:
    """What Keras's tests import from a `conftest` that is not shipped with them."""

    def skip_if_backend(backend: str, reason: str) -> pytest.MarkDecorator:
        return pytest.mark.skipif(backend == "tensorflow", reason=reason)

    module = ModuleType("conftest")
    module.__dict__["skip_if_backend"] = skip_if_backend
    return module


class TooSlow(BaseException):
    """A test went beyond its limit; no Exception, for code that catches these goes on."""


class Outcomes:
    """Keeps the outcomes of one run."""

    def __init__(self, file: Path | None, limit: float, only: Path | None) -> None:
        self.file = file
        self.limit = limit
        self.only = only
        self.outcome = ""
        self.message = ""
        self.start = 0.0

    def write(self, **facts: Any) -> None:
        if self.file is not None:
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(facts) + "\n")

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out what an earlier process did, and what was not asked for."""
        done = begun(self.file) if self.file is not None else set()
        asked = set(self.only.read_text(encoding="utf-8").split()) if self.only else None

        def chosen(item: pytest.Item) -> bool:
            return item.nodeid not in done and (asked is None or item.nodeid in asked)

        items[:] = [item for item in items if chosen(item)]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(id=report.nodeid, outcome="failed", message=last_line(report))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.outcome, self.message, self.start = "passed", "", time.perf_counter()
        self.write(id=nodeid, outcome="begun")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if WORSE.index(report.outcome) > WORSE.index(self.outcome):
            self.outcome = report.outcome
            self.message = last_line(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        seconds = round(time.perf_counter() - self.start, 3)
        self.write(id=nodeid, outcome=self.outcome, seconds=seconds, message=self.message)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        if not self.limit:
            return (yield)

        def stop(number: int, frame: FrameType | None) -> NoReturn:
            raise TooSlow(f"more than {self.limit:g} s")

        # What hangs outside of Python hears no signal: that process ends, and is started again.
        faulthandler.dump_traceback_later(2 * self.limit, exit=True)
        timed = hasattr(signal, "SIGALRM")
        if timed:
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, self.limit)
        try:
            return (yield)
        except TooSlow as slow:
            pytest.fail(str(slow))
        finally:
            if timed:
                signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()


def begun(file: Path) -> set[str]:
    """The tests that an earlier process began."""
    return {line["id"] for line in lines(file)}


def lines(file: Path) -> list[dict[str, Any]]:
    """What stands in a file of outcomes, without a line that was cut off."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def last_line(report: Any) -> str:
    """The end of a failure: the exception, as one line of bounded length."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    if isinstance(report.longrepr, tuple):  # the place and the reason of a skip
        text = str(report.longrepr[-1])
    told = [line for line in text.strip().splitlines() if line.strip()] or [""]
    # Keras puts its advice below the exception: the first line says what it is.
    return (told[0] if crash is not None else told[-1])[:300]
