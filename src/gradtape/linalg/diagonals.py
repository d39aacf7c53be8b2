"""The part of `tf.linalg` that takes out and puts in the diagonals of matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import alike, allow, as_input, number, word
from ..ops import diagonal as diagonal_ops
from ..ops import reduce as reduce_ops
from ..ops import shape
from ..ops.index import select

_ALIGNMENTS = {
    "RIGHT_LEFT": (True, False),
    "LEFT_RIGHT": (False, True),
    "LEFT_LEFT": (False, False),
    "RIGHT_RIGHT": (True, True),
}


def _band(k: Any, rows: int, columns: int, align: str) -> diagonal_ops.Band:
    chosen = word(align, "align", tuple(_ALIGNMENTS), "MatrixDiagV3", "RIGHT_LEFT")
    low, high = _ends(k)
    return (low, high, rows, columns, *_ALIGNMENTS[chosen])


def _ends(k: Any) -> tuple[int, int]:
    ends = np.asarray(as_input(k, np.int32, "MatrixDiagV3")._value).ravel().tolist()
    if not ends:
        raise errors.invalid("diag_index must be a scalar or a pair, got nothing [Op:MatrixDiagV3]")
    low, high = (ends[0], ends[-1]) if len(ends) <= 2 else (0, -1)
    if low > high:
        raise errors.invalid(
            f"lower_diag_index must not be larger than upper_diag_index: {k} [Op:MatrixDiagV3]"
        )
    return low, high


def _within(op: Op, k: Any, rows: int, columns: int) -> None:
    for name, end in zip(("lower", "upper"), _ends(k), strict=True):
        if not (-rows < end < columns or end == 0):
            raise errors.invalid(
                f"{name}_diag_index is out of bound: {end}. It must be between {-rows} and "
                f"{columns} [Op:{op.label}] name: "
            )


def diag(
    diagonal: Any,
    name: str = "diag",
    k: Any = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """Matrices with the given diagonal, or band of diagonals from k[0] to k[1].

    >>> import gradtape as tf
    >>> tf.linalg.diag([1.0, 2.0])
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[1., 0.],
           [0., 2.]], dtype=float32)>
    """
    d = convert.to_tensor(diagonal)
    _padding(d, padding_value)
    if isinstance(diagonal, (list, tuple)) and d._value.dtype.kind == "b":
        convert.to_tensor(padding_value, d._value.dtype)  # of a tensor, TensorFlow makes it one
    low, high = _ends(k)
    wanted = 2 if low < high else 1
    if d._value.ndim < wanted:
        raise errors.invalid(
            f"diagonal must be at least {wanted}-dim, received shape: {list(d._value.shape)} "
            "[Op:MatrixDiagV3] name: diag"
        )
    size = [
        number(as_input(n, np.int32, "MatrixDiagV3"), "MatrixDiagV3") for n in (num_rows, num_cols)
    ]
    rows, columns = _diag_sizes(d._value.shape[-1], low, high, *size)
    band = _band(k, rows, columns, align)
    if d._value.shape[-wanted:] != diagonal_ops.packed_shape(band):
        raise errors.invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, "
            f"and diagonal: {rows} by {columns}, diagonals {low} to {high}, shape "
            f"{list(d._value.shape)} [Op:MatrixDiagV3] name: diag"
        )
    y = diagonal_ops.put_band.apply(d, band=band)
    inside = diagonal_ops.in_band(rows, columns, low, high)
    return _filled(y, inside, padding_value)


def _diag_sizes(longest: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    """The smallest matrix that holds the diagonals, where no size is asked for."""
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == -1 and columns == -1:
        size = max(least_rows, least_columns)
        return size, size
    return (least_rows if rows == -1 else rows), (least_columns if columns == -1 else columns)


def _padding(x: Any, padding: Any) -> None:
    """The padding must be of the dtype of the diagonals, of which strings take no number."""
    if x._value.dtype.kind == "O" or isinstance(padding, (str, bytes)):
        raise convert.cannot(padding, x._value.dtype)


def _filled(y: Any, inside: Any, padding: Any) -> Any:
    if padding.__class__ is int and not padding:
        return y
    given = np.asarray(convert.to_tensor(padding, hint=y._value.dtype)._value)
    if given.ndim or given.dtype != y._value.dtype:
        raise errors.invalid(
            f"padding_value must be a scalar of {y.dtype.name}, got {padding!r} [Op:MatrixDiagV3]"
        )
    value = given
    if not value:
        return y
    return select.apply(tensor(inside), y, tensor(value[()]))


def diag_part(
    input: Any,
    name: str = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:
    """The diagonals from k[0] to k[1] of matrices; the places beyond a shorter one are padded."""
    x = convert.to_tensor(input)
    _padding(x, padding_value)
    if x._value.ndim < 2:
        raise errors.invalid(
            f"input must be at least 2-dim, received shape: {list(x._value.shape)} "
            "[Op:MatrixDiagPartV3] name: diag_part"
        )
    rows, columns = x._value.shape[-2:]
    _within(diagonal_ops.take_band, k, rows, columns)
    band = _band(k, rows, columns, align)
    y = diagonal_ops.take_band.apply(x, band=band)
    held = diagonal_ops.places(band)[2]
    return _filled(y, held[0] if len(held) == 1 else held, padding_value)


def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """The matrices with other numbers on the diagonals from k[0] to k[1]."""
    x, d = convert.pair(diagonal_ops.put_band, input, diagonal)
    if x._value.ndim < 2:
        raise errors.invalid(
            f"input must be at least 2-dim, received shape: {list(x._value.shape)} "
            "[Op:MatrixSetDiagV3] name: set_diag"
        )
    *outer, rows, columns = x._value.shape
    _within(diagonal_ops.put_band, k, rows, columns)
    band = _band(k, rows, columns, align)
    expected = (*outer, *diagonal_ops.packed_shape(band))
    if d._value.shape != expected:
        raise errors.at_run(
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range: expected shape "
            f"{list(expected)}, got {list(d._value.shape)} [Op:MatrixSetDiagV3] name: set_diag"
        )
    inside = diagonal_ops.in_band(rows, columns, *_ends(k))
    return select.apply(tensor(inside), diagonal_ops.put_band.apply(d, band=band), x)


_SPREAD = "bfloat16 float16 float32 float64 int32 int64 complex64 complex128"


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the axes with the given one on its diagonal, and zeros elsewhere."""
    d = convert.to_tensor(diagonal)
    sizes = d._value.shape
    allow(d, "Diag", _SPREAD)
    if not sizes:
        raise errors.invalid("Input must be at least rank 1, got 0 [Op:Diag] name: ")
    flat = shape.reshape.apply(d, shape=(d._value.size,))
    return shape.reshape.apply(diag(flat), shape=sizes + sizes)


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor whose second half of axes equals the first."""
    x = convert.to_tensor(input)
    sizes = x._value.shape
    half = len(sizes) // 2
    allow(x, "DiagPart", _SPREAD)
    if not sizes:
        return shape.identity.apply(x)
    if len(sizes) % 2 or sizes[:half] != sizes[half:]:
        raise errors.invalid(
            f"The rank of the tensor should be even and positive, and its halves equal: got shape "
            f"{list(sizes)} [Op:DiagPart] name: "
        )
    n = prod(sizes[:half])
    square = shape.reshape.apply(x, shape=(n, n))
    return shape.reshape.apply(diag_part(square), shape=sizes[:half])


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Zeros outside the band of num_lower diagonals below the main one and num_upper above it;
    a negative number keeps all."""
    x = convert.to_tensor(input)
    op = diagonal_ops.band_part
    if x._value.ndim < 2:
        raise errors.at_run(
            f"input must be at least 2-dim, received shape: {list(x._value.shape)} "
            f"[Op:{op.label}] name: "
        )
    limits = []
    given = alike((num_lower, num_upper), op.label, "Tindex", default=np.int64)
    for side, one, size in zip(("lower", "upper"), given, x._value.shape[-2:], strict=True):
        if one.size != 1:
            raise errors.at_run(f"num_{side} must be scalar, got {one} [Op:{op.label}] name: ")
        count = int(one.reshape(()))
        if count > size:
            raise errors.at_run(
                f"num_{side} must be negative or less or equal to number of "
                f"{'rows' if side == 'lower' else 'columns'} ({size}) got: {count} "
                f"[Op:{op.label}] name: "
            )
        limits.append(count)
    return op.apply(x, lower=limits[0], upper=limits[1])


def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the main diagonal."""
    d = diag_part(x)
    if d._value.dtype.kind == "b":
        raise convert.wrong_dtype(reduce_ops.sum, d._value.dtype)
    return reduce_ops.sum.apply(d, axis=(-1,), keepdims=False)
