"""The documented differences from TensorFlow that random programs meet, as users are told.

`DIFFERS` is what the documentation prints under "Differs from TensorFlow" and what a campaign
counts by name. Each entry recognises itself from the program, the place in its answer and the two
encoded answers there, as narrowly as that allows. Neither library is needed to read this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.tensorflow.fuzz.known import kernels, numerics, stumbles, tapes
from tests.tensorflow.fuzz.known.answers import none, numbers, raised, summed
from tests.tensorflow.fuzz.known.found import FORWARD, TWICE, Found, Program, text
from tests.tensorflow.fuzz.known.kernels import LEFT_OUT

__all__ = [
    "DIFFERS", "FORWARD", "LEFT_OUT", "NAMES", "TWICE", "name", "none", "numbers", "raised",
    "summed", "text",
]  # fmt: skip

DIFFERS = [*kernels.DIFFERS, *numerics.DIFFERS, *tapes.DIFFERS, *stumbles.DIFFERS]
NAMES = tuple(known.name for known in DIFFERS)


def name(
    program: Program,
    place: tuple[int, ...],
    expected: Any,
    got: Any,
    values: Callable[[], dict[str, Any]] = dict,
) -> str | None:
    """The documented difference that this one is, or None."""
    found = Found(program, place, expected, got, values)
    return next((known.name for known in DIFFERS if known.explains(found)), None)
