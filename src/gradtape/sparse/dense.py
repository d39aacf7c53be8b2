"""From sparse tensors to dense ones and back, and what takes one of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..arrays.gathering import gather_nd, scatter_nd, where
from ..arrays.reshaping import reshape
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import truth
from ..linalg.products import adjoint
from ..math.elementwise import conj
from ..ops.index import take
from ..ops.rows import add_rows
from ..ops.shape import cast, concat
from .tensor import SparseTensor, check_places, number_of, places_of, sketching


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: Any = None
) -> Any:
    """The dense tensor, with `default_value` (or zero) wherever there is no value.

    >>> import gradtape as tf
    >>> tf.sparse.to_dense(tf.sparse.eye(2), default_value=-1.0).numpy().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    x = sparse(sp_input)
    checked = truth(validate_indices, "validate_indices", default=True)
    numbers = check_places(x, "SparseToDense", order=checked)
    values, shape = x.values, tuple(x.dense_shape._value.tolist())
    if (sketch := sketching()) is not None:
        return sketch.blank(shape, values._value.dtype)
    if not checked:  # of several values at a place the last one stands
        last = np.unique(numbers[::-1], return_index=True)[1]
        if len(last) < len(numbers):
            kept = len(numbers) - 1 - last
            values, numbers = take.apply(values, tensor(kept), axis=0), numbers[kept]
    if values._value.dtype.kind in "bO":
        return _filled(values, numbers, shape, default_value)
    dense = reshape(add_rows.apply(values, tensor(numbers), shape=(int(np.prod(shape)),)), shape)
    if default_value is None:
        return dense
    taken = np.zeros(shape, bool)
    taken.reshape(-1)[numbers] = True
    return where(tensor(taken), dense, _default(default_value, dense._value.dtype))


def _default(value: Any, dtype: np.dtype) -> Any:
    default = expect(value, dtype, "SparseToDense", 3)
    if default._value.ndim:
        raise errors.invalid("default_value should be a scalar. [Op:SparseToDense] name: ")
    return default


def _filled(values: Any, numbers: Any, shape: tuple[int, ...], default_value: Any) -> Any:
    """Of truth values and texts, which are not added up."""
    kind = values._value.dtype
    empty = (b"" if kind.kind == "O" else False) if default_value is None else default_value
    out = np.empty(shape, kind)
    out[...] = _default(empty, kind)._value
    out.reshape(-1)[numbers] = values._value
    return tensor(out)


def expect(value: Any, dtype: np.dtype, label: str, place: int) -> Any:
    """The tensor of a dtype that an op takes at this place; TensorFlow casts no tensors there."""
    if not convert.is_tensor_like(value):
        return convert.to_tensor(value, dtype)
    x = convert.to_tensor(value)
    if x._value.dtype != dtype:
        kinds = [convert.c_name(d) for d in (dtype, x._value.dtype)]
        raise errors.wrong_dtype(
            f"cannot compute {label} as input #{place}(zero-based) was expected to be a {kinds[0]} "
            f"tensor but is a {kinds[1]} tensor; tf.cast makes it one [Op:{label}] name: "
        )
    return x


def sparse(value: Any) -> SparseTensor:
    """The sparse tensor that an argument must be."""
    if not isinstance(value, SparseTensor):
        raise TypeError(
            f"Input must be a SparseTensor, got {value!r}; tf.sparse.from_dense makes one."
        )
    return value


def from_dense(tensor: Any, name: Any = None) -> SparseTensor:
    """The places and values of what is not zero."""
    x = convert.to_tensor(tensor)
    array = x._value
    if not array.ndim:
        raise errors.at_run("tf.sparse.from_dense takes no number without axes [Op:Where] name: ")
    places = np.argwhere(array != (b"" if array.dtype.kind == "O" else 0)).astype(np.int64)
    return SparseTensor(places, gather_nd(x, places), np.array(array.shape, np.int64))


def to_indicator(sp_input: Any, vocab_size: Any, name: Any = None) -> Any:
    """Truth values: the values of each row are the places where they are true."""
    x = sparse(sp_input)
    if not isinstance(vocab_size, int) and not convert.is_tensor_like(vocab_size):
        raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
    kinds = cast.apply(x.values, dtype=np.dtype(np.int64))._value
    shape = np.array([*x.dense_shape._value[:-1], int(vocab_size)], np.int64)
    places = np.concatenate([x.indices._value[:, :-1], kinds[:, None]], 1)
    true = SparseTensor(places, np.ones(len(places), bool), shape)
    return to_dense(true, validate_indices=False)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum: sparse if both are, and without what is smaller than `threshold`; else dense.

    >>> import gradtape as tf
    >>> tf.sparse.add(tf.sparse.eye(2), tf.ones([2, 2])).numpy().tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    if not isinstance(a, SparseTensor):
        a, b = b, a
    if not isinstance(a, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(b, SparseTensor):
        return _add_sparse(a, b, threshold)
    b = convert.to_tensor(b)
    shape = tuple(a.dense_shape._value.tolist())
    if b._value.ndim != len(shape):
        raise errors.invalid(
            f"Two operands have different ranks; received: {len(shape)} and {b._value.ndim} "
            "[Op:SparseTensorDenseAdd]"
        )
    if b._value.shape != shape:
        raise errors.invalid(
            f"Dimensions of the operands do not match: {list(shape)} and {list(b._value.shape)} "
            "[Op:SparseTensorDenseAdd]"
        )
    check_places(a, "SparseTensorDenseAdd", order=False)
    return b if sketching() else b + scatter_nd(a.indices, a.values, a.dense_shape)


def _add_sparse(a: SparseTensor, b: SparseTensor, threshold: Any) -> SparseTensor:
    joined, numbers, inverse = union(a, b, "SparseAdd")
    total = add_rows.apply(joined, tensor(inverse), shape=(len(numbers),))
    # Only what was added up may fall away, as in TensorFlow.
    doubled = np.bincount(inverse, minlength=len(numbers)) > 1
    kept = np.arange(len(numbers))
    if doubled.any():
        small = np.abs(total._value) < np.asarray(getattr(threshold, "_value", threshold))
        kept = np.flatnonzero(~(small & doubled))
    if len(kept) < len(numbers):
        total, numbers = take.apply(total, tensor(kept), axis=0), numbers[kept]
    shape = a.dense_shape._value
    return SparseTensor(places_of(numbers, shape), total, a.dense_shape)


def union(a: SparseTensor, b: SparseTensor, label: str) -> tuple[Any, Any, Any]:
    """The values of both, all their places counted through, and for each value which of them."""
    shape, other = a.dense_shape._value.tolist(), b.dense_shape._value.tolist()
    if shape != other:
        raise errors.invalid(f"Operands' shapes do not match: {shape} and {other} [Op:{label}]")
    if a.dtype != b.dtype:
        kinds = [convert.c_name(x.values._value.dtype) for x in (a, b)]
        raise errors.wrong_dtype(
            f"cannot compute {label} as input #4(zero-based) was expected to be a {kinds[0]} "
            f"tensor but is a {kinds[1]} tensor; tf.cast makes them agree [Op:{label}] name: "
        )
    both = [number_of(x.indices._value, shape) for x in (a, b)]
    numbers, inverse = np.unique(np.concatenate(both), return_inverse=True)
    return concat.apply(a.values, b.values, axis=-1), numbers, inverse


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: Any = None
) -> Any:
    """A sparse matrix times a dense one: only the values that are there are multiplied."""
    if isinstance(b, SparseTensor):  # a b = (b* a*)*
        return adjoint(sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a))
    a = sparse(sp_a)
    adjoint_a, adjoint_b = truth(adjoint_a, "adjoint_a"), truth(adjoint_b, "adjoint_b")
    b = convert.to_tensor(b)
    if b._value.dtype != a.values._value.dtype:
        raise errors.wrong_dtype(
            f"cannot compute SparseTensorDenseMatMul as input #3(zero-based) was expected to be a "
            f"{a.dtype.name} tensor but is a {b.dtype.name} tensor [Op:SparseTensorDenseMatMul]"
        )
    if b._value.ndim != 2:
        raise errors.invalid("Tensor 'b' is not a matrix [Op:SparseTensorDenseMatMul]")
    b = adjoint(b) if adjoint_b else b
    rows, columns = a.indices._value.T
    height, width = a.dense_shape._value.tolist()
    values = a.values
    if adjoint_a:
        rows, columns, height, width = columns, rows, width, height
        values = conj(values)
    if b._value.ndim != 2 or len(b._value) != width:
        raise errors.invalid(
            f"Cannot multiply A and B because inner dimension does not match: {width} vs. "
            f"{list(b._value.shape)}. Did you forget a transpose? [Op:SparseTensorDenseMatMul]"
        )
    terms = values[:, None] * take.apply(b, tensor(columns), axis=0)
    return add_rows.apply(terms, tensor(rows), shape=(height, b._value.shape[1]))
