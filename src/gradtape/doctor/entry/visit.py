"""A whole program under the doctor: from its first line to the report, however it ends."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import atexit
import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from ...ops.kernels.forks import before_forks, in_children, in_parents
from ..engines import ears
from ..fixing.patch import as_bytes
from ..report import Exit, Report, baseline
from ..report.terminal import colored, width
from ..report.words import shown, summary
from .session import Session, fault_in_words
from .watch import conclude

FORMATS = ("text", "json", "html", "sarif", "patch")
ENDINGS = {"": "text", "txt": "text", "log": "text", "htm": "html", "diff": "patch"} | {
    name: name for name in FORMATS
}


class Delivery(NamedTuple):
    """What is made of the report: its format, the file it goes to, how many findings it shows."""

    format: str = "text"
    output: str | None = None  # None: standard error
    most: int | None = None


def format_of(output: str | None) -> str | None:
    """The format that a file's name asks for; None when its ending is that of another."""
    return ENDINGS.get("" if output is None else Path(output).suffix[1:].lower())


class Visit:
    """One program: begun before its first line; its report is delivered when the process ends.

    The report comes last because Python prints the traceback, joins the threads and calls the
    program's exit handlers after the program; exit handlers run in reverse order, so that one
    registered before the program's own is the one to write it.
    """

    def __init__(
        self, script: str, delivery: Delivery, engine: str = "gradtape", audit: bool = False,
        others: tuple[Delivery, ...] = (), **known: Any,
    ):  # fmt: skip
        self.script, self.delivery, self.engine, self.audit = script, delivery, engine, audit
        self.others = others  # further forms of the report, of which nothing is said
        self.known = known  # what the report is told beforehand
        self.exit = Exit()
        self.error: BaseException | None = None
        self.report: Report | None = None
        self._content: str | None = None  # the report as it will be written, when it is ready
        self._beside: list[tuple[str | None, str]] = []  # the others: where, and what
        self._left: list[str] = []  # what is not in a patch, and why
        self._session: Session | None = None
        self._process, self._folder = os.getpid(), os.getcwd()
        self._stream = sys.stderr

    def begin(self) -> None:
        """Start to listen, and see to it that a report is written at the end."""
        try:
            self._session = Session(self.engine, audit=self.audit)
            self._session.start()
        except Exception as fault:
            self._say(f"cannot start: {fault_in_words(fault)}")
            self._session = None
        atexit.register(self.deliver)
        self._mind_termination()

    def cancel(self) -> None:
        """Nobody wants this report any more."""
        atexit.unregister(self.deliver)
        self._process = -1
        if self._session is not None:
            self._session.stop()

    def conclude(self) -> Report | None:
        """Stop listening; what was found so far is the report."""
        session, self._session = self._session, None
        if session is not None:
            self.report = Report(
                self.script, session.engine.name, session.history, [], self.exit, **self.known
            )
            conclude(session, self.report, self.error)
        return self.report

    def compose(self) -> None:
        """Make the report ready to be written.

        After an interrupt this is done at once: Python ends the process by the signal only if
        nothing is compiled and executed in between, as imports do.
        """
        if self._process == os.getpid() and self._content is None:
            with self._guarded():
                report = self.conclude()
                if report is not None:
                    with _inside(self._folder):
                        self._content = render(report, self.delivery, self._target())
                        self._beside = [(o.output, render(report, o, None)) for o in self.others]
                        if "patch" in (d.format for d in (self.delivery, *self.others)):
                            self._left = report.plan().left

    def deliver(self) -> None:
        """Write the report, once, and only in the process that began."""
        self.compose()
        if self._process == os.getpid() and self.report is not None and self._content is not None:
            with self._guarded():
                self._write(self.report, self._content)
                for output, content in self._beside:
                    if output == "-":
                        _print(sys.stdout, content, raw=True)
                    elif output is not None:
                        Path(output).write_bytes(as_bytes(content))
                for why in self._left:
                    self._say(why)
        self._process = -1

    def _write(self, report: Report, content: str) -> None:
        output = self.delivery.output
        empty = not (report.history.records or report.findings or report.faults)
        if empty and output is None and not report.exit.well:
            return  # it did not come that far
        with contextlib.suppress(Exception):
            sys.stdout.flush()  # the program's words come first
        if output is None or output == "-":
            _print(self._target(), content, raw=self.delivery.format == "patch")
        else:
            try:
                Path(output).write_bytes(as_bytes(content))
            except OSError as error:
                self._say(f"cannot write {output!r} ({error.strerror}); the report is:")
                _print(
                    self._stream, render(report, Delivery(most=self.delivery.most), self._stream)
                )
                return
            with _inside(self._folder):
                self._say(f"{summary(report)}: {shown(output)}")

    def _target(self) -> IO[str] | None:
        """The stream that the report goes to, unless it goes to a file."""
        return {None: self._stream, "-": sys.stdout}.get(self.delivery.output)

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever happens to the doctor, the program ends as it would without."""
        try:
            yield
        except KeyboardInterrupt:
            self._say("interrupted, so there is no report")
        except Exception as fault:
            self._say(f"a fault of its own, please report it: {fault_in_words(fault)}")

    def _say(self, words: str) -> None:
        _print(self._stream, f"gradtape doctor: {words}\n")

    # --- killed -----------------------------------------------------------------------------------
    def _mind_termination(self) -> None:
        """Write the report when the process is asked to end, unless the program minds itself."""
        with contextlib.suppress(ValueError):  # not in the main thread
            if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                signal.signal(signal.SIGTERM, self._terminated)
                # A signal that comes while a child is made would be lost on a handler of Python's.
                before_forks(self._ignore_termination)
                in_parents(self._await_termination)
                in_children(self._ignore_termination)
                # To the program, the signal does what it always does: it ends the process.
                for function in (signal.getsignal, signal.signal):
                    with contextlib.suppress(ears.NoEar):
                        ears.put(function, ears.Hooks(after=self._as_without))

    def _as_without(self, told: Any, handler: Any) -> Any:
        return signal.SIG_DFL if handler == self._terminated else handler

    def _ignore_termination(self) -> None:
        self._exchange(self._terminated, signal.SIG_DFL)

    def _await_termination(self) -> None:
        self._exchange(signal.SIG_DFL, self._terminated)

    @staticmethod
    def _exchange(old: Any, new: Any) -> None:
        with contextlib.suppress(ValueError):
            if _signal.getsignal(signal.SIGTERM) == old:
                signal.signal(signal.SIGTERM, new)

    def _terminated(self, number: int, frame: Any) -> None:
        self.exit = Exit("interrupted", signal.Signals(number).name, 128 + number)
        self.deliver()
        # The end is the one that the sender asked for, and the parent sees it as such.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def render(report: Report, delivery: Delivery, stream: IO[str] | None) -> str:
    """The report as it is delivered, to a stream or (None) a file."""
    format, output, most = delivery
    if format == "text":
        words = report.to_text(width(stream), colored(stream), most)
        return words if stream is None else _encodable(words, stream)
    if format == "html":
        return report.to_html(most)
    if format == "patch":
        return report.to_patch()
    if format == "baseline":
        folder = os.path.dirname(output or "")
        return baseline.written([*report.findings, *report.known], folder)
    if format == "plan":
        return report.plan().to_json()
    made = report.to_json(most) if format == "json" else report.to_sarif(most)
    return json.dumps(made, indent=2, allow_nan=False) + "\n"


# --- the stream that it is written to -------------------------------------------------------------
def _encodable(words: str, stream: IO[str]) -> str:
    """The words in characters that the stream has."""
    from ..report.text import ASCII

    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        words.encode(encoding)
    except UnicodeEncodeError:
        return words.translate(ASCII).encode(encoding, "backslashreplace").decode(encoding)
    return words


def _print(stream: IO[str] | None, words: str, raw: bool = False) -> None:
    """Write to a stream that may be closed, or a pipe that nobody reads; a patch is made of the
    bytes of files, whatever the encoding of the stream is."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if raw and hasattr(stream, "buffer"):
            stream.flush()  # type: ignore[union-attr]
            stream.buffer.write(as_bytes(words))  # type: ignore[union-attr]
        else:
            stream.write(words)  # type: ignore[union-attr]
        stream.flush()  # type: ignore[union-attr]


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Where the command was given, from where files are named, wherever the program went."""
    here = None
    with contextlib.suppress(OSError):
        here = os.getcwd()
        os.chdir(folder)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.chdir(here or folder)
