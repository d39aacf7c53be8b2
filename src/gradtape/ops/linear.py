"""Products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.declare import op


def _matmul(a: Any, b: Any) -> Any:
    if b.ndim == 2 and a.ndim > 2:
        # One large product instead of one for each matrix of the stack.
        return np.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    return np.matmul(a, b)


def _slope_of_right(g: Any, a: Any, b_shape: tuple[int, ...]) -> Any:
    if len(b_shape) == 2 and a.ndim > 2 and g.ndim == a.ndim:
        a = np.reshape(a, (-1, a.shape[-1]))
        g = np.reshape(g, (-1, g.shape[-1]))
    return np.swapaxes(a, -1, -2) @ g


def _matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1])


matmul = op(
    "matmul", _matmul,
    (lambda g, b: g @ np.swapaxes(b, -1, -2), _slope_of_right),
    shape=_matmul_shape, label="MatMul", push="bilinear", broadcasts=True, batches=True,
    numpy=(np.matmul,),
    sample=lambda d: [
        ([d(2, 3), d(3, 4)], {}),
        ([d(5, 2, 3), d(3, 4)], {}),
        ([d(5, 1, 2, 3), d(2, 3, 4)], {}),
    ],
)  # fmt: skip
