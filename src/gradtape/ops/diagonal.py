"""Diagonals and bands of matrices: taking them out, putting them in, cutting the rest away."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .infer import same

# Of a band: the lowest and the highest diagonal, the matrix's rows and columns, and whether the
# diagonals above and below the main one stand at the right end of their rows.
Band = tuple[int, int, int, int, bool, bool]


def length(k: int, rows: int, columns: int) -> int:
    """Of the k-th diagonal."""
    return max(min(rows + min(k, 0), columns - max(k, 0)), 0)


@lru_cache(maxsize=256)
def places(band: Band) -> tuple[Any, Any, Any]:
    """Where the entries of the packed band live in the matrix (rows, columns), and which of the
    packed places hold one; the highest diagonal is the first."""
    low, high, rows, columns, above_right, below_right = band
    longest = max(length(k, rows, columns) for k in range(low, high + 1))
    k = np.arange(high, low - 1, -1)[:, None]
    lengths = np.array([[length(d, rows, columns)] for d in k[:, 0].tolist()])
    right = np.where(k >= 0, above_right, below_right)
    along = np.arange(longest)[None, :] - np.where(right, longest - lengths, 0)
    held = (along >= 0) & (along < lengths)
    return along - np.minimum(k, 0), along + np.maximum(k, 0), held


def packed_shape(band: Band) -> tuple[int, ...]:
    held = places(band)[2]
    return held.shape[1:] if len(held) == 1 else held.shape


def _take_band(a: Any, band: Band) -> Any:
    rows, columns, held = places(band)
    if len(held) == 1:
        return a[..., rows[0], columns[0]]
    out = np.zeros(a.shape[:-2] + held.shape, a.dtype)
    out[..., held] = a[..., rows[held], columns[held]]
    return out


def _put_band(a: Any, band: Band) -> Any:
    rows, columns, held = places(band)
    out = np.zeros(a.shape[: a.ndim - len(packed_shape(band))] + band[2:4], a.dtype)
    if len(held) == 1:
        out[..., rows[0], columns[0]] = a
    else:
        out[..., rows[held], columns[held]] = a[..., held]
    return out


_BANDS: list[Band] = [
    (0, 0, 2, 3, True, False),
    (-1, 1, 3, 3, True, False),
    (-1, 1, 2, 3, False, True),
]

take_band: Op = op(
    "take_band", _take_band, lambda g, band: put_band(g, band=band),
    shape=lambda a, band: a[:-2] + packed_shape(band), label="MatrixDiagPartV3",
    params=("band",), push="linear", batches=True,
    sample=lambda d: [([d(2, *band[2:4])], {"band": band}) for band in _BANDS],
)  # fmt: skip
put_band: Op = op(
    "put_band", _put_band, lambda g, band: take_band(g, band=band),
    shape=lambda a, band: a[: len(a) - len(packed_shape(band))] + band[2:4],
    label="MatrixDiagV3", params=("band",), push="linear", batches=True,
    sample=lambda d: [([d(2, *packed_shape(band))], {"band": band}) for band in _BANDS],
)  # fmt: skip


def in_band(rows: int, columns: int, low: int, high: int) -> Any:
    """Which entries of a matrix lie on the diagonals from low to high."""
    k = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    return (k >= low) & (k <= high)


def _band_part(a: Any, lower: int, upper: int) -> Any:
    rows, columns = a.shape[-2:]
    kept = in_band(rows, columns, -lower if lower >= 0 else -rows, upper if upper >= 0 else columns)
    return np.where(kept, a, np.zeros((), a.dtype))


band_part: Op = op(
    "band_part", _band_part, lambda g, lower, upper: band_part(g, lower=lower, upper=upper),
    shape=same, label="MatrixBandPart", params=("lower", "upper"),
    push="linear", batches=True,
    sample=lambda d: [
        ([d(3, 4)], {"lower": -1, "upper": 0}),
        ([d(2, 3, 3)], {"lower": 1, "upper": -1}),
    ],
)  # fmt: skip


def main(n: int, m: int | None = None) -> Band:
    """The main diagonal of an n by m matrix."""
    return (0, 0, n, n if m is None else m, True, False)


def diag(a: Any) -> Any:
    """A square matrix from its diagonal, for rules."""
    return put_band(a, band=main(a.shape[-1]))


def diag_part(a: Any) -> Any:
    """The main diagonal, for rules."""
    return take_band(a, band=main(*a.shape[-2:]))
