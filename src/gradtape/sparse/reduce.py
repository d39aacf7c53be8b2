"""Functions of the values that are there: sums, largest ones, soft maxima, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors, nest
from ..arrays.reshaping import reshape
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import number, truth
from ..math.elementwise import exp
from ..ops import sparse as ops
from ..ops.index import take
from ..ops.rows import add_rows
from .dense import expect, sparse, union
from .tensor import SparseTensor, number_of, places_of, sketching

_INT32 = np.dtype(np.int32)


def map_values(op: Any, *args: Any, **kwargs: Any) -> SparseTensor:
    """A function of the values, which keeps their places.

    >>> import gradtape as tf
    >>> tf.sparse.map_values(tf.add, tf.sparse.eye(2), 4.0).values.numpy().tolist()
    [5.0, 5.0]
    """
    found = [x for x in nest.flatten([args, kwargs]) if isinstance(x, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = found[0]
    for other in found[1:]:
        if not np.array_equal(other.indices._value, first.indices._value) or not np.array_equal(
            other.dense_shape._value, first.dense_shape._value
        ):
            raise errors.invalid(
                "map_values takes sparse tensors with the same places; tf.sparse.add and "
                "tf.sparse.maximum take others."
            )
    bare = [nest.map_structure(_values, part) for part in (list(args), kwargs)]
    values = convert.to_tensor(op(*bare[0], **bare[1]))
    if values._value.ndim != 1:
        raise ValueError(f"Shape {values.shape} must have rank 1")
    return first.with_values(values)


def _values(x: Any) -> Any:
    return x.values if isinstance(x, SparseTensor) else x


def maximum(sp_a: Any, sp_b: Any, name: Any = None) -> SparseTensor:
    """The larger of two, where what is not there is zero; TensorFlow has no gradient for it."""
    return _beside(ops.maximum, sparse(sp_a), sparse(sp_b))


def minimum(sp_a: Any, sp_b: Any, name: Any = None) -> SparseTensor:
    """The smaller of two, where what is not there is zero; TensorFlow has no gradient for it."""
    return _beside(ops.minimum, sparse(sp_a), sparse(sp_b))


def _beside(op: Any, a: SparseTensor, b: SparseTensor) -> SparseTensor:
    _, places, inverse = union(a, b, op.label)
    split = len(a.indices)
    chosen = op.apply(
        a.values, b.values, a_at=inverse[:split], b_at=inverse[split:], count=len(places)
    )
    return SparseTensor(places_of(places, a.dense_shape._value), chosen, a.dense_shape)


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None,
    output_is_sparse: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The sums over axes, dense unless said otherwise (then without a gradient, as in TensorFlow).

    >>> import gradtape as tf
    >>> tf.sparse.reduce_sum(tf.sparse.eye(2, 3), axis=0).numpy().tolist()
    [1.0, 1.0, 0.0]
    """
    x = sparse(sp_input)
    groups, shape = _groups(x, axis, truth(keepdims, "keep_dims"))
    if output_is_sparse:
        return _sparse(ops.reduce_sum_sparse, x, groups, shape)
    if (sketch := sketching()) is not None:
        return sketch.blank(tuple(shape), x.values._value.dtype)
    count = int(np.prod(shape))
    return reshape(add_rows.apply(x.values, tensor(groups), shape=(count,)), shape)


def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None,
    output_is_sparse: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """The largest of the values that are there, 0 without any; without a gradient in TensorFlow."""
    x = sparse(sp_input)
    groups, shape = _groups(x, axis, truth(keepdims, "keep_dims"))
    if output_is_sparse:
        return _sparse(ops.reduce_max_sparse, x, groups, shape)
    if (sketch := sketching()) is not None:
        return sketch.blank(tuple(shape), x.values._value.dtype)
    found = ops.reduce_max.apply(x.values, tensor(groups), count=int(np.prod(shape)))
    return reshape(found, shape)


def _groups(x: SparseTensor, axis: Any, keepdims: bool) -> tuple[Any, list[int]]:
    """For each value its place in the reduced tensor, counted through, and that one's shape."""
    shape = x.dense_shape._value
    rank = len(shape)
    given = list(range(rank)) if axis is None else _axes(axis)
    for k in given:
        if not -rank <= k < rank:
            raise errors.invalid(
                f"Invalid reduction dimension {k}, for input with {rank} dimensions. "
                "[Op:SparseReduceSum] name: "
            )
    gone = {k % rank for k in given}
    kept = [k for k in range(rank) if k not in gone]
    if kept:
        groups = number_of(x.indices._value[:, kept], shape[kept])
    else:
        groups = np.zeros(len(x.indices), np.int64)
    sizes = [1 if k in gone else int(n) for k, n in enumerate(shape) if keepdims or k not in gone]
    return groups, sizes


def _axes(axis: Any) -> list[int]:
    empty = isinstance(axis, (list, tuple)) and not axis
    if empty:
        return []
    found = expect(axis, _INT32, "SparseReduceSum", 3)._value
    if found.ndim > 1:
        raise errors.invalid(
            f"Expected reduction_axes to be a scalar or a vector; got shape: {list(found.shape)} "
            "[Op:SparseReduceSum]"
        )
    return np.reshape(found, -1).tolist()


def _sparse(op: Any, x: SparseTensor, groups: Any, shape: list[int]) -> SparseTensor:
    found, inverse = np.unique(groups, return_inverse=True)
    values = op.apply(x.values, tensor(inverse), count=len(found))
    places = places_of(found, shape) if shape else np.zeros((len(found), 0), np.int64)
    return SparseTensor(places, values, np.array(shape, np.int64))


def softmax(sp_input: Any, name: Any = None) -> SparseTensor:
    """The softmax over the last axis of the values that are there."""
    x = sparse(sp_input)
    shape = x.dense_shape._value
    if len(shape) < 2:
        raise errors.invalid(
            f"Input should have rank >= 2, but received shape: {shape.tolist()} [Op:SparseSoftmax]"
        )
    rows = number_of(x.indices._value[:, :-1], shape[:-1])
    found, inverse = np.unique(rows, return_inverse=True)
    top = ops.reduce_max.forward(x.values._value, inverse, len(found))
    weights, where = exp(x.values - tensor(top[inverse])), tensor(inverse)
    totals = add_rows.apply(weights, where, shape=(len(found),))
    return x.with_values(weights / take.apply(totals, where, axis=0))


def bincount(
    values: Any, weights: Any = None, axis: Any = 0, minlength: Any = None, maxlength: Any = None,
    binary_output: bool = False, name: Any = None,
) -> SparseTensor:  # fmt: skip
    """How often each whole number occurs, in all (`axis=0`) or in each row (`axis=-1`).

    >>> import gradtape as tf
    >>> counts = tf.sparse.bincount([1, 5, 5])
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[1], [5]], [1, 2])
    """
    if not isinstance(values, SparseTensor) and not convert.is_ragged(values):
        values = convert.to_tensor(values)
    if axis not in (0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    binary_output = truth(binary_output, "binary_output")
    if binary_output and weights is not None:
        raise ValueError(
            "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only "
            "one."
        )
    if (sketch := sketching()) is not None:
        return _outlined(sketch, values, weights, axis)
    found, rows, height = _entries(values, axis)
    _check_counted(found)
    factors = np.ones_like(found) if weights is None else _entries(weights, axis)[0]
    width = int(found.max(initial=0)) + 1
    if minlength is not None:
        width = max(width, number(minlength))
    if maxlength is not None:
        width = number(maxlength)
        kept = found < width
        found, rows, factors = found[kept], rows[kept], factors[kept]
    keys, inverse = np.unique(rows * max(width, 1) + found, return_inverse=True)
    counts = np.zeros(len(keys), factors.dtype)
    np.add.at(counts, inverse, factors)
    if binary_output:
        counts = np.ones_like(counts)
    shape = [width] if height is None else [height, width]
    return SparseTensor(places_of(keys, shape), tensor(counts), np.array(shape, np.int64))


def _outlined(sketch: Any, values: Any, weights: Any, axis: int) -> SparseTensor:
    """Where only shapes are told: the numbers, and so how many there may be, are not known."""
    rank = 1 if axis == 0 or len(values.shape) < 2 else 2
    sizes = list(sketch.placeholder([None] * rank, np.dtype(np.int64))._value.shape)
    factors = values if weights is None else weights
    kind = np.dtype(factors.dtype.as_numpy_dtype)
    return SparseTensor(np.zeros((0, rank), np.int64), np.zeros(0, kind), sizes)


def _check_counted(found: Any) -> None:
    label = "[Op:DenseCountSparseOutput] name: "
    if found.dtype.kind != "i":
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(found.dtype)} is not in the list of allowed "
            f"values: int32, int64 {label}"
        )
    if (found < 0).any():
        raise errors.invalid(f"Input values must all be non-negative {label}")


def _entries(values: Any, axis: int) -> tuple[Any, Any, int | None]:
    """The numbers in a line, the row of each, and how many rows there are, if there are any."""
    if isinstance(values, SparseTensor):
        line, rows = values.values._value, values.indices._value[:, 0]
        height = int(values.dense_shape._value[0]) if len(values.dense_shape) > 1 else None
    elif convert.is_ragged(values):
        if values.ragged_rank > 1 and axis:
            raise ValueError("a ragged tensor is counted row by row if it has one ragged axis")
        line, height = values.flat_values._value, values.row_splits.shape[0] - 1
        rows = np.repeat(np.arange(height), np.diff(values.row_splits._value)) if axis else line
    else:
        array = np.asarray(convert.to_tensor(values)._value)
        line, height = array.reshape(-1), len(array) if array.ndim > 1 else None
        rows = np.repeat(np.arange(height or 1), line.size // (height or 1))
    if axis == 0 or height is None:
        return line, np.zeros(line.shape, np.int64), None
    return line, rows, height
