"""Inverses, solutions, determinants and functions of matrices; all take stacks of them.

Of the holomorphic ones the sweep takes the conjugates; the others (`real`) write them out as
`adjoint`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from math import prod
from typing import Any

import numpy as np

from ..core.op import Op
from .declare import op
from .diagonal import band_part
from .infer import same, stacked
from .kernels.product import LITTLE, by_size
from .linear import matmul, turned
from .reasons import Missing

# What LAPACK computes with; TensorFlow also takes float16.
MATRICES = "fc"


def adjoint(a: Any) -> Any:
    return turned(np.conj(a) if a.dtype.kind == "c" else a)


def _column(a: Any) -> Any:
    """A number per matrix, to multiply the matrices with."""
    return np.expand_dims(a, (-2, -1))


def lapack(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute float16 in float32, which is the least that LAPACK has."""

    @wraps(function)
    def computed(*arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        call = partial(function, **params) if params else function
        if dtype.itemsize != 2:
            return by_size(call, _multiplications(arrays), *arrays)
        y = by_size(call, _multiplications(arrays), *[a.astype(np.float32) for a in arrays])
        return (
            tuple(_narrow(part, dtype) for part in y) if isinstance(y, tuple) else _narrow(y, dtype)
        )

    return computed


def _multiplications(arrays: tuple[Any, ...]) -> int:
    """About as many as the largest matrix of a stack takes. A matrix of its own is left to BLAS."""
    if not any(a.ndim > 2 for a in arrays):
        return LITTLE + 1
    return max(prod(a.shape[-2:]) * max(a.shape[-2:]) for a in arrays if a.ndim > 1)


def _narrow(y: Any, dtype: Any) -> Any:
    return y.astype(dtype) if y.dtype == np.float32 else y


def sound_only(
    compute: Callable[[Any], tuple], a: Any, unsound: Any, instead: float = np.nan
) -> tuple:
    """What is computed of the matrices of a stack; those with an unsound number, for which LAPACK
    comes to no end, have nan everywhere, as in TensorFlow, and the others what they have alone."""
    broken = unsound.any(axis=(-2, -1))
    if not broken.any():
        return compute(a)
    parts = compute(np.where(broken[..., None, None], a.dtype.type(0), a))
    for part in parts:
        part[broken] = instead
    return parts


def one_by_one(function: Callable[[Any], Any], a: Any) -> Any:
    """For what SciPy computes of single matrices only."""
    parts = [function(matrix) for matrix in a.reshape(-1, *a.shape[-2:])]
    return np.array(parts).reshape(a.shape) if parts else a


def invalid(message: str) -> Exception:
    from .. import errors

    return errors.invalid(message)


def _squares(d: Any) -> list:
    return [([d(3, 3) + 3 * np.eye(3)], {}), ([d(2, 2, 2) + 3 * np.eye(2)], {})]


# --- inverses and solutions -----------------------------------------------------------------------
@lapack
def _inv(a: Any) -> Any:
    try:
        y = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        y = None
    if y is None or np.isnan(a).any():
        raise invalid(
            "Input is not invertible: a column is a combination of the others, or not a number. "
            "tf.linalg.pinv takes such matrices [Op:MatrixInverse] name: "
        )
    return y


inv = op(
    "inv", _inv, lambda g, y: -matmul(matmul(turned(y), g), turned(y)),
    shape=same, label="MatrixInverse", takes=MATRICES, batches=True, sample=_squares,
)  # fmt: skip


@lapack
def _solve(a: Any, b: Any) -> Any:
    try:
        y = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        y = None
    if y is None or np.isnan(a).any():
        raise invalid(
            "Input matrix is not invertible: a column is a combination of the others, or not a "
            "number. tf.linalg.lstsq with an l2_regularizer takes such matrices "
            "[Op:MatrixSolve] name: "
        )
    return y


solve: Op = op(
    "solve", _solve,
    (
        lambda g, a, y: -matmul(solve(turned(a), g), turned(y)),
        lambda g, a: solve(turned(a), g),
    ),
    shape=lambda a, b: b, label="MatrixSolve", takes=MATRICES, batches=True,
    sample=lambda d: [
        ([d(3, 3) + 3 * np.eye(3), d(3, 2)], {}),
        ([d(2, 2, 2) + 3 * np.eye(2), d(2, 2, 1)], {}),
    ],
)  # fmt: skip


@lapack
def _triangular_solve(a: Any, b: Any, lower: bool) -> Any:
    if a.ndim == b.ndim == 2 and a.size and b.size and np.all(np.diagonal(a)):
        from scipy.linalg import solve_triangular

        return solve_triangular(a, b, lower=lower, check_finite=False)
    return _substitute(a, b, lower)


def _substitute(a: Any, b: Any, lower: bool) -> Any:
    """Row by row, for all matrices of the stack at once; a zero on the diagonal gives infinity."""
    n = a.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    y = np.array(np.broadcast_to(b, batch + b.shape[-2:]))
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        y[..., i : i + 1, :] -= a[..., i : i + 1, known] @ y[..., known, :]
        y[..., i, :] /= a[..., i, i, None]
    return y


def _grad_of_triangle(g: Any, a: Any, y: Any, lower: bool) -> Any:
    full = matmul(triangular_solve(turned(a), g, lower=not lower), turned(y))
    return -band_part(full, lower=-1 if lower else 0, upper=0 if lower else -1)


triangular_solve: Op = op(
    "triangular_solve", _triangular_solve,
    (
        _grad_of_triangle,
        lambda g, a, lower: triangular_solve(turned(a), g, lower=not lower),
    ),
    shape=lambda a, b, lower: stacked(a, b, *b[-2:]),
    label="MatrixTriangularSolve", takes=MATRICES, batches=True, broadcasts=True,
    params=("lower",),
    sample=lambda d: [
        ([d(3, 3) + 3 * np.eye(3), d(3, 2)], {"lower": True}),
        ([d(2, 2, 2) + 3 * np.eye(2), d(2, 1)], {"lower": False}),
    ],
)  # fmt: skip


@lapack
def _pinv(a: Any, rcond: Any) -> Any:
    return sound_only(lambda a: (np.linalg.pinv(a, rcond=rcond),), a, ~np.isfinite(a))[0]


def _grad_of_pinv(g: Any, a: Any, y: Any) -> Any:
    # Golub and Pereyra: dP = -P dA P + P P' dA' (1 - A P) + (1 - P A) dA' P' P
    ya, gh = adjoint(y), adjoint(g)
    first = -matmul(matmul(ya, g), ya)
    second = matmul(gh, matmul(y, ya))
    third = matmul(matmul(ya, y), gh)
    return (
        first
        + (second - matmul(a, matmul(y, second)))
        + (third - matmul(matmul(third, y), a))
    )  # fmt: skip


pinv = op(
    "pinv", _pinv, _grad_of_pinv,
    shape=lambda a, rcond: (*a[:-2], a[-1], a[-2]), label="Svd", kind="PseudoInverse", real=True,
    takes=MATRICES, batches=True, params=("rcond",),
    sample=lambda d: [([d(3, 2)], {"rcond": 1e-12}), ([d(2, 2, 3)], {"rcond": 1e-12})],
)  # fmt: skip


def _no_grad(g: Any) -> Any:
    raise ValueError(
        "Gradient not defined for fast=False: tf.linalg.lstsq(..., fast=True) has one."
    )


@lapack
def _least_squares(a: Any, b: Any) -> Any:
    (inverse,) = sound_only(lambda a: (np.linalg.pinv(a),), a, np.isnan(a), instead=0)
    return (inverse @ np.where(np.isnan(a).any(axis=(-2, -1), keepdims=True), 0, b)).astype(
        b.dtype, copy=False
    )


least_squares = op(
    "least_squares", _least_squares, (_no_grad, _no_grad),
    shape=lambda a, b: (*a[:-2], a[-1], b[-1]), dtype=1, label="MatrixSolveLs", takes=MATRICES,
    # Whole numbers, of which no test asks the derivative.
    sample=lambda d: [([np.array([[2, 0], [0, 1], [1, 1]]), np.array([[1], [2], [3]])], {})],
)  # fmt: skip

# --- determinants ---------------------------------------------------------------------------------
det = op(
    "det", lapack(np.linalg.det),
    # As TensorFlow, of complex matrices not the conjugate of the determinant.
    lambda g, a, y: _column(g * y) * adjoint(inv(a)),
    shape=lambda a: a[:-2], label="MatrixDeterminant", real=True, takes=MATRICES, batches=True,
    sample=_squares,
)  # fmt: skip


@lapack
def _slogdet(a: Any) -> Any:
    sign, log = np.linalg.slogdet(a)
    sign = np.where(np.isnan(log), log, sign).astype(a.dtype)
    return np.asarray(sign), np.asarray(log).astype(a.dtype)


def _grad_of_slogdet(g: Any, a: Any) -> Any:
    # As TensorFlow, of the sign nothing, though of complex matrices it turns.
    derivative = np.zeros_like(g[0]) if g[1] is None else g[1]
    return [_column(derivative) * turned(inv(a))]


slogdet = op(
    "slogdet", _slogdet, _grad_of_slogdet,
    shape=lambda a: [a[:-2], a[:-2]], label="LogMatrixDeterminant", joint=True, takes=MATRICES,
    sample=_squares,
)  # fmt: skip


# --- functions of a matrix ------------------------------------------------------------------------
@lapack
def _expm(a: Any) -> Any:
    from scipy.linalg import expm as exponential

    return exponential(a) if a.size else a


def _grad_of_expm(g: Any, a: Any) -> Any:
    # The derivative of exp at A along E stands in exp [[A, E], [0, A]]; its transpose is that of
    # the transpose of A.
    n = a.shape[-1]
    at = np.broadcast_to(turned(a), g.shape)
    top = np.concatenate([at, g], axis=-1)
    bottom = np.concatenate([np.zeros_like(g), at], axis=-1)
    return expm(np.concatenate([top, bottom], axis=-2))[..., :n, n:]


expm = op(
    "expm", _expm, _grad_of_expm,
    shape=same, label="MatrixExponential", takes=MATRICES, batches=True,
    sample=lambda d: [([d(3, 3)], {}), ([d(2, 2, 2)], {})],
)  # fmt: skip


@lapack
def _sqrtm(a: Any) -> Any:
    from scipy.linalg import sqrtm as root

    def real_root(matrix: Any) -> Any:
        if not np.isfinite(matrix).all():  # SciPy before 1.16 raises
            return np.full_like(matrix, np.nan)
        y = root(matrix)
        if a.dtype.kind != "c" and y.dtype.kind == "c":
            # SciPy before 1.16 goes by way of complex numbers, whose rounding is no imaginary part.
            noise = np.sqrt(np.finfo(a.dtype).eps) * np.abs(y).max(initial=0.0)
            y = y.real if (np.abs(y.imag) <= noise).all() else np.full_like(matrix, np.nan)
        return y.astype(a.dtype)

    return one_by_one(real_root, a)


def _grad_of_sqrtm(g: Any, y: Any) -> Any:
    # dA = Y dY + dY Y, so the derivative X solves Y' X + X Y' = G: n * n linear equations.
    # TensorFlow transposes Y and does not conjugate it.
    n = y.shape[-1]
    one = np.eye(n, dtype=y.dtype)
    left = np.reshape(turned(y), (*y.shape[:-2], n, 1, n, 1)) * one[:, None, :]
    right = np.reshape(y, (*y.shape[:-2], 1, n, 1, n)) * one[:, None, :, None]
    system = np.reshape(left + right, (*y.shape[:-2], n * n, n * n))
    return np.reshape(solve(system, np.reshape(g, (*g.shape[:-2], n * n, 1))), g.shape)


sqrtm = op(
    "sqrtm", _sqrtm, _grad_of_sqrtm,
    shape=same, label="MatrixSquareRoot", takes=MATRICES, batches=True, sample=_squares,
    real=True,
)  # fmt: skip


@lapack
def _logm(a: Any) -> Any:
    from scipy.linalg import logm as logarithm

    return one_by_one(lambda matrix: logarithm(matrix.astype(np.complex128)).astype(a.dtype), a)


logm = op(
    "logm", _logm, Missing("TensorFlow has no derivative for the logarithm of a matrix"),
    shape=same, label="MatrixLogarithm", takes="c",
    sample=lambda d: [([d(2, 2) + 3 * np.eye(2) + 0j], {})],
)  # fmt: skip
