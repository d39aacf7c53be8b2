"""Matrices with a few diagonals, as rows: `a[r, i]` is the entry at row i, column i + upper - r.

Entries that lie outside of the matrix are kept and ignored. The derivatives of
products, solutions and their transposes are such ops again, so that any order stays banded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.op import FLOATS, NUMBERS, Op
from .declare import op
from .infer import same, stacked


def _offsets(bands: int, upper: int) -> list[tuple[int, int]]:
    return [(r, upper - r) for r in range(bands)]


def _inside(n: int, offset: int) -> tuple[slice, slice]:
    """The entries that have one `offset` further along an axis of n, and those others."""
    low, high = min(max(offset, 0), n), max(n + min(offset, 0), 0)
    return slice(low - offset, high - offset), slice(low, high)


def _shifted(b: Any, offset: int, axis: int) -> Any:
    """What stands `offset` further along the axis (-1 or -2), 0 beyond the end."""
    out = np.zeros_like(b)
    to, source = _inside(b.shape[axis], offset)
    tail = (slice(None),) * (-1 - axis)
    out[(..., to, *tail)] = b[(..., source, *tail)]
    return out


def _turn(a: Any, upper: int) -> Any:
    """The bands of the transpose."""
    rows = [_shifted(a[..., r, :], -offset, -1) for r, offset in _offsets(a.shape[-2], upper)]
    return np.stack(rows[::-1], axis=-2)


def _matmul(a: Any, b: Any, upper: int) -> Any:
    batch, n = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-1]
    total = np.zeros((*batch, *b.shape[-2:]), a.dtype)
    for r, offset in _offsets(a.shape[-2], upper):
        to, source = _inside(n, offset)
        total[..., to, :] += a[..., r, to, None] * b[..., source, :]
    return total


def _dot(a: Any, b: Any, upper: int, bands: int) -> Any:
    """The bands of a @ b^T."""
    rows = [np.sum(a * _shifted(b, o, -2), axis=-1) for _, o in _offsets(bands, upper)]
    return np.stack(rows, axis=-2)


def _solve(a: Any, b: Any, upper: int) -> Any:
    from scipy.linalg import LinAlgError, solve_banded

    bands, n = a.shape[-2:]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, *b.shape[-2:])
    lower = bands - 1 - upper
    # LAPACK counts by columns.
    columns = [_shifted(a[..., r, :], -offset, -1) for r, offset in _offsets(bands, upper)]
    left = np.broadcast_to(np.stack(columns, axis=-2), (*batch, bands, n)).reshape(-1, bands, n)
    right = np.broadcast_to(b, shape).reshape(-1, *b.shape[-2:])
    out = np.empty_like(right)
    if n and b.shape[-1]:
        for k in range(len(out)):
            try:
                out[k] = solve_banded((lower, upper), left[k], right[k], check_finite=False)
            except LinAlgError:  # a singular matrix has no solution, and no error in TensorFlow
                out[k] = np.nan
    return out.reshape(shape)


def _across(bands: int, upper: int) -> int:
    return bands - 1 - upper


turn_bands: Op = op(
    "turn_bands", _turn,
    lambda g, a_shape, upper: turn_bands(g, upper=_across(a_shape[-2], upper)),
    shape=same, label="Transpose", kind="TransposeBands", params=("upper",), push="linear",
    batches=True,
    sample=lambda d: [([d(3, 4)], {"upper": 1}), ([d(2, 2, 3)], {"upper": 0})],
)  # fmt: skip
band_matmul: Op = op(
    "band_matmul", _matmul,
    (
        lambda g, b, a_shape, upper: band_dot(g, b, upper=upper, bands=a_shape[-2]),
        lambda g, a, a_shape, upper: band_matmul(
            turn_bands(a, upper=upper), g, upper=_across(a_shape[-2], upper)
        ),
    ),
    shape=lambda a, b, upper: stacked(a, b, *b[-2:]),
    label="TridiagonalMatMul", params=("upper",), push="bilinear", batches=True, broadcasts=True,
    takes=NUMBERS,
    sample=lambda d: [([d(3, 4), d(4, 2)], {"upper": 1}), ([d(2, 2, 3), d(3, 1)], {"upper": 1})],
)  # fmt: skip
band_dot: Op = op(
    "band_dot", _dot,
    (
        lambda g, b, upper: band_matmul(g, b, upper=upper),
        lambda g, a, upper, bands: band_matmul(
            turn_bands(g, upper=upper), a, upper=_across(bands, upper)
        ),
    ),
    shape=lambda a, b, upper, bands: stacked(a, b, bands, a[-2]),
    label="MatMul", kind="BandsOfProduct", params=("upper", "bands"), push="bilinear", batches=True,
    broadcasts=True, takes=FLOATS,
    sample=lambda d: [([d(4, 2), d(4, 2)], {"upper": 1, "bands": 3})],
)  # fmt: skip


def _cut(a: Any, bands: int, upper: int) -> Any:
    """With zeros for the entries outside of the matrix, where band_dot of nan has nan."""
    return turn_bands(turn_bands(a, upper=upper), upper=_across(bands, upper))


def _solution(name: str, label: str, real: bool, cut: bool) -> Op:
    def grad_of_rhs(g: Any, a: Any, a_shape: Any, upper: int) -> Any:
        return made(turn_bands(a, upper=upper), g, upper=_across(a_shape[-2], upper))

    def grad_of_bands(g: Any, a: Any, y: Any, a_shape: Any, upper: int) -> Any:
        bands = a_shape[-2]
        derivative = -band_dot(grad_of_rhs(g, a, a_shape, upper), y, upper=upper, bands=bands)
        return _cut(derivative, bands, upper) if cut else derivative

    made = op(
        name, _solve, (grad_of_bands, grad_of_rhs),
        shape=lambda a, b, upper: stacked(a, b, *b[-2:]),
        label=label, params=("upper",), batches=True, broadcasts=True, takes="fc", real=real,
        sample=lambda d: [
            ([d(3, 4) + np.array([[0], [3], [0]]), d(4, 2)], {"upper": 1}),
            ([d(2, 2, 3) + np.array([[3], [0]]), d(2, 3, 1)], {"upper": 0}),
        ],
    )  # fmt: skip
    return made


banded_solve = _solution("banded_solve", "BandedTriangularSolve", real=False, cut=True)
# As TensorFlow, which of complex systems takes no conjugates in the gradient, and lets nan be
# outside of the matrix.
tridiagonal_solve = _solution("tridiagonal_solve", "TridiagonalSolve", real=True, cut=False)
