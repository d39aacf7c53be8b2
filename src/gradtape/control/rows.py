"""`tf.map_fn` from sparse and ragged tensors, or into them: row by row, and stacked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import arrays, dtypes, errors, nest
from ..framework import convert
from ..framework.shapes import CompositeTensor, TensorSpec, TypeSpec
from ..sparse.tensor import sketching


def has_parts(structure: Any) -> bool:
    """Whether a sparse or ragged tensor, or the description of one, is among the leaves."""
    return any(
        convert.is_ragged(leaf)
        or convert.is_sparse(leaf)
        or (isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec))
        for leaf in nest.flatten(structure)
    )


def map_rows(fn: Callable[[Any], Any], elems: Any, signature: Any) -> Any:
    """`fn` of every row of `elems`, the results stacked as the signature says."""
    rows = [_rows(leaf) for leaf in nest.flatten(elems)]
    for row in rows:
        if len(row) != len(rows[0]):
            raise ValueError(f"Dimensions {len(rows[0])} and {len(row)} are not compatible")
    like = elems if signature is None else signature
    if (sketch := sketching()) is not None:
        return _outlined(sketch, fn, elems, like, rows)
    results = []
    for row in zip(*rows, strict=True):
        result = fn(nest.pack_sequence_as(elems, list(row)))
        nest.assert_same_structure(like, result)
        results.append(nest.flatten(result))
    specs = nest.flatten(like)
    columns = zip(*results, strict=True) if results else [()] * len(specs)
    return nest.pack_sequence_as(like, list(map(_stacked, specs, columns)))


def _outlined(sketch: Any, fn: Callable[[Any], Any], elems: Any, like: Any, rows: Any) -> Any:
    """Where only shapes are told: as many of whatever the first row gives."""
    result = fn(nest.pack_sequence_as(elems, [row[0] for row in rows]))
    nest.assert_same_structure(like, result)
    parts = []
    for one in nest.flatten(result):
        if convert.is_sparse(one):
            sizes = [len(rows[0]), *one.dense_shape._value.tolist()]
            parts.append(type(one)(np.zeros((0, len(sizes)), np.int64), one.values, sizes))
        elif convert.is_ragged(one):
            raise NotImplementedError("tf.map_fn into ragged tensors, where only shapes are told")
        else:
            parts.append(sketch.blank((len(rows[0]), *one._value.shape), one._value.dtype))
    return nest.pack_sequence_as(like, parts)


def _rows(leaf: Any) -> Any:
    if convert.is_sparse(leaf):
        from ..sparse.pick import Rows

        return Rows(leaf)
    return leaf if convert.is_ragged(leaf) else convert.to_tensor(leaf)


def _stacked(spec: Any, results: Any) -> Any:
    from ..ragged import RaggedTensorSpec
    from ..ragged import stack as ragged_stack
    from ..sparse import SparseTensor, concat, expand_dims

    dtype = getattr(spec, "dtype", spec)
    if not results:
        inner = [] if getattr(spec, "shape", None) is None else [n or 0 for n in spec.shape]
        inner = inner[1:] if isinstance(spec, CompositeTensor) else inner
        empty = arrays.zeros([0, *inner], dtype)
        if convert.is_sparse(spec) or getattr(spec, "value_type", None) is SparseTensor:
            places = np.zeros((0, len(inner) + 1), np.int64)
            return SparseTensor(places, arrays.zeros([0], dtype), [0, *inner])
        return empty
    for result in results:
        if result.dtype != dtype:
            raise errors.invalid(
                f"the results are to be {dtypes.as_dtype(dtype).name}, but one is "
                f"{result.dtype.name}: fn_output_signature says what they are"
            )
    if convert.is_sparse(results[0]):
        return concat(0, [expand_dims(row, 0) for row in results], expand_nonconcat_dims=True)
    ragged = isinstance(spec, RaggedTensorSpec) or convert.is_ragged(spec)
    if ragged and not len(results[0].shape):
        raise errors.invalid(
            "a row gave a single number, where rows are to be put together as a ragged tensor: "
            "fn_output_signature says what they are"
        )
    if convert.is_ragged(results[0]) or ragged:
        found = ragged_stack(list(results))
        ends = arrays.cast(found.row_splits, getattr(spec, "row_splits_dtype", dtypes.int64))
        return type(found)(found.values, ends)
    return arrays.stack(list(results))
