"""Which backend plays the programs: `llvm` where llvmlite is installed, otherwise `numpy`.

`GRADTAPE_FUNCTION` chooses: `eager` runs the Python code at every call, `numpy` never compiles,
`llvm` compiles before the first call.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

from ..passes import optimise
from ..program import Program
from .numpy import build

NAMES = ("", "eager", "numpy", "llvm")
NAME = os.environ.get("GRADTAPE_FUNCTION", "")
if NAME not in NAMES:
    raise ValueError(f"GRADTAPE_FUNCTION is {NAME!r}; it can be {', '.join(NAMES[1:])}.")
# Where the setting is `numpy`, that of `tf.function(jit_compile=True)` is not heeded.


@cache
def _has_llvm() -> bool:
    return find_spec("llvmlite") is not None


def ready(
    program: Program,
    told: list[tuple[str, int, int]] | None = None,
    compile: bool | None = None,
    arrived: Callable[[Any], None] | None = None,
) -> Any:
    """A program that can be called; `told` gets what the passes did. `compile` is what the user
    said of it, and `arrived` gets what plays the program from then on, when that changes."""
    if NAME in ("numpy", "eager") or not (NAME or _has_llvm()):
        return build(optimise(program, told))
    if NAME == "llvm" and not _has_llvm():
        raise ModuleNotFoundError(
            "GRADTAPE_FUNCTION=llvm needs llvmlite: pip install 'gradtape[llvm]'"
        )
    from . import llvm

    return llvm.ready(program, told, NAME == "llvm" or bool(compile), arrived)
