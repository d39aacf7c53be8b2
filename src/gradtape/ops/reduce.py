"""Reductions over axes. `axis` is None or a tuple of axes counted from the end (negative), so that
a rule also serves a `g` with further leading axes; `keepdims` as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.declare import op
from ..core.op import Discrete, Reason, Rule

NUMBER = Discrete("the result is a truth value or a position")


def all_axes(ndim: int) -> tuple[int, ...]:
    return tuple(range(-ndim, 0))


def spread(g: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    """Undo a reduction: give `g` its reduced axes back, as axes of size 1."""
    axis = all_axes(len(shape)) if axis is None else axis
    if not keepdims and axis:
        g = np.expand_dims(g, axis)
    return g


def _stretch(g: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    g = spread(g, shape, axis, keepdims)
    return np.broadcast_to(g, g.shape[: g.ndim - len(shape)] + shape)


def _count(shape: tuple[int, ...], axis: Any) -> int:
    n = 1
    for k in all_axes(len(shape)) if axis is None else axis:
        n *= shape[k]
    return n


def reduced(shape: tuple[int, ...], axis: Any = None, keepdims: bool = False) -> tuple[int, ...]:
    axis = all_axes(len(shape)) if axis is None else axis
    dead = {k % len(shape) for k in axis}
    kept = [1 if k in dead else n for k, n in enumerate(shape)]
    return tuple(n for k, n in enumerate(kept) if keepdims or k not in dead)


def _samples(d: Any) -> list:
    return [
        ([d(2, 3)], {"axis": None, "keepdims": False}),
        ([d(2, 3)], {"axis": (-1,), "keepdims": True}),
        ([d(2, 3, 2)], {"axis": (-3, -1), "keepdims": False}),
        ([d(3)], {"axis": (), "keepdims": False}),
    ]


def reduction(name: str, forward: Any, pull: Rule | Reason, label: str, **more: Any) -> Any:
    more = {"sample": _samples, "batches": True, **more}
    return op(
        name, forward, pull, shape=reduced, label=label, params=("axis", "keepdims"), **more
    )


def _sum(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    # In the operand's dtype, as TensorFlow: NumPy would sum int32 in int64.
    return np.sum(a, axis=axis, keepdims=keepdims, dtype=a.dtype)


sum = reduction(
    "reduce_sum", _sum,
    lambda g, a_shape, axis, keepdims: _stretch(g, a_shape, axis, keepdims),
    label="Sum", push="linear", numpy=(np.sum,),
)  # fmt: skip


def _mean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    count = _count(a.shape, axis)
    total = np.sum(a, axis=axis, keepdims=keepdims, dtype=a.dtype)
    if a.dtype.kind in "iu":
        return (total // max(count, 1)).astype(a.dtype)
    return total / a.dtype.type(count)


mean = reduction(
    "reduce_mean", _mean,
    lambda g, a_shape, axis, keepdims: (
        _stretch(g / float(max(_count(a_shape, axis), 1)), a_shape, axis, keepdims)
    ),
    label="Mean", push="linear", numpy=(np.mean,),
)  # fmt: skip


def _share(g: Any, a: Any, y: Any, axis: Any, keepdims: Any) -> Any:
    """Extremes: those that tie share the cotangent equally."""
    shape = a.shape
    hit = a == spread(y, shape, axis, keepdims)
    count = np.sum(cast(hit, dtype=g.dtype), axis=axis, keepdims=True)
    return cast(hit, dtype=g.dtype) / count * spread(g, shape, axis, keepdims)


def _extreme(function: Any, empty: str) -> Any:
    def forward(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        # Of nothing, TensorFlow takes the least (or greatest) number of the dtype.
        start = np.array(_limit(a.dtype, empty), a.dtype)[()]
        return function(a, axis=axis, keepdims=keepdims, initial=start)

    return forward


def _limit(dtype: Any, which: str) -> Any:
    if dtype.kind in "fV":
        return float("-inf") if which == "min" else float("inf")
    if dtype.kind == "b":
        return which == "max"
    return getattr(np.iinfo(dtype), which)


max = reduction(
    "reduce_max", _extreme(np.max, "min"),
    lambda g, a, y, axis, keepdims: _share(g, a, y, axis, keepdims),
    label="Max", numpy=(np.max,),
)  # fmt: skip
min = reduction(
    "reduce_min", _extreme(np.min, "max"),
    lambda g, a, y, axis, keepdims: _share(g, a, y, axis, keepdims),
    label="Min", numpy=(np.min,),
)  # fmt: skip


def _prod(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.prod(a, axis=axis, keepdims=keepdims, dtype=a.dtype)


def _others(g: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Each factor's slope is the product of the others: those before it times those after it,
    exact with zeros among them, where dividing the product would give nan."""
    shape = a.shape
    axes = all_axes(len(shape)) if axis is None else axis
    g = spread(g, shape, axis, keepdims)
    if not axes:
        return g
    axes = tuple(sorted(k % len(shape) for k in axes))
    rest = tuple(k for k in range(len(shape)) if k not in axes)
    order = rest + axes
    kept = tuple(shape[k] for k in rest)
    rows = np.reshape(np.transpose(a, order), (*kept, _count(shape, axis)))
    before = cumprod(rows, axis=-1, exclusive=True, reverse=False)
    after = cumprod(rows, axis=-1, exclusive=True, reverse=True)
    products = np.reshape(before * after, kept + tuple(shape[k] for k in axes))
    return g * np.transpose(products, tuple(np.argsort(order).tolist()))


prod = reduction(
    "reduce_prod", _prod,
    lambda g, a, axis, keepdims: _others(g, a, axis, keepdims),
    label="Prod",
)  # fmt: skip
any = reduction("reduce_any", np.any, NUMBER, label="Any")
all = reduction("reduce_all", np.all, NUMBER, label="All")


def _arg(function: Any) -> Any:
    def forward(a: Any, axis: int, dtype: Any) -> Any:
        return np.asarray(function(a, axis=axis)).astype(dtype)

    return forward


def _arg_shape(shape: tuple[int, ...], axis: int, dtype: Any) -> tuple[int, ...]:
    return reduced(shape, (axis,))


def _arg_samples(d: Any) -> list:
    return [([d(2, 3)], {"axis": 1, "dtype": np.int64})]


argmax = op(
    "argmax", _arg(np.argmax), Discrete("the result is a position"), shape=_arg_shape,
    label="ArgMax", params=("axis", "dtype"), sample=_arg_samples,
)  # fmt: skip
argmin = op(
    "argmin", _arg(np.argmin), Discrete("the result is a position"), shape=_arg_shape,
    label="ArgMin", params=("axis", "dtype"), sample=_arg_samples,
)  # fmt: skip


# --- running sums and products ------------------------------------------------------------------
def _running(function: Any, start: int) -> Any:
    def forward(a: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        if reverse:
            a = np.flip(a, axis)
        y = function(a, axis=axis, dtype=a.dtype)
        if exclusive and a.shape[axis]:
            first = np.full_like(y[_along(y.ndim, axis, slice(0, 1))], start)
            y = np.concatenate([first, y[_along(y.ndim, axis, slice(0, -1))]], axis)
        return np.flip(y, axis) if reverse else y

    return forward


def _along(ndim: int, axis: int, key: slice) -> tuple[slice, ...]:
    keys = [slice(None)] * ndim
    keys[axis] = key
    return tuple(keys)


def same_shape(shape: tuple[int, ...], **_: Any) -> tuple[int, ...]:
    return shape


def _running_samples(d: Any) -> list:
    return [
        ([d(2, 3)], {"axis": -1, "exclusive": False, "reverse": False}),
        ([d(2, 3)], {"axis": -2, "exclusive": True, "reverse": True}),
    ]


cumsum = op(
    "cumsum", _running(np.cumsum, 0),
    lambda g, axis, exclusive, reverse: (
        cumsum(g, axis=axis, exclusive=exclusive, reverse=not reverse)
    ),
    shape=same_shape, params=("axis", "exclusive", "reverse"), push="linear", batches=True,
    sample=_running_samples,
)  # fmt: skip
cumprod = op(
    "cumprod", _running(np.cumprod, 1),
    # As TensorFlow: by division, so a zero among the operands gives nan.
    lambda g, a, y, axis, exclusive, reverse: (
        cumsum(y * g, axis=axis, exclusive=exclusive, reverse=not reverse) / a
    ),
    shape=same_shape, params=("axis", "exclusive", "reverse"), batches=True,
    sample=_running_samples,
)  # fmt: skip

from .shape import cast  # noqa: E402  (the two families use each other's ops in their rules)
