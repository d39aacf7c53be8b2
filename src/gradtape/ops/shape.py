"""Ops that move numbers about without changing them: reshaping, transposing, joining, casting.

Axes are counted from the end (negative), and `lead` finds how many leading axes `g` has beyond the
result's, so that the rules also serve stacks of cotangents.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..core import apply as engine
from ..core.op import ANYTHING, Op
from .declare import elementwise, op, speaks
from .infer import Shape, alike, asked, exchanged, inserted, plus, reshaped, same
from .reasons import Missing, Stopped
from .rows import Slices

identity = elementwise("identity", lambda a: a, lambda g: g, takes=ANYTHING)
identity_n = op(  # of which one result has a cotangent, the others have zeros
    "identity_n", lambda *a: a,
    lambda g, y: [
        np.zeros_like(one) if part is None else part for part, one in zip(g, y, strict=True)
    ],
    shape=lambda *shapes: list(shapes), dtype=lambda *dtypes: list(dtypes), joint=True, real=True,
    label="IdentityN",
    sample=lambda d: [([d(2, 3), d(2)], {})],
)  # fmt: skip
stop_gradient = op(
    "stop_gradient", lambda a: a, Stopped("stop_gradient makes a constant of it"), shape=same,
    sample=lambda d: [([d(2, 3)], {})],
)  # fmt: skip


def _unread(apply: Any) -> Any:
    """A variable's value is taken without a read: no tape needs to watch it."""
    return lambda a: apply(engine.tensor(a._value) if isinstance(a, engine.Variable) else a)


stop_gradient.apply = _unread(stop_gradient.apply)


def _lead(g: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    return g.shape[: g.ndim - len(shape)]


reshape = op(
    # `np.reshape` calls its argument `shape` only since NumPy 2.1.
    "reshape", lambda a, shape: a.reshape(shape),
    lambda g, a_shape, y_shape: np.reshape(g, _lead(g, y_shape) + a_shape),
    shape=reshaped, params=("shape",), push="linear", batches=True,
    numpy=(np.reshape,),
    sample=lambda d: [([d(2, 3)], {"shape": (3, 2)}), ([d(1)], {"shape": ()})],
)  # fmt: skip


def _transpose(a: Any, axes: tuple[int, ...]) -> Any:
    # Negative axes: with more axes in front (a stack), those stay where they are.
    extra = a.ndim - len(axes)
    return np.transpose(a, (*range(extra), *[k % len(axes) + extra for k in axes]))


def _transposed(a: Shape, axes: tuple[int, ...]) -> Shape:
    extra = len(a) - len(axes)
    return (*a[:extra], *[a[k % len(axes) + extra] for k in axes])


transpose: Op = op(
    "transpose", _transpose,
    lambda g, axes: transpose(g, axes=tuple(np.argsort([k % len(axes) for k in axes]).tolist())),
    shape=_transposed, params=("axes",), push="linear", batches=True, numpy=(np.transpose,),
    sample=lambda d: [([d(2, 3)], {"axes": (1, 0)}), ([d(2, 3, 4)], {"axes": (1, 2, 0)})],
)  # fmt: skip
broadcast_to = op(
    "broadcast_to", np.broadcast_to,
    lambda g: g,
    shape=lambda a, shape: shape, params=("shape",), push="linear", batches=True,
    broadcasts=True, sample=lambda d: [([d(3)], {"shape": (2, 3)}), ([d(1, 3)], {"shape": (2, 3)})],
)  # fmt: skip


@speaks(np.expand_dims)
def _expand_dims(a: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = a.ndim + len(axes)
    new = {k % ndim for k in axes}
    old = iter(a.shape)
    return np.reshape(a, tuple(1 if k in new else next(old) for k in range(ndim)))


@speaks(np.squeeze)
def _squeeze(a: Any, axis: Any) -> Any:
    dead = {k % a.ndim for k in (axis if isinstance(axis, tuple) else (axis,))}
    return np.reshape(a, tuple(n for k, n in enumerate(a.shape) if k not in dead))


@speaks(np.swapaxes)
def _swapaxes(a: Any, i: int, j: int) -> Any:
    axes = list(range(a.ndim))
    axes[i], axes[j] = axes[j], axes[i]
    return transpose(a, axes=tuple(axes))


@speaks(np.moveaxis)
def _moveaxis(a: Any, source: Any, destination: Any) -> Any:
    moved = np.lib.array_utils.normalize_axis_tuple(source, a.ndim)
    places = np.lib.array_utils.normalize_axis_tuple(destination, a.ndim)
    axes = [k for k in range(a.ndim) if k not in moved]
    for place, k in sorted(zip(places, moved, strict=True)):
        axes.insert(place, k)
    return transpose(a, axes=tuple(axes))


@speaks(np.zeros_like)
def _zeros_like(a: Any) -> Any:
    return np.zeros(a.shape, a.dtype)[()]


@speaks(np.ones_like)
def _ones_like(a: Any) -> Any:
    return np.ones(a.shape, a.dtype)[()]


# --- joining --------------------------------------------------------------------------------------
def _concat(*arrays: Any, axis: int) -> Any:
    return np.concatenate(arrays, axis)


def _concat_shape(*shapes: Shape, axis: int) -> Shape:
    return exchanged(alike(*shapes), axis, plus(*[s[axis] for s in shapes]))


concat = op(
    "concat", _concat,
    lambda g, shapes, axis: split(g, sizes=tuple([s[axis] for s in shapes]), axis=axis),
    shape=_concat_shape, label="ConcatV2", joint=True, push="linear", batches=True,
    params=("axis",),
    sample=lambda d: [([d(2, 3), d(1, 3)], {"axis": -2}), ([d(3), d(2), d(1)], {"axis": -1})],
)  # fmt: skip


def _stack(*arrays: Any, axis: int) -> Any:
    return np.stack(arrays, axis)


stack = op(
    "stack", _stack, lambda g, axis: unstack(g, axis=axis),
    shape=lambda *shapes, axis: inserted(alike(*shapes), axis, len(shapes)),
    label="Pack", joint=True, push="linear", batches=True, params=("axis",),
    sample=lambda d: [([d(3), d(3)], {"axis": -1}), ([d(), d()], {"axis": -1})],
)  # fmt: skip


@speaks(np.concatenate)
def _concatenate(arrays: Any, axis: int = 0) -> Any:
    return concat(*arrays, axis=axis if axis < 0 else axis - arrays[0].ndim)


@speaks(np.stack)
def _np_stack(arrays: Any, axis: int = 0) -> Any:
    return stack(*arrays, axis=axis if axis < 0 else axis - arrays[0].ndim - 1)


# --- cutting: one operand, several results --------------------------------------------------------
def _present(g: list, shapes: tuple, dtype: Any) -> list:
    """The cotangents of all parts: zeros for those that nobody used."""
    if True not in [h is None for h in g]:
        return g
    lead = next(_lead(h, shape) for h, shape in zip(g, shapes, strict=True) if h is not None)
    return [
        np.zeros(lead + shape, dtype) if h is None else h
        for h, shape in zip(g, shapes, strict=True)
    ]


@lru_cache(maxsize=512)
def _cuts(before: int, sizes: tuple[int, ...]) -> tuple:
    ends = tuple(accumulate(sizes, initial=0))
    return tuple((*[slice(None)] * before, slice(i, j)) for i, j in pairwise(ends))


def _split(a: Any, sizes: tuple[int, ...], axis: int) -> tuple:
    return tuple([a[cut] for cut in _cuts(a.ndim + axis, sizes)])


split: Op = op(
    "split", _split,
    lambda g, y_shape, a_dtype, axis: np.concatenate(_present(g, y_shape, a_dtype), axis),
    shape=lambda a, sizes, axis: [exchanged(a, axis, n) for n in sizes],
    params=("sizes", "axis"), push="linear", batches=True,
    sample=lambda d: [
        ([d(3, 2)], {"sizes": (1, 0, 2), "axis": -2}), ([d(3)], {"sizes": (3,), "axis": -1}),
    ],
)  # fmt: skip


def _unpack(a: Any, axis: int) -> tuple:
    tail = (slice(None),) * (-axis - 1)
    return tuple([a[(..., k, *tail)] for k in range(a.shape[axis])])


unstack: Op = op(
    "unstack", _unpack,
    lambda g, y_shape, a_dtype, axis: np.stack(_present(g, y_shape, a_dtype), axis),
    # How many results there are is known if the size of the axis is.
    shape=lambda a, axis: None if a[axis] is None else [exchanged(a, axis)] * a[axis],
    label="Unpack", params=("axis",), push="linear", batches=True,
    sample=lambda d: [([d(3, 2)], {"axis": -2}), ([d(3)], {"axis": -1})],
)  # fmt: skip


def _add_n(*arrays: Any) -> Any:
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    return total


add_n = op(
    "add_n", _add_n, lambda g, shapes: [g] * len(shapes),
    shape=alike, joint=True, push="linear", batches=True,
    sample=lambda d: [([d(2, 3), d(2, 3), d(2, 3)], {})],
)  # fmt: skip


# --- the dtype ------------------------------------------------------------------------------------
def _cast(a: Any, dtype: Any) -> Any:
    if a.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        a = a.real
    return a.astype(dtype)


def _uncast(g: Any, a_dtype: Any, dtype: Any) -> Any:
    if a_dtype.kind not in "fcV" or 1 in (a_dtype.itemsize, dtype.itemsize):
        return None  # as TensorFlow: floats of 8 bits hold no gradient
    if g.__class__ is Slices:
        return Slices(cast(g.values, dtype=a_dtype), g.indices, g.shape, g.sizes)
    return cast(g, dtype=a_dtype)


cast: Op = op(
    "cast", _cast, _uncast,
    shape=same, dtype=asked, params=("dtype",), push="linear", batches=True, real=True, casts=True,
    sample=lambda d: [([d(2, 3)], {"dtype": np.dtype("float64")})],
)  # fmt: skip


def _bitcast(a: Any, dtype: Any, parts: int) -> Any:
    a = np.asarray(a if parts < 2 else np.expand_dims(a, -1), order="C")
    y = a.view(dtype)
    return y if parts else y[..., 0]


# parts: how many of the new type one of the old becomes; 0 if several of the old become one.
bitcast = op(
    "bitcast", _bitcast, Missing("the bits of a number have no derivative"),
    shape=lambda a, dtype, parts: ((*a, parts) if parts > 1 else a) if parts else a[:-1],
    dtype=asked, params=("dtype", "parts"),
    sample=lambda d: [([d(2)], {"dtype": np.dtype("i4"), "parts": 2})],
)  # fmt: skip
