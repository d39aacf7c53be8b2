"""Ops that let numbers pass: after a look at them, or without their gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import apply as engine
from ..errors import invalid
from .declare import op
from .infer import same
from .reasons import Stopped


def _check_numerics(a: Any, message: str) -> Any:
    if np.all(np.isfinite(a)):
        return a
    nan, infinite = np.any(np.isnan(a)), np.any(np.isinf(a))
    found = "Inf and NaN" if nan and infinite else "NaN" if nan else "Inf"
    raise invalid(f"{message} : Tensor had {found} values [Op:CheckNumerics] name: ")


def _checked_slope(g: Any, message: str) -> Any:
    return check_numerics(
        g, message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
        f"{message.encode()!r}",
    )  # fmt: skip


check_numerics = op(
    "check_numerics", _check_numerics, _checked_slope, shape=same,
    params=("message",), push="linear", batches=True, takes="fV",
    sample=lambda d: [([d(2, 3)], {"message": "sample"})],
)  # fmt: skip
stop_gradient = op(
    "stop_gradient", lambda a: a, Stopped("stop_gradient makes a constant of it"), shape=same,
    sample=lambda d: [([d(2, 3)], {})],
)  # fmt: skip


def _unread(apply: Any) -> Any:
    """A variable's value is taken without a read: no tape needs to watch it."""
    return lambda a: apply(engine.tensor(a._value) if isinstance(a, engine.Variable) else a)


stop_gradient.apply = _unread(stop_gradient.apply)
