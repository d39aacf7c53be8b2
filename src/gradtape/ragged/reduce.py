"""Sums, means and extremes of ragged tensors, which `tf.reduce_sum` and its like hand over to here.

An axis is reduced by the segments of the values that it joins: along rows those of one row, across
rows those of one column. What is left is dense, unless another ragged axis remains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import number
from ..math import segments
from ..ops import elementwise
from ..ops import reduce as ops
from ..ops.shape import cast
from .tensor import RaggedTensor

_Segments = Callable[[Any, Any, Any], Any]
_BY_SEGMENTS: dict[Op, _Segments] = {
    ops.sum: segments.unsorted_segment_sum,
    ops.prod: segments.unsorted_segment_prod,
    ops.max: segments.unsorted_segment_max,
    ops.min: segments.unsorted_segment_min,
}
_INT32, _BOOL = np.dtype(np.int32), np.dtype(bool)


def reduce(op: Op, x: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """A reduction of a ragged tensor over an axis, several, or all."""
    if op is ops.mean:
        ones = x.with_flat_values(arrays.ones(x.flat_values.shape, x.dtype))
        totals, counts = (reduce(ops.sum, part, axis, keepdims) for part in (x, ones))
        return totals / counts
    if op in (ops.any, ops.all):
        found = reduce(ops.max if op is ops.any else ops.min, _each(x, _INT32), axis, keepdims)
        # Of no numbers the extremes are the least and the greatest one.
        return found > 0
    if op not in _BY_SEGMENTS:
        raise NotImplementedError(
            f"{op.label} of a RaggedTensor: reduce_sum, reduce_prod, reduce_max, reduce_min, "
            "reduce_mean, reduce_variance, reduce_std, reduce_any and reduce_all take one; for "
            "others use x.flat_values, or x.to_tensor() with a value for what is missing"
        )
    inner = x.flat_values._value.ndim
    rank = x.ragged_rank + inner
    if axis is None:
        total = op.apply(x.flat_values, axis=None, keepdims=False)
        # As TensorFlow, which counts the inner axes twice.
        return arrays.reshape(total, [1] * (rank + inner - 1)) if keepdims else total
    y: Any = x
    for place in reversed(_places(axis, rank)):
        y = _along(op, y, place)
        y = _expanded(y, place) if keepdims else y
    return y


def variance(x: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """The mean of the squares less the square of the mean, as TensorFlow has it here."""
    squares = x.with_flat_values(elementwise.square.apply(x.flat_values))
    means = [reduce(ops.mean, part, axis, keepdims) for part in (squares, x)]
    return means[0] - means[1] * means[1]


def _each(x: RaggedTensor, dtype: np.dtype) -> RaggedTensor:
    return x.with_flat_values(cast.apply(x.flat_values, dtype=dtype))


def _places(axis: Any, rank: int) -> list[int]:
    """The axes, counted from the front, in order."""
    given = np.ravel(convert.to_tensor(axis)._value).tolist()
    if any(not -rank <= k < rank for k in given):
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return sorted({number(k) % rank for k in given})


def _along(op: Op, x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return op.apply(x, axis=(axis - x._value.ndim,), keepdims=False)
    if axis > 1:
        return x.with_values(_along(op, x.values, axis - 1))
    lengths = np.diff(x.row_splits._value)
    if axis == 1:
        return _segments(op, x.values, np.repeat(np.arange(len(lengths)), lengths), len(lengths))
    return _segments(op, x.values, _columns(lengths), int(lengths.max(initial=0)))


def _columns(lengths: Any) -> Any:
    """The place of each value in its row."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _segments(op: Op, x: Any, ids: Any, count: int) -> Any:
    """The rows of each segment as one: of ragged rows, as long as the longest."""
    if not isinstance(x, RaggedTensor):
        return _BY_SEGMENTS[op](x, tensor(ids), count)
    lengths = np.diff(x.row_splits._value)
    longest = np.zeros(count, lengths.dtype)
    np.maximum.at(longest, ids, lengths)
    ends = np.concatenate([[0], np.cumsum(longest)]).astype(lengths.dtype)
    inner = np.repeat(ends[ids], lengths) + _columns(lengths)
    return RaggedTensor(_segments(op, x.values, inner, int(ends[-1])), tensor(ends))


def _expanded(x: Any, axis: int) -> Any:
    """With a new axis of size 1."""
    if not isinstance(x, RaggedTensor):
        return arrays.expand_dims(x, axis)
    if axis > 1:
        return x.with_values(_expanded(x.values, axis - 1))
    ends = np.array([0, len(x)]) if axis == 0 else np.arange(len(x) + 1)
    return RaggedTensor(x, tensor(ends.astype(x.row_splits._value.dtype)))
