"""Numbers in words, for the sentences of rules."""

from __future__ import annotations

from typing import Any

import numpy as np


def share(mask: Any) -> str:
    """ " (3 of 640 numbers)", " (all 640 numbers)", and nothing of a single one."""
    mask = np.asarray(mask)
    count = int(mask.sum())
    if mask.size == 1:
        return ""
    if count == mask.size:
        return " (both numbers)" if count == 2 else f" (all {count} numbers)"
    return f" ({count} of {mask.size} numbers)"
