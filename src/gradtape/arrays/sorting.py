"""Order and search: sorting, the greatest few, distinct values, places in a sorted sequence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors
from ..framework import convert
from ..framework.arguments import integer, listed_dtype, matching, number, real, truth
from ..ops import index
from ..ops import shape as shape_ops
from ..ops import sort as sort_ops


class TopKV2(NamedTuple):
    """The greatest entries of each row and their places."""

    values: Any
    indices: Any


class Unique(NamedTuple):
    """Distinct values and, for each entry, which of them it is."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """Distinct values, which of them each entry is, and how often each comes."""

    y: Any
    idx: Any
    count: Any


_PLACES = ("int16", "int32", "int64")


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: Any = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The k greatest entries of each row, greatest first if `sorted`, and their places.

    >>> import gradtape as tf
    >>> tf.math.top_k([3.0, 1.0, 4.0], k=2).indices
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 0], dtype=int32)>
    """
    x, count = convert.to_tensor(input), number(k, "TopKV2", plain=not convert.quickly(input))
    if k.__class__ is not int and np.ndim(getattr(k, "_value", k)):
        raise errors.invalid(f"k must be scalar, got {k!r} [Op:TopKV2]")
    in_order = truth(sorted, "sorted", True)
    wanted = listed_dtype(index_type, "index_type", _PLACES, "TopKV2", "int32")
    shape = x._value.shape
    if not shape:
        raise errors.invalid("input must be >= 1-D, got shape [] [Op:TopKV2]")
    if count < 0:
        raise errors.invalid(f"Need k >= 0, got {count} [Op:TopKV2]")
    if count > shape[-1]:
        raise errors.invalid(
            f"input must have at least k columns. Had {shape[-1]}, needed {count} [Op:TopKV2]"
        )
    _orderable(x, "TopKV2")
    places = sort_ops.argsort.apply(x, descending=True, count=count, in_order=in_order)
    values = index.take_along.apply(x, places)
    if wanted != places._value.dtype:
        places = shape_ops.cast.apply(places, dtype=wanted)
    return TopKV2(values, places)


class ApproxTopK(NamedTuple):
    """The greatest (or least) entries along an axis and their places."""

    values: Any
    indices: Any


def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k greatest entries along an axis and their places: all of them, on the CPU."""
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, True, reduction_input_size_override,
        aggregate_to_topk,
    )  # fmt: skip


def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k least entries along an axis and their places.

    Differs from TensorFlow: its CPU has no kernel for this; here it works.
    """
    return approx_top_k(
        operand, k, reduction_dimension, recall_target, False, reduction_input_size_override,
        aggregate_to_topk,
    )  # fmt: skip


def approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The k greatest (or least) entries along an axis and their places."""
    k = integer(k, "k")
    reduction_dimension = integer(reduction_dimension, "reduction_dimension")
    real(recall_target, "recall_target", 0.95)
    is_max_k = truth(is_max_k, "is_max_k", True)
    integer(reduction_input_size_override, "reduction_input_size_override")
    truth(aggregate_to_topk, "aggregate_to_topk", True)
    x = convert.to_tensor(input)
    if x._value.dtype.name not in ("float16", "bfloat16", "float32"):
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(x._value.dtype)} is not in the list of allowed "
            "values: half, bfloat16, float [Op:ApproxTopK]"
        )
    x, rows, place = _rows(x, reduction_dimension, "DESCENDING")
    if not 0 <= k <= rows._value.shape[-1]:
        raise errors.invalid(
            f"input must have at least k columns. Had {rows._value.shape[-1]}, needed {k} "
            "[Op:ApproxTopK]"
        )
    places = sort_ops.argsort.apply(rows, descending=bool(is_max_k), count=number(k), in_order=True)
    values = index.take_along.apply(rows, places)
    ndim = x._value.ndim
    return ApproxTopK(_moved(values, place, ndim), _moved(places, place, ndim))


class _Real:
    """Stands for the ops that order numbers, in messages about dtypes."""

    takes = "iufV"

    def __init__(self, label: str) -> None:
        self.label = label


def _orderable(x: Any, label: str) -> None:
    if x._value.dtype.kind not in _Real.takes:
        raise convert.wrong_dtype(_Real(label), x._value.dtype)  # type: ignore[arg-type]


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """The entries along an axis in order; gradients flow to where each came from."""
    x, rows, place = _rows(values, axis, direction)
    y = index.take_along.apply(rows, _order(rows, direction))
    return _moved(y, place, x._value.ndim)


def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """The places of the entries in order; equals stay in the order they had."""
    x, rows, place = _rows(values, axis, direction)
    return _moved(_order(rows, direction), place, x._value.ndim)


def _order(rows: Any, direction: str) -> Any:
    return sort_ops.argsort.apply(
        rows, descending=direction == "DESCENDING", count=None, in_order=True
    )


def _rows(values: Any, axis: Any, direction: str) -> tuple[Any, Any, int]:
    if not isinstance(direction, str) or direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
            f"direction={direction}"
        )
    x = convert.to_tensor(values)
    if np.ndim(convert.to_tensor(axis)._value):
        raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    place = int(axis) if isinstance(axis, float) else number(axis)
    _orderable(x, "TopKV2")
    ndim = x._value.ndim
    if not -ndim <= place < ndim:
        raise errors.invalid(
            f"slice index {place} of dimension 0 out of bounds: a tensor with {ndim} axes has no "
            f"axis {place} to sort along [Op:StridedSlice]"
        )
    place %= ndim
    return x, _moved(x, place, ndim), place


def _moved(x: Any, place: int, ndim: int) -> Any:
    """The axis exchanged with the last one."""
    if place == ndim - 1:
        return x
    axes = list(range(ndim))
    axes[place], axes[-1] = axes[-1], axes[place]
    return shape_ops.transpose.apply(x, axes=tuple(axes))


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Where each value would have to stand in the sorted sequence."""
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: side = '{side}'."
        )
    dtype = listed_dtype(out_type, "out_type", _PLACES[1:], "LowerBound", "int32")
    a, b = convert.to_tensor(sorted_sequence), convert.to_tensor(values)
    for part in (a, b):
        if not part._value.ndim:
            raise errors.invalid(
                "slice index -1 of dimension 0 out of bounds: sorted_sequence and values need an "
                "axis each [Op:StridedSlice]"
            )
    if a._value.dtype.kind in "bcO":
        raise errors.no_kernel("LowerBound", a.dtype.name)
    a, b = matching("LowerBound", [a, b])
    first, second = a._value.shape, b._value.shape
    if first and second and first[:-1] != second[:-1]:
        # As in TensorFlow: the rows of both are taken one by one, however they are stacked.
        rows = math.prod(first[:-1]), math.prod(second[:-1])
        if rows[0] == rows[1]:
            a, b = (
                shape_ops.reshape.apply(part, shape=(rows[0], part._value.shape[-1]))
                for part in (a, b)
            )
            places = sort_ops.searchsorted.apply(a, b, side=side, dtype=dtype)
            return shape_ops.reshape.apply(places, shape=second)
    if not first or not second or first[:-1] != second[:-1]:
        raise errors.at_run(
            f"sorted_sequence {list(first)} and values {list(second)} must have the same leading "
            "axes, and at least one axis [Op:LowerBound]"
        )
    return sort_ops.searchsorted.apply(a, b, side=side, dtype=dtype)


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct values of a vector in the order of their first coming."""
    return Unique(*_unique(x, out_idx, errors.invalid)[:2])


def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """The distinct values of a vector and how often each comes."""
    return UniqueWithCounts(*_unique(x, out_idx, errors.at_run))


def _unique(x: Any, out_idx: Any, no_vector: Callable[[str], Exception]) -> tuple:
    a = convert.to_tensor(x)
    wanted = listed_dtype(out_idx, "out_idx", _PLACES[1:], "Unique", "int32")
    if a._value.dtype.kind == "c":
        raise errors.no_kernel("Unique", a.dtype.name)
    if a._value.ndim != 1:
        raise no_vector(
            f"unique expects a 1D vector, got shape {list(a._value.shape)}. [Op:Unique]"
        )
    return sort_ops.unique.apply(a, dtype=wanted)
