"""What a fork must not leave behind: locks that other threads held, and the threads themselves.

A forked process has one thread, the one that forked. A lock that another one held would stay locked
for good, and work that was left to another one would never be done: so locks are made anew in the
child, and what this thread waits for is finished before. Everything of the kind is told here.
"""

from __future__ import annotations

import _imp
import os
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any

_before: list[Callable[[], None]] = []
_in_parent: list[Callable[[], None]] = []
_in_child: list[Callable[[], None]] = []


def before_forks(function: Callable[[], None]) -> Callable[[], None]:
    """Call this in the thread that forks, when it is about to; what was told last comes first."""
    _before.insert(0, function)
    return function


def in_parents(function: Callable[[], None]) -> Callable[[], None]:
    """Call this in the process that forked, afterwards."""
    _in_parent.append(function)
    return function


def in_children(function: Callable[[], None]) -> Callable[[], None]:
    """Call this in every forked process, before anything else runs there."""
    _in_child.append(function)
    return function


def _prepare() -> None:
    for function in _before:
        function()


def _resume() -> None:
    for function in _in_parent:
        function()


def _renew() -> None:
    for function in _in_child:
        function()


# Parts of gradtape and of SciPy are imported when they are first needed, and parts of Python by
# them: a child of a process in which another thread does that just now would wait for ever for the
# module. What others import is left alone: it may wait for the very thread that forks.
TRIES = 1_000  # of imports that begin while others end
_LAZY = (
    frozenset(("gradtape", "scipy", "numpy", "ml_dtypes", "opt_einsum", "llvmlite"))
    | sys.stdlib_module_names
)


@before_forks
def _let_imports_end() -> None:
    """Wait for what is being imported, and hold the lock without which no import can begin."""
    bootstrap: Any = sys.modules.get("_frozen_importlib")  # there before importlib is
    wait: Any = getattr(bootstrap, "_lock_unlock_module", None)  # gives way where both would wait
    _imp.acquire_lock()
    for _ in range(TRIES if wait is not None else 0):
        held = _under_way(bootstrap)
        if not held:
            return
        _imp.release_lock()
        for name in held:
            wait(name)
        _imp.acquire_lock()


def _under_way(bootstrap: Any) -> list[str]:
    """The modules that other threads are importing."""
    me, found = get_ident(), []
    for name, lock in list(getattr(bootstrap, "_module_locks", {}).items()):
        if name.partition(".")[0] in _LAZY and getattr(lock(), "owner", None) not in (None, me):
            found.append(name)
    return found


in_parents(_imp.release_lock)
in_children(_imp.release_lock)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_prepare, after_in_parent=_resume, after_in_child=_renew)
