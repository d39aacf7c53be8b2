"""A whole program under the doctor: from its first line to the report, however it ends."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ...ops.kernels.forks import in_children
from ..fixing.patch import as_bytes
from ..live.lines import Lines, encodable
from ..live.status import Status
from ..report import Exit, Report, baseline
from ..report.ignoring import left_out
from ..report.terminal import colored, visible, width
from ..report.words import summary
from ..source.sources import named_from, reached
from ..source.writing import replace, replaceable
from ..trace.history import History
from .boards import Feed, TensorBoard, Wandb
from .following import Follower, Stopped
from .session import Session, fault_in_words
from .signals import Minded
from .watch import conclude, exit_of

if TYPE_CHECKING:
    from ..live.serving import Server

LAST_WORDS = 5.0  # seconds that those who follow the run have to fetch its end
FORMATS = ("text", "json", "html", "sarif", "patch")
ENDINGS = {"": "text", "txt": "text", "log": "text", "htm": "html", "diff": "patch"} | {
    name: name for name in FORMATS
}


class Delivery(NamedTuple):
    """What is made of the report: its format, the file it goes to, how many findings it shows."""

    format: str = "text"
    output: str | None = None  # None: standard error
    most: int | None = None
    quiet: bool = False  # nothing is shown while the program runs
    serve: bool = False  # the page is served
    tensorboard: str | None = None  # a folder for event files

    @property
    def file(self) -> str | None:
        """The file that is written, if it is one."""
        return None if self.output == "-" else self.output


def format_of(output: str | None) -> str | None:
    """The format that a file's name asks for; None when its ending is that of another."""
    return ENDINGS.get("" if output is None else Path(output).suffix[1:].lower())


class Visit:
    """One program: begun before its first line; its report is delivered when the process ends.

    The report comes last because Python prints the traceback, joins the threads and calls the
    program's exit handlers after the program; exit handlers run in reverse order, so that one
    registered before the program's own is the one to write it.
    """

    status = True  # on a terminal, one is shown

    def __init__(
        self, script: str, delivery: Delivery, engine: str = "gradtape", audit: bool = False,
        fail_fast: tuple[str, ...] = (), others: tuple[Delivery, ...] = (), **known: Any,
    ):  # fmt: skip
        self.script, self.delivery, self.engine, self.audit = script, delivery, engine, audit
        self.fail_fast = fail_fast  # the states that stop the program
        self.others = others  # further forms of the report, of which nothing is said
        self.known = known  # what the report is told beforehand
        self.exit = Exit()
        self.error: BaseException | None = None
        self.report: Report | None = None
        self._content: str | None = None  # the report as it will be written, when it is ready
        self._beside: list[tuple[str | None, str]] = []  # the others: where, and what
        self._left: list[str] = []  # what is not in a patch, and why
        self._session: Session | None = None
        self._follower: Follower | None = None
        self._server: Server | None = None
        self._signals: Minded | None = None
        self._process, self._folder = os.getpid(), os.getcwd()
        self._stream = sys.stderr
        self._begun = time.monotonic()
        self._failed: str | None = None  # why the file could not be written the last time

    def begin(self) -> None:
        """Start to listen, and see to it that a report is written at the end."""
        try:
            self._session = Session(self.engine, audit=self.audit)
            self._session.observers.append(Feed(Wandb(), *self._boards()))
            self._session.start()
        except Exception as fault:
            self._say(f"cannot start: {fault_in_words(fault)}")
            self._session = None
        atexit.register(self.deliver)
        self._signals = Minded({"SIGTERM": self._terminated, "SIGUSR1": self._asked_for})
        if self._session is not None:
            with self._guarded():
                self._follow(self._session)
            in_children(self._leave_to_parent)

    def _boards(self) -> list[TensorBoard]:
        folder = self.delivery.tensorboard
        return [] if folder is None else [TensorBoard(folder)]

    def cancel(self) -> None:
        """Nobody wants this report any more."""
        atexit.unregister(self.deliver)
        self._process = -1
        if self._signals is not None:
            self._signals.end()
        if self._follower is not None:
            self._follower.end()
        if self._session is not None:
            self._session.stop()

    def ended(self, error: BaseException) -> None:
        """The program ended with this exception."""
        self.error, self.exit = error, exit_of(error)
        if isinstance(error, Stopped):
            self.exit = Exit("stopped", error.why, self.exit.code)

    @property
    def stopped(self) -> bool:
        """Was the program told to end because of a finding?"""
        return self._follower is not None and self._follower.stopped is not None

    # --- while it runs ----------------------------------------------------------------------------
    def _follow(self, session: Session) -> None:
        to_data = self.delivery.output is None and self.delivery.format != "text"
        shy = self.delivery.quiet or to_data  # or what reads the report would read this, too
        lines = None if shy else Lines(self._stream)
        status = None
        if lines is not None and lines.terminal and self.status:
            status = Status(lines, not colored(self._stream))
        told = {name: self.known[name] for name in ("ignore", "baseline") if name in self.known}
        self._follower = Follower(
            session, lines, status, self.fail_fast, lambda finding: left_out(finding, **told)
        )
        self._follower.interrupt = self._interrupt
        if self.delivery.file is not None and replaceable(self.delivery.file):
            self._follower.keep(self._rewrite)
        if self.delivery.serve:
            self._serve(self._follower)

    def so_far(self, whole: bool = True) -> Report:
        """The report as if the program had ended now; it runs on."""
        session, now = self._session, time.strftime("%H:%M:%S")
        if session is None:
            return Report(self.script, self.engine, History(), [])
        history, findings = session.so_far(whole)
        seconds = int(time.monotonic() - self._begun)
        after = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        note = f"The program was still running: this is what was found by {now}, after {after}."
        faults = [*session.faults, *session.engine.faults]
        notes = [note, *session.notes, *session.engine.notes]
        return Report(
            self.script, session.engine.name, history, findings, Exit("running"), faults, notes,
            **self.known,
        )  # fmt: skip

    def _rewrite(self) -> bool:
        """Write the report so far; False when that cannot be done."""
        with self._guarded(), named_from(self._folder):
            content = render(self.so_far(), self.delivery, None)
            try:
                replace(self.delivery.file or "", as_bytes(content))
            except OSError as error:
                why, before = error.strerror, self._failed
                self._failed = why
                if why != before and not self.delivery.quiet:
                    Lines(self._stream).say(
                        f"gradtape: cannot write {self.delivery.output!r} ({why}); the program "
                        "goes on, and the report is tried again"
                    )
                return True
            self._failed = None
            return True
        return False  # a fault of ours, which is told once

    def _serve(self, follower: Follower) -> None:
        from ..live.serving import Server

        # What is imported while another thread imports, or after an interrupt, has its price.
        Report(self.script, self.engine, History(), []).to_html()

        def compose() -> str:
            with named_from(self._folder):
                return self._page(self.so_far(whole=False))

        try:
            self._server = Server(compose, lambda: follower.queries)
        except OSError as error:
            self._say(f"cannot serve the page: {error.strerror}")
            return
        self._say(f"follow the run at {self._server.address}")

    def _page(self, report: Report) -> str:
        return report.to_html(self.delivery.most, follow=True)

    def _leave_to_parent(self) -> None:
        """In a child process: the program goes on there, and its parent tells of it."""
        if self._session is not None:
            self._session.forked()
        if self._follower is not None:
            self._follower.leave()
        if self._server is not None:
            self._server.close()
        self._follower = self._server = None

    def _interrupt(self) -> None:
        """End the main thread, wherever it is: another one has met the finding."""
        if self._signals is not None and self._signals.minds("SIGUSR1"):
            os.kill(os.getpid(), signal.SIGUSR1)
        else:
            _thread.interrupt_main()

    # --- the end ----------------------------------------------------------------------------------
    def conclude(self) -> Report | None:
        """Stop listening; what was found so far is the report."""
        if self._follower is not None:
            self._follower.end()
        session, self._session = self._session, None
        if session is not None:
            self.report = Report(
                self.script, session.engine.name, session.history, [], self.exit, **self.known
            )
            conclude(session, self.report, self.error)
            self.report.exit = self.exit
            if self.exit.kind == "stopped":
                self.report.notes.append(
                    f"The program was stopped by --fail-fast: {self.exit.detail}."
                )
        return self.report

    def compose(self) -> None:
        """Make the report ready to be written.

        After an interrupt this is done at once: Python ends the process by the signal only if
        nothing is compiled and executed in between, as imports do.
        """
        if self._process == os.getpid() and self._content is None:
            with self._ending():
                report = self.conclude()
                if report is not None:
                    with named_from(self._folder):
                        self._content = render(report, self.delivery, self._target())
                        self._beside = [(o.output, render(report, o, None)) for o in self.others]
                        if "patch" in (d.format for d in (self.delivery, *self.others)):
                            self._left = report.plan().left
                        if self._server is not None:
                            self._server.end(self._page(report))

    def deliver(self) -> None:
        """Write the report, once, and only in the process that began."""
        self.compose()
        if self._process == os.getpid() and self.report is not None and self._content is not None:
            with self._ending():
                self._write(self.report, self._content)
                for output, content in self._beside:
                    if output == "-":
                        _print(sys.stdout, content, raw=True)
                    elif output is not None:
                        _store(output, content)
                for why in self._left:
                    self._say(why)
            self._process = -1
            self._stay(self.report)
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
            return
        try:
            _store(output, content)
        except OSError as error:
            self._say(f"cannot write {output!r} ({error.strerror}); the report is:")
            with named_from(self._folder):
                _print(
                    self._stream, render(report, Delivery(most=self.delivery.most), self._stream)
                )
            return
        with named_from(self._folder):
            self._say(f"{summary(report)}: {reached(output)}")

    def _stay(self, report: Report) -> None:
        """Serve on as long as somebody looks: on a terminal until Ctrl-C, else until those who
        follow the run have its end. A program that was told to end does so at once."""
        server = self._server
        if server is None or report.exit.kind == "interrupted":
            return
        with contextlib.suppress(KeyboardInterrupt):
            if Lines(self._stream).terminal and not self.delivery.quiet:
                self._say(f"still serving {server.address}, Ctrl-C ends")
                server.stay()
            else:
                server.wait(LAST_WORDS)

    def _target(self) -> IO[str] | None:
        """The stream that the report goes to, unless it goes to a file."""
        return {None: self._stream, "-": sys.stdout}.get(self.delivery.output)

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """Whatever happens to the doctor, the program ends as it would without."""
        try:
            with self._guarded():
                yield
        except KeyboardInterrupt:
            self._say("interrupted, so there is no report")

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """A fault of the doctor's is told, and is none of the program's; an interrupt is."""
        try:
            yield
        except Exception as fault:
            self._say(f"a fault of its own, please report it: {fault_in_words(fault)}")

    def _say(self, words: str) -> None:
        _print(self._stream, visible(f"gradtape doctor: {words}\n"))

    # --- signals ----------------------------------------------------------------------------------
    def _terminated(self, number: int, frame: Any) -> None:
        """Write the report when the process is asked to end, unless the program minds itself."""
        self.exit = Exit("interrupted", signal.Signals(number).name, 128 + number)
        self.deliver()
        # The end is the one that the sender asked for, and the parent sees it as such.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _asked_for(self, number: int, frame: Any) -> None:
        """Print the report so far; or end the program, when another thread wants that."""
        if self._follower is not None and self._follower.stopped is not None:
            raise self._follower.stopped
        if self._session is not None and self._process == os.getpid():
            self._session.when_idle(self._print_so_far)

    def _print_so_far(self) -> None:
        with self._guarded(), named_from(self._folder):
            report = self.so_far()
            words = report.to_text(width(self._stream), colored(self._stream), self.delivery.most)
            Lines(self._stream).say(words.rstrip("\n"))


def render(report: Report, delivery: Delivery, stream: IO[str] | None) -> str:
    """The report as it is delivered, to a stream or (None) a file."""
    format, output, most = delivery.format, delivery.output, delivery.most
    if format == "text":
        words = report.to_text(width(stream), colored(stream), most)
        return words if stream is None else encodable(words, stream)
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


# --- where it is written to -----------------------------------------------------------------------
def _store(output: str, content: str) -> None:
    """Into a file: at once, if it can be exchanged for another one."""
    if replaceable(output):
        try:
            replace(output, as_bytes(content))
            return
        except PermissionError:  # of the folder; the file itself may be ours to write
            if not os.path.exists(output):
                raise
    Path(output).write_bytes(as_bytes(content))


def _shows(stream: IO[str] | None) -> bool:
    return stream is not None and stream.isatty()


def _print(stream: IO[str] | None, words: str, raw: bool = False) -> None:
    """Write to a stream that may be closed, or a pipe that nobody reads; a patch is made of the
    bytes of files, whatever the encoding of the stream is."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if raw and _shows(stream):
            words, raw = visible(words), False  # nobody applies what stands on a screen
        if raw and hasattr(stream, "buffer"):
            stream.flush()  # type: ignore[union-attr]
            stream.buffer.write(as_bytes(words))  # type: ignore[union-attr]
        else:
            stream.write(words)  # type: ignore[union-attr]
        stream.flush()  # type: ignore[union-attr]
