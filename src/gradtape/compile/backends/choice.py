"""Which backend plays the programs, by `GRADTAPE_FUNCTION`.

`numpy`, which is the default; `llvm` compiles before the first call; `auto` starts on NumPy and
changes over to machine code; `eager` runs the Python code at every call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from ..passes import optimise
from ..program import Program
from .numpy import build

NAMES = ("numpy", "auto", "llvm", "eager")
NAME = os.environ.get("GRADTAPE_FUNCTION") or "numpy"
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
    if find_spec("llvmlite") is None:
        raise ModuleNotFoundError(
            f"GRADTAPE_FUNCTION={NAME} needs llvmlite: pip install 'gradtape[llvm]'"
        )
    from . import llvm

    return llvm.ready(program, told, NAME == "llvm" or bool(compile), arrived)
