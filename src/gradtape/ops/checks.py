"""Ops that look at numbers and let them pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import invalid
from .declare import op
from .infer import same


def _check_numerics(a: Any, message: str) -> Any:
    if np.all(np.isfinite(a)):
        return a
    nan, infinite = np.any(np.isnan(a)), np.any(np.isinf(a))
    found = "Inf and NaN" if nan and infinite else "NaN" if nan else "Inf"
    raise invalid(f"{message} : Tensor had {found} values [Op:CheckNumerics] name: ")


def _checked_grad(g: Any, message: str) -> Any:
    return check_numerics(
        g, message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
        f"{message.encode()!r}",
    )  # fmt: skip


check_numerics = op(
    "check_numerics", _check_numerics, _checked_grad, shape=same,
    params=("message",), push="linear", batches=True, takes="fV",
    sample=lambda d: [([d(2, 3)], {"message": "sample"})],
)  # fmt: skip
