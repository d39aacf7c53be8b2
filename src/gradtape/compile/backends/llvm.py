"""The backend for whoever has llvmlite: the equations of a program as machine code.

What has no native code is called as the NumPy backend calls it, between two native parts.
"""

from __future__ import annotations

from typing import Any

from ..native.composites import expand
from ..native.parts import part
from ..passes import NATIVE_PASSES, optimise
from ..program import Program
from .numpy import Runner


def ready(program: Program, told: list[tuple[str, int, int]] | None = None) -> Runner:
    """A program made ready to run."""
    passes: list[Any] = [("simpler ops", expand), *NATIVE_PASSES, ("native code", part)]
    return Runner(optimise(program, told, passes))
