"""`tf.sets`: the last axis of each operand holds sets, which are compared row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .arguments import truth
from .core.apply import tensor
from .sparse.tensor import SparseTensor, check_places

_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def size(a: Any, validate_indices: bool = True) -> Any:
    """How many different values each row of a sparse tensor has.

    >>> import gradtape as tf
    >>> tf.sets.size(tf.sparse.from_dense([[3, 3, 1], [0, 0, 2]])).numpy().tolist()
    [2, 1]
    """
    if not isinstance(a, SparseTensor):
        convert.to_tensor(a)
        raise TypeError(f"Expected `SparseTensor`, got {a!r}; tf.sparse.from_dense makes one.")
    _check_dtype(a.values, "Invalid dtype")
    shape, rows, values = _rows(a, validate_indices, "SetSize")
    keys = np.unique(_keys(rows, np.unique(values, return_inverse=True)[1]))
    counts = np.bincount(keys >> 32, minlength=int(np.prod(shape)))
    return tensor(counts.astype(np.int32).reshape(shape))


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> Any:
    """What is in a row of `a` and not in that of `b`, or the other way round.

    >>> import gradtape as tf
    >>> tf.sparse.to_dense(tf.sets.difference([[1, 2, 3]], [[2, 5, 6]])).numpy().tolist()
    [[1, 3]]
    """
    if aminusb is not True and aminusb is not False:
        _compare(a, b, validate_indices, np.setdiff1d)  # what is wrong with them comes first
    a, b = (a, b) if aminusb else (b, a)
    truth(validate_indices, "validate_indices", True)
    return _compare(a, b, validate_indices, np.setdiff1d)


def intersection(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What is in a row of `a` and in that of `b`.

    >>> import gradtape as tf
    >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[2, 5, 3]])).numpy().tolist()
    [[2, 3]]
    """
    truth(validate_indices, "validate_indices", True)
    return _compare(a, b, validate_indices, np.intersect1d)


def union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """What is in a row of `a` or in that of `b`.

    >>> import gradtape as tf
    >>> tf.sparse.to_dense(tf.sets.union([[1, 2]], [[2, 5]])).numpy().tolist()
    [[1, 2, 5]]
    """
    truth(validate_indices, "validate_indices", True)
    return _compare(a, b, validate_indices, np.union1d)


def _compare(a: Any, b: Any, validate: bool, choose: Any) -> SparseTensor:
    a, b = (x if isinstance(x, SparseTensor) else convert.to_tensor(x) for x in (a, b))
    _check_dtype(a, "'a' has invalid dtype")
    if a.dtype != b.dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    label = "DenseToDenseSetOperation"
    shape, rows, values = _rows(a, validate, label)
    other, more_rows, more_values = _rows(b, validate, label)
    if shape != other:
        raise errors.invalid(
            f"Mismatched shapes {list(shape)} vs {list(other)}: all axes but the last must be "
            f"alike [Op:{label}] name: "
        )
    known, codes = np.unique(np.concatenate([values, more_values]), return_inverse=True)
    count = len(values)
    keys = choose(_keys(rows, codes[:count]), _keys(more_rows, codes[count:]))
    return _sparse(shape, keys >> 32, known[keys & 0xFFFFFFFF])


def _keys(rows: Any, codes: Any) -> Any:
    """One number for each row and value, ordered by both."""
    return (rows.astype(np.int64) << 32) + codes


def _rows(x: Any, validate: bool, label: str) -> tuple[tuple[int, ...], Any, Any]:
    """The shape of all axes but the last, and for each value its row, counted through."""
    if isinstance(x, SparseTensor):
        *shape, _ = x.dense_shape._value.tolist()
        if not shape:
            raise errors.invalid(f"Invalid rank 1. [Op:{label}] name: ")
        if validate:
            check_places(x, label)
        rows = np.ravel_multi_index(tuple(x.indices._value.T[:-1]), tuple(shape))
        return tuple(shape), rows, x.values._value
    array = x._value
    if array.ndim < 2:
        raise errors.invalid(
            f"Shape {list(array.shape)} has rank {array.ndim} < 2: sets are the rows of a matrix "
            f"[Op:{label}] name: "
        )
    *shape, width = array.shape
    return tuple(shape), np.repeat(np.arange(int(np.prod(shape))), width), array.reshape(-1)


def _sparse(shape: tuple[int, ...], rows: Any, values: Any) -> SparseTensor:
    counts = np.bincount(rows, minlength=1)
    starts = np.cumsum(counts) - counts
    columns = np.arange(len(rows)) - starts[rows]
    places = (*np.unravel_index(rows, shape), columns) if len(rows) else [rows] * (len(shape) + 1)
    return SparseTensor(
        np.stack(places, 1).astype(np.int64), values, np.array([*shape, counts.max()], np.int64)
    )


def _check_dtype(x: Any, words: str) -> None:
    if x.dtype.name not in _DTYPES:
        kinds = ", ".join(repr(dtypes.as_dtype(name)) for name in _DTYPES)
        raise TypeError(f"{words} `{x.dtype!r}` not in supported dtypes: {kinds}.")
