"""Ops whose results are drawn: what is drawn comes as a parameter, here is only how slopes end."""

from __future__ import annotations

from typing import Any

import numpy as np

from .declare import op
from .reasons import Missing


def _draw(a: Any, draw: Any) -> Any:
    return draw(a)


def _shape(a: tuple[int, ...], draw: Any) -> tuple[int, ...]:
    return draw(np.zeros(a)).shape


poisson = op(
    "random_poisson", _draw, Missing("TensorFlow has no derivative of a Poisson draw by its rate"),
    shape=_shape, label="RandomPoissonV2", params=("draw",),
    sample=lambda d: [([d(3)], {"draw": np.floor})],
)  # fmt: skip
stateless_shuffle = op(
    "stateless_shuffle", _draw, Missing("TensorFlow has no derivative of stateless_shuffle"),
    shape=_shape, label="StatelessShuffle", params=("draw",),
    sample=lambda d: [([d(3)], {"draw": np.flip})],
)  # fmt: skip
