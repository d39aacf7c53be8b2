"""The part of `tf.linalg` about matrices with a few diagonals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..arrays.reshaping import expand_dims, pad, squeeze, stack
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import truth
from ..ops import banded as banded_ops
from ..ops import complex as complex_ops
from ..ops import decompose
from ..ops.index import getitem, take
from .diagonals import diag, diag_part
from .products import matrix_transpose

_KINDS = ("float32", "float64", "complex64", "complex128")
_FORMATS = ("matrix", "sequence", "compact")


# --- three diagonals ------------------------------------------------------------------------------
def _compact(diagonals: Any, layout: str, padded: bool) -> Any:
    """The diagonals as [..., 3, n]: above, on and below the main one."""
    if layout == "compact":
        return convert.to_tensor(diagonals)
    if layout == "matrix":
        x = convert.to_tensor(diagonals)
        rows, columns = x._value.shape[-2:]
        if rows != columns:
            raise ValueError(
                "Expected last two dimensions of diagonals to be same, got "
                f"{columns} and {rows}"
            )  # fmt: skip
        return diag_part(x, k=(-1, 1), align="LEFT_RIGHT")
    if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = (convert.to_tensor(part) for part in diagonals)
    n = main._value.shape[-1]
    lead = [(0, 0)] * (main._value.ndim - 1)
    if padded:
        for part, name in ((above, "superdiagonal"), (below, "subdiagonal")):
            if part._value.shape[-1] not in (n - 1, n):
                raise ValueError(f"Expected {name} to be have length {n - 1} or {n}.")
        if above._value.shape[-1] == n - 1:
            above = pad(above, [*lead, (0, 1)])
        if below._value.shape[-1] == n - 1:
            below = pad(below, [*lead, (1, 0)])
    for part, name in ((above, "superdiagonal"), (below, "subdiagonal")):
        if part._value.shape[-1] != n:
            raise errors.invalid(
                f"Invalid {name} shape: {list(part._value.shape)}, the main diagonal has "
                f"{list(main._value.shape)} [Op:TridiagonalMatMul] name: "
            )
    return stack([above, main, below], axis=-2)


def _checked_format(layout: str) -> None:
    if layout not in _FORMATS:
        raise ValueError(
            f"Unrecognized diagonals_format: {layout}; it is 'matrix', 'sequence' or 'compact'"
        )


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Any:
    """x in matrix @ x = rhs of a matrix with three diagonals: above, on and below the main one.

    >>> import gradtape as tf
    >>> diagonals = tf.constant([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]])
    >>> tf.linalg.tridiagonal_solve(diagonals, tf.constant([3.0, 4.0, 3.0]))
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 1., 1.], dtype=float32)>
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    _checked_format(diagonals_format)
    op = banded_ops.tridiagonal_solve
    a = _compact(diagonals, diagonals_format, padded=True)
    if a._value.ndim < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {a._value.ndim}")
    a, b = convert.pair(op, a, rhs)
    _only_wide(a, op.label)
    depth, rank = a._value.ndim, b._value.ndim
    if rank not in (depth, depth - 1):
        raise ValueError(f"Expected the rank of rhs to be {depth - 1} or {depth}, got {rank}")
    if a._value.shape[:-2] != b._value.shape[: depth - 2]:
        raise ValueError(
            f"Batch shapes {a._value.shape[:-2]} and {b._value.shape[: depth - 2]} are incompatible"
        )
    if a._value.shape[-2] != 3:
        raise ValueError(f"Expected 3 diagonals got {a._value.shape[-2]}")
    if conjugate_rhs and b._value.dtype.kind == "c":
        b = complex_ops.conj.apply(b)
    vector = rank == depth - 1
    if vector:
        b = expand_dims(b, -1)
    elif transpose_rhs:
        b = matrix_transpose(b)
    if a._value.shape[-1] != b._value.shape[-2]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{a._value.shape[-1]} and {b._value.shape[-2]}"
        )
    y = op.apply(a, b, upper=1)
    return squeeze(y, -1) if vector else y


def _only_wide(x: Any, label: str) -> None:
    if x._value.dtype.name not in _KINDS:
        raise errors.wrong_dtype(
            f"Value for attr 'T' of {convert.c_name(x._value.dtype)} is not in the list of allowed "
            f"values: double, float, complex64, complex128 [Op:{label}]"
        )


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Any:
    """A matrix with three diagonals, above, on and below the main one, times a matrix."""
    _checked_format(diagonals_format)
    op = banded_ops.band_matmul
    if diagonals_format == "matrix":
        convert.pair(op, diagonals, rhs)
    a = _compact(diagonals, diagonals_format, padded=False)
    a, b = convert.pair(op, a, rhs)
    _only_wide(a, op.label)
    if a._value.ndim < 2 or a._value.shape[-2] < 3:
        raise errors.invalid(
            f"slice index 2 of dimension 0 out of bounds: diagonals must be three rows, got "
            f"{list(a._value.shape)} [Op:StridedSlice] name: "
        )
    if a._value.ndim != b._value.ndim:
        raise errors.invalid(
            f"All input tensors must have the same rank, got {a._value.ndim} and {b._value.ndim} "
            "[Op:TridiagonalMatMul] name: "
        )
    if a._value.shape[-1] != b._value.shape[-2]:
        raise errors.invalid(
            f"Invalid superdiagonal shape: {a._value.shape[-1]} columns for {b._value.shape[-2]} "
            "rows [Op:TridiagonalMatMul] name: "
        )
    return op.apply(a, b, upper=1)


# --- triangles ------------------------------------------------------------------------------------
def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """x in matrix @ x = rhs of a triangle with few diagonals, the main one first if `lower` and
    last if not."""
    op = banded_ops.banded_solve
    lower, adjoint = truth(lower, "lower", True), truth(adjoint, "adjoint")
    a, b = convert.pair(op, bands, rhs)
    if a._value.dtype.itemsize == 2:
        raise errors.no_kernel(op.label, a.dtype.name)
    _only_wide(a, op.label)
    for k, part in enumerate((a, b)):
        if part._value.ndim < 2:
            raise errors.invalid(
                f"In[{k}] ndims must be >= 2: {part._value.ndim} [Op:{op.label}] name: "
            )
    count, n = a._value.shape[-2:]
    if n != b._value.shape[-2]:
        raise errors.invalid(
            f"In[0] mismatch In[1] shape: {n} vs. {b._value.shape[-2]}: {list(a._value.shape)} "
            f"{list(b._value.shape)} [Op:{op.label}] name: "
        )
    convert.examine(partial(_check_diagonal, 0 if lower else count - 1, op.label), a._value)
    if count > n > 0:  # diagonals that lie outside
        cut = slice(0, n) if lower else slice(count - n, None)
        a, count = getitem.apply(a, key=(..., cut, slice(None))), n
    upper = 0 if lower else count - 1
    if adjoint:
        if a._value.dtype.kind == "c":
            a = complex_ops.conj.apply(a)
        a, upper = banded_ops.turn_bands.apply(a, upper=upper), count - 1 - upper
    return op.apply(a, b, upper=upper)


def _check_diagonal(place: int, label: str, bands: Any) -> None:
    if not np.all(bands[..., place, :]):
        raise errors.invalid(
            f"Input matrix is not invertible: a number on its diagonal is 0 [Op:{label}] name: "
        )


# --- eigenvalues ----------------------------------------------------------------------------------
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """The eigenvalues (and eigenvectors) of the self-adjoint matrix with `alpha` on its diagonal
    and `beta` beside it: all ("a"), those in a range of values ("v") or of numbers ("i").

    Differs from TensorFlow: its gradient is the derivative, which TensorFlow's is not.
    """
    main, side = convert.to_tensor(alpha), convert.to_tensor(beta)
    if not main._value.ndim:
        raise ValueError(f"`alpha` is the diagonal, a vector; got the shape {main.shape}.")
    if not isinstance(select, str) or select not in ("a", "i", "v"):
        raise ValueError("'select must have a value in {'a', 'i', 'v'}.")
    if main._value.dtype.kind not in "fc":
        raise ValueError(f"data type {main._value.dtype.type} not inexact")
    if main._value.ndim != 1 or side._value.shape != (main._value.shape[0] - 1,):
        raise errors.invalid(
            f"Incompatible shapes: alpha is [n] and beta [n - 1], got {list(main._value.shape)} "
            f"and {list(side._value.shape)}"
        )
    matrix = diag(main)
    if side._value.size:
        matrix = matrix + diag(side, k=-1)
    if eigvals_only:
        values, vectors = decompose.eigvalsh.apply(matrix), None
    else:
        values, vectors = decompose.eigh.apply(matrix)
    if values._value.dtype.kind == "c":
        values = complex_ops.real.apply(values)
    if select != "a":
        low, high = select_range
        v = values._value
        places = np.arange(len(v))
        kept = (places >= low) & (places <= high) if select == "i" else (v > low) & (v <= high)
        where = tensor(np.flatnonzero(kept))
        values = take.apply(values, where, axis=0)
        vectors = vectors if vectors is None else take.apply(vectors, where, axis=1)
    return values if vectors is None else (values, vectors)
