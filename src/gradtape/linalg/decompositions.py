"""`tf.linalg`: solutions, determinants and decompositions of matrices; products, norms and
diagonals come from their own modules.

Every function takes stacks of matrices: the last two axes are the matrix, those before are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import allow, listed_dtype, matching, truth
from ..ops import compare, decompose, elementwise, linear
from ..ops import complex as complex_ops
from ..ops import diagonal as diagonal_ops
from ..ops import matrix as matrix_ops
from ..ops import reduce as reduce_ops
from ..ops import shape as shape_ops
from .products import turn


# --- what the functions share ---------------------------------------------------------------------
def _checked(op: Op, *values: Any) -> list:
    """Tensors of one dtype that the op takes; numbers and arrays take that of the first."""
    tensors = matching(op.label, values) if len(values) > 1 else [convert.to_tensor(values[0])]
    first = tensors[0]
    if first._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, first._value.dtype)
    return tensors


def _matrix(op: Op, value: Any, square: bool = False) -> Any:
    (x,) = _checked(op, value)
    _look_at(op, x, square)
    return x


def _look_at(op: Op, x: Any, square: bool) -> None:
    sizes = x._value.shape
    if len(sizes) < 2:
        raise errors.invalid(
            f"Input tensor 0 must have rank >= 2, got {len(sizes)}: its last two axes are the "
            f"matrix [Op:{op.label}] name: "
        )
    if square and sizes[-1] != sizes[-2]:
        raise errors.invalid(
            f"Input matrix must be square, got {sizes[-2]} rows and {sizes[-1]} columns "
            f"[Op:{op.label}] name: "
        )


# --- inverses and solutions -----------------------------------------------------------------------
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse, or that of the adjoint."""
    x, adjoint = _matrix(matrix_ops.inv, input, square=True), truth(adjoint, "adjoint")
    return matrix_ops.inv.apply(turn(x, adjoint, adjoint))


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverse; singular values below rcond times the greatest count as 0."""
    x = _real_matrix(a, matrix_ops.pinv)
    if rcond is None:
        limits = np.finfo(x._value.real.dtype)
        rcond = 10.0 * max(x._value.shape[-2:]) * float(limits.eps)
    else:
        rcond = np.asarray(convert.to_tensor(rcond, x._value.dtype)._value)
        outer = x._value.shape[:-2]
        if rcond.shape not in ((), outer) and not (
            rcond.ndim <= len(outer) and np.broadcast_shapes(rcond.shape, outer) == outer
        ):
            raise ValueError(
                f"rcond has shape {rcond.shape}: one number, or one for each of the matrices "
                f"{outer}, is needed."
            )
    return matrix_ops.pinv.apply(x, rcond=rcond)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """x in matrix @ x = rhs.

    >>> import gradtape as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1. ],
           [0.5]], dtype=float32)>
    """
    op, adjoint = matrix_ops.solve, truth(adjoint, "adjoint")
    a, b = _checked(op, matrix, rhs)
    _same_ranks(op, a, b)
    left, right = a._value.shape, b._value.shape
    if left[-1] != left[-2]:
        raise errors.invalid(
            f"First input (lhs) must be a square matrix, got {list(left)} [Op:MatrixSolve] name: "
        )
    if left[:-1] != right[:-1]:
        raise errors.invalid(
            f"Input matrix and rhs are incompatible: {list(left)} and {list(right)} "
            "[Op:MatrixSolve] name: "
        )
    return op.apply(turn(a, adjoint, adjoint), b)


def _same_ranks(op: Op, a: Any, b: Any) -> None:
    _look_at(op, a, square=False)
    if a._value.ndim != b._value.ndim:
        raise errors.invalid(
            f"All input tensors must have the same rank, got {a._value.ndim} and "
            f"{b._value.ndim}; give a vector an axis first (tf.expand_dims) [Op:{op.label}] name: "
        )


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """x in matrix @ x = rhs, of whose matrix only the lower (or upper) triangle is read."""
    op = matrix_ops.triangular_solve
    lower, adjoint = truth(lower, "lower", default=True), truth(adjoint, "adjoint")
    a, b = _checked(op, matrix, rhs)
    _look_at(op, a, square=False)
    _look_at(op, b, square=False)
    left, right = a._value.shape, b._value.shape
    if left[-1] != left[-2]:
        raise errors.invalid(
            f"In[0] matrices in the last dimensions must be square ({left[-1]} =/= {left[-2]}) "
            f"[Op:{op.label}] name: "
        )
    if left[-1] != right[-2]:
        raise errors.invalid(
            f"In[0] mismatch In[1] shape: {left[-1]} vs. {right[-2]}: {list(left)} {list(right)} "
            f"[Op:{op.label}] name: "
        )
    return op.apply(turn(a, adjoint, adjoint), b, lower=lower != adjoint)


def lstsq(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Any:
    """The least-squares solution of matrix @ x = rhs, by the normal equations if `fast`.

    Without `fast` the regularizer is ignored and there is no gradient, as in TensorFlow.
    """
    op = matrix_ops.least_squares
    a = convert.to_tensor(matrix)
    if a._value.ndim < 2:
        raise (IndexError if a._value.ndim else ValueError)(
            f"tf.linalg.lstsq takes a matrix of rank 2 or more, got the shape {a.shape}."
        )
    if a._value.dtype.kind in "bO" and a._value.ndim:
        raise TypeError(f"Expected numeric or variant tensor, got dtype {a.dtype!r}.")
    b = convert.to_tensor(rhs, hint=a._value.dtype)
    # Of an array TensorFlow asks no more than whether it is there.
    fast = True if hasattr(fast, "shape") else bool(fast)
    a, b = _checked(op, a, b)
    _look_at(op, a, square=False)
    _look_at(op, b, square=False)
    unlike = (
        a._value.shape[-2] != b._value.shape[-2]
        if fast
        else (a._value.shape[:-1] != b._value.shape[:-1])
    )
    if unlike:
        raise errors.invalid(
            f"Input matrix and rhs are incompatible: {list(a._value.shape)} and "
            f"{list(b._value.shape)} [Op:MatrixSolveLs] name: "
        )
    if not fast:
        return op.apply(a, b)
    rows, columns = a._value.shape[-2:]
    turned = turn(a, True, True)
    small = min(rows, columns)
    gram = linear.matmul.apply(turned, a) if rows >= columns else linear.matmul.apply(a, turned)
    identity = np.eye(small, dtype=a._value.dtype)
    if convert.is_tensor_like(l2_regularizer):
        gram = gram + l2_regularizer * tensor(identity)
    elif strength := _strength(l2_regularizer, a._value.dtype):
        gram = gram + tensor(strength * identity)
    factor = decompose.cholesky.apply(gram)
    if rows >= columns:
        return cholesky_solve(factor, linear.matmul.apply(turned, b))
    return linear.matmul.apply(turned, cholesky_solve(factor, b))


def _strength(given: Any, dtype: np.dtype) -> float:
    if isinstance(given, (str, bytes)):
        raise convert.cannot(given, dtype)
    plain = isinstance(given, float)  # which may become an infinity
    value = convert.to_tensor(given, dtype if plain and dtype.kind == "f" else None)._value
    if value.ndim:
        said = f"l2_regularizer must be a single number, got {given!r}"
        raise ValueError(said) if isinstance(given, np.ndarray) else errors.invalid(said)
    return float(value)


def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular factor L of a positive definite matrix L @ L^H; nan if it has none."""
    return decompose.cholesky.apply(_matrix(decompose.cholesky, input, square=True))


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """x in a @ x = rhs from the Cholesky factor of a."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


# --- determinants ---------------------------------------------------------------------------------
class LogMatrixDeterminant(NamedTuple):
    """The sign of a determinant and the logarithm of its size."""

    sign: Any
    log_abs_determinant: Any


def det(input: Any, name: str | None = None) -> Any:
    """The determinant."""
    return matrix_ops.det.apply(_matrix(matrix_ops.det, input, square=True))


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The sign of the determinant and the logarithm of its absolute value."""
    x = _matrix(matrix_ops.slogdet, input, square=True)
    return LogMatrixDeterminant(*matrix_ops.slogdet.apply(x))


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    factor = cholesky(matrix)
    d = diagonal_ops.take_band.apply(factor, band=diagonal_ops.main(factor._value.shape[-1]))
    if d._value.dtype.kind == "c":
        d = complex_ops.real.apply(d)
    return 2.0 * reduce_ops.sum.apply(elementwise.log.apply(d), axis=(-1,), keepdims=False)


# --- decompositions -------------------------------------------------------------------------------
class Qr(NamedTuple):
    """An orthogonal and an upper triangular factor."""

    q: Any
    r: Any


class Lu(NamedTuple):
    """Both triangular factors in one matrix, and the order of the rows."""

    lu: Any
    p: Any


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """q @ r = input with orthonormal columns in q and an upper triangular r."""
    x = _matrix(decompose.qr, input)
    return Qr(*decompose.qr.apply(x, full=truth(full_matrices, "full_matrices")))


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """Lower (with ones on its diagonal) times upper triangle = the rows of input in the order p."""
    x = _matrix(decompose.lu, input, square=True)
    wanted = listed_dtype(output_idx_type, "output_idx_type", ("int32", "int64"), "Lu", "int32")
    return Lu(*decompose.lu.apply(x, dtype=wanted))


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """(s, u, v) with input = u @ diag(s) @ v^H and s from the greatest down, or s alone.

    >>> import gradtape as tf
    >>> tf.linalg.svd([[3.0, 0.0], [0.0, -2.0]], compute_uv=False)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 2.], dtype=float32)>
    """
    x, full = _matrix(decompose.svd, tensor), truth(full_matrices, "full_matrices")
    if not truth(compute_uv, "compute_uv"):
        return decompose.singular_values.apply(x)
    return decompose.svd.apply(x, full=full)


def eigh(tensor: Any, name: str | None = None) -> tuple:
    """The eigenvalues, from the least up, and the eigenvectors (columns) of a self-adjoint matrix,
    of which only the lower triangle is read."""
    return decompose.eigh.apply(_matrix(decompose.eigh, tensor, square=True))


def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a self-adjoint matrix, of which only the lower triangle is read."""
    return decompose.eigvalsh.apply(_matrix(decompose.eigvalsh, tensor, square=True))


_WIDE = "float32 float64 complex64 complex128"


def eig(tensor: Any, name: str | None = None) -> tuple:
    """The eigenvalues and eigenvectors (columns) of a matrix; always complex."""
    tensor = convert.to_tensor(tensor)
    allow(tensor, "Eig", _WIDE)
    return decompose.eig.apply(_matrix(decompose.eig, tensor, square=True))


def eigvals(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a matrix; always complex."""
    tensor = convert.to_tensor(tensor)
    allow(tensor, "Eig", _WIDE)
    return decompose.eigvals.apply(_matrix(decompose.eigvals, tensor, square=True))


# --- functions of a matrix ------------------------------------------------------------------------
def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of a matrix."""
    x = convert.to_tensor(input)
    if x._value.ndim > 1 and x.dtype.name in ("bfloat16", "int8", "int16", "int32", "int64"):
        raise ValueError(f"tf.linalg.expm does not support matrices of type {x.dtype!r}")
    return matrix_ops.expm.apply(_matrix(matrix_ops.expm, x, square=True))


def sqrtm(input: Any, name: str | None = None) -> Any:
    """A matrix whose square is the input."""
    return matrix_ops.sqrtm.apply(_matrix(matrix_ops.sqrtm, input, square=True))


matrix_square_root = sqrtm  # TensorFlow's top level calls it so


def logm(input: Any, name: str | None = None) -> Any:
    """The principal logarithm of a complex matrix."""
    return matrix_ops.logm.apply(_matrix(matrix_ops.logm, input, square=True))


def _real_matrix(a: Any, op: Op) -> Any:
    x = convert.to_tensor(a)
    if not x.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {x.dtype.name}).")
    if x._value.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {x._value.ndim}).")
    return _matrix(op, x)


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """How many singular values lie above the tolerance."""
    x = _real_matrix(convert.to_tensor(a, hint=np.dtype(np.float32)), decompose.svd)
    s = decompose.singular_values.apply(x)
    if tol is None:
        part = np.finfo(s._value.dtype).eps * max(x._value.shape[-2:])
        greatest = reduce_ops.max.apply(s, axis=(-1,), keepdims=True)
        tol = elementwise.mul.apply(tensor(part), greatest)
    else:
        tol = _tolerance(tol, s._value)
    hits = shape_ops.cast.apply(compare.greater.apply(s, tol), dtype=np.dtype(np.int32))
    return reduce_ops.sum.apply(hits, axis=(-1,), keepdims=False)


def _tolerance(tol: Any, values: Any) -> Any:
    if convert.is_tensor_like(tol) and tol._value.dtype != values.dtype:
        raise errors.wrong_dtype(
            f"cannot compute Greater as input #1(zero-based) was expected to be a "
            f"{convert.c_name(values.dtype)} tensor but is a {convert.c_name(tol._value.dtype)} "
            "tensor: `tol` is compared with the singular values [Op:Greater]"
        )
    found = convert.to_tensor(tol, values.dtype)
    try:
        np.broadcast_shapes(found._value.shape, values.shape)
    except ValueError:
        raise errors.invalid(
            f"Incompatible shapes: {list(values.shape)} vs. {list(found._value.shape)} [Op:Greater]"
        ) from None
    return found
