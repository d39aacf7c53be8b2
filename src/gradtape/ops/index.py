"""Ops that pick: slices, gathers, masks, selections; and those that put back what they picked."""

from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

import numpy as np

from ..core.op import Op
from .declare import op
from .infer import INT32, INT64, broadcast, exchanged, sliced, times
from .kernels.choose import choose, only
from .reasons import Discrete
from .rows import Slices, add_at, add_rows


# --- slices ---------------------------------------------------------------------------------------
def _behind(lead: int, key: tuple) -> tuple:
    """A key for an array that has further leading axes."""
    return (slice(None),) * lead + (key if key.__class__ is tuple else (key,))


def _getitem(a: Any, *_: Any, key: tuple) -> Any:
    y = a[key]
    # One text alone comes out of its array.
    return y if y.__class__ is not bytes else np.array(y, object)


def _grad_of_getitem(g: Any, a_shape: Any, y_shape: Any, key: tuple) -> Any:
    lead = g.ndim - len(y_shape)
    return put(g, key=_behind(lead, key), shape=g.shape[:lead] + a_shape)


# Positions that came as tensors are further operands, so that they are heard of; their numbers are
# in the key.
getitem = op(
    "getitem", _getitem, _grad_of_getitem,
    shape=lambda a, *_, key: sliced(a, key),
    label="StridedSlice", params=("key",), push="linear", batches=True,
    numpy=(operator.getitem,),
    sample=lambda d: [
        ([d(3, 4)], {"key": (slice(None, None, 2), slice(3, None, -1))}),
        ([d(3, 4)], {"key": (1, None, Ellipsis)}),
        ([d(3, 4), np.array(1), np.array(3)], {"key": (slice(1, 3),)}),
    ],
)  # fmt: skip


def _put(a: Any, key: tuple, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, a.dtype)
    out[key] = a
    return out


put = op(
    "put", _put,
    lambda g, y_shape, key: getitem(g, key=_behind(g.ndim - len(y_shape), key)),
    shape=lambda a, key, shape: shape, label="StridedSliceGrad", params=("key", "shape"),
    push="linear", batches=True,
    sample=lambda d: [([d(2, 4)], {"key": (slice(None, None, 2),), "shape": (3, 4)})],
)  # fmt: skip


# --- slices at places that only the numbers tell --------------------------------------------------
class At(NamedTuple):
    """In a key, the place that entry `number` of an operand holds, or the `size` places from it."""

    number: int
    size: int | None = None


def _placed(key: tuple, places: Any, shape: tuple[int, ...]) -> tuple:
    """The key with places in it, each of which must be in the array."""
    found, axis = [], 0
    for k in key:
        if k.__class__ is At:
            place, size = int(places[k.number]), shape[axis]
            low, high = (-size, size) if k.size is None else (0, size - k.size + 1)
            if not low <= place < high:
                raise IndexError(f"slice index {place} of dimension {axis} out of bounds")
            k = place if k.size is None else slice(place, place + k.size)
        found.append(k)
        axis += k is not None
    return tuple(found)


def _sizes_at(key: tuple) -> tuple:
    """The key at places that do not matter, for shape rules."""
    found = []
    for k in key:
        if k.__class__ is At:
            k = 0 if k.size is None else slice(k.size)
        found.append(k)
    return tuple(found)


def _put_at(a: Any, b: Any, key: tuple, shape: tuple[int, ...]) -> Any:
    return _put(a, _placed(key, b, shape), shape)


def _grad_of_getitem_at(g: Any, b: Any, a_shape: Any, y_shape: Any, key: tuple) -> Any:
    lead = g.ndim - len(y_shape)
    return put_at(g, b, key=_behind(lead, key), shape=g.shape[:lead] + a_shape)


# Without an ellipsis: a key names the axes up to its last place.
getitem_at = op(
    "getitem_at", lambda a, b, key: _getitem(a, key=_placed(key, b, a.shape)),
    (_grad_of_getitem_at, None),
    shape=lambda a, b, key: sliced(a, _sizes_at(key)), label="StridedSlice", params=("key",),
    push="linear", batches=True,
    sample=lambda d: [
        ([d(3, 4), np.array([2])], {"key": (At(0),)}),
        ([d(3, 4), np.array([-1, 1])], {"key": (At(0), None, At(1, 2))}),
    ],
)  # fmt: skip
put_at = op(
    "put_at", _put_at,
    (lambda g, b, y_shape, key: getitem_at(g, b, key=_behind(g.ndim - len(y_shape), key)), None),
    shape=lambda a, b, key, shape: shape, label="StridedSliceGrad", params=("key", "shape"),
    push="linear", batches=True,
    sample=lambda d: [([d(2), np.array([2, 1])], {"key": (At(0), At(1, 2)), "shape": (3, 4)})],
)  # fmt: skip


# --- gathers: entries along an axis, by number ----------------------------------------------------
_UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}


def check_range(b: Any, size: int) -> None:
    """IndexError, which becomes TensorFlow's, unless all numbers are in [0, size)."""
    if not b.size:
        return
    if b.dtype.kind == "i" and b.__class__ is np.ndarray:
        # Negative ones are the largest without their sign: one pass instead of two.
        low, high = 0, int(np.maximum.reduce(b.view(_UNSIGNED[b.itemsize]), None))
    else:
        low, high = int(b.min()), int(b.max())
    if low < 0 or high >= size:
        bad = int(np.flatnonzero((np.ravel(b) < 0) | (np.ravel(b) >= size))[0])
        at = ",".join(str(int(k)) for k in np.unravel_index(bad, b.shape))
        value = int(np.ravel(b)[bad])
        hint = "; TensorFlow does not count from the end here" if -size <= value < 0 else ""
        raise IndexError(f"indices[{at}] = {value} is not in [0, {size}){hint}")


def _take(a: Any, b: Any, axis: int) -> Any:
    check_range(b, a.shape[axis])
    y = a.take(b, axis)  # 1 us faster than np.take
    return y if y.__class__ is not bytes else np.array(y, object)


def _grad_of_take(g: Any, b: Any, a_shape: Any, y_shape: Any, axis: int) -> Any:
    lead = g.ndim - len(y_shape)
    at = lead + (axis % len(a_shape))
    index = tuple(range(at, at + b.ndim))
    # Gathered axes first, so that the rows to add are rows.
    rest = tuple(k for k in range(g.ndim) if k not in index)
    kept = tuple(g.shape[k] for k in rest)
    rows = np.reshape(np.transpose(g, index + rest), (b.size, *kept))
    first = add_rows(rows, np.reshape(b, (b.size,)), shape=(a_shape[axis], *kept))
    return np.moveaxis(first, 0, at)


take = op(
    "take", _take, (_grad_of_take, None),
    shape=lambda a, b, axis: exchanged(a, axis, *b), label="GatherV2", params=("axis",),
    push="linear", batches=True, numpy=(np.take,),
    sample=lambda d: [
        ([d(2, 4), np.array([[1, 1], [3, 0]])], {"axis": 1}),
        ([d(2, 4), np.array(1)], {"axis": -2}),
    ],
)  # fmt: skip


def _rows_of_gather(g: Any, b: Any, a_shape: Any, y_shape: Any, sizes: np.dtype) -> Any:
    if g.ndim > len(y_shape):
        return _grad_of_take(g, b, a_shape, y_shape, 0)
    if b.ndim == 1:
        return Slices(g, b, a_shape, sizes)
    values = np.reshape(g, (b.size, *a_shape[1:]))
    return Slices(values, np.reshape(b, (b.size,)), a_shape, sizes)


# Along the first axis, and its cotangent stays in rows: what a lookup in a large table needs.
gather = op(
    "gather", lambda a, b: _take(a, b, 0),
    (lambda g, b, a_shape, y_shape: _rows_of_gather(g, b, a_shape, y_shape, INT32), None),
    shape=lambda a, b: b + a[1:], label="GatherV2", push="linear", batches=True,
    sample=lambda d: [([d(4, 3), np.array([2, 0, 2])], {}), ([d(4), np.array(1)], {})],
)  # fmt: skip


# The same for coordinates of one number, by which TensorFlow chooses the dtype of the shape.
gather_rows = op(
    "gather_rows", lambda a, b: _take(a, b, 0),
    (lambda g, b, a_shape, y_shape: _rows_of_gather(g, b, a_shape, y_shape, b.dtype), None),
    shape=lambda a, b: b + a[1:], label="GatherNd", push="linear", batches=True,
    sample=lambda d: [([d(4, 3), np.array([2, 0, 2])], {})],
)  # fmt: skip


def _stacked(a: Any, b: Any, axis: int, batch: int) -> tuple:
    """Where the rows of each of the stacked gathers lie in all of them, one after the other."""
    size, count = a[axis], math.prod(a[:batch])
    b = np.reshape(b, (count, -1 if count else 0))
    return b + (np.arange(count, dtype=b.dtype) * size)[:, None], count * size


def _gather_batch(a: Any, b: Any, axis: int, batch: int) -> Any:
    check_range(b, a.shape[axis])
    places, total = _stacked(a.shape, b, axis, batch)
    first = np.moveaxis(a, axis, batch)
    rest = first.shape[batch + 1 :]
    rows = np.take(first.reshape(total, *rest), places, axis=0)
    rows = rows.reshape(b.shape + rest)
    index = range(batch, b.ndim)
    return np.moveaxis(rows, tuple(index), tuple(k + axis - batch for k in index))


def _grad_of_gather_batch(g: Any, b: Any, a_shape: Any, y_shape: Any, axis: int, batch: int) -> Any:
    lead = g.ndim - len(y_shape)
    places, total = _stacked(a_shape, b, axis, batch)
    index = range(lead + batch, lead + b.ndim)
    rows = np.moveaxis(g, tuple(k + axis - batch for k in index), tuple(index))
    # The stack of cotangents goes behind, where it is part of a row.
    rows = np.moveaxis(rows, tuple(range(lead)), tuple(range(-lead, 0)))
    rest = rows.shape[b.ndim :]
    rows = np.reshape(rows, (places.size, *rest))
    sums = add_rows(rows, np.reshape(places, (places.size,)), shape=(total, *rest))
    sums = np.reshape(sums, (*a_shape[:batch], a_shape[axis], *rest))
    sums = np.moveaxis(sums, tuple(range(-lead, 0)), tuple(range(lead)))
    return np.moveaxis(sums, lead + batch, lead + axis)


gather_batch = op(
    "gather_batch", _gather_batch, (_grad_of_gather_batch, None),
    shape=lambda a, b, axis, batch: exchanged(a, axis, *b[batch:]),
    label="GatherV2", params=("axis", "batch"), push="linear", batches=True,
    sample=lambda d: [
        ([d(2, 3), np.array([[1, 1], [0, 2]])], {"axis": 1, "batch": 1}),
        ([d(2, 3), np.array([1, 2])], {"axis": 1, "batch": 1}),
        ([d(2, 4, 3), np.array([[[1]], [[2]]])], {"axis": 2, "batch": 1}),
    ],
)  # fmt: skip


# --- along the last axis, other entries in each row -----------------------------------------------
def _take_along(a: Any, b: Any) -> Any:
    return np.take_along_axis(a, b[(None,) * (a.ndim - b.ndim)], axis=-1)


def _put_along(a: Any, b: Any, size: int) -> Any:
    shape = (*a.shape[:-1], size)
    rows = (np.arange(math.prod(shape[:-1])) * size).reshape(*shape[:-1], 1)
    places = (rows + b).reshape(-1)
    return add_at(np.zeros(math.prod(shape), a.dtype), places, a.reshape(-1)).reshape(shape)


take_along = op(
    "take_along", _take_along,
    (lambda g, b, a_shape: put_along(g, b, size=a_shape[-1]), None),
    shape=lambda a, b: a[:-1] + b[-1:], label="GatherV2", push="linear", batches=True,
    sample=lambda d: [([d(2, 3), np.array([[1, 1], [0, 2]])], {})],
)  # fmt: skip
put_along: Op = op(
    "put_along", _put_along, (lambda g, b: take_along(g, b), None),
    shape=lambda a, b, size: (*a[:-1], size), label="ScatterNd", params=("size",),
    push="linear", batches=True,
    sample=lambda d: [([d(2, 2), np.array([[1, 1], [0, 2]])], {"size": 3})],
)  # fmt: skip


# --- which entries to gather ----------------------------------------------------------------------
PLACES = Discrete("a place is a whole number")

# The numbers of all entries, each as often as it is told.
repeat_places = op(
    "repeat_places",
    lambda a, size: np.repeat(np.arange(size, dtype=np.int32), np.maximum(a, 0)), PLACES,
    shape=lambda a, size: (None,), dtype=INT32, label="GatherV2", params=("size",),
    sample=lambda d: [([np.array([2, 0, 1])], {"size": 3})],
)  # fmt: skip
# Those of the first list, those of the second, and so on.
partition_places = op(
    "partition_places", lambda a: np.argsort(a, axis=None, kind="stable"), PLACES,
    shape=lambda a: (times(*a),), dtype=INT64, label="DynamicPartition",
    sample=lambda d: [([np.array([[1, 0], [2, 1]])], {})],
)  # fmt: skip


# --- masks ----------------------------------------------------------------------------------------
def _mask(a: Any, b: Any, axis: int) -> Any:
    return a[_behind(axis, (b.astype(bool),))]


def _unmask(a: Any, b: Any, axis: int, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, a.dtype)
    out[_behind(axis, (b.astype(bool),))] = a
    return out


def _grad_of_mask(g: Any, b: Any, a_shape: Any, y_shape: Any, axis: int) -> Any:
    lead = g.ndim - len(y_shape)
    return unmask(g, b, axis=axis + lead, shape=g.shape[:lead] + a_shape)


# How many entries a mask keeps is known only when it is there: None in the shape.
mask = op(
    "mask", _mask, (_grad_of_mask, None),
    shape=lambda a, b, axis: (*a[:axis], None, *a[axis + len(b) :]),
    label="GatherV2", params=("axis",), push="linear", batches=True,
    sample=lambda d: [
        ([d(3, 2), np.array([True, False, True])], {"axis": 0}),
        ([d(2, 3, 2), np.array([[True, False], [False, True], [True, True]])], {"axis": 1}),
    ],
)  # fmt: skip
unmask = op(
    "unmask", _unmask,
    (lambda g, b, y_shape, axis: mask(g, b, axis=axis + g.ndim - len(y_shape)), None),
    shape=lambda a, b, axis, shape: shape, label="ScatterNd", params=("axis", "shape"),
    push="linear", batches=True,
    sample=lambda d: [([d(2, 2), np.array([True, False, True])], {"axis": 0, "shape": (3, 2)})],
)  # fmt: skip


# --- selection ------------------------------------------------------------------------------------
select = op(
    "select", choose,
    (
        Discrete("a condition only chooses"),
        lambda g, a: only(a, g),
        lambda g, a: only(np.logical_not(a), g),
    ),
    shape=broadcast, dtype=1, label="SelectV2", broadcasts=True,
    batches=True, push="linear", numpy=(np.where,),
    sample=lambda d: [
        ([np.array([[True], [False]]), d(2, 3), d(3)], {}),
        ([np.array(True), d(2, 3), d(2, 3)], {}),
    ],
)  # fmt: skip
