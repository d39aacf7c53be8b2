"""The ops on values of sparse tensors that TensorFlow gives no derivative.

`b` says of each value to which of `count` groups it belongs. All other functions are made of
gathers and sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import NUMBERS, REALS
from . import segment
from .declare import op
from .reasons import Missing

_sample: Any = lambda d: [([d(4), np.array([0, 2, 2, 0])], {"count": 3})]


def _largest(a: Any, b: Any, count: int) -> Any:
    found = segment.segment_max.forward(a, b, count)
    there = np.zeros(count, bool)
    there[b] = True
    return np.where(there, found, found.dtype.type(0))


def _group(name: str, label: str, forward: Any, takes: str) -> Any:
    why = f"TensorFlow has none for {label}; of the dense tensor (tf.sparse.to_dense) it has one"
    return op(
        name, forward, (Missing(why), None), shape=lambda a, b, count: (count,), label=label,
        takes=takes, params=("count",), sample=_sample,
    )  # fmt: skip


reduce_max = _group("sparse_max", "SparseReduceMax", _largest, REALS)
reduce_max_sparse = _group("sparse_max_sparse", "SparseReduceMaxSparse", _largest, REALS)
reduce_sum_sparse = _group(
    "sparse_sum_sparse", "SparseReduceSumSparse",
    lambda a, b, count: segment.segment_sum.forward(a, b, count), NUMBERS,
)  # fmt: skip
split = op(
    "sparse_split", lambda a, key: a[key],
    Missing("TensorFlow has none for SparseSplit; tf.sparse.slice, part by part, has one"),
    shape=lambda a, key: key.shape, label="SparseSplit", params=("key",),
    sample=lambda d: [([d(4)], {"key": np.array([0, 2])})],
)  # fmt: skip


def _beside(choose: Any) -> Any:
    def forward(a: Any, b: Any, a_at: Any, b_at: Any, count: int) -> Any:
        left, right = np.zeros(count, a.dtype), np.zeros(count, b.dtype)
        left[a_at], right[b_at] = a, b
        return choose(left, right)

    return forward


def _pair(name: str, label: str, choose: Any) -> Any:
    why = Missing(f"TensorFlow has none for {label}; tf.{name} of dense tensors has one")
    at = {"a_at": np.array([0, 2]), "b_at": np.array([1, 2, 3]), "count": 4}
    return op(
        f"sparse_{name}", _beside(choose), (why, why),
        shape=lambda a, b, a_at, b_at, count: (count,), label=label, takes=REALS,
        params=("a_at", "b_at", "count"), sample=lambda d: [([d(2), d(3)], at)],
    )  # fmt: skip


maximum = _pair("maximum", "SparseSparseMaximum", np.maximum)
minimum = _pair("minimum", "SparseSparseMinimum", np.minimum)
