"""Sums and means of rows of embeddings, chosen by sparse or ragged lists of ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.gathering import embedding_lookup
from ..arrays.sorting import unique
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import number
from ..math.segments import segment_sum
from ..ops import shape
from ..ops.elementwise import divide_no_nan, mul, sqrt, square
from ..ops.index import select, take
from ..ragged import RaggedTensor
from ..sparse import SparseTensor
from ..sparse.tensor import sketching

_COMBINERS = ("mean", "sqrtn", "sum")


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """For each row of ids the (weighted) sum, mean or sum over sqrt(n) of their embeddings.

    >>> import gradtape as tf
    >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
    >>> tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum")
    <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[4., 6.]], dtype=float32)>
    """
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    ids, rows = _listed(sp_ids, "sp_ids", "SparseTensor")
    weights = None
    if sp_weights is not None:
        weights, _ = _listed(sp_weights, "sp_weights", "either None or SparseTensor")
        if weights._value.shape != ids._value.shape:
            raise ValueError(
                f"Shapes {ids.shape} and {weights.shape} are incompatible: sp_ids and sp_weights "
                "must have one value each"
            )
    found = _combined(_looked_up(params, ids, max_norm), rows, weights, combiner)
    if (sketch := sketching()) is not None and isinstance(sp_ids, SparseTensor):
        sizes = (int(sp_ids.dense_shape._value[0]), *found._value.shape[1:])
        return sketch.blank(sizes, found._value.dtype)
    return found


def _looked_up(params: Any, ids: Any, max_norm: Any) -> Any:
    """The embedding of each id. Each is taken once, so that no row comes twice in the gradient's
    slices: optimizers square these."""
    once, places = unique(ids)
    return take.apply(embedding_lookup(params, once, max_norm), places, axis=0)


def _listed(given: Any, name: str, wanted: str) -> tuple[Any, Any]:
    """The values of a sparse or ragged tensor, and the row of each."""
    if isinstance(given, SparseTensor):
        return given.values, tensor(given.indices._value[:, 0])
    if isinstance(given, RaggedTensor):
        return given.flat_values, given.value_rowids()
    raise TypeError(f"{name} must be {wanted}, got {type(given)}")


def _combined(rows: Any, numbers: Any, weights: Any, combiner: str) -> Any:
    dtype = rows._value.dtype
    if dtype.itemsize == 2:
        rows = shape.cast.apply(rows, dtype=np.dtype(np.float32))
    if weights is None:
        weights = tensor(np.ones(numbers._value.shape, rows._value.dtype))
    elif weights._value.dtype != rows._value.dtype:
        weights = shape.cast.apply(weights, dtype=rows._value.dtype)
    column = (*weights._value.shape, *[1] * (rows._value.ndim - 1))
    weights = shape.reshape.apply(weights, shape=column)
    total = segment_sum(mul.apply(rows, weights), numbers)
    if combiner == "mean":
        total = divide_no_nan.apply(total, segment_sum(weights, numbers))
    elif combiner == "sqrtn":
        norm = sqrt.apply(segment_sum(square.apply(weights), numbers))
        total = divide_no_nan.apply(total, norm)
    return total if total._value.dtype == dtype else shape.cast.apply(total, dtype=dtype)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """embedding_lookup_sparse without negative ids and, but for sums, without weights below 0;
    a row without ids gets the embedding of `default_id`, or zeros."""
    if embedding_weights is None or (
        isinstance(embedding_weights, list) and not embedding_weights
    ):  # fmt: skip
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    for given in (sparse_ids, sparse_weights):
        if given is not None and not isinstance(given, (SparseTensor, RaggedTensor)):
            raise TypeError(f"ids and weights are a SparseTensor or a RaggedTensor, got {given!r}.")
    if isinstance(sparse_ids, RaggedTensor):
        sizes = (len(sparse_ids), 0)
        ids, numbers = sparse_ids.flat_values, sparse_ids.value_rowids()._value
        weights = None if sparse_weights is None else sparse_weights.flat_values
    else:
        sizes = tuple(sparse_ids.dense_shape._value.tolist())
        places = sparse_ids.indices._value
        numbers = np.zeros(len(places), np.int64)
        for k, size in enumerate(sizes[:-1]):
            numbers = numbers * size + places[:, k]
        ids = sparse_ids.values
        weights = None if sparse_weights is None else sparse_weights.values
    kept = ids._value >= 0
    if weights is not None and combiner != "sum":
        kept &= weights._value > 0
    count = int(np.prod(sizes[:-1]))
    empty = np.setdiff1d(np.arange(count), numbers[kept])
    # Rows without ids get one: in order, as sums over rows want it.
    order = np.argsort(np.concatenate([numbers[kept], empty]), kind="stable")
    filled = np.full(len(empty), number(default_id or 0), ids._value.dtype)
    ids = tensor(np.concatenate([ids._value[kept], filled])[order])
    numbers = np.concatenate([numbers[kept], empty])[order]
    if weights is not None:
        weights = _with_ones(weights, np.flatnonzero(kept), len(empty), order)
    if combiner not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    rows = _looked_up(embedding_weights, ids, max_norm)
    y = _combined(rows, tensor(numbers), weights, combiner)
    if default_id is None:
        gone = np.zeros((count, *[1] * (y._value.ndim - 1)), bool)
        gone[empty] = True
        y = select.apply(tensor(gone), tensor(np.zeros_like(y._value)), y)
    return shape.reshape.apply(y, shape=(*sizes[:-1], *y._value.shape[1:]))


def _with_ones(weights: Any, kept: Any, more: int, order: Any) -> Any:
    from ..arrays.reshaping import concat

    ones = tensor(np.ones(more, weights._value.dtype))
    chosen = embedding_lookup(weights, tensor(kept))
    return embedding_lookup(concat([convert.to_tensor(chosen), ones], 0), tensor(order))
