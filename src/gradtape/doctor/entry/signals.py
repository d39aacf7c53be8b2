"""Signals that the doctor minds, which the program does not see: to it they have their defaults."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import contextlib
import signal
from collections.abc import Callable
from typing import Any

from ...ops.kernels.forks import before_forks, in_children, in_parents
from ..engines import ears

Handler = Callable[[int, Any], None]


class Minded:
    """Signals with a handler of the doctor's, unless the program has one."""

    def __init__(self, handlers: dict[str, Handler]) -> None:
        self._handlers: dict[int, Handler] = {}
        self._ears: list[Callable[[], None]] = []
        with contextlib.suppress(ValueError):  # not in the main thread
            for name, handler in handlers.items():
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    signal.signal(number, handler)
                    self._handlers[number] = handler
        if self._handlers:
            before_forks(self._make_way)
            in_parents(self._resume)
            in_children(self._leave)
            # To the program, a signal does what it always does: it ends the process.
            for function in (signal.getsignal, signal.signal):
                with contextlib.suppress(ears.NoEar):
                    self._ears.append(ears.put(function, ears.Hooks(after=self._as_without)))

    def minds(self, name: str) -> bool:
        """Is a signal the doctor's just now?"""
        number = getattr(signal, name, None)
        handler = None if number is None else self._handlers.get(number)
        return handler is not None and bool(_signal.getsignal(number) == handler)

    def end(self) -> None:
        """Back to the defaults, for good."""
        while self._ears:
            self._ears.pop()()
        self._leave()
        self._handlers.clear()

    def _leave(self) -> None:
        for number, handler in self._handlers.items():
            _exchange(number, handler, signal.SIG_DFL)

    def _make_way(self) -> None:
        """A signal to a child that is just being made would be lost on a handler of Python's; what
        ends a process must not be."""
        handler = self._handlers.get(signal.SIGTERM)
        if handler is not None:
            _exchange(signal.SIGTERM, handler, signal.SIG_DFL)

    def _resume(self) -> None:
        handler = self._handlers.get(signal.SIGTERM)
        if handler is not None:
            _exchange(signal.SIGTERM, signal.SIG_DFL, handler)

    def _as_without(self, told: Any, handler: Any) -> Any:
        return signal.SIG_DFL if handler in self._handlers.values() else handler


def _exchange(number: int, old: Any, new: Any) -> None:
    with contextlib.suppress(ValueError):
        if _signal.getsignal(number) == old:
            signal.signal(number, new)
