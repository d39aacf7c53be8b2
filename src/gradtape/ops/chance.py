"""Ops whose results are drawn: what is drawn comes as a parameter, here is only how slopes end."""

from __future__ import annotations

from typing import Any

import numpy as np

from .declare import op
from .infer import asked, same
from .reasons import Missing


def _draw(a: Any, draw: Any) -> Any:
    return draw(a)


def _floor(a: Any) -> Any:
    return np.floor(a).astype(np.float64)


poisson = op(
    "random_poisson", lambda a, draw, sizes, dtype: draw(a),
    Missing("TensorFlow has no derivative of a Poisson draw by its rate"),
    shape=lambda a, draw, sizes, dtype: (*sizes, *a), dtype=asked,
    label="RandomPoissonV2", params=("draw", "sizes", "dtype"),
    sample=lambda d: [([d(3)], {"draw": _floor, "sizes": (), "dtype": np.float64})],
)  # fmt: skip
stateless_shuffle = op(
    "stateless_shuffle", _draw, Missing("TensorFlow has no derivative of stateless_shuffle"),
    shape=same, label="StatelessShuffle", params=("draw",),
    sample=lambda d: [([d(3)], {"draw": np.flip})],
)  # fmt: skip
