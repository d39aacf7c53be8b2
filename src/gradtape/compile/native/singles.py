"""Equations that are no loop, by families: each is a module that says which equations are its own
(`fits`), what their code depends on and whose pointers it is given (`likeness`), writes that code
(`write`), and says how threads share it (`sharing`) and about how many nanoseconds it takes
(`work`).

A function that can be shared takes the first part and the one after the last behind its pointers. A
family whose functions give a truth value instead may refuse: where it is false, Python takes over.
"""

from __future__ import annotations

from typing import Any

from ..program import Equation
from . import (
    chance,
    channelwise,
    checks,
    convolutions,
    identities,
    matrices,
    pooling,
    scattering,
)
from .layout import Layout
from .nests import Single

FAMILIES: tuple[Any, ...] = (
    matrices, convolutions, channelwise, pooling, scattering, chance, checks, identities,
)  # fmt: skip
REFUSING = checks, identities


def family(equation: Equation, layouts: list[Layout]) -> Any:
    """The family that has code for it; None if there is none."""
    return next((one for one in FAMILIES if one.fits(equation, layouts)), None)


def of(item: Single) -> Any:
    return family(item.equation, item.reads)


def may_refuse(item: Single) -> bool:
    return of(item) in REFUSING
