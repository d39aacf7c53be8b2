"""The backend for whoever has llvmlite: the equations of a program as machine code.

Compiling takes longer than a few calls on NumPy. So a program starts there, is compiled meanwhile,
and changes over at a call whose number is fixed: the same run gives the same bits. What has no
native code is called as the NumPy backend calls it, between two native parts.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from ...framework.lifetimes import Beside
from ...ops.kernels.forks import in_children
from ..native import identities, storing
from ..native.background import go_on, start
from ..native.composites import expand
from ..native.parts import is_look, part
from ..native.unit import Native
from ..passes import NATIVE_PASSES, optimise
from ..program import Guard, Program, Store
from .numpy import Runner, build


def _piece(run: Callable[[Program], Program]) -> Callable[[Program], Program]:
    """A pass as a piece of work."""

    def piece(program: Program) -> Program:
        go_on()
        return run(program)

    return piece


_PASSES: list[tuple[str, Callable[[Program], Program]]] = [
    ("simpler ops", expand), *NATIVE_PASSES, ("identities", identities.drop),
    ("native code", part), ("rows", storing.hasten),
]  # fmt: skip
PASSES = [(name, _piece(run)) for name, run in _PASSES]
BEGIN, CHANGE = 3, 12  # the calls in which compiling begins, and from which on it is native
# Equations, arguments and results of a program that is compiled. So many take some 15 s and 0.6 GB.
MOST = 30_000
STRICT = False  # whether what cannot be compiled is an error, as in tests
Told = list[tuple[str, int, int]]


def compiled(program: Program, told: Told | None = None) -> Runner:
    """The program with its native parts, compiled."""
    program = optimise(program, told, PASSES)
    plain = (Native, Guard, Store)  # which need no memory of their own, nor silence
    direct = all(isinstance(e.op, plain) or is_look(e) for e in program.equations)
    runner = Runner(program, direct=direct)
    for equation in runner.program.equations:
        op = equation.op
        native = op.forward if isinstance(op, Store) else op
        if isinstance(native, (Native, storing.Rows)):
            native.unit.code  # noqa: B018 - now, not when it is first called
    return runner


class Rising:
    """A program on NumPy that becomes native; `arrived` is told of the one that it becomes."""

    def __init__(
        self, program: Program, told: Told | None, arrived: Callable[[Any], None] | None
    ) -> None:
        self._given, self._told, self._arrived = program, told, arrived
        self._now: Any = build(optimise(program, told))
        self._calls = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._made: Any = None
        self.why = ""  # it stays where it is
        if why := too_large(program):
            self._stay(why)
        _risings.put(self, None)

    def __call__(self, values: Any, done: dict[int, Any] | None = None) -> Any:
        return self.called()(values, done)

    def called(self) -> Any:
        """What plays this call."""
        self._calls += 1
        if self._calls >= BEGIN and not self.why:
            self._rise()
        return self._now

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, name)

    @property
    def next(self) -> Any:
        """What plays the next call."""
        if self._calls + 1 >= CHANGE:
            self._compile()
            return self._made or self._now
        return self._now

    @property
    def outlook(self) -> str:
        """Where it runs, and what becomes of it."""
        if self.why:
            return f"on NumPy: {self.why}"
        if self._now is self._made:
            return f"as machine code since call {CHANGE}"
        calls = f"{self._calls} call{'' if self._calls == 1 else 's'} so far"
        return f"on NumPy until machine code takes over at call {CHANGE} ({calls})"

    def _rise(self) -> None:
        if self._calls == BEGIN:
            self._thread = start(self._compile)
        elif self._calls >= CHANGE and self._made is None and not self.why:
            if self._thread is not None:
                self._thread.join()
            self._compile()  # if there is no such thread, or not any more: in a fork
        if self._calls >= CHANGE and self._made is not None:
            self._now = self._made
            if self._arrived is not None:
                self._arrived(self._made)

    def _compile(self) -> None:
        with self._lock:
            if self._made is not None or self.why:
                return
            try:
                told: Told = []
                self._made = compiled(self._given, told)
                if self._told is not None:
                    self._told[:] = told
            except Exception as error:
                strict = STRICT  # read first: after `_stay` no caller waits for this thread
                self._stay(f"compiling it failed with {type(error).__name__}: {error}")
                if strict:
                    raise

    def _stay(self, why: str) -> None:
        """Leave it on NumPy."""
        self.why = why
        logging.getLogger("gradtape").warning("A function stays on the NumPy backend: %s", why)


def in_parts(program: Program, runner: Any) -> Program:
    """A program with its native parts: the one that runs, or one for the asking."""
    made = runner._made if isinstance(runner, Rising) else runner
    if made is not None and any(isinstance(e.op, Native) for e in made.program.equations):
        return made.program
    return optimise(program, None, PASSES)


_risings: Beside[Rising, None] = Beside()


@in_children
def _forked() -> None:
    """The threads that held these locks are not there."""
    for one in _risings:
        one._lock, one._thread = threading.Lock(), None


def ready(
    program: Program,
    told: Told | None = None,
    at_once: bool = False,
    arrived: Callable[[Any], None] | None = None,
) -> Any:
    """A program made ready to run."""
    if at_once and not too_large(program):
        return compiled(program, told)
    return Rising(program, told, arrived)


def too_large(program: Program) -> str:
    """Why a program is not compiled, if it is too large for that."""
    size = len(program.equations) + len(program.inputs) + len(program.outputs)
    if size <= MOST:
        return ""
    return f"it has {size:,} equations, arguments and results; up to {MOST:,} are compiled"
