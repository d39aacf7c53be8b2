"""Numbers in words, for the sentences of rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

PLAIN = 10_000  # from here on, a power of ten


def share(mask: Any) -> str:
    """ " (3 of 640 numbers)", " (all 640 numbers)", and nothing of a single one."""
    mask = np.asarray(mask)
    count = int(mask.sum())
    if mask.size == 1:
        return ""
    if count == mask.size:
        return " (both numbers)" if count == 2 else f" (all {count} numbers)"
    return f" ({count} of {mask.size} numbers)"


def at_least(number: float) -> str:
    """A number of an advice as people type it, rounded up: 3, 20, 400, 1e9."""
    if not math.isfinite(number) or number <= 0:
        return f"{number:g}"
    power = math.floor(math.log10(number))
    if number > PLAIN:
        return f"1e{math.ceil(math.log10(number) - 1e-9)}"
    step = 10.0**power
    return f"{math.ceil(number / step - 1e-9) * step:g}"
