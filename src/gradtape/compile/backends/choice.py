"""Which backend plays the programs, by `GRADTAPE_FUNCTION`.

`auto`, the default where llvmlite is installed, starts on NumPy and changes over to machine code;
`llvm` compiles before the first call, `numpy` never; `eager` runs the Python code at every call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from ..passes import optimise
from ..program import Program
from .numpy import Runner, build

INSTALL = "pip install 'gradtape[llvm]'"
NAMES = ("numpy", "auto", "llvm", "eager")


def installed() -> bool:
    return find_spec("llvmlite") is not None


NAME = os.environ.get("GRADTAPE_FUNCTION") or ("auto" if installed() else "numpy")
if NAME not in NAMES:
    raise ValueError(f"GRADTAPE_FUNCTION is {NAME!r}; it can be {', '.join(NAMES)}.")


def ready(
    program: Program,
    told: list[tuple[str, int, int]] | None = None,
    compile: bool | None = None,
    arrived: Callable[[Any], None] | None = None,
) -> Any:
    """A program that can be called; `told` gets what the passes did. `compile` is what the user
    said of it, and `arrived` gets what plays the program from then on, when that changes."""
    if NAME in ("numpy", "eager"):
        return build(optimise(program, told))
    if not installed():
        raise ModuleNotFoundError(f"GRADTAPE_FUNCTION={NAME} needs llvmlite: {INSTALL}")
    from . import llvm

    return llvm.ready(program, told, NAME == "llvm" or bool(compile), arrived)


def reason(runner: Any, compile: bool | None = None) -> str:
    """Where a program runs, and why: `on NumPy: …`. `compile` is what the user said of it."""
    told = os.environ.get("GRADTAPE_FUNCTION") == NAME
    if NAME in ("numpy", "eager"):
        if told:
            return f"on NumPy: GRADTAPE_FUNCTION={NAME}"
        return f"on NumPy: llvmlite is not installed ({INSTALL})"
    from . import llvm

    if isinstance(runner, llvm.Rising):
        return runner.outlook
    if not is_native(runner):
        return "on NumPy: there is nothing in it that could be native"
    if NAME == "llvm":
        return "as machine code from the first call on: GRADTAPE_FUNCTION=llvm"
    if compile:
        return "as machine code from the first call on: jit_compile=True"
    return f"as machine code since call {llvm.CHANGE}"


def next_of(runner: Any) -> Any:
    """What plays the next call of a program."""
    return runner if isinstance(runner, Runner) else runner.next


@contextmanager
def entered(runner: Any) -> Iterator[Callable[..., list]]:
    """The function that plays a program, for the many calls of one run of a loop: they count as
    one, so a run does not change over to machine code in between."""
    with (runner if isinstance(runner, Runner) else runner.called()).held() as play:
        yield play


def is_native(runner: Any) -> bool:
    """Are there native parts in what runs?"""
    return any(hasattr(e.op, "unit") for e in runner.program.equations)
