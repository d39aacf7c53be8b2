"""The part of `tf.math` that reduces what shares a number: segments, bins, confusion matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import integer, number, truth
from ..framework.tensor import divide
from ..ops import elementwise, segment
from ..ops.index import select
from ..ops.scatter import flat_index
from ..ops.shape import cast, reshape, stack

__all__ = [
    "segment_sum",
    "segment_mean",
    "segment_prod",
    "segment_max",
    "segment_min",
    "unsorted_segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_mean",
    "unsorted_segment_sqrt_n",
    "bincount",
    "confusion_matrix",
]


# --- sorted segments ------------------------------------------------------------------------------
def _sorted_segments(label: str, data: Any, segment_ids: Any, op: Op) -> tuple[Any, Any, int]:
    """The operands of a segment function, checked, and the number of segments."""
    data, ids = convert.to_tensor(data), convert.to_tensor(segment_ids)
    _check_segments(label, data, ids, op)
    value = ids._value
    if value.ndim != 1:
        raise errors.invalid(
            f"segment_ids should be a vector. Its shape is {list(value.shape)} [Op:{label}] name: "
        )
    if not data._value.ndim:
        raise errors.invalid(f"Shape must be at least rank 1 but is rank 0 [Op:{label}] name: ")
    if len(value) != len(data._value):
        raise errors.at_run(
            f"segment_ids should be the same size as dimension 0 of input. Their shapes are "
            f"{list(value.shape)} and {list(data._value.shape)} [Op:{label}] name: "
        )
    convert.examine(partial(_check_order, label), value)
    return data, ids, int(convert.computed(_last, value)) + 1 if len(value) else 0


def _check_order(label: str, ids: Any) -> None:
    if (ids[1:] < ids[:-1]).any():
        raise errors.invalid(f"segment ids are not increasing [Op:{label}] name: ")
    if len(ids) and ids[0] < 0:
        raise errors.invalid(
            f"Segment id {ids[0]} out of range [0, {ids[-1] + 1}) [Op:{label}] name: "
        )


def _last(ids: Any) -> Any:
    return ids[-1]


def _check_segments(label: str, data: Any, ids: Any, op: Op) -> None:
    if data._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, data._value.dtype)
    if ids._value.dtype.kind != "i":
        raise errors.wrong_dtype(
            f"Value for attr 'Tindices' of {ids.dtype.name} is not in the list of allowed values: "
            f"int32, int64 [Op:{label}] name: "
        )


def _fill_gaps(ids: Any, y: Any) -> Any:
    """0 for the segments between others that have no rows."""
    shape, dtype = y._value.shape, y._value.dtype
    held = convert.computed(partial(_held, shape), ids._value)
    if not convert.is_recorded(held) and held.all():
        return y
    if dtype.kind in "iu":
        return select.apply(tensor(held), y, tensor(dtype.type(0)))
    # Added, not chosen: TensorFlow's tangent of a gap is nan.
    gap = convert.computed(lambda held, y: np.where(held, dtype.type(-0.0), -y), held, y._value)
    return elementwise.add.apply(y, tensor(gap))


def _held(shape: tuple[int, ...], ids: Any) -> Any:
    """Which segments have rows."""
    held = np.zeros(shape[:1], bool)
    held[ids] = True
    return held.reshape(-1, *[1] * (len(shape) - 1))


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows of each segment; `segment_ids` must not decrease.

    >>> import gradtape as tf
    >>> tf.math.segment_sum([1.0, 2.0, 3.0], [0, 0, 1])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 3.], dtype=float32)>
    """
    data, ids, n = _sorted_segments("SegmentSum", data, segment_ids, segment.segment_sum)
    return segment.segment_sum.apply(data, ids, count=n, axis=0)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The means of the rows of each segment, 0 for one without rows."""
    data, ids, n = _sorted_segments("SegmentMean", data, segment_ids, segment.segment_sum)
    if data._value.dtype.kind in "fcV":
        return segment.segment_mean.apply(data, ids, count=n, axis=0)
    total = segment.segment_sum.apply(data, ids, count=n, axis=0)
    return elementwise.truncatediv.apply(total, _times(ids, n, total))


def _times(ids: Any, n: int, total: Any) -> Any:
    """How often each segment occurs, at least 1, to divide its total by."""
    dtype, axes = total._value.dtype, [1] * (total._value.ndim - 1)

    def count(ids: Any) -> Any:
        value = np.ravel(ids)
        times = np.maximum(np.bincount(value[value >= 0], minlength=n), 1)
        return times.astype(dtype).reshape(-1, *axes)

    return tensor(convert.computed(count, ids._value))


def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The products of the rows of each segment, 1 for one without rows."""
    data, ids, n = _sorted_segments("SegmentProd", data, segment_ids, segment.segment_prod)
    return segment.segment_prod.apply(data, ids, count=n, axis=0)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest of the rows of each segment, 0 for one without rows."""
    data, ids, n = _sorted_segments("SegmentMax", data, segment_ids, segment.segment_max)
    return _fill_gaps(ids, segment.segment_max.apply(data, ids, count=n, axis=0))


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest of the rows of each segment, 0 for one without rows."""
    data, ids, n = _sorted_segments("SegmentMin", data, segment_ids, segment.segment_min)
    return _fill_gaps(ids, segment.segment_min.apply(data, ids, count=n, axis=0))


def _count(num_segments: Any, label: str) -> int:
    try:
        return number(num_segments, label)
    except TypeError as error:
        raise errors.wrong_dtype(f"num_segments: {error} [Op:{label}]") from None


def _unsorted(op: Op, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    data, ids = convert.to_tensor(data), convert.to_tensor(segment_ids)
    _check_segments(op.label, data, ids, op)
    n, value, shape = _count(num_segments, op.label), ids._value, data._value.shape
    n = (n + 2**31) % 2**32 - 2**31  # TensorFlow keeps 32 bits of it
    if shape[: value.ndim] != value.shape:
        raise errors.invalid(
            f"data.shape = {list(shape)} does not start with segment_ids.shape = "
            f"{list(value.shape)} [Op:{op.label}] name: "
        )
    if n < 0:
        raise errors.invalid(
            f"Input num_segments == {n} must not be negative. [Op:{op.label}] name: "
        )
    if data._value.size:
        convert.examine(partial(_check_below, n, op.label), value)
    else:  # TensorFlow does not look at the ids of nothing: all of them are left out
        ids = tensor(np.full(value.shape, -1, value.dtype))
    return op.apply(data, ids, count=n, axis=0)


def _check_below(n: int, label: str, ids: Any) -> None:
    if ids.size and ids.max() >= n:
        at = [int(k) for k in np.argwhere(np.asarray(ids) >= n)[0]]
        raise errors.at_run(
            f"segment_ids{at} = {ids[tuple(at)]} is out of range [0, {n}) [Op:{label}] name: "
        )


def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows of each segment; rows of a negative segment are left out.

    >>> import gradtape as tf
    >>> tf.math.unsorted_segment_sum([1.0, 2.0, 3.0], [1, 0, 1], num_segments=2)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>
    """
    return _unsorted(segment.segment_sum, data, segment_ids, num_segments)


def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The largest of the rows of each segment, the least number of the dtype if it has none."""
    found = _unsorted(segment.segment_max, data, segment_ids, num_segments)
    return _within(elementwise.maximum, found, "-inf")


def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The smallest of the rows of each segment, the greatest number of the dtype if it has none."""
    found = _unsorted(segment.segment_min, data, segment_ids, num_segments)
    return _within(elementwise.minimum, found, "inf")


def _within(op: Op, found: Any, end: str) -> Any:
    """No farther than what an empty segment has, the last finite number."""
    value = found._value
    if value.dtype.kind not in "fV":
        return found
    if not convert.is_recorded(value) and not (value == value.dtype.type(float(end))).any():
        return found
    last = np.nextafter(value.dtype.type(float(end)), value.dtype.type(0))
    return op.apply(found, tensor(last))


def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The products of the rows of each segment, 1 for one without rows."""
    return _unsorted(segment.segment_prod, data, segment_ids, num_segments)


def _total(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    data = convert.to_tensor(data)
    if data._value.dtype.kind in "O":
        raise TypeError("the rows of a segment are numbers, got strings; tf.strings.to_number")
    if data._value.dtype.kind == "c":
        raise convert.wrong_dtype(segment.segment_max, data._value.dtype)
    return unsorted_segment_sum(data, segment_ids, num_segments)


def _rows_of(segment_ids: Any, total: Any) -> Any:
    """How many rows each segment of a total has, at least 1; unlike the sum of nothing, this looks
    at the ids."""
    ids, count = convert.to_tensor(segment_ids), len(total._value)
    convert.examine(partial(_check_below, count, segment.segment_sum.label), ids._value)
    return _times(ids, count, total)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows of each segment, 0 for one without rows."""
    total = _total(data, segment_ids, num_segments)
    return divide(total, _rows_of(segment_ids, total))


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows of each segment, divided by the square roots of their numbers."""
    total = _total(data, segment_ids, num_segments)
    times = _rows_of(segment_ids, total)
    return divide(total, elementwise.sqrt.apply(times))


# --- counts ---------------------------------------------------------------------------------------
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
    dtype: Any = dtypes.int32, name: str | None = None, axis: Any = None,
    binary_output: bool = False,
) -> Any:  # fmt: skip
    """How often each whole number occurs, or the sum of its weights; the last axis alone is
    counted if `axis` is -1.

    >>> import gradtape as tf
    >>> tf.math.bincount([1, 1, 3])
    <tf.Tensor: shape=(4,), dtype=int32, numpy=array([0, 2, 0, 1], dtype=int32)>
    """
    if hasattr(arr, "dense_shape") and axis in (None, 0):
        arr = arr.values
    splits = None
    if convert.is_ragged(arr):
        if axis == -1:
            if arr.ragged_rank > 1:
                raise ValueError("a ragged tensor is counted row by row if it has one ragged axis")
            splits = arr.row_splits._value
        arr = arr.flat_values
        weights = weights.flat_values if convert.is_ragged(weights) else weights
    x = convert.to_tensor(arr)
    values = x._value
    if values.dtype.kind == "O":
        raise errors.UnimplementedError(None, None, "Cast string to int32 is not supported")
    if values.dtype.kind not in "iu":
        x = cast.apply(x, dtype=np.dtype(np.int32))
        values = x._value
    if weights is not None and truth(binary_output, "binary_output"):
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only "
            "one."
        )
    if convert.is_tensor_like(axis) and axis._value.dtype.kind == "O":
        raise TypeError(f"Expected int for argument 'axis' not {axis!r}.")
    held = getattr(axis, "_value", axis)
    if isinstance(held, (np.ndarray, np.generic)) and not held.ndim:
        axis = integer(axis, "axis")
    if axis not in (None, 0, -1) if axis is None or axis.__class__ is int else True:
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported")
    if values.dtype not in (np.int32, np.int64):
        raise errors.wrong_dtype(
            f"Value for attr 'Tidx' of {convert.c_name(values.dtype)} is not in the list of "
            "allowed values: int32, int64; tf.cast makes them so [Op:DenseBincount] name: "
        )
    convert.examine(_check_bins, values)
    least, most = 0, np.iinfo(np.int64).max
    if minlength is not None:
        least = number(convert.to_tensor(minlength, values.dtype), "Maximum")
    if maxlength is not None:
        most = number(convert.to_tensor(maxlength, values.dtype), "Minimum")
    size = most  # where the greatest number does not matter
    if least < most:
        size = int(convert.computed(np.max, values)) + 1 if values.size else 0
        size = min(max(size, least), most)
    if values.ndim != 1 and not (values.ndim == 2 and axis == -1):
        x = reshape.apply(x, shape=(values.size,))
    if weights is None:
        wanted = np.dtype(dtypes.as_dtype(dtype or dtypes.int32).as_numpy_dtype)
        if wanted.name not in ("int32", "int64", "float32", "float64"):
            raise errors.wrong_dtype(
                f"Value for attr 'T' of {convert.c_name(wanted)} is not in the list of allowed "
                "values: int32, int64, float, double [Op:DenseBincount] name: "
            )
        parts = tensor(np.ones(values.size, wanted))
    else:
        parts = convert.to_tensor(weights)
        if not parts._value.size:  # no weights are weights of 1
            parts = tensor(np.ones(values.size, parts._value.dtype))
    binary = truth(binary_output, "binary_output")
    if splits is None:
        return segment.bins.apply(parts, x, size=size, binary=binary)
    # All rows as one, in which the bins of a row lie behind those of the row before.
    count = splits.shape[0] - 1
    rows = np.repeat(np.arange(count), np.diff(splits))
    placed = np.where(values < size, rows * size + values, count * size)
    made = segment.bins.apply(parts, tensor(placed), size=count * size, binary=binary)
    return reshape.apply(made, shape=(count, size))


def _check_bins(values: Any) -> None:
    if values.size and values.min() < 0:
        raise errors.invalid("Input arr must be non-negative! [Op:DenseBincount] name: ")


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None,
    dtype: Any = dtypes.int32, name: str | None = None,
) -> Any:  # fmt: skip
    """How often (or with which weight) the class of a row was predicted as that of a column.

    >>> import gradtape as tf
    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 0],
           [1, 1]], dtype=int32)>
    """
    given = [_classes(v) for v in (labels, predictions)]
    rows, columns = (v._value for v in given)
    if num_classes is None:
        n = int(convert.computed(_greatest, rows, columns)) + 1
    else:
        count = convert.to_tensor(num_classes)._value
        if count.ndim and count.dtype.kind != "O":
            raise errors.invalid(f"num_classes must be a single number, got {num_classes!r}.")
        n = int(count)
    convert.examine(partial(_check_classes, n), rows, columns)
    if not rows.ndim and columns.ndim:
        raise ValueError(f"`labels` must be a vector, got {labels!r}.")
    if rows.shape != columns.shape:
        raise errors.invalid(
            f"Shapes of all inputs must match: labels {list(rows.shape)} != predictions "
            f"{list(columns.shape)} [Op:Pack]"
        )
    wanted = np.dtype(dtypes.as_dtype(dtypes.int64 if dtype is None else dtype).as_numpy_dtype)
    if weights is None:
        parts = tensor(np.ones(rows.shape, wanted))
    else:
        parts = convert.to_tensor(weights)
        if parts._value.shape != rows.shape:
            raise ValueError(f"Shapes {rows.shape} and {parts._value.shape} are incompatible")
        parts = cast.apply(parts, dtype=wanted)
    places = flat_index.apply(stack.apply(*given, axis=-1), shape=(n, n), of="ScatterNd")
    total = segment.segment_sum.apply(parts, places, count=n * n, axis=0)
    return reshape.apply(total, shape=(n, n))


def _greatest(rows: Any, columns: Any) -> Any:
    return max(rows.max(initial=-1), columns.max(initial=-1))


def _check_classes(n: int, rows: Any, columns: Any) -> None:
    for what, found in (("labels", rows), ("predictions", columns)):
        if found.size and found.min() < 0:
            raise errors.at_run(f"`{what}` contains negative values. Got {found.tolist()}.")
        if found.size and found.max() >= n:
            raise errors.at_run(f"`{what}` out of bound: {found.tolist()} for {n} classes.")


def _classes(values: Any) -> Any:
    found = convert.to_tensor(values)
    shape = found._value.shape
    if len(shape) == 2 and shape[-1] == 1:
        found = reshape.apply(found, shape=shape[:1])
    return cast.apply(found, dtype=np.dtype(np.int64))
