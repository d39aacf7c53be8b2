"""`gradtape.doctor.Callback`: the doctor for the training of a Keras model.

The class is made when it is asked for, a real subclass of `keras.callbacks.Callback`: nothing else
of gradtape imports Keras, and which engine that Keras computes with is the program's choice.
"""

from __future__ import annotations

import _thread
import os
import sys
import weakref
from functools import cache
from types import FrameType
from typing import Any

from ..engines.choice import keras, of_keras
from ..fixing.patch import as_bytes
from ..live.lines import Lines
from ..report import Exit, Report
from ..report.terminal import colored, visible, width
from ..report.words import headline, shown, summary
from ..source.cells import in_notebook
from ..source.sources import reached
from ..source.writing import replace
from ..trace import states
from ..trace.finding import Finding
from .boards import Feed, TensorBoard, Wandb
from .following import Follower, Stopped
from .session import Session
from .visit import FORMATS, Delivery, format_of, render
from .watch import conclude, script


class FaultFound(RuntimeError):
    """Training was stopped, or has ended, with findings: `report` has them."""

    def __init__(self, report: Report) -> None:
        first = report.findings[0]
        more = len(report.findings) - 1
        also = f", and {more} more finding{'s' if more > 1 else ''}" if more else ""
        place = "" if first.place is None else f" ({shown(first.place.file)}:{first.place.line})"
        super().__init__(f"{headline(first)}: {first.code} {first.name}{place}{also}")
        self.report = report


class _Told(Follower):
    """Follows training; a finding that is to stop it is told, and stops it at the batch's end."""

    def _stop(self, found: Any) -> None:
        chosen = [finding for finding in found if finding.state in self.fail_fast]
        if chosen and self.stopped is None:
            self.stopped = Stopped(chosen[0])


def _end_late(fit: Fit) -> None:
    """End a training whose exception went by: Python drops what is raised here, but not Ctrl-C."""
    try:
        fit.end()
    except KeyboardInterrupt:
        _thread.interrupt_main()


class Fit:
    """One training: from its begin to its end, however it ends."""

    def __init__(self, options: Options, model: Any, frame: FrameType) -> None:
        self.options = options
        self.session = Session(of_keras(), audit=options.audit)
        boards = [Wandb()] if options.tensorboard is None else [
            Wandb(), TensorBoard(options.tensorboard)
        ]  # fmt: skip
        self.session.observers.append(Feed(*boards))
        self.session.start()
        self.trained = self.session.engine.joins(model, frame)
        self.report: Report | None = None
        lines = None if options.quiet else Lines(sys.stderr)
        self.follower = _Told(self.session, lines, None, options.fail_fast)
        if options.output is not None:
            self.follower.keep(self._rewrite)

    @property
    def stopped(self) -> Finding | None:
        return None if self.follower.stopped is None else self.follower.stopped.finding

    def end(self) -> Report:
        """Listen no more, and deliver the report, once."""
        if self.report is None:
            self.follower.end()
            session = self.session
            session.guarded(self.trained)
            self.report = Report(script(), session.engine.name, session.history, [])
            conclude(session, self.report)
            if session.engine.name == "gradtape":
                from ..engines.gradtape.functions import UNHEARD

                # It is said of the functions of datasets, which `fit` makes before it calls us.
                self.report.notes = [n for n in self.report.notes if n != UNHEARD]
            self._deliver(self.report)
        return self.report

    def _rewrite(self) -> bool:
        """Write the report so far: a training that is killed leaves it."""
        history, findings = self.session.so_far()
        name = self.session.engine.name
        try:
            self._write(Report(script(), name, history, findings, Exit("running")))
        except OSError:  # it is written at the end, when somebody is told why it cannot be
            return False
        return True

    def _write(self, report: Report) -> None:
        output, most = self.options.output or "", self.options.most
        delivery = Delivery(format_of(output) or "text", output, most)
        replace(output, as_bytes(render(report, delivery, None)))

    def _deliver(self, report: Report) -> None:
        output, most = self.options.output, self.options.most
        if output is not None:
            self._write(report)
            words = f"gradtape doctor: {summary(report)}: {reached(output)}"
            print(visible(words), file=sys.stderr)
        elif in_notebook() and report.findings:
            from .notebook import show

            show(report, most)
        else:
            sys.stdout.flush()  # the last line of the progress bar comes first
            text = report.to_text(width(sys.stderr), colored(sys.stderr), most)
            print(text, end="" if text.endswith("\n") else "\n", file=sys.stderr)


class Options:
    """What a callback was told, checked."""

    def __init__(
        self, output: Any, strict: bool, fail_fast: Any, tensorboard: Any, audit: bool,
        most: int | None, quiet: bool,
    ) -> None:  # fmt: skip
        self.output = None if output is None else os.path.abspath(os.fspath(output))
        if format_of(self.output) is None:
            raise ValueError(
                f"output: the ending of {os.fspath(output)!r} names no format; give a file that "
                f"ends in one of {', '.join(f'.{name}' for name in FORMATS)}"
            )
        self.strict, self.audit, self.most, self.quiet = strict, audit, most, quiet
        self.fail_fast = _states(fail_fast)
        self.tensorboard = None if tensorboard is None else os.path.abspath(os.fspath(tensorboard))


def _states(given: Any) -> tuple[str, ...]:
    known = tuple(state for state in states.BAD if state != "error")  # which stops by itself
    if isinstance(given, bool):
        return known if given else ()
    chosen = tuple(given.split(",") if isinstance(given, str) else given)
    wrong = [state for state in chosen if state not in known]
    if wrong:
        raise ValueError(
            f"fail_fast: {wrong[0]!r} is no state of a gradient; give True, or some of "
            f"{', '.join(known)}"
        )
    return chosen


def callback() -> type:
    """The class, for the Keras of this process."""
    return _made(keras().callbacks.Callback)


@cache
def _made(base: type) -> type:
    class Callback(base):
        """Look at every gradient of `model.fit`, and say at the end what is wrong with them:
        `model.fit(x, y, callbacks=[gradtape.doctor.Callback()])`.

        A fault is said in one line on standard error when it is first seen; the report follows when
        training has ended, and is then in the attribute `report`. In a notebook it is the page.

        Arguments:
            output: a file for the report, whose ending (`.html`, `.json`, `.sarif`, `.txt`) is its
                format, instead of standard error.
            strict: raise `FaultFound` at the end if there are findings.
            fail_fast: raise it after the first batch with a gradient that is certainly at fault:
                True, or states such as `"none,nan"`.
            tensorboard: a folder for event files with norms, histograms and findings.
            audit: check gradients that look fine against differences, which takes longer.
            max_findings: show so many findings.
            quiet: say nothing before the report.
        """

        def __init__(
            self,
            output: Any = None,
            *,
            strict: bool = False,
            fail_fast: Any = False,
            tensorboard: Any = None,
            audit: bool = False,
            max_findings: int | None = None,
            quiet: bool = False,
        ) -> None:
            super().__init__()
            self.report: Report | None = None
            self._fit: Fit | None = None
            self._options = Options(
                output, strict, fail_fast, tensorboard, audit, max_findings, quiet
            )

        def on_train_begin(self, logs: Any = None) -> None:
            self._end()
            self._fit = fit = Fit(self._options, self.model, sys._getframe(1))
            # A function is heard from its first call on: this one is made anew, and traced so.
            self.model.make_train_function(force=True)
            # Keras tells nobody of a training that ends with an exception: then its list of
            # callbacks goes, at the latest with the process.
            weakref.finalize(sys._getframe(1).f_locals.get("self", self), _end_late, fit)

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if self._fit is not None and self._fit.stopped is not None:
                raise FaultFound(self._end())

        def on_train_end(self, logs: Any = None) -> None:
            report = self._end()
            if self._options.strict and report is not None and report.findings:
                raise FaultFound(report)

        def _end(self) -> Any:
            if self._fit is not None:
                self.report, self._fit = self._fit.end(), None
            return self.report

    Callback.__module__, Callback.__qualname__ = "gradtape.doctor", "Callback"
    return Callback
