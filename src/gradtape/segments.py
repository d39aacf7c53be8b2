"""The part of `tf.math` that reduces what shares a number: segments, bins, confusion matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .arguments import integer, number, truth
from .core.apply import tensor
from .core.op import Op
from .ops import elementwise, segment
from .ops.index import select
from .ops.shape import cast, reshape
from .tensor import divide

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
    if not data._value.ndim or len(value) != len(data._value):
        raise errors.invalid(
            f"segment_ids should be the same size as dimension 0 of input. Their shapes are "
            f"{list(value.shape)} and {list(data._value.shape)} [Op:{label}] name: "
        )
    if (value[1:] < value[:-1]).any():
        raise errors.invalid(f"segment ids are not increasing [Op:{label}] name: ")
    if len(value) and value[0] < 0:
        raise errors.invalid(
            f"Segment id {value[0]} out of range [0, {value[-1] + 1}) [Op:{label}] name: "
        )
    return data, ids, int(value[-1]) + 1 if len(value) else 0


def _check_segments(label: str, data: Any, ids: Any, op: Op) -> None:
    if data._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, data._value.dtype)
    if ids._value.dtype.kind != "i":
        raise errors.invalid(
            f"Value for attr 'Tindices' of {ids.dtype.name} is not in the list of allowed values: "
            f"int32, int64 [Op:{label}] name: "
        )


def _fill_gaps(ids: Any, y: Any) -> Any:
    """0 for the segments between others that have no rows."""
    held = np.zeros(y._value.shape[:1], bool)
    held[ids._value] = True
    if held.all():
        return y
    held = held.reshape(-1, *[1] * (y._value.ndim - 1))
    if y._value.dtype.kind in "iu":
        return select.apply(tensor(held), y, tensor(y._value.dtype.type(0)))
    # Added, not chosen: TensorFlow's tangent of a gap is nan.
    gap = np.where(held, y._value.dtype.type(-0.0), -y._value)
    return elementwise.add.apply(y, tensor(gap))


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
    value = np.ravel(ids._value)
    times = np.maximum(np.bincount(value[value >= 0], minlength=n), 1)
    return tensor(times.astype(total._value.dtype).reshape(-1, *[1] * (total._value.ndim - 1)))


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
        raise errors.invalid(f"num_segments: {error} [Op:{label}]") from None


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
    if value.size and value.max() >= n:
        at = [int(k) for k in np.argwhere(np.asarray(value) >= n)[0]]
        raise errors.invalid(
            f"segment_ids{at} = {value[tuple(at)]} is out of range [0, {n}) [Op:{op.label}] name: "
        )
    return op.apply(data, ids, count=n, axis=0)


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
    if value.dtype.kind not in "fV" or not (value == value.dtype.type(float(end))).any():
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


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows of each segment, 0 for one without rows."""
    total = _total(data, segment_ids, num_segments)
    return divide(total, _times(convert.to_tensor(segment_ids), len(total._value), total))


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows of each segment, divided by the square roots of their numbers."""
    total = _total(data, segment_ids, num_segments)
    times = _times(convert.to_tensor(segment_ids), len(total._value), total)
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
    values = np.asarray(convert.to_tensor(arr)._value)
    if values.dtype.kind == "O":
        raise errors.UnimplementedError(None, None, "Cast string to int32 is not supported")
    values = values if values.dtype.kind in "iu" else values.astype(np.int32)
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
        raise errors.invalid(
            f"Value for attr 'Tidx' of {convert.c_name(values.dtype)} is not in the list of "
            "allowed values: int32, int64; tf.cast makes them so [Op:DenseBincount] name: "
        )
    if values.size and values.min() < 0:
        raise errors.invalid("Input arr must be non-negative! [Op:DenseBincount] name: ")
    size = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        size = max(size, number(convert.to_tensor(minlength, values.dtype), "Maximum"))
    if maxlength is not None:
        size = min(size, number(convert.to_tensor(maxlength, values.dtype), "Minimum"))
    rows = values if values.ndim == 2 and axis == -1 else values.reshape(1, -1)
    places = np.where(rows < size, rows + size * np.arange(len(rows))[:, None], -1)
    ids, count = tensor(places.reshape(-1)), size * len(rows)
    if weights is None:
        wanted = np.dtype(dtypes.as_dtype(dtype or dtypes.int32).as_numpy_dtype)
        if wanted.name not in ("int32", "int64", "float32", "float64"):
            raise errors.invalid(
                f"Value for attr 'T' of {convert.c_name(wanted)} is not in the list of allowed "
                "values: int32, int64, float, double [Op:DenseBincount] name: "
            )
        parts = tensor(np.ones(places.size, wanted))
    else:
        given = convert.to_tensor(weights)
        if not given._value.size:  # no weights are weights of 1
            given = tensor(np.ones(places.size, given._value.dtype))
        parts = reshape.apply(given, shape=(given._value.size,))
    total = segment.bins.apply(parts, ids, count=count)
    if truth(binary_output, "binary_output"):
        total = tensor((total._value > 0).astype(total._value.dtype))
    return tensor(total._value.reshape(len(rows), size)) if rows is values else total


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
    rows, columns = (_classes(v) for v in (labels, predictions))
    if num_classes is None:
        n = int(max(rows.max(initial=-1), columns.max(initial=-1))) + 1
    else:
        given = convert.to_tensor(num_classes)._value
        if given.ndim and given.dtype.kind != "O":
            raise errors.invalid(f"num_classes must be a single number, got {num_classes!r}.")
        n = int(given)
    for what, given in (("labels", rows), ("predictions", columns)):
        if given.size and given.min() < 0:
            raise errors.invalid(f"`{what}` contains negative values. Got {given.tolist()}.")
        if given.size and given.max() >= n:
            raise errors.invalid(f"`{what}` out of bound: {given.tolist()} for {n} classes.")
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
    total = segment.segment_sum.apply(parts, tensor(rows * n + columns), count=n * n, axis=0)
    return reshape.apply(total, shape=(n, n))


def _classes(values: Any) -> Any:
    found = np.asarray(convert.to_tensor(values)._value)
    squeezed = found.ndim == 2 and found.shape[-1] == 1
    if found.dtype.kind == "O":
        cast.apply(tensor(found), dtype=np.dtype(np.int64))  # its error
    return (found.squeeze(-1) if squeezed else found).astype(np.int64)
