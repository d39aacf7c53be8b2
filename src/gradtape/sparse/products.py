"""Products of two sparse matrices, which are sparse again."""

from __future__ import annotations

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..ops.index import take
from ..ops.rows import add_rows
from .dense import expect
from .tensor import SparseTensor, number_of, places_of


def matmul(a: SparseTensor, b: SparseTensor) -> SparseTensor:
    """The product of two sparse matrices, or of those in two batches of them, with gradients.

    A value of one at (i, k) meets those of the other at (k, j): only these pairs are multiplied,
    and summed where they fall on the same place.
    """
    expect(b.values, a.values._value.dtype, "SparseMatrixSparseMatMul", 1)
    left, right = a.dense_shape._value, b.dense_shape._value
    if len(left) not in (2, 3) or len(left) != len(right) or (left[:-2] != right[:-2]).any():
        raise errors.invalid(
            "two sparse matrices, or two batches of as many, are needed, got the shapes "
            f"{left.tolist()} and {right.tolist()} [Op:SparseMatrixSparseMatMul] name: "
        )
    if left[-1] != right[-2]:
        raise errors.invalid(
            f"Inner product dimensions of A and B do not agree. Shapes are: {left.tolist()} vs. "
            f"{right.tolist()} [Op:SparseMatrixSparseMatMul] name: "
        )
    # The inner index of each value, counted through all matrices of the batch.
    inner = [*left[:-2], left[-1]]
    sought = number_of(np.delete(a.indices._value, -2, 1), inner)
    held = number_of(np.delete(b.indices._value, -1, 1), inner)
    order = np.argsort(held, kind="stable")
    starts = np.searchsorted(held[order], sought, "left")
    counts = np.searchsorted(held[order], sought, "right") - starts
    ours = np.repeat(np.arange(len(sought)), counts)
    first = np.repeat(starts - np.cumsum(counts) + counts, counts)
    theirs = order[first + np.arange(counts.sum())]
    shape = np.append(left[:-1], right[-1])
    ends = np.concatenate([a.indices._value[ours, :-1], b.indices._value[theirs, -1:]], 1)
    numbers, place = np.unique(number_of(ends, shape), return_inverse=True)
    terms = take.apply(a.values, tensor(ours), axis=0) * take.apply(
        b.values, tensor(theirs), axis=0
    )
    values = add_rows.apply(terms, tensor(place), shape=(len(numbers),))
    return SparseTensor(places_of(numbers, shape), values, shape)
