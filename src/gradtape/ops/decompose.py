"""Decompositions of matrices: triangular and orthogonal factors, eigenvalues, singular values.

All take stacks of matrices. None is holomorphic (`real`): their rules write conjugates out as
`adjoint`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .declare import op
from .diagonal import band_part, diag, diag_part
from .infer import Shape, as_complex, as_real, asked, least, same
from .linear import matmul
from .matrix import (
    MATRICES,
    adjoint,
    invalid,
    lapack,
    one_by_one,
    solve,
    sound_only,
    triangular_solve,
)
from .reasons import Missing
from .shape import cast


def _definite(d: Any) -> list:
    a, b = d(3, 3), d(2, 2, 2)
    return [
        ([a @ a.T + 2 * np.eye(3)], {}),
        ([b @ np.swapaxes(b, -1, -2) + np.diag([1.0, 2.0])], {}),
    ]


# --- triangular and orthogonal factors ------------------------------------------------------------
@lapack
def _cholesky(a: Any) -> Any:
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        if a.ndim == 2:
            # Not positive definite: nan, as TensorFlow, rather than an exception.
            return np.tril(np.full_like(a, np.nan))
        return one_by_one(_cholesky, a)


def _lower_half(a: Any) -> Any:
    """The lower triangle with half the diagonal."""
    halves = np.ones(a.shape[-2:]) - 0.5 * np.eye(a.shape[-1])
    return band_part(a, lower=-1, upper=0) * halves.astype(a.dtype)


def _grad_of_cholesky(g: Any, y: Any) -> Any:
    # Murray, Differentiation of the Cholesky decomposition: L'^-1 half(L' G) L^-1, symmetric.
    upper = adjoint(y)
    left = triangular_solve(upper, _lower_half(matmul(upper, g)), lower=False)
    full = adjoint(triangular_solve(upper, adjoint(left), lower=False))
    return (full + adjoint(full)) * 0.5


cholesky = op(
    "cholesky", _cholesky, _grad_of_cholesky,
    shape=same, label="Cholesky", real=True, takes=MATRICES, batches=True,
    # Of 1 by 1, because only the lower triangle is read but, as in TensorFlow, the derivative is
    # spread over both.
    sample=lambda d: [([d(2, 1, 1) + 2], {})],
)  # fmt: skip


@lapack
def _qr(a: Any, full: bool) -> Any:
    return tuple(np.linalg.qr(a, mode="complete" if full else "reduced"))


def _right(x: Any, r: Any) -> Any:
    """x times the inverse of the adjoint of r, which is upper triangular."""
    return adjoint(triangular_solve(r, adjoint(x), lower=False))


def _grad_of_tall_qr(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    # Walter and Lehmann; Roberts and Roberts: QR and LQ decomposition matrix backpropagation.
    qg = matmul(adjoint(q), gq)
    rg = matmul(r, adjoint(gr))
    lower = band_part(qg - adjoint(qg) + rg - adjoint(rg), lower=-1, upper=0)
    derivative = matmul(q, gr + _right(lower, r)) + _right(gq - matmul(q, qg), r)
    if q.dtype.kind == "c":
        m = diag_part(rg - adjoint(qg))
        turn = diag(m - cast(np.real(m), dtype=m.dtype))
        derivative = derivative + _right(matmul(q, adjoint(turn)), r)
    return derivative


def _grad_of_qr(g: Any, a: Any, y: Any, full: bool) -> Any:
    q, r = y
    rows, columns = a.shape[-2:]
    if full and rows > columns:
        raise NotImplementedError(
            f"The gradient of tf.linalg.qr is not defined when there are more rows ({rows}) than "
            f"columns ({columns}) and full_matrices is true; use full_matrices=False."
        )
    gq = np.zeros_like(q) if g[0] is None else g[0]
    gr = np.zeros_like(r) if g[1] is None else g[1]
    if rows >= columns:
        return [_grad_of_tall_qr(q, r, gq, gr)]
    # a = [x, z] = q [u, v]: the square case for x, and z = q v.
    z, u = a[..., rows:], r[..., :rows]
    gu, gv = gr[..., :rows], gr[..., rows:]
    gx = _grad_of_tall_qr(q, u, gq + matmul(z, adjoint(gv)), gu)
    return [np.concatenate([gx, matmul(q, gv)], axis=-1)]


def _qr_shape(a: Shape, full: bool) -> list[Shape]:
    rows, columns = a[-2:]
    inner = rows if full else least(rows, columns)
    return [(*a[:-2], rows, inner), (*a[:-2], inner, columns)]


qr = op(
    "qr", _qr, _grad_of_qr,
    shape=_qr_shape, label="Qr", joint=True, real=True, takes=MATRICES, params=("full",),
    sample=lambda d: [
        ([d(3, 2)], {"full": False}),
        ([d(2, 2, 3)], {"full": False}),
        ([d(3, 3) + 2 * np.eye(3)], {"full": True}),
    ],
)  # fmt: skip


@lapack
def _lu(a: Any, dtype: Any) -> Any:
    from scipy.linalg import lu_factor

    stack = a.reshape(-1, *a.shape[-2:])
    n = a.shape[-1]
    factors, orders = np.empty_like(stack), np.empty((len(stack), n), dtype)
    for k, matrix in enumerate(stack):
        order = np.arange(n)
        if n:
            factors[k], swaps = lu_factor(matrix, check_finite=False)
            pivots = np.diagonal(factors[k])
            if not pivots.all() or np.isnan(pivots).any():
                raise invalid("Input is not invertible. [Op:Lu] name: ")
            for i, j in enumerate(swaps):
                order[[i, j]] = order[[j, i]]
        orders[k] = order
    return factors.reshape(a.shape), orders.reshape(a.shape[:-1])


lu = op(
    "lu", _lu, Missing("TensorFlow has no derivative for the LU decomposition"),
    shape=lambda a, dtype: [a, a[:-1]], dtype=(0, asked), label="Lu",
    takes=MATRICES, params=("dtype",), sample=lambda d: [([d(3, 3)], {"dtype": np.dtype("int32")})],
)  # fmt: skip


# --- values and vectors ---------------------------------------------------------------------------
def _gaps(values: Any) -> Any:
    """1 / (v_j - v_i), and 0 on the diagonal; equal values give 0 rather than infinity."""
    gap = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    return np.where(np.eye(values.shape[-1], dtype=bool), 0.0, _softly_inverted(gap))


def _softly_inverted(x: Any) -> Any:
    return x / (x * x + 1e-20)


def _eigh(a: Any) -> Any:
    e, v = np.linalg.eigh(_numbers(a))
    return e.astype(a.dtype, copy=False), v


def _eigvalsh(a: Any) -> Any:
    return np.linalg.eigvalsh(_numbers(a)).astype(a.dtype, copy=False)


def _numbers(a: Any) -> Any:
    if np.isnan(a).any():
        raise invalid(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid: "
            "it holds nan [Op:SelfAdjointEigV2] name: "
        )
    return a


def _symmetric_grad(inner: Any, v: Any) -> Any:
    full = matmul(v, matmul(inner, adjoint(v)))
    # Only the lower triangle is read, so all of the derivative belongs there.
    return _lower_half(full + adjoint(full))


def _grad_of_eigh(g: Any, y: Any) -> Any:
    e, v = y
    inner: Any = 0.0 if g[0] is None else diag(g[0])
    if g[1] is not None:
        inner = inner + _gaps(e) * matmul(adjoint(v), g[1])
    return [_symmetric_grad(inner, v)]


eigh = op(
    "eigh", lapack(_eigh), _grad_of_eigh,
    shape=lambda a: [a[:-1], a], label="SelfAdjointEigV2", joint=True, real=True, takes=MATRICES,
    sample=_definite,
)  # fmt: skip
eigvalsh = op(
    "eigvalsh", lapack(_eigvalsh),
    lambda g, a: _symmetric_grad(diag(g), eigh(a)[1]),
    shape=lambda a: a[:-1], label="SelfAdjointEigV2", real=True, takes=MATRICES, batches=True,
    sample=_definite,
)  # fmt: skip


def _distinct(d: Any) -> list:
    return [([np.diag([1.0, 2.0, 4.0]) + 0.1 * d(3, 3)], {})]


def _eig(a: Any) -> Any:
    dtype = np.result_type(a.dtype, np.complex64)
    e, v = np.linalg.eig(a)
    return e.astype(dtype), v.astype(dtype)


def _eigvals(a: Any) -> Any:
    return np.linalg.eigvals(a).astype(np.result_type(a.dtype, np.complex64))


def _grad_of_eig(g: Any, y: Any, a_dtype: Any) -> Any:
    # Boeddeker et al., On the computation of complex-valued gradients, equation 4.77.
    e, v = y
    vh = adjoint(v)
    inner: Any = 0.0 if g[0] is None else diag(g[0])
    if g[1] is not None:
        vg = matmul(vh, g[1])
        own = diag(cast(np.real(diag_part(vg)), dtype=v.dtype))
        inner = inner + np.conj(_gaps(e)) * (vg - matmul(matmul(vh, v), own))
    return [cast(solve(vh, matmul(inner, vh)), dtype=a_dtype)]


def _grad_of_eigvals(g: Any, a: Any, a_dtype: Any) -> Any:
    vh = adjoint(eig(a)[1])
    return cast(solve(vh, matmul(diag(g), vh)), dtype=a_dtype)


eig = op(
    "eig", lapack(_eig), _grad_of_eig,
    shape=lambda a: [a[:-1], a], dtype=as_complex, label="Eig", joint=True, real=True,
    takes=MATRICES, sample=_distinct,
)  # fmt: skip
eigvals = op(
    "eigvals", lapack(_eigvals), _grad_of_eigvals,
    shape=lambda a: a[:-1], dtype=as_complex, label="Eig", real=True, takes=MATRICES,
    sample=_distinct,
)  # fmt: skip


@lapack
def _svd(a: Any, full: bool) -> Any:
    def compute(a: Any) -> tuple:
        u, s, vh = np.linalg.svd(a, full_matrices=full)
        return s, u, adjoint(vh)

    return sound_only(compute, a, np.isnan(a))


@lapack
def _singular_values(a: Any) -> Any:
    return sound_only(lambda a: (np.linalg.svd(a, compute_uv=False),), a, np.isnan(a))[0]


def _svd_shape(a: Any, full: bool) -> list[Any]:
    m, n = a[-2:]
    p = least(m, n)
    return [(*a[:-2], p), (*a[:-2], m, m if full else p), (*a[:-2], n, n if full else p)]


def _grad_of_svd(g: Any, y: Any, a_dtype: Any, full: bool) -> Any:
    s, u, v = y
    gs, gu, gv = [np.zeros_like(part) if h is None else h for h, part in zip(g, y, strict=True)]
    m, n = u.shape[-2], v.shape[-2]
    if full and abs(m - n) > 1:
        raise NotImplementedError(
            f"The gradient of tf.linalg.svd is not defined for abs(m - n) > 1 ({m} and {n}) when "
            "full_matrices is true; use full_matrices=False."
        )
    s, gs = cast(s, dtype=a_dtype), cast(gs, dtype=a_dtype)
    if m > n:
        return [adjoint(_grad_of_wide_svd(s, v, u, gs, gv, gu, full))]
    return [_grad_of_wide_svd(s, u, v, gs, gu, gv, full)]


def _grad_of_wide_svd(s: Any, u: Any, v: Any, gs: Any, gu: Any, gv: Any, full: bool) -> Any:
    # Townsend, Differentiating the singular value decomposition, for no more rows than columns.
    rows, columns = u.shape[-2], v.shape[-2]
    v1, gv1 = v[..., :rows], gv[..., :rows]
    gaps = _gaps(np.square(s))
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    ugu, vgv = gaps * matmul(adjoint(u), gu), gaps * matmul(adjoint(v1), gv1)
    inner = diag(gs) + (ugu + adjoint(ugu)) * row + column * (vgv + adjoint(vgv))
    inverse = np.expand_dims(_softly_inverted(s), -1)
    if u.dtype.kind == "c":
        turn = diag_part(matmul(adjoint(v1), gv1))
        inner = inner + inverse * diag((np.conj(turn) - turn) * 0.5)
    derivative = matmul(u, matmul(inner, adjoint(v1)))
    if rows < columns:
        gh = adjoint(gv1)
        rest = gh - matmul(matmul(gh, v1), adjoint(v1))
        if full:
            v2, gv2 = v[..., rows:], gv[..., rows:]
            rest = rest - matmul(matmul(adjoint(v1), gv2), adjoint(v2))
        derivative = derivative + matmul(u, inverse * rest)
    return derivative


svd = op(
    "svd", _svd, _grad_of_svd,
    shape=_svd_shape, dtype=(as_real, 0, 0), label="Svd", joint=True, real=True, takes=MATRICES,
    params=("full",),
    sample=lambda d: [
        ([np.diag([1.0, 3.0]) + 0.3 * d(2, 2)], {"full": False}),
        ([np.diag([1.0, 3.0]) @ d(2, 3)], {"full": False}),
        ([d(3, 2) @ np.diag([1.0, 3.0])], {"full": False}),
    ],
)  # fmt: skip


def _grad_of_singular_values(g: Any, a: Any) -> Any:
    _, u, v = svd(a, full=False)
    return matmul(u * np.expand_dims(cast(g, dtype=a.dtype), -2), adjoint(v))


singular_values = op(
    "singular_values", _singular_values, _grad_of_singular_values,
    shape=lambda a: (*a[:-2], least(*a[-2:])), dtype=as_real, label="Svd", real=True,
    takes=MATRICES, batches=True,
    sample=lambda d: [([d(3, 2) @ np.diag([1.0, 3.0])], {})],
)  # fmt: skip
