"""Which backend plays the programs: `llvm` where it is asked for, otherwise `numpy`."""

from __future__ import annotations

import os

from ..passes import optimise
from ..program import Program
from .numpy import Runner, build

NAMES = ("eager", "numpy", "llvm")
NAME = os.environ.get("GRADTAPE_FUNCTION", "numpy")
if NAME not in NAMES:
    raise ValueError(f"GRADTAPE_FUNCTION is {NAME!r}; it can be {', '.join(NAMES)}.")


def ready(program: Program, told: list[tuple[str, int, int]] | None = None) -> Runner:
    """A program that can be called; `told` gets what the passes did."""
    if NAME == "llvm":
        from . import llvm

        return llvm.ready(program, told)
    return build(optimise(program, told))
