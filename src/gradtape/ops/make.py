"""Ops that make a tensor of a few numbers: constants in a shape, sequences and one-hot rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.op import ANYTHING, FLOATS
from .declare import elementwise, op
from .infer import alike, inserted
from .reasons import Flat

FIXED = Flat("TensorFlow counts the numbers of a range and of one-hot rows as fixed")

# A tape follows them, though they hold nothing of their operand but its shape.
zeros_like = elementwise(
    "zeros_like", lambda a: np.zeros(a.shape, a.dtype)[()],
    Flat("zeros_like is 0 whatever its operand holds"), label="ZerosLike", takes=ANYTHING,
)  # fmt: skip
ones_like = elementwise(
    "ones_like", lambda a: np.ones(a.shape, a.dtype)[()],
    Flat("ones_like is 1 whatever its operand holds"), label="OnesLike", takes=ANYTHING,
)  # fmt: skip


def _range(a: Any, b: Any, c: Any) -> Any:
    start, limit, step = (x.item() if x.dtype.kind in "iu" else x for x in (a, b, c))
    if not step:
        raise ValueError("Requires delta != 0: 0")
    if (limit - start) * np.sign(step) < 0:
        sign = ">=" if step < 0 else "<="
        raise ValueError(
            f"Requires start {sign} limit when delta {'<' if step < 0 else '>'} 0: {a}/{b}"
        )
    if a.dtype.kind in "iu":
        return np.arange(start, limit, step, dtype=a.dtype)
    # In the operands' own dtype, so that the count is the same as TensorFlow's.
    if not np.isfinite(limit - start):
        raise ValueError(f"Requires ((limit - start) / delta) to be a number of steps: {a}/{b}")
    count = math.ceil(abs((limit - start) / step))
    return start + np.arange(count, dtype=a.dtype) * step


range_ = op(
    "range", _range, (FIXED, FIXED, FIXED), shape=lambda a, b, c: (None,),
    sample=lambda d: [([np.float64(0.5), np.float64(2), np.float64(0.5)], {})],
)  # fmt: skip


# --- evenly spaced numbers: the axis is new, counted from the end of the result -------------------
def _linspace(a: Any, b: Any, num: int, axis: int) -> Any:
    steps = max(num - 1, 1)
    tail = (1,) * (-axis - 1)
    first, last = np.expand_dims(a, axis), np.expand_dims(b, axis)
    k = np.arange(num, dtype=a.dtype).reshape(-1, *tail)
    y = first + (last - first) / a.dtype.type(steps) * k
    rest = [slice(None)] * len(tail)
    y[(..., slice(0, 1), *rest)] = first
    if num > 1:
        # Exactly: the last step may round.
        y[(..., slice(num - 1, None), *rest)] = last
    return y


def _weights(g: Any, axis: int, num: int, first: bool = False) -> Any:
    shares = np.arange(num) / max(num - 1, 1)
    return (1.0 - shares if first else shares).astype(g.dtype).reshape(-1, *(1,) * (-axis - 1))


linspace = op(
    "linspace", _linspace,
    (
        lambda g, num, axis: np.sum(g * _weights(g, axis, num, True), axis=(axis,)),
        lambda g, num, axis: np.sum(g * _weights(g, axis, num), axis=(axis,)),
    ),
    shape=lambda a, b, num, axis: inserted(alike(a, b), axis, num),
    label="LinSpace", params=("num", "axis"), push="linear", batches=True, takes=FLOATS,
    sample=lambda d: [
        ([d(), d()], {"num": 4, "axis": -1}), ([d(2, 3), d(2, 3)], {"num": 3, "axis": -3}),
    ],
)  # fmt: skip


def _one_hot(a: Any, b: Any, c: Any, depth: int, axis: int) -> Any:
    places = np.ravel(a)
    rows = np.flatnonzero((places >= 0) & (places < depth))
    out = np.full((places.size, depth), c, dtype=c.dtype)
    out[rows, places[rows]] = b
    return np.moveaxis(out.reshape(*a.shape, depth), -1, axis)


one_hot = op(
    "one_hot", _one_hot, (None, FIXED, FIXED),
    shape=lambda a, b, c, depth, axis: inserted(a, axis, depth), dtype=1,
    params=("depth", "axis"),
    sample=lambda d: [
        ([np.array([1, 0, 7]), np.float64(1), np.float64(0)], {"depth": 3, "axis": 0}),
    ],
)  # fmt: skip
