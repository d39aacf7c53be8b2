"""The part of `tf.math` that reduces axes and segments: sums, means, extremes, counts, positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .core.apply import tensor
from .core.op import Op
from .ops import elementwise, segment, special
from .ops import complex as complex_ops
from .ops import reduce as ops
from .ops.shape import cast, reshape
from .tensor import Tensor, divide


# --- axes -----------------------------------------------------------------------------------------
def axes_of(ndim: int, axis: Any, label: str = "Sum") -> tuple[int, ...] | None:
    """An `axis` argument (None, a number, a list or a tensor of them), counted from the end."""
    if axis is None:
        return None
    if axis.__class__ is int:  # by far the most common: no conversion, 2 us less
        given = [axis]
    else:
        given = np.ravel(_axis_tensor(axis, label)._value).tolist()
    found = []
    for k in given:
        if not -ndim <= k < ndim:
            raise errors.invalid(
                f"Invalid reduction dimension ({k} for input with {ndim} dimension(s)): `axis` "
                f"must be in [{-ndim}, {ndim}) [Op:{label}] name: "
            )
        found.append(k - ndim if k >= 0 else k)
    if len(found) > 1 and len(set(found)) < len(found):
        raise errors.invalid(
            f"Invalid reduction arguments: Axes contains duplicate dimension: `axis` is {axis} "
            f"for an input with {ndim} dimension(s) [Op:{label}] name: "
        )
    return tuple(found)


def _axis_tensor(axis: Any, label: str) -> Any:
    hint = np.dtype(np.int32)
    if convert.is_tensor_like(axis) or isinstance(axis, (np.ndarray, np.generic, str, bytes)):
        hint = None
    found = convert.to_tensor(axis, hint)
    if found._value.dtype.kind != "i":
        raise errors.invalid(
            f"Value for attr 'Tidx' of {found.dtype.name} is not in the list of allowed values: "
            f"int32, int64: `axis` is {axis!r} [Op:{label}] name: "
        )
    return found


def _axis_of(ndim: int, axis: Any, label: str) -> int:
    """One axis, counted from the end."""
    if axis.__class__ is not int:
        if isinstance(axis, (list, tuple)) or convert.to_tensor(axis)._value.dtype.kind not in "iu":
            raise TypeError(f"axis must be int or Tensor with integer datatype, got {axis!r}")
        axis = int(convert.to_tensor(axis)._value)
    if not -ndim <= axis < ndim:
        raise errors.invalid(
            f"{label}: expected `axis` in the range [{-ndim}, {ndim}), but got {axis} "
            f"[Op:{label}] name: "
        )
    return axis - ndim if axis >= 0 else axis


def _reduce(op: Op, x: Any, axis: Any, keepdims: Any) -> Any:
    if x.__class__ is not Tensor:
        x = convert.to_tensor(x)
    value = x._value
    if value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, value.dtype)
    if axis is not None:
        axis = axes_of(value.ndim, axis, op.label)
    return op.apply(x, axis=axis, keepdims=bool(keepdims))


# --- reductions -----------------------------------------------------------------------------------
def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The sum over the axes, or over all.

    >>> import gradtape as tf
    >>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>
    """
    return _reduce(ops.sum, input_tensor, axis, keepdims)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean over the axes, or over all; of whole numbers a whole one, rounded towards zero.

    >>> import gradtape as tf
    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1, keepdims=True)
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1.5],
           [3.5]], dtype=float32)>
    """
    return _reduce(ops.mean, input_tensor, axis, keepdims)


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The largest over the axes, or over all; those that tie share the gradient equally."""
    return _reduce(ops.max, input_tensor, axis, keepdims)


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The smallest over the axes, or over all; those that tie share the gradient equally."""
    return _reduce(ops.min, input_tensor, axis, keepdims)


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The product over the axes, or over all; its gradient is right with zeros among them."""
    return _reduce(ops.prod, input_tensor, axis, keepdims)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether any is true, over the axes or over all."""
    return _reduce(ops.any, input_tensor, axis, keepdims)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether all are true, over the axes or over all."""
    return _reduce(ops.all, input_tensor, axis, keepdims)


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """log(sum(exp(x))) over the axes, or over all, without overflow."""
    return _reduce(ops.logsumexp, input_tensor, axis, keepdims)


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """sqrt(sum(x * x)) over the axes, or over all; its gradient at 0 is nan."""
    return _reduce(ops.euclidean, input_tensor, axis, keepdims)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of the squared distances from the mean, over the axes or over all.

    >>> import gradtape as tf
    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0])
    <tf.Tensor: shape=(), dtype=float32, numpy=1.25>
    """
    x = convert.to_tensor(input_tensor)
    means = _reduce(ops.mean, x, axis, True)
    kind = x._value.dtype.kind
    if kind in "iu":
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    distances = elementwise.sub.apply(x, means)
    if kind == "c":
        product = elementwise.mul.apply(complex_ops.conj.apply(distances), distances)
        squares = complex_ops.real.apply(product)
    else:
        squares = elementwise.square.apply(distances)
    return _reduce(ops.mean, squares, axis, keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the variance; its gradient is nan where all numbers are equal."""
    return elementwise.sqrt.apply(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:  # fmt: skip
    """How many are not 0 (of strings, not empty), over the axes or over all."""
    value = convert.to_tensor(input)._value
    hits = np.asarray(value != (b"" if value.dtype.kind == "O" else 0), bool)
    wanted = dtypes.as_dtype(dtype).as_numpy_dtype
    total = np.sum(hits, axis=axes_of(value.ndim, axis), dtype=np.int64, keepdims=bool(keepdims))
    return tensor(total.astype(wanted))


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Which part of the numbers is 0; it has no gradient."""
    value = convert.to_tensor(value)._value
    with np.errstate(all="ignore"):
        hits = np.float32(value.size - np.count_nonzero(value))
        return tensor(hits / np.float32(value.size))


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """x / sqrt(max(sum(x * x), epsilon)) with the sum over the axes, or over all.

    >>> import gradtape as tf
    >>> tf.math.l2_normalize([3.0, 4.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.6, 0.8], dtype=float32)>
    """
    x = convert.to_tensor(x)
    axis = dim if axis is None else axis
    if x._value.dtype.kind == "c":
        parts = (complex_ops.real.apply(x), complex_ops.imag.apply(x))
        squares = elementwise.add.apply(*[elementwise.square.apply(p) for p in parts])
    else:
        squares = elementwise.square.apply(x)
    total = _reduce(ops.sum, squares, axis, True)
    inverse = elementwise.rsqrt.apply(elementwise.maximum.apply(total, epsilon))
    if x._value.dtype.kind == "c":
        inverse = cast.apply(inverse, dtype=x._value.dtype)
    return elementwise.mul.apply(x, inverse)


def lbeta(x: Any, name: str | None = None) -> Any:
    """The logarithm of the beta function of the numbers along the last axis."""
    x = convert.to_tensor(x)
    logs = _reduce(ops.sum, special.lgamma.apply(x), -1, False)
    return elementwise.sub.apply(logs, special.lgamma.apply(_reduce(ops.sum, x, -1, False)))


# --- positions ------------------------------------------------------------------------------------
_POSITIONS = tuple(np.dtype(kind) for kind in ("int16", "uint16", "int32", "int64"))


def _position(op: Op, x: Any, axis: Any, output_type: Any) -> Any:
    x = convert.to_tensor(x)
    value = x._value
    if value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, value.dtype)
    wanted = np.dtype(dtypes.as_dtype(output_type).as_numpy_dtype)
    if wanted not in _POSITIONS:
        raise errors.invalid(
            f"Value for attr 'output_type' of {wanted.name} is not in the list of allowed values: "
            f"int16, uint16, int32, int64 [Op:{op.label}] name: "
        )
    k = _axis_of(value.ndim, 0 if axis is None else axis, op.label)
    if not value.shape[k] and ops.reduced(value.shape, (k,)).count(0) == 0:
        raise errors.invalid(
            f"Reduction axis {k + value.ndim} is empty in shape {list(value.shape)} "
            f"[Op:{op.label}] name: "
        )
    if not value.size:
        return tensor(np.zeros(ops.reduced(value.shape, (k,)), wanted))
    return op.apply(x, axis=k, dtype=wanted)


def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Any:
    """The position of the largest along an axis (the first one), of ties the first.

    >>> import gradtape as tf
    >>> tf.argmax([[1.0, 5.0], [2.0, 3.0]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 1])>
    """
    return _position(ops.argmax, input, axis, output_type)


def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Any:
    """The position of the smallest along an axis (the first one), of ties the first."""
    return _position(ops.argmin, input, axis, output_type)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Any:
    """Whether the prediction of each row's target is among the k largest of the row."""
    rows = convert.to_tensor(predictions, np.dtype(np.float32))._value
    wanted = convert.to_tensor(targets)._value
    if rows.ndim != 2 or wanted.shape != rows.shape[:1]:
        raise errors.invalid(
            f"in_top_k takes predictions of shape [batch, classes] and targets of shape [batch], "
            f"got {list(rows.shape)} and {list(wanted.shape)} [Op:InTopKV2] name: "
        )
    inside = (wanted >= 0) & (wanted < rows.shape[1])
    at = np.where(inside, wanted, 0)
    own = rows[np.arange(len(rows)), at][:, None]
    larger = (rows > own).sum(1)
    return tensor(inside & np.isfinite(rows).all(1) & (larger < int(convert.to_tensor(k)._value)))


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """The permutation y with y[x[i]] = i."""
    value = convert.to_tensor(x)._value
    if value.ndim != 1 or value.dtype.kind != "i":
        raise errors.invalid(
            f"invert_permutation expects a 1D vector of int32 or int64, got shape "
            f"{list(value.shape)} of {value.dtype.name} [Op:InvertPermutation] name: "
        )
    n = len(value)
    outside = value[(value < 0) | (value >= n)]
    if outside.size:
        raise errors.invalid(
            f"{outside[0]} is not between 0 and {n} [Op:InvertPermutation] name: "
        )
    times = np.bincount(value, minlength=n)
    if n and times.max() > 1:
        raise errors.invalid(
            f"{times.argmax()} is duplicated in the input. [Op:InvertPermutation] name: "
        )
    y = np.empty_like(value)
    y[value] = np.arange(n, dtype=value.dtype)
    return tensor(y)


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Whether no number is smaller than the one before it."""
    value = np.ravel(convert.to_tensor(x)._value)
    return tensor(np.bool_((value[1:] >= value[:-1]).all()))


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Whether each number is larger than the one before it."""
    value = np.ravel(convert.to_tensor(x)._value)
    return tensor(np.bool_((value[1:] > value[:-1]).all()))


# --- running reductions ---------------------------------------------------------------------------
def _run(op: Op, x: Any, axis: Any, exclusive: Any, reverse: Any) -> Any:
    x = convert.to_tensor(x)
    value = x._value
    if value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, value.dtype)
    k = _axis_of(value.ndim, axis, op.label)
    return op.apply(x, axis=k, exclusive=bool(exclusive), reverse=bool(reverse))


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """The sums of the numbers up to each one, along an axis.

    >>> import gradtape as tf
    >>> tf.cumsum([1, 2, 3], exclusive=True)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 3], dtype=int32)>
    """
    return _run(ops.cumsum, x, axis, exclusive, reverse)


def cumprod(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """The products of the numbers up to each one; the gradient of a zero among them is 0."""
    return _run(ops.cumprod, x, axis, exclusive, reverse)


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """log(cumsum(exp(x))), without overflow."""
    return _run(ops.cumulative_logsumexp, x, axis, exclusive, reverse)


# --- segments -------------------------------------------------------------------------------------
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
    return elementwise.multiply_no_nan.apply(y, tensor(held.astype(y._value.dtype)))


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
    total = segment.segment_sum.apply(data, ids, count=n, axis=0)
    times = _times(ids, n, total)
    if total._value.dtype.kind in "iu":
        return elementwise.truncatediv.apply(total, times)
    return elementwise.div.apply(total, times)


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


def _unsorted(op: Op, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    data, ids = convert.to_tensor(data), convert.to_tensor(segment_ids)
    _check_segments(op.label, data, ids, op)
    n, value, shape = int(convert.to_tensor(num_segments)._value), ids._value, data._value.shape
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
    return _unsorted(segment.segment_max, data, segment_ids, num_segments)


def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The smallest of the rows of each segment, the greatest number of the dtype if it has none."""
    return _unsorted(segment.segment_min, data, segment_ids, num_segments)


def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The products of the rows of each segment, 1 for one without rows."""
    return _unsorted(segment.segment_prod, data, segment_ids, num_segments)


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows of each segment, 0 for one without rows."""
    total = unsorted_segment_sum(data, segment_ids, num_segments)
    return divide(total, _times(convert.to_tensor(segment_ids), len(total._value), total))


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The sums of the rows of each segment, divided by the square roots of their numbers."""
    total = unsorted_segment_sum(data, segment_ids, num_segments)
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
    values = np.asarray(convert.to_tensor(arr)._value)
    values = values if values.dtype.kind in "iu" else values.astype(np.int32)
    if values.size and values.min() < 0:
        raise errors.invalid("Input arr must be non-negative! [Op:DenseBincount] name: ")
    size = int(values.max()) + 1 if values.size else 0
    if minlength is not None:
        size = max(size, int(convert.to_tensor(minlength)._value))
    if maxlength is not None:
        size = min(size, int(convert.to_tensor(maxlength)._value))
    rows = values.reshape(-1, values.shape[-1]) if axis == -1 and values.ndim == 2 else values
    rows = rows if rows.ndim == 2 and axis == -1 else values.reshape(1, -1)
    places = np.where(rows < size, rows + size * np.arange(len(rows))[:, None], -1)
    ids, count = tensor(places.reshape(-1)), size * len(rows)
    if weights is None:
        wanted = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
        parts = tensor(np.ones(places.size, wanted))
    else:
        given = convert.to_tensor(weights)
        parts = reshape.apply(given, shape=(given._value.size,))
    total = segment.bins.apply(parts, ids, count=count)
    if binary_output:
        total = tensor((total._value > 0).astype(total._value.dtype))
    return total if len(rows) == 1 and axis != -1 else tensor(total._value.reshape(-1, size))


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
    n = num_classes
    n = int(convert.to_tensor(n)._value) if n is not None else int(max(rows.max(), columns.max())) + 1
    for what, given in (("labels", rows), ("predictions", columns)):
        if given.size and given.min() < 0:
            raise errors.invalid(f"`{what}` contains negative values. Got {given.tolist()}.")
        if given.size and given.max() >= n:
            raise errors.invalid(f"`{what}` out of bound: {given.tolist()} for {n} classes.")
    wanted = np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    if weights is None:
        parts = tensor(np.ones(rows.shape, wanted))
    else:
        parts = cast.apply(convert.to_tensor(weights), dtype=wanted)
    total = segment.segment_sum.apply(parts, tensor(rows * n + columns), count=n * n, axis=0)
    return reshape.apply(total, shape=(n, n))


def _classes(values: Any) -> Any:
    found = np.asarray(convert.to_tensor(values)._value)
    return found.squeeze(-1).astype(np.int64) if found.ndim == 2 else found.astype(np.int64)
