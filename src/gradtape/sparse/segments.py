"""Rows picked by number and reduced by segment: `tf.math.segment_sum` of a `tf.gather`, checked."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.op import REALS
from ..framework import convert
from ..framework.arguments import allow, defaulted, number, truth
from ..ops.index import gather, take
from ..ops.segment import segment_sum as sum_of


def segment_sum(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: Any = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """The sums of the rows `data[indices]` that belong to one segment.

    >>> import gradtape as tf
    >>> tf.sparse.segment_sum([1.0, 2.0, 4.0], [0, 2, 2], [0, 0, 1]).numpy().tolist()
    [5.0, 4.0]
    """
    return _reduce("SparseSegmentSum", REALS, data, indices, segment_ids, num_segments,
                   sparse_gradient)[0]  # fmt: skip


def segment_mean(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: Any = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """The means of the rows `data[indices]` that belong to one segment, 0 without rows."""
    total, counts = _reduce("SparseSegmentMean", "fV", data, indices, segment_ids, num_segments,
                            sparse_gradient)  # fmt: skip
    return total / _column(counts, total)


def segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: Any = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """The sums of the rows `data[indices]`, divided by the square root of how many there are."""
    total, counts = _reduce("SparseSegmentSqrtN", "fV", data, indices, segment_ids, num_segments,
                            sparse_gradient)  # fmt: skip
    return total / _column(convert.computed(np.sqrt, counts), total)


def _reduce(
    label: str, takes: str, data: Any, indices: Any, segment_ids: Any, num_segments: Any,
    rows: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """The sums, and how many rows each has, at least 1; `rows` keeps the gradient in rows."""
    rows = truth(rows, "sparse_gradient")
    x = convert.to_tensor(data)
    at, ids = (defaulted(v, np.int32) for v in (indices, segment_ids))
    if num_segments is not None:
        number(num_segments)
    for given, attr in ((at, "Tidx"), (ids, "Tsegmentids")):
        allow(given, label, "int32 int64", attr)
    if x._value.dtype.kind not in takes:
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(x._value.dtype)} is not in the list of allowed "
            f"values: bfloat16, half, float, double; tf.cast it [Op:{label}] name: "
        )
    segments = ids._value
    if at._value.shape != segments.shape or segments.ndim != 1:
        raise errors.invalid(f"segment_ids and indices should have same size. [Op:{label}]")
    wanted = None if num_segments is None else number(num_segments)
    convert.examine(partial(_check_order, wanted, label), segments)
    if wanted is not None:
        count = wanted
    else:
        count = int(convert.computed(_last, segments)) + 1 if len(segments) else 0
    picked = gather.apply(x, at) if rows else take.apply(x, at, axis=0)
    total = sum_of.apply(picked, ids, count=count, axis=0)
    times = lambda segments: np.maximum(np.bincount(segments, minlength=count), 1)
    return total, convert.computed(times, segments)


def _check_order(count: int | None, label: str, segments: Any) -> None:
    if (np.diff(segments) < 0).any():
        raise errors.invalid(
            "segment ids are not increasing; tf.math.unsorted_segment_sum takes them so "
            f"[Op:{label}] name: "
        )
    if len(segments) and segments[0] < 0:
        raise errors.invalid(f"segment ids must be >= 0 [Op:{label}] name: ")
    if count is not None and len(segments) and segments[-1] >= count:
        raise errors.invalid(f"segment ids must be < num_segments [Op:{label}] name: ")


def _last(segments: Any) -> Any:
    return segments[-1]


def _column(counts: Any, total: Any) -> Any:
    shape, kind = (-1,) + (1,) * (total._value.ndim - 1), total._value.dtype
    return tensor(convert.computed(lambda n: n.astype(kind).reshape(shape), counts))
