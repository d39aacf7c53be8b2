"""Ragged tensors made dense."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..arrays.creation import zeros
from ..arrays.reshaping import broadcast_to, concat, reshape
from ..core.apply import tensor
from ..framework import convert
from ..framework.shapes import TensorShape
from ..ops.index import take
from .tensor import RaggedTensor


def filled(x: RaggedTensor, default: Any, shape: Any) -> Any:
    """The rows side by side: what is missing is the default, what is beyond `shape` is left out."""
    flat = x.flat_values
    kind, tail = flat._value.dtype, flat._value.shape[1:]
    wanted = _sizes(shape, x.ragged_rank + flat._value.ndim)
    fill = zeros([], kind) if default is None else convert.to_tensor(default, kind)
    inner = zip((wanted or ())[x.ragged_rank + 1 :], tail, strict=False)
    if wanted is None or any(n not in (None, m) for n, m in inner):
        raise errors.invalid(
            f"the shape {shape} does not fit a ragged tensor of the shape {x.shape} "
            "[Op:RaggedTensorToTensor] name: "
        )
    sizes, splits = [len(x) if wanted[0] is None else wanted[0]], []
    for ends, size in zip(x.nested_row_splits, wanted[1:], strict=False):
        splits.append(ends._value)
        sizes.append(int(convert.computed(_longest, ends._value)) if size is None else size)
    chosen = convert.computed(partial(_chosen, len(x), sizes), *splits)
    rows = concat([flat, broadcast_to(fill, (1, *tail))], 0)
    return reshape(take.apply(rows, tensor(chosen), axis=0), (*sizes, *tail))


def _longest(ends: np.ndarray) -> Any:
    return np.diff(ends).max(initial=0)


def _chosen(rows: int, sizes: list[int], *splits: np.ndarray) -> np.ndarray:
    """Each place of the result takes a row of values, or the default, which stands behind them."""
    places, inside = np.arange(rows), np.arange(rows) < sizes[0]
    for ends, width in zip(splits, sizes[1:], strict=True):
        lengths = np.diff(ends)
        columns = np.arange(lengths.sum()) - np.repeat(ends[:-1], lengths)
        places = np.repeat(places, lengths) * width + columns
        inside = np.repeat(inside, lengths) & (columns < width)
    chosen = np.full(math.prod(sizes), len(places))
    chosen[places[inside]] = np.flatnonzero(inside)
    return chosen


def _sizes(shape: Any, rank: int) -> list[int | None] | None:
    """A size or None for each axis; None if there are not as many."""
    if hasattr(shape, "_value"):  # in a tensor, -1 stands for None
        found: Any = [None if n < 0 else n for n in np.ravel(shape._value).tolist()]
    else:
        found = TensorShape(shape)
        found = [None] * rank if found.rank is None else found.as_list()
    return found if len(found) == rank else None


def merged(x: RaggedTensor, outer: int, inner: int) -> Any:
    """The axes from `outer` to `inner` as one."""
    rank = len(x.shape)
    axes = []
    for name, axis in (("outer_axis", outer), ("inner_axis", inner)):
        if not -rank <= axis < rank:
            raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
        axes.append(axis % rank)
    outer, inner = axes
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})."
        )
    return x if outer == inner else _merged(x, outer, inner)


def _merged(x: Any, outer: int, inner: int) -> Any:
    if not isinstance(x, RaggedTensor):
        shape = x._value.shape
        size = math.prod(shape[outer : inner + 1])
        return reshape(x, (*shape[:outer], size, *shape[inner + 1 :]))
    if outer > 1:
        return x.with_values(_merged(x.values, outer - 1, inner - 1))
    if outer == 0:
        return x.values if inner == 1 else _merged(x.values, 0, inner - 1)
    values = x.values
    if isinstance(values, RaggedTensor):
        below = values.row_splits._value
        whole = RaggedTensor(values.values, tensor(below[x.row_splits._value]))
    else:
        step = values._value.shape[1]
        whole = RaggedTensor(_merged(values, 0, 1), tensor(x.row_splits._value * step))
    return whole if inner == 2 else _merged(whole, 1, inner - 1)
