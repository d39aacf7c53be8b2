"""Operators on truth values and on the bits of whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import compare
from .declare import elementwise
from .reasons import Discrete

BITS = Discrete("bits are whole numbers")


def _within(a: Any, b: Any) -> Any:
    """A shift by less than nothing counts as 0, one beyond the width as the most possible."""
    return np.clip(b, 0, a.dtype.itemsize * 8 - 1).astype(b.dtype)


bitwise_and = elementwise("bitwise_and", np.bitwise_and, (BITS, BITS), takes="iu")
bitwise_or = elementwise("bitwise_or", np.bitwise_or, (BITS, BITS), takes="iu")
bitwise_xor = elementwise("bitwise_xor", np.bitwise_xor, (BITS, BITS), takes="iu")
bitwise_not = elementwise("bitwise_not", np.invert, BITS, takes="iu", label="Invert")
left_shift = elementwise(
    "left_shift", lambda a, b: np.left_shift(a, _within(a, b)), (BITS, BITS), takes="iu"
)
right_shift = elementwise(
    "right_shift", lambda a, b: np.right_shift(a, _within(a, b)), (BITS, BITS), takes="iu"
)


def _by_kind(logical: Any, bitwise: Any) -> Any:
    def apply(x: Any, y: Any) -> Any:
        dtype = getattr(x, "_value", x).dtype
        return (logical if dtype.kind == "b" else bitwise).apply(x, y)

    return apply


both = _by_kind(compare.logical_and, bitwise_and)
either = _by_kind(compare.logical_or, bitwise_or)
differ = _by_kind(compare.logical_xor, bitwise_xor)


def invert(x: Any) -> Any:
    return (compare.logical_not if x._value.dtype.kind == "b" else bitwise_not).apply(x)
