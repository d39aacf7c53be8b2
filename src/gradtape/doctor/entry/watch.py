"""`watch`: the doctor for a part of a program, a test or a notebook."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, overload

from ..engines.choice import in_sight
from ..report import Exit, Report
from ..source.cells import in_notebook, shell
from .boards import Feed, Wandb
from .session import RUNNING, Session


class Watch:
    """A part of a program that the doctor looks at: the block, or the calls of a function."""

    def __init__(self, audit: bool = False, engine: str = "gradtape") -> None:
        self._audit, self._engine = audit, engine
        self._open: list[tuple[Session, Report]] = []  # a block may be entered again inside itself

    def _session(self) -> Session:
        session = Session(self._engine, audit=self._audit)
        if not RUNNING:  # else a session around this one tells of all
            session.observers.append(Feed(Wandb()))
        return session

    # --- as a block -------------------------------------------------------------------------------
    def __enter__(self) -> Report:
        session = self._session()
        report = Report(script(), session.engine.name, session.history, [])
        session.start()
        self._open.append((session, report))
        return report

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, report = self._open.pop()
        conclude(session, report, error)

    # --- as a decorator ---------------------------------------------------------------------------
    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(
                f"{function.__name__} does not run to its end when it is called: put "
                "`with gradtape.doctor.watch() as report:` into its body instead"
            )
        session = self._session()

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            inside = session.listening  # a function that calls itself
            error: BaseException | None = None
            if not inside:
                session.start()
            try:
                return function(*args, **kwargs)
            except BaseException as raised:
                error = raised
                raise
            finally:
                if not inside:
                    report: Any = watched
                    report.report = Report(script(), session.engine.name, session.history, [])
                    conclude(session, report.report, error)

        watched.report = None  # type: ignore[attr-defined]
        return watched


@overload
def watch(function: Callable[..., Any], /) -> Callable[..., Any]: ...
@overload
def watch(*, audit: bool = False, engine: str = "auto") -> Watch: ...
def watch(
    function: Callable[..., Any] | None = None, /, *, audit: bool = False, engine: str = "auto"
) -> Any:
    """Look at every gradient of a block, or of the calls of a function.

    The block's `Report` is complete when the block is left:

    >>> import gradtape as tf
    >>> x = tf.constant(3.0)
    >>> with tf.doctor.watch() as report:
    ...     with tf.GradientTape() as tape:
    ...         y = x * x
    ...     dy = tape.gradient(y, x)
    >>> [finding.name for finding in report.findings]
    ['not-watched']

    In a notebook, `report` as the last line of a cell shows the page. A decorated function has the
    report of all its calls so far in its attribute `report`. Blocks may be nested, and stand in a
    program that `gradtape doctor` runs: each tells of the gradients that were asked for inside.

    With `audit=True`, gradients that look fine are checked against differences. The engine is
    TensorFlow in a module that imports the real one, and gradtape otherwise; `engine="tensorflow"`
    or `engine="gradtape"` says so where that is not what is meant.
    """
    if engine == "auto":
        engine = in_sight(sys._getframe(1).f_globals)
    found = Watch(audit, engine)
    return found if function is None else found(function)


def conclude(session: Session, report: Report, error: BaseException | None = None) -> None:
    """End a session and complete its report."""
    if error is not None:
        report.exit = exit_of(error)
        if isinstance(error, Exception):
            session.raised(error)
    session.stop()
    report.engine = session.engine.name
    report.notes += session.notes
    report.complete(list(session.findings.values()), session.faults)
    for observer in session.observers:
        session.guarded(observer.close, session, report)
    report.faults = list(session.faults)


def exit_of(error: BaseException) -> Exit:
    """How a program ended that this exception left."""
    if isinstance(error, SystemExit):
        code = error.code
        if code is None or isinstance(code, int):
            return Exit("exit", "", code or 0)
        return Exit("exit", str(code), 1)
    detail = f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, KeyboardInterrupt):
        return Exit("interrupted", detail, 130)
    return Exit("exception", detail, 1)


def script() -> str:
    """What is running, as people would call it."""
    main = sys.modules.get("__main__")
    named = getattr(main, "__file__", None)
    if named is None and shell() is not None:
        # VS Code and Jupyter say whose cells these are, each in its own way.
        there = getattr(main, "__vsc_ipynb_file__", None) or os.environ.get("JPY_SESSION_NAME")
        return there or ("<notebook>" if in_notebook() else "<interactive>")
    return named or sys.argv[0] or "<interactive>"
