"""Rows: cotangents that are zero but for some rows, and the op that adds rows into zeros."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..core.operand import vocabulary
from .declare import op
from .infer import INT32

# Elements from which SciPy's sparse product is quicker than np.add.at; importing it takes 0.15 s.
_MANY = 1 << 16


def _add_rows(a: Any, b: Any, shape: tuple[int, ...]) -> Any:
    """1,000 rows of 64 float32 into 50,000: np.add.at on rows 1,670 us, sorting and
    np.add.reduceat 1,700, np.bincount by columns 9,560, np.add.at on flat places 480, SciPy's
    sparse product 420 (the zeros alone: 300). 100,000 rows of 16 into 1,000: 23,000, 20,300,
    4,500, 4,700, 580 us."""
    if a.size < _MANY or len(shape) == 1 or a.dtype.char not in "fdFD":
        return add_at(np.zeros(shape, a.dtype), b, a)
    from scipy.sparse import csc_array

    count = len(b)
    if b.dtype.itemsize < 4:
        b = b.astype(np.int32)
    ones, ends = np.ones(count, a.dtype), np.arange(count + 1, dtype=b.dtype)
    pick = csc_array((ones, b, ends), shape=(shape[0], count))
    return (pick @ a.reshape(count, -1)).reshape(shape)


def add_at(out: Any, b: Any, a: Any, ufunc: Any = np.add) -> Any:
    """Add rows into an array (contiguous, changed in place), or subtract them; a row may come
    several times. The places `b` are in range: nobody looks here.

    1,024 rows of 64 float32 in 23 us by SciPy's kernel, in 53 by gathering and scattering rows,
    one by one in flat places in 170, np.add.at on rows in 580.
    """
    if out.ndim == 1 or not a.size:
        ufunc.at(out, b, a)
        return out
    width = a.size // len(b)
    if a.size >= _MANY and a.dtype.char in "fdFD" and (kernel := _kernel()) is not None:
        count = len(b)
        ends, signs = np.arange(count + 1), np.empty(count, a.dtype)
        signs.fill(1 if ufunc is np.add else -1)
        places = b.astype(np.intp, copy=False)
        kernel(len(out), count, width, ends, places, signs, a.reshape(-1), out.reshape(-1))
        return out
    if width >= 16:
        # All at once, where of equal rows the last one counts; then those that were passed over.
        rank, last = np.arange(len(b)), np.empty(len(out), np.intp)
        last[b] = rank
        rows = out.take(b, 0)
        ufunc(rows, a, out=rows)
        # Copied as one thing each, a third faster than as numbers.
        row = np.dtype((np.void, width * out.itemsize))
        out.reshape(-1).view(row)[b] = rows.reshape(-1).view(row)
        others = (last.take(b) != rank).nonzero()[0]
        if not len(others):
            return out
        few = 2 * len(others) < len(b)
        a, b = a[others], b[others]
        if few:
            return add_at(out, b, a, ufunc)
    places = (b.astype(np.intp) * width)[:, None] + np.arange(width)
    ufunc.at(out.reshape(-1), places.reshape(-1), a.reshape(-1))
    return out


@cache
def _kernel() -> Any:
    """y += A x for a sparse A by columns; the name is private to SciPy, which may take it away."""
    try:
        from scipy.sparse._sparsetools import csc_matvecs
    except ImportError:
        return None
    return csc_matvecs


def rows_of(g: Any, b: Any, y_shape: tuple[int, ...]) -> Any:
    """The rows of a cotangent with these numbers, by the op behind np.take, which itself asks only
    its first argument whether it is recorded: the numbers may be where the cotangent is not."""
    return vocabulary[np.take](g, b, axis=g.ndim - len(y_shape))


add_rows = op(
    "add_rows", _add_rows,
    (rows_of, None),
    shape=lambda a, b, shape: shape, label="UnsortedSegmentSum", params=("shape",),
    push="linear", batches=True,
    sample=lambda d: [([d(3, 2), np.array([2, 0, 2])], {"shape": (4, 2)})],
)  # fmt: skip


class Slices:
    """A cotangent of which only some rows are not zero: what a gather pulls back. `sizes` is the
    dtype that users see its shape in."""

    __slots__ = ("indices", "shape", "sizes", "values")
    __array_ufunc__ = None

    def __init__(
        self, values: Any, indices: Any, shape: tuple[int, ...], sizes: np.dtype = INT32
    ) -> None:
        self.values, self.indices, self.shape, self.sizes = values, indices, shape, sizes

    def dense(self) -> Any:
        return add_rows(self.values, self.indices, shape=self.shape)

    def __add__(self, other: Any) -> Any:
        if other.__class__ is not Slices:
            return self.dense() + other
        values = np.concatenate([self.values, other.values])
        indices = np.concatenate([self.indices, other.indices])
        return Slices(values, indices, self.shape, self.sizes)

    def __radd__(self, other: Any) -> Any:
        return other + self.dense()
