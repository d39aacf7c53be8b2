"""What an LU decomposition is good for: the matrix itself, solutions, the inverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import whole
from ..ops import decompose, linear
from ..ops import matrix as matrix_ops
from ..ops.index import take_along
from .diagonals import band_part, set_diag
from .products import matrix_transpose


def _factors(lower_upper: Any, perm: Any, name: str) -> tuple[Any, Any, Any]:
    """The lower factor, both in one, and the order of the rows."""
    given = convert.to_tensor(perm) if np.isscalar(perm) else whole(perm, np.int32)
    x = convert.to_tensor(lower_upper, hint=np.dtype(np.float32))
    p = given._value
    sizes = x._value.shape
    if len(sizes) < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if sizes[-1] == sizes[-2] and (p.ndim < 1 or p.ndim + 1 != len(sizes)):
        raise ValueError(
            f"`rank(lower_upper)` must equal `rank(perm) + 1`, got {len(sizes)} and {p.ndim}"
        )
    if x._value.dtype.kind not in decompose.lu.takes:
        raise convert.wrong_dtype(decompose.lu, x._value.dtype)
    if sizes[-1] != sizes[-2]:
        raise ValueError(f"Input `lower_upper` must be square, got {list(sizes)} ({name}).")
    ones = tensor(np.ones(sizes[:-1], x._value.dtype))
    return set_diag(band_part(x, -1, 0), ones), x, p


def _rows_in_order(x: Any, order: Any) -> Any:
    """The rows of matrices, each stack's in its own order."""
    batch = np.broadcast_shapes(x._value.shape[:-2], order.shape[:-1])
    shape = (*batch, *x._value.shape[-2:])
    if x._value.shape != shape:
        from ..arrays.reshaping import broadcast_to

        x = broadcast_to(x, shape)
    each = (*batch, shape[-1], order.shape[-1])
    places = convert.computed(lambda order: np.broadcast_to(order[..., None, :], each), order)
    turned = matrix_transpose(x)
    return matrix_transpose(take_along.apply(turned, tensor(places)))


def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """The matrix of which these are the LU factors.

    >>> import gradtape as tf
    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[3.0, 4.0], [1.0, 2.0]]))
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[3., 4.],
           [1., 2.]], dtype=float32)>
    """
    lower, both, p = _factors(lower_upper, perm, "lu_reconstruct")
    convert.examine(_permutation, p)
    product = linear.matmul.apply(lower, band_part(both, 0, -1))
    sizes = product._value.shape
    if p.shape != sizes[:-1] and (len(sizes) > 2 or len(p) > len(product._value)):
        raise errors.invalid(f"perm {list(p.shape)} is no order of the rows of {list(sizes)}")
    if p.shape != sizes[:-1]:
        raise ValueError(
            f"Tensor's shape {(len(p), *product._value.shape[1:])} is not compatible with "
            f"supplied shape {product._value.shape}."
        )
    return _rows_in_order(product, convert.computed(lambda p: np.argsort(p, axis=-1), p))


def _permutation(p: Any) -> None:
    if not (np.sort(p, axis=-1) == np.arange(p.shape[-1])).all():
        raise errors.invalid(
            f"perm holds each row once, got {p.tolist()}: one is duplicated in the input "
            "[Op:InvertPermutation] name: "
        )


def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """x in matrix @ x = rhs from the LU factors of the matrix."""
    lower, both, p = _factors(lower_upper, perm, "lu_solve")
    b = convert.to_tensor(rhs, hint=both._value.dtype)
    if b._value.ndim < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    _, b = convert.pair(matrix_ops.solve, both, b)
    if _asked(validate_args):
        convert.examine(_permutation, p)
    if p.shape[-1] > b._value.shape[-2] == both._value.shape[-1]:
        raise errors.invalid(f"perm {p.tolist()} is no order of the rows of rhs [Op:GatherV2]")
    if p.shape[-1] < b._value.shape[-2] == both._value.shape[-1]:
        raise errors.invalid(
            f"In[0] mismatch In[1] shape: `perm` has {p.shape[-1]} rows, `rhs` "
            f"{b._value.shape[-2]} "
            "[Op:MatrixTriangularSolve] name: "
        )
    if b._value.shape[-2] != p.shape[-1]:
        raise ValueError(
            "`lower_upper.shape[-1]` must equal `rhs.shape[-2]`, got "
            f"{p.shape[-1]} and {b._value.shape[-2]}"
        )  # fmt: skip
    solve = matrix_ops.triangular_solve.apply
    return solve(both, solve(lower, _rows_in_order(b, p), lower=True), lower=False)


def _asked(validate_args: Any) -> bool:
    if np.ndim(getattr(validate_args, "_value", 0)) or isinstance(validate_args, np.ndarray):
        raise ValueError(f"`validate_args` must be True or False, got {validate_args!r}.")
    return validate_args is True


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Any:
    """The inverse of the matrix of which these are the LU factors."""
    x = convert.to_tensor(lower_upper)
    if x._value.ndim < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if x._value.dtype.kind == "O":
        raise convert.cannot(1, x._value.dtype)
    one = tensor(np.eye(x._value.shape[-1], dtype=x._value.dtype))
    return lu_solve(x, perm, one, validate_args)
