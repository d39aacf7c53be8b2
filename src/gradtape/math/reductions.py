"""The part of `tf.math` that reduces axes: sums, means, extremes, positions, running sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import alike, defaulted, listed_dtype, truth, truths
from ..framework.tensor import Tensor
from ..ops import compare, elementwise, rank, special
from ..ops import complex as complex_ops
from ..ops import reduce as ops
from ..ops.index import getitem
from ..ops.shape import cast, reshape

__all__ = [
    "reduce_sum",
    "reduce_mean",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_any",
    "reduce_all",
    "reduce_logsumexp",
    "reduce_euclidean_norm",
    "reduce_variance",
    "reduce_std",
    "count_nonzero",
    "zero_fraction",
    "l2_normalize",
    "lbeta",
    "argmax",
    "argmin",
    "in_top_k",
    "invert_permutation",
    "is_non_decreasing",
    "is_strictly_increasing",
    "cumsum",
    "cumprod",
    "cumulative_logsumexp",
]


# --- axes -----------------------------------------------------------------------------------------
def axes_of(ndim: int, axis: Any, label: str = "Sum") -> tuple[int, ...] | None:
    """An `axis` argument (None, a number, a list or a tensor of them), counted from the end."""
    if axis is None:
        return None
    # Python's numbers, by far the most common, need no conversion, which takes 10 us.
    if axis.__class__ is int:
        given = [axis]
    elif axis.__class__ in (list, tuple) and all(k.__class__ is int for k in axis):
        given = list(axis)
    else:
        given = np.ravel(_axis_tensor(axis, label)._value).tolist()
    found = []
    for k in given:
        if not -ndim <= k < ndim:
            convert.to_tensor(k)  # a number that no dtype holds has its own error
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
    if isinstance(axis, (np.ndarray, np.generic)) and axis.dtype.kind in "bufc":
        axis = (axis.real if axis.dtype.kind == "c" else axis).astype(np.int32)
    typed = convert.is_tensor_like(axis) or isinstance(axis, (np.ndarray, np.generic, str, bytes))
    found = convert.to_tensor(axis, None if typed else np.dtype(np.int32))
    if found._value.dtype.kind != "i":
        raise errors.wrong_dtype(
            f"Value for attr 'Tidx' of {found.dtype.name} is not in the list of allowed values: "
            f"int32, int64: `axis` is {axis!r} [Op:{label}] name: "
        )
    return found


def _axis_of(ndim: int, axis: Any, label: str) -> int:
    """One axis, counted from the end."""
    if not isinstance(axis, int):
        if label == "ArgMax" and not (convert.is_tensor_like(axis) or hasattr(axis, "dtype")):
            raise TypeError(f"axis must be int or Tensor with integer datatype, got {axis!r}")
        if label != "ArgMax" and isinstance(axis, (np.ndarray, np.generic)):
            given = _axis_tensor(axis, label)._value
        else:
            given = convert.to_tensor(axis)._value
        if given.dtype.kind != "i" or given.ndim:
            message = f"axis must be int or Tensor with integer datatype, got {axis!r}"
            strict = (label == "ArgMax" and given.dtype.kind != "i") or isinstance(axis, float)
            raise TypeError(message) if strict else errors.wrong_dtype(message)
        axis = int(given)
    if not -ndim <= axis < ndim:
        convert.to_tensor(axis)  # a number that no dtype holds has its own error
        raise errors.at_run(
            f"{label}: expected `axis` in the range [{-ndim}, {ndim}), but got {axis} "
            f"[Op:{label}] name: "
        )
    return axis - ndim if axis >= 0 else axis


def _reduce(op: Op, x: Any, axis: Any, keepdims: Any) -> Any:
    if x.__class__ is not Tensor:
        if convert.is_ragged(x):
            from ..ragged.reduce import reduce

            return reduce(op, x, axis, keepdims)
        if axis.__class__ is float and not convert.quickly(x):
            axis = convert.to_tensor(axis)  # the other way of TensorFlow's hopes for no dtype
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


def _truths(x: Any, axis: Any) -> Any:
    if convert.is_ragged(x):
        return x
    if isinstance(axis, float) and convert.quickly(x):
        raise convert.cannot(axis, np.dtype(np.int32))
    if isinstance(axis, float):
        axes_of(convert.to_tensor(x)._value.ndim, np.float32(axis), "Any")
    if convert.is_tensor_like(x) and axis is not None and not convert.quickly(axis):
        return convert.to_tensor(x, np.dtype(bool))
    return truths(x)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether any is true, over the axes or over all."""
    return _reduce(ops.any, _truths(input_tensor, axis), axis, keepdims)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether all are true, over the axes or over all."""
    return _reduce(ops.all, _truths(input_tensor, axis), axis, keepdims)


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
    if convert.is_ragged(input_tensor):
        from ..ragged.reduce import variance

        return variance(input_tensor, axis, keepdims)
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
    found = reduce_variance(input_tensor, axis, keepdims)
    if convert.is_ragged(found):
        return found.with_flat_values(elementwise.sqrt.apply(found.flat_values))
    return elementwise.sqrt.apply(found)


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Any:  # fmt: skip
    """How many are not 0 (of strings, not empty), over the axes or over all."""
    x = convert.to_tensor(input)
    value, wanted = x._value, np.dtype(dtypes.as_dtype(dtype).as_numpy_dtype)
    axes = axes_of(value.ndim, axis)
    if value.dtype.kind != "b":
        zero = np.array(b"", object) if value.dtype.kind == "O" else value.dtype.type(0)
        x = compare.not_equal.apply(x, tensor(zero))
    hits = cast.apply(x, dtype=np.dtype(np.int64))
    total = ops.sum.apply(hits, axis=axes, keepdims=bool(keepdims))
    return total if wanted == np.int64 else cast.apply(total, dtype=wanted)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Which part of the numbers is 0; it has no gradient."""
    value = convert.to_tensor(value)
    size = value._value.size
    zeros = elementwise.sub.apply(tensor(np.int64(size)), count_nonzero(value))
    hits = cast.apply(zeros, dtype=np.dtype(np.float32))
    return elementwise.div.apply(hits, tensor(np.float32(size)))


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """x / sqrt(max(sum(x * x), epsilon)) with the sum over the axes, or over all.

    >>> import gradtape as tf
    >>> tf.math.l2_normalize([3.0, 4.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.6, 0.8], dtype=float32)>
    """
    x = convert.to_tensor(x)
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
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
_POSITIONS = ("int16", "uint16", "int32", "int64")


def _position(op: Op, x: Any, axis: Any, output_type: Any) -> Any:
    x = convert.to_tensor(x)
    value = x._value
    if value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, value.dtype)
    allowed = _POSITIONS if op is ops.argmax else _POSITIONS[2:]
    wanted = listed_dtype(output_type, "output_type", allowed, op.label, "int64")
    k = _axis_of(value.ndim, 0 if axis is None else axis, op.label)
    if value.size:
        return op.apply(x, axis=k, dtype=wanted)
    shape = ops.reduced(value.shape, (k,))
    if 0 not in shape:
        raise errors.invalid(
            f"Reduction axis {k + value.ndim} is empty in shape {list(value.shape)} "
            f"[Op:{op.label}] name: "
        )
    return tensor(np.zeros(shape, wanted))


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
    given = convert.to_tensor(predictions, np.dtype(np.float32))
    rows = given._value
    wanted, limit = alike((targets, k), "InTopKV2", "T", default=np.int32)
    if rows.ndim != 2 or wanted.shape != rows.shape[:1]:
        raise errors.invalid(
            f"in_top_k takes predictions of shape [batch, classes] and targets of shape [batch], "
            f"got {list(rows.shape)} and {list(wanted.shape)} [Op:InTopKV2] name: "
        )
    if limit.size != 1:
        raise errors.at_run(f"k must be 0-D, got shape {list(limit.shape)} [Op:InTopKV2] name: ")
    most = reshape.apply(tensor(limit), shape=())
    return rank.in_top_k.apply(given, tensor(wanted), most)


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """The permutation y with y[x[i]] = i."""
    if x.__class__ is float:
        raise convert.cannot(x, np.dtype(np.int32))
    value = defaulted(x, np.int32)._value
    if value.ndim != 1 or value.dtype.kind != "i":
        raise errors.invalid(
            f"invert_permutation expects a 1D vector of int32 or int64, got shape "
            f"{list(value.shape)} of {value.dtype.name} [Op:InvertPermutation] name: "
        )
    convert.examine(_check_permutation, value)
    return tensor(convert.computed(_inverse, value))


def _check_permutation(value: Any) -> None:
    n = len(value)
    outside = value[(value < 0) | (value >= n)]
    if outside.size:
        raise errors.invalid(f"{outside[0]} is not between 0 and {n} [Op:InvertPermutation] name: ")
    times = np.bincount(value, minlength=n)
    if n and times.max() > 1:
        raise errors.invalid(
            f"{times.argmax()} is duplicated in the input. [Op:InvertPermutation] name: "
        )


def _inverse(value: Any) -> Any:
    y = np.empty_like(value)
    y[value] = np.arange(len(value), dtype=value.dtype)
    return y


def _ordered(op: Op, x: Any) -> Any:
    """Whether a comparison holds between each of the numbers, in one row, and the next."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind in "bO":
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    size = x._value.size
    if x._value.dtype.kind == "c" and size > 1:
        raise convert.wrong_dtype(ops.max, x._value.dtype)
    if size < 2:
        return tensor(np.bool_(True))
    row = reshape.apply(x, shape=(size,))
    before, after = (getitem.apply(row, key=(k,)) for k in (slice(size - 1), slice(1, size)))
    return ops.all.apply(op.apply(before, after), axis=None, keepdims=False)


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Whether no number is smaller than the one before it."""
    return _ordered(compare.less_equal, x)


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Whether each number is larger than the one before it."""
    return _ordered(compare.less, x)


# --- running reductions ---------------------------------------------------------------------------
def _run(op: Op, x: Any, axis: Any, exclusive: Any, reverse: Any) -> Any:
    x = convert.to_tensor(x)
    value = x._value
    if value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, value.dtype)
    before, back = truth(exclusive, "exclusive"), truth(reverse, "reverse")
    k = _axis_of(value.ndim, axis, op.label)
    return op.apply(x, axis=k, exclusive=before, reverse=back)


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
