"""Ops that pick and place: slices, gathers, scatters, selections, one-hot rows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..core import sweep
from ..core.declare import op
from ..core.op import Discrete


# --- slices -------------------------------------------------------------------------------------
def _behind(lead: int, key: tuple) -> tuple:
    """A key for an array that has further leading axes."""
    return (slice(None),) * lead + key


def _getitem(a: Any, key: tuple) -> Any:
    return a[key]


def _slope_of_getitem(g: Any, a_shape: Any, y_shape: Any, key: tuple) -> Any:
    lead = g.ndim - len(y_shape)
    return put(g, key=_behind(lead, key), shape=g.shape[:lead] + a_shape)


getitem = op(
    "getitem", _getitem, _slope_of_getitem,
    shape=lambda a, key: np.broadcast_to(np.int8(0), a)[key].shape,
    label="StridedSlice", params=("key",), push="linear", batches=True,
    numpy=(operator.getitem,),
    sample=lambda d: [
        ([d(3, 4)], {"key": (slice(None, None, 2), slice(3, None, -1))}),
        ([d(3, 4)], {"key": (1, None, Ellipsis)}),
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


# --- gather and scatter along the first axis --------------------------------------------------------
def _gather(a: Any, b: Any, axis: int) -> Any:
    return np.take(a, b, axis=axis)


def _slope_of_gather(g: Any, b: Any, a_shape: Any, y_shape: Any, axis: int) -> Any:
    lead = g.ndim - len(y_shape)
    if axis == 0 and lead == 0:
        values = np.reshape(g, (b.size, *a_shape[1:]))
        return sweep.Slices(values, np.reshape(b, (b.size,)), a_shape)
    at = lead + axis
    index = tuple(range(at, at + b.ndim))
    # Gathered axes first, so that the rows to add are rows.
    rest = tuple(k for k in range(g.ndim) if k not in index)
    rows = np.reshape(np.transpose(g, index + rest), (b.size, *[g.shape[k] for k in rest]))
    first = add_rows(
        rows, np.reshape(b, (b.size,)), shape=(a_shape[axis], *[g.shape[k] for k in rest])
    )
    return np.moveaxis(first, 0, at)


gather = op(
    "gather", _gather, (_slope_of_gather, None),
    shape=lambda a, b, axis: a[:axis] + b + a[axis + 1 :], label="GatherV2", params=("axis",),
    push="linear", batches=True,
    sample=lambda d: [
        ([d(4, 3), np.array([2, 0, 2])], {"axis": 0}),
        ([d(2, 4), np.array([[1, 1], [3, 0]])], {"axis": 1}),
    ],
)  # fmt: skip


def _add_rows(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    out = np.zeros(shape, a.dtype)
    np.add.at(out, b, a)
    return out


add_rows = op(
    "add_rows", _add_rows,
    (lambda g, b, y_shape: np.take(g, b, axis=g.ndim - len(y_shape)), None),
    shape=lambda a, b, shape: shape, label="UnsortedSegmentSum", params=("shape",),
    push="linear", batches=True,
    sample=lambda d: [([d(3, 2), np.array([2, 0, 2])], {"shape": (4, 2)})],
)  # fmt: skip
sweep.add_rows = add_rows


# --- selection ----------------------------------------------------------------------------------
def _where(a: Any, b: Any, c: Any) -> Any:
    return np.where(a, b, c)


select = op(
    "select", _where,
    (
        Discrete("a condition only chooses"),
        lambda g, a: np.where(a, g, 0.0),
        lambda g, a: np.where(a, 0.0, g),
    ),
    shape=lambda *shapes: np.broadcast_shapes(*shapes), label="SelectV2", broadcasts=True,
    batches=True, push="linear", numpy=(np.where,),
    sample=lambda d: [
        ([np.array([[True], [False]]), d(2, 3), d(3)], {}),
        ([np.array(True), d(2, 3), d(2, 3)], {}),
    ],
)  # fmt: skip
