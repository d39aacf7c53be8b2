"""Reductions over axes, and running ones along an axis.

`axis` is None or a tuple of axes counted from the end (negative), so that a rule also serves a `g`
with further leading axes; `keepdims` as in NumPy. Ufuncs reduce directly (`np.add.reduce`): NumPy's
functions around them (`np.sum`) take 2 us more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.op import NUMBERS, REALS, Op
from ..traits import Family, Traits
from .declare import op
from .elementwise import divide_no_nan
from .infer import BOOL, asked, broadcast, same
from .reasons import Discrete
from .shape import cast

SUM: Any = np.add.reduce
PRODUCT: Any = np.multiply.reduce
LARGEST: Any = np.maximum.reduce
SMALLEST: Any = np.minimum.reduce
TRUTH = Discrete("the result is true or false: nothing lies between")
POSITION = Discrete("the result is a position")


_WIDE = 2048


def sum_of(a: Any, axis: Any, dtype: Any = None, out: None = None, keepdims: bool = False) -> Any:
    """np.add.reduce, faster for large arrays of floats.

    All numbers are added row on row first, which the processor does eight at a time: 65,536 of
    float32 in 9 us instead of 13, a million in 95 instead of 193. A last axis of middle size takes
    einsum a third of the time: 8 x 64 x 128 in 12 us instead of 30. Long rows NumPy adds up more
    exactly.
    """
    size = a.size
    if size < 4096 or not _plain(a, dtype):
        return SUM(a, axis, dtype, out, keepdims)
    if axis == (-1,) and 8 <= a.shape[-1] <= 1024:
        y = np.einsum("...i->...", a)
        return y[..., None] if keepdims else y
    if axis is None and not keepdims and not size % _WIDE and 16 <= size // _WIDE <= 2048:
        a = SUM(a.reshape(-1, _WIDE), 0)
    return SUM(a, axis, dtype, out, keepdims)


def _plain(a: Any, dtype: Any) -> bool:
    return a.dtype.char in "fd" and (dtype is None or dtype == a.dtype) and a.flags.c_contiguous


def all_axes(ndim: int) -> tuple[int, ...]:
    return tuple(range(-ndim, 0))


def spread(g: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    """Undo a reduction: give `g` its reduced axes back, as axes of size 1."""
    axis = all_axes(len(shape)) if axis is None else (axis,) if axis.__class__ is int else axis
    if not keepdims and axis:
        # Counted from behind: in front of them may be a stack of cotangents.
        g = np.expand_dims(g, tuple([k - len(shape) if k >= 0 else k for k in axis]))
    return g


def stretch(g: Any, shape: tuple[int, ...], axis: Any, keepdims: Any) -> Any:
    """The same, as large as the operand was."""
    if axis is None and not g.ndim:
        if isinstance(g, (np.ndarray, np.generic)):
            if math.prod(shape) >= 4096:  # one number, seen from everywhere
                return np.ndarray(shape, g.dtype, np.array(g), 0, (0,) * len(shape))
            full = np.empty(shape, g.dtype)
            full.fill(g)  # of 64 numbers in 0.4 us, where np.broadcast_to takes 4
            return full
        return np.broadcast_to(g, shape)
    g = spread(g, shape, axis, keepdims)
    return np.broadcast_to(g, g.shape[: g.ndim - len(shape)] + shape)


def count(shape: tuple[int, ...], axis: Any) -> int:
    """How many numbers are reduced to one."""
    n = 1
    for k in all_axes(len(shape)) if axis is None else axis:
        n *= shape[k]
    return n


def reduced(shape: Any, axis: Any = None, keepdims: bool = False) -> Any:
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


def reduction(name: str, forward: Any, pull: Any, label: str, **more: Any) -> Any:
    more = {"sample": _samples, "batches": True, **more}
    return op(name, forward, pull, shape=reduced, label=label, params=("axis", "keepdims"), **more)


def _total(reduce: Any) -> Any:
    """In the operand's dtype, where NumPy would sum int32 in int64; float16 and bfloat16 are
    summed in float32 and rounded once."""

    def forward(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        dtype = a.dtype
        if dtype.itemsize == 2 and dtype.kind in "fV":
            return reduce(a, axis, np.float32, None, keepdims).astype(dtype)
        return reduce(a, axis, dtype, None, keepdims)

    return forward


# --- sums and means -------------------------------------------------------------------------------
sum = reduction(
    "reduce_sum", _total(sum_of),
    lambda g, a_shape, axis, keepdims: stretch(g, a_shape, axis, keepdims),
    label="Sum", push="linear", numpy=(np.sum,), takes=NUMBERS,
)  # fmt: skip


def _mean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    dtype, n = a.dtype, a.size if axis is None else count(a.shape, axis)
    if dtype.kind in "iu":
        total = sum_of(a, axis, np.int64 if dtype.kind == "i" else np.uint64, None, keepdims)
        # Towards zero, as C divides.
        return (np.sign(total) * (abs(total) // (n or 1))).astype(dtype)
    if dtype.itemsize == 2:
        return (sum_of(a, axis, np.float32, None, keepdims) / np.float32(n)).astype(dtype)
    if dtype.kind == "c":  # of none 0, as TensorFlow, whose mean of no real numbers is nan
        n = n or 1
    return sum_of(a, axis, dtype, None, keepdims) / dtype.type(n)


mean = reduction(
    "reduce_mean", _mean,
    lambda g, a_shape, axis, keepdims: (
        stretch(g / float(count(a_shape, axis) or 1), a_shape, axis, keepdims)
    ),
    label="Mean", push="linear", numpy=(np.mean,), takes=NUMBERS,
)  # fmt: skip


def _euclidean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    if a.dtype.kind == "c":
        a = np.abs(a).astype(a.dtype)
    wide = a.astype(np.float32) if a.dtype.itemsize == 2 and a.dtype.kind in "fV" else a
    total = sum_of(np.square(wide), axis, wide.dtype, None, keepdims)
    return np.sqrt(total).astype(a.dtype)


euclidean = reduction(
    "reduce_euclidean_norm", _euclidean,
    lambda g, a, y, axis, keepdims: (
        # As TensorFlow divides: by y / g, so that a cotangent of 0 has no second derivative.
        a / (spread(y, a.shape, axis, keepdims) / spread(g, a.shape, axis, keepdims))
    ),
    label="EuclideanNorm", takes=NUMBERS, real=True,
)  # fmt: skip


# --- extremes -------------------------------------------------------------------------------------
def _share(g: Any, a: Any, y: Any, axis: Any, keepdims: Any) -> Any:
    """Extremes: those that tie share the cotangent equally."""
    shape = a.shape
    hit = cast(a == spread(y, shape, axis, keepdims), dtype=g.dtype)
    return hit / np.sum(hit, axis=axis, keepdims=True) * spread(g, shape, axis, keepdims)


def _extreme(reduce: Any, empty: str) -> Any:
    def forward(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if a.size:
            return reduce(a, axis, None, None, keepdims)
        # Of nothing, TensorFlow takes the least (or greatest) number of the dtype.
        start = np.array(_limit(a.dtype, empty), a.dtype)[()]
        return reduce(a, axis, None, None, keepdims, start)

    return forward


def _limit(dtype: Any, which: str) -> Any:
    if dtype.kind in "fV":
        return float("-inf") if which == "min" else float("inf")
    return getattr(np.iinfo(dtype), which)


max = reduction(
    "reduce_max", _extreme(LARGEST, "min"),
    lambda g, a, y, axis, keepdims: _share(g, a, y, axis, keepdims),
    label="Max", numpy=(np.max,), takes=REALS,
)  # fmt: skip
min = reduction(
    "reduce_min", _extreme(SMALLEST, "max"),
    lambda g, a, y, axis, keepdims: _share(g, a, y, axis, keepdims),
    label="Min", numpy=(np.min,), takes=REALS,
)  # fmt: skip


# --- sums of exponentials -------------------------------------------------------------------------
def _exponentials(a: Any, axis: Any) -> tuple[Any, Any, Any]:
    """exp(a - top), its sum, and the largest of a, taken out so that nothing overflows."""
    if a.dtype.itemsize == 2:
        a = a.astype(np.float32)
    top = LARGEST(a, axis, None, None, True, a.dtype.type("-inf"))
    top = np.where(np.isfinite(top), top, a.dtype.type(0))
    exps = np.exp(a - top)
    return exps, sum_of(exps, axis, a.dtype, None, True), top


def _logsumexp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    _, total, top = _exponentials(a, axis)
    y = np.log(total) + top
    if not keepdims:
        y = y.reshape(reduced(a.shape, axis))
    return y.astype(a.dtype, copy=False)


def _shares(a: Any, axis: Any = None) -> Any:
    exps, total, _ = _exponentials(a, axis)
    return (exps / total).astype(a.dtype, copy=False)


# Each exponential's part of their sum: the derivative of logsumexp. Not exp(a - y), which keeps few
# digits where a and y are large.
shares = op(
    "exp_shares", _shares,
    lambda g, y, axis: y * (g - np.sum(g * y, axis=axis, keepdims=True)),
    shape=same, label="Softmax", params=("axis",), takes="fV",
    sample=lambda d: [([d(2, 3)], {"axis": (-2, -1)}), ([d(2, 3)], {"axis": (-1,)})],
)  # fmt: skip
logsumexp = reduction(
    "reduce_logsumexp", _logsumexp,
    lambda g, a, axis, keepdims: (
        spread(g, a.shape, axis, keepdims)
        * shares(a, axis=all_axes(a.ndim) if axis is None else axis)
    ),
    label="Max", kind="LogSumExp", traits=Traits(Family.REDUCES | Family.TOTALS), takes="fV",
)  # fmt: skip


# --- products -------------------------------------------------------------------------------------
def _others(g: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Each factor's derivative is the product of the others: those before it times those after it,
    exact with zeros among them, where dividing the product would give nan."""
    shape = a.shape
    axes = all_axes(len(shape)) if axis is None else axis
    g = spread(g, shape, axis, keepdims)
    axes = tuple(sorted(k % len(shape) for k in axes))
    rest = tuple(k for k in range(len(shape)) if k not in axes)
    order = rest + axes
    kept = tuple(shape[k] for k in rest)
    rows = np.reshape(np.transpose(a, order), (*kept, count(shape, axis)))
    before = cumprod(rows, axis=-1, exclusive=True, reverse=False)
    after = cumprod(rows, axis=-1, exclusive=True, reverse=True)
    products = np.reshape(before * after, kept + tuple(shape[k] for k in axes))
    return g * np.transpose(products, tuple(np.argsort(order).tolist()))


prod = reduction(
    "reduce_prod", _total(PRODUCT),
    lambda g, a, axis, keepdims: _others(g, a, axis, keepdims),
    label="Prod", takes=NUMBERS,
)  # fmt: skip
any = reduction("reduce_any", np.any, TRUTH, label="Any", takes="b", dtype=BOOL)
all = reduction("reduce_all", np.all, TRUTH, label="All", takes="b", dtype=BOOL)


# --- positions ------------------------------------------------------------------------------------
def _arg(function: Any, reduce: Any, last: float) -> Any:
    def forward(a: Any, axis: int, dtype: Any) -> Any:
        if a.dtype.kind in "fV" and a.size:
            top = reduce(a, None)
            # NumPy takes nan for the largest and the smallest number, TensorFlow for neither.
            if top != top:
                a = np.where(np.isnan(a), a.dtype.type(last), a)
        y = function(a, axis=axis)
        return y if y.dtype is dtype else y.astype(dtype)

    return forward


def _arg_samples(d: Any) -> list:
    return [([d(2, 3)], {"axis": -1, "dtype": np.dtype("int64")})]


def _position(name: str, function: Any, reduce: Any, last: float, label: str) -> Any:
    return op(
        name, _arg(function, reduce, last), POSITION,
        shape=lambda a, axis, dtype: reduced(a, (axis,)), dtype=asked, label=label,
        params=("axis", "dtype"), sample=_arg_samples, takes=REALS + "b",
    )  # fmt: skip


argmax = _position("argmax", np.argmax, LARGEST, float("-inf"), "ArgMax")
argmin = _position("argmin", np.argmin, SMALLEST, float("inf"), "ArgMin")


# --- running sums and products --------------------------------------------------------------------
def _running(accumulate: Any, start: float) -> Any:
    def forward(a: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        dtype = a.dtype
        coarse = dtype.itemsize == 2 and dtype.kind in "fV"
        if reverse:
            a = np.flip(a, axis)
        y = accumulate(a, axis, np.float32 if coarse else dtype)
        if coarse:
            y = y.astype(dtype)
        if exclusive and a.shape[axis]:
            shifted = np.empty_like(y)
            shifted[_along(y.ndim, axis, slice(0, 1))] = start
            shifted[_along(y.ndim, axis, slice(1, None))] = y[_along(y.ndim, axis, slice(0, -1))]
            y = shifted
        return np.flip(y, axis) if reverse else y

    return forward


def _along(ndim: int, axis: int, key: slice) -> tuple[slice, ...]:
    keys = [slice(None)] * ndim
    keys[axis] = key
    return tuple(keys)


def _running_samples(d: Any) -> list:
    return [
        ([d(2, 3)], {"axis": -1, "exclusive": False, "reverse": False}),
        ([d(2, 3)], {"axis": -2, "exclusive": True, "reverse": True}),
    ]


def running(name: str, forward: Any, pull: Any, **more: Any) -> Any:
    params = ("axis", "exclusive", "reverse")
    more = {"sample": _running_samples, "takes": NUMBERS, "batches": True, **more}
    return op(name, forward, pull, shape=same, params=params, **more)


cumsum: Op = running(
    "cumsum", _running(np.add.accumulate, 0),
    lambda g, axis, exclusive, reverse: (
        cumsum(g, axis=axis, exclusive=exclusive, reverse=not reverse)
    ),
    push="linear",
)  # fmt: skip
cumprod = running(
    "cumprod", _running(np.multiply.accumulate, 1),
    # As TensorFlow: by division, so a zero among the operands has derivative 0.
    lambda g, a, y, axis, exclusive, reverse: divide_no_nan(
        cumsum(y * g, axis=axis, exclusive=exclusive, reverse=not reverse), a
    ),
    real=True,  # TensorFlow does not conjugate here
)  # fmt: skip


def _add_logs(a: Any, axis: int, dtype: Any) -> Any:
    if (a < np.inf).all():
        return np.logaddexp.accumulate(a, axis, dtype)
    # As TensorFlow, step by step: nan counts as what was there before, two infinities make nan.
    y = np.moveaxis(a, axis, 0).astype(dtype)
    before = np.full(y.shape[1:], -np.inf, dtype)
    for i, now in enumerate(y):
        low, high = np.where(now < before, now, before), np.where(before < now, now, before)
        before = y[i] = np.where(low == -np.inf, high, np.log1p(np.exp(low - high)) + high)
    return np.moveaxis(y, 0, axis)


_LOGS = _running(_add_logs, float("-inf"))
cumulative_logsumexp = running(
    "cumulative_logsumexp", _LOGS,
    lambda g, a, y, axis, exclusive, reverse: (
        weighted_cumsum(g, a, -y, axis=axis, exclusive=exclusive, reverse=not reverse)
    ),
    label="CumulativeLogsumexp", takes="fV",
    # Without exclusive ones: their first result is -inf, which has no differences.
    sample=lambda d: [
        ([d(2, 3)], {"axis": -1, "exclusive": False, "reverse": False}),
        ([d(2, 3)], {"axis": -2, "exclusive": False, "reverse": True}),
    ],
)  # fmt: skip


def _weighted(a: Any, b: Any, c: Any, **how: Any) -> Any:
    """By the logarithms of the positive and of the negative numbers: nothing overflows."""
    # As TensorFlow, the logarithm of what is not positive is the least finite number.
    least = a.dtype.type(np.finfo(a.dtype if a.dtype.kind == "f" else np.float32).min)
    part = lambda x: np.exp(b + _LOGS(np.where(x > 0, np.log(x), least) + c, **how))
    return (part(a) - part(-a)).astype(a.dtype, copy=False)


# exp(b) cumsum(a exp(c)): linear in a, and its own transpose with b and c exchanged.
weighted_cumsum: Op = op(
    "weighted_cumsum", _weighted,
    (
        lambda g, b, c, axis, exclusive, reverse: weighted_cumsum(
            g, c, b, axis=axis, exclusive=exclusive, reverse=not reverse
        ),
        lambda g, y: g * y,
        lambda g, a, b, c, axis, exclusive, reverse: a * weighted_cumsum(
            g, c, b, axis=axis, exclusive=exclusive, reverse=not reverse
        ),
    ),
    shape=broadcast, label="CumulativeLogsumexp", kind="WeightedCumsum", broadcasts=True,
    batches=True,
    params=("axis", "exclusive", "reverse"), takes="fV",
    sample=lambda d: [
        ([d(2, 3), d(2, 3), d(2, 3)], {"axis": -1, "exclusive": False, "reverse": False}),
        ([d(2, 3), d(2, 3), d(2, 3)], {"axis": -2, "exclusive": True, "reverse": True}),
    ],
)  # fmt: skip
