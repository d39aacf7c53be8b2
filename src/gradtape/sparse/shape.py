"""Sparse tensors in another shape or order: the places change, and the order of the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import convert, errors
from ..arguments import number, numbers
from ..core.apply import tensor
from ..ops.index import take
from ..ops.shape import cast
from .dense import sparse
from .tensor import SparseTensor, number_of, places_of


def expand_dims(sp_input: Any, axis: Any = None, name: Any = None) -> SparseTensor:
    """A new axis of size 1, at the end unless said otherwise."""
    x = sparse(sp_input)
    rank = len(x.dense_shape)
    if isinstance(axis, (list, tuple, str, float)):
        raise TypeError(f"axis must be an integer value in [{-rank - 1}, {rank}], got {axis!r}")
    place = -1 if axis is None else number(axis)
    if not -rank - 1 <= place <= rank:
        raise errors.invalid(
            f"axis must be in [{-rank - 1}, {rank}], got {place} [Op:SparseReshape] name: "
        )
    place %= rank + 1
    places = np.insert(x.indices._value, place, 0, axis=1)
    return SparseTensor(places, x.values, np.insert(x.dense_shape._value, place, 1))


def reorder(sp_input: Any, name: Any = None) -> SparseTensor:
    """The same, in the order of the places, which many functions need.

    >>> import gradtape as tf
    >>> tf.sparse.reorder(tf.SparseTensor([[1], [0]], [5, 6], [2])).values.numpy().tolist()
    [6, 5]
    """
    x = sparse(sp_input)
    order = np.argsort(number_of(x.indices._value, x.dense_shape._value), kind="stable")
    values = take.apply(x.values, tensor(order), axis=0)
    return SparseTensor(x.indices._value[order], values, x.dense_shape)


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same places in a larger tensor, or in the smallest that holds them."""
    x = sparse(sp_input)
    places, old = x.indices._value, x.dense_shape._value
    if new_shape is None:
        return SparseTensor(places, x.values, places.max(axis=0, initial=-1) + 1)
    new = np.array(numbers(new_shape, "reset_shape"), np.int64)
    if len(new) != len(old):
        raise ValueError(f"Dimensions {len(new)} and {len(old)} are not compatible")
    if (new < old).any():
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape. Found new_shape "
            f"({new}), sp_input.shape ({old})."
        )
    return SparseTensor(places, x.values, new)


def reshape(sp_input: Any, shape: Any, name: Any = None) -> SparseTensor:
    """Another shape of the same size; -1 stands for what is left.

    >>> import gradtape as tf
    >>> tf.sparse.reshape(tf.sparse.eye(2), [-1]).indices.numpy().tolist()
    [[0], [3]]
    """
    x = sparse(sp_input)
    if convert.is_tensor_like(shape) and shape._value.dtype.kind == "O":
        cast.apply(convert.to_tensor(shape), dtype=np.dtype(np.int64))  # its error
    old, wanted = x.dense_shape._value, list(numbers(shape, "SparseReshape"))
    total, known = int(np.prod(old)), int(np.prod([n for n in wanted if n != -1]))
    if wanted.count(-1) > 1:
        raise errors.invalid(
            f"only one output dimension may be -1, got {wanted} [Op:SparseReshape]"
        )
    if -1 in wanted:
        wanted[wanted.index(-1)] = total // known if known else 0
    if int(np.prod(wanted)) != total:
        raise errors.invalid(
            f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
            f"shape requires {shape!r} [Op:SparseReshape] name: "
        )
    places = places_of(number_of(x.indices._value, old), wanted)
    return SparseTensor(places, x.values, np.array(wanted, np.int64))


def transpose(sp_input: Any, perm: Any = None, name: Any = None) -> SparseTensor:
    """The axes in another order, turned about unless said otherwise."""
    x = sparse(sp_input)
    rank = len(x.dense_shape)
    order = range(rank)[::-1] if perm is None else numbers(perm, "Transpose", "Tperm")
    if len(order) != rank:
        raise ValueError(f"Dimensions {len(order)} and {rank} are not compatible")
    for k, place in enumerate(order):
        if not 0 <= place < rank:
            raise errors.invalid(f"indices[{k}] = {place} is not in [0, {rank}) [Op:GatherV2]")
    places, shape = x.indices._value[:, list(order)], x.dense_shape._value[list(order)]
    return reorder(SparseTensor(places, x.values, shape))
