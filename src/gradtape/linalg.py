"""`tf.linalg`: products, norms, diagonals, solutions and decompositions of matrices.

Every function takes stacks of matrices: the last two axes are the matrix, those before are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import convert, dtypes, errors
from .arrays import eye as eye
from .clipping import global_norm as global_norm
from .core.apply import tensor
from .core.op import Op
from .equations import einsum as einsum
from .ops import decompose, elementwise, linear, shape
from .ops import diagonal as diagonal_ops
from .ops import complex as complex_ops
from .ops import reduce as reduce_ops
from .ops.index import select
from .reductions import axes_of
from .reductions import l2_normalize as l2_normalize


# --- what the functions share -------------------------------------------------------------------------
def _checked(op: Op, *values: Any) -> list:
    """Tensors of one dtype that the op takes; numbers and arrays take that of the first."""
    first = convert.to_tensor(values[0])
    tensors = [first]
    for value in values[1:]:
        tensors.append(convert.pair(op, first, value)[1])
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


def _swap(x: Any) -> Any:
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(*range(-ndim, -2), -1, -2))


def _turn(x: Any, transpose: Any, conjugate: Any) -> Any:
    """The operand of a product as its flags say."""
    if x._value.ndim < 2 or not (transpose or conjugate):
        return x
    if conjugate and x._value.dtype.kind == "c":
        x = complex_ops.conj.apply(x)
    return _swap(x)


# --- products -------------------------------------------------------------------------------------------
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices, or of stacks of them, which are broadcast against each other.

    >>> import gradtape as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
    <tf.Tensor: shape=(1, 1), dtype=float32, numpy=array([[11.]], dtype=float32)>
    """
    if output_type is not None:
        a, b = _widened(a, output_type), _widened(b, output_type)
    if transpose_a or transpose_b or adjoint_a or adjoint_b:
        for letter, one, other in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
            if one and other:
                raise ValueError(
                    f"Only one of `transpose_{letter}` and `adjoint_{letter}` can be True. "
                    f"Received `transpose_{letter}`={one}, `adjoint_{letter}`={other}."
                )
        a, b = convert.pair(linear.matmul, a, b)
        a, b = _turn(a, transpose_a, adjoint_a), _turn(b, transpose_b, adjoint_b)
    return linear.matmul.apply(a, b)


def _widened(x: Any, output_type: Any) -> Any:
    return shape.cast.apply(
        convert.to_tensor(x), dtype=np.dtype(dtypes.as_dtype(output_type).as_numpy_dtype)
    )


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The product of a matrix and a vector, or of stacks of them.

    >>> import gradtape as tf
    >>> tf.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 7.], dtype=float32)>
    """
    a, b = convert.pair(linear.matmul, a, b)
    column = shape.reshape.apply(b, shape=(*b._value.shape, 1))
    y = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return shape.reshape.apply(y, shape=y._value.shape[:-1])


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Sum the products over the given axes of both: the last n of a and the first n of b for a
    number n, or a list for each.

    >>> import gradtape as tf
    >>> tf.tensordot([1.0, 2.0], [3.0, 4.0], 1)
    <tf.Tensor: shape=(), dtype=float32, numpy=11.0>
    """
    a, b = convert.pair(linear.matmul, a, b)
    a_axes, b_axes = _dot_axes(a, b, axes)
    a_free = [k for k in range(a._value.ndim) if k not in a_axes]
    b_free = [k for k in range(b._value.ndim) if k not in b_axes]
    left, right = a._value.shape, b._value.shape
    a = _as_matrix(a, a_free, a_axes)
    b = _as_matrix(b, b_axes, b_free)
    y = linear.matmul.apply(a, b)
    free = tuple(left[k] for k in a_free) + tuple(right[k] for k in b_free)
    return y if y._value.shape == free else shape.reshape.apply(y, shape=free)


def _dot_axes(a: Any, b: Any, axes: Any) -> tuple[list[int], list[int]]:
    if convert.is_tensor_like(axes):
        axes = convert.to_tensor(axes)._value
    if isinstance(axes, np.ndarray):
        axes = axes.tolist()
    a_rank, b_rank = a._value.ndim, b._value.ndim
    if isinstance(axes, (int, np.integer)):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if axes > a_rank:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}.  "
                f"Received {axes}, vs tensor dimensions {a_rank}."
            )
        return list(range(a_rank - axes, a_rank)), list(range(axes))
    if len(axes) != 2:
        raise ValueError(
            f"`axes` must be an integer or have length 2. Received {axes}."
        )  # fmt: skip
    first, second = ([x] if isinstance(x, (int, np.integer)) else list(x) for x in axes)
    if len(first) != len(second):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(first)} != {len(second)}."
        )
    return [k % a_rank for k in first], [k % b_rank for k in second]


def _as_matrix(x: Any, rows: list[int], columns: list[int]) -> Any:
    """Move these axes to the front, those behind them, and make each group one axis."""
    order, sizes = [*rows, *columns], x._value.shape
    if order != list(range(len(sizes))):
        x = shape.transpose.apply(x, axes=tuple(k - len(sizes) for k in order))
    flat = (_product(sizes[k] for k in rows), _product(sizes[k] for k in columns))
    return x if x._value.shape == flat else shape.reshape.apply(x, shape=flat)


def _product(sizes: Any) -> int:
    total = 1
    for n in sizes:
        total *= n
    return total


def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The vector product of vectors of three numbers, along the last axis."""
    a, b = _checked(linear.cross, a, b)
    if a._value.shape != b._value.shape or a._value.shape[-1:] != (3,):
        raise errors.invalid(
            f"cross takes two tensors of one shape whose last axis has 3 elements, got "
            f"{list(a._value.shape)} and {list(b._value.shape)} [Op:Cross] name: "
        )
    return linear.cross.apply(a, b)


# --- turning --------------------------------------------------------------------------------------------
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The last two axes exchanged."""
    a = convert.to_tensor(a)
    if a._value.ndim < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
            f"{a._value} with shape: {a.shape}"
        )
    return _turn(a, True, conjugate)


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The last two axes exchanged, and complex numbers conjugated."""
    return matrix_transpose(matrix, conjugate=True)


# --- norms ----------------------------------------------------------------------------------------------
_MATRIX_ORDERS = ["euclidean", "fro", 1, 2, np.inf]


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Any:
    """The norm of the vectors along an axis, of the matrices along two, or of all elements.

    The slope of the Euclidean norm is nan at 0, as in TensorFlow.

    >>> import gradtape as tf
    >>> tf.norm([3.0, 4.0])
    <tf.Tensor: shape=(), dtype=float32, numpy=5.0>
    """
    keep = bool(keepdims)
    pair = isinstance(axis, (list, tuple))
    if pair:
        axis = [int(k) for k in axis]
        if len(axis) != 2 or axis[0] == axis[1]:
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        if ord not in _MATRIX_ORDERS:
            raise ValueError(
                f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], "
                f"got {ord}"
            )
    elif isinstance(ord, str) and ord != "euclidean":
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    elif not isinstance(ord, str) and not ord > 0:
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    x = convert.to_tensor(tensor)
    if pair:
        return _matrix_norm(x, ord, axis, keep)
    return _vector_norm(x, ord, axis, keep)


def _reduced(op: Op, x: Any, axis: Any, keepdims: bool) -> Any:
    return op.apply(x, axis=axes_of(x._value.ndim, axis, op.label), keepdims=keepdims)


def _euclidean(x: Any, axis: Any, keepdims: bool) -> Any:
    squares = x * (complex_ops.conj.apply(x) if x._value.dtype.kind == "c" else x)
    return elementwise.sqrt.apply(_reduced(reduce_ops.sum, squares, axis, keepdims))


def _vector_norm(x: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    if order in ("euclidean", 2):
        return _euclidean(x, axis, keepdims)
    size = abs(x)
    if order == 1:
        return _reduced(reduce_ops.sum, size, axis, keepdims)
    if order == np.inf:
        return _reduced(reduce_ops.max, size, axis, keepdims)
    powers = elementwise.power.apply(size, float(order))
    total = _reduced(reduce_ops.sum, powers, axis, keepdims)
    return elementwise.power.apply(total, 1.0 / order)


def _matrix_norm(x: Any, order: Any, axis: list[int], keepdims: bool) -> Any:
    if order in ("euclidean", "fro"):
        return _euclidean(x, axis, keepdims)
    if order == 2:
        return _spectral_norm(x, axis, keepdims)
    summed, greatest = axis if order == 1 else reversed(axis)
    total = _reduced(reduce_ops.sum, abs(x), summed, True)
    y = _reduced(reduce_ops.max, total, greatest, True)
    return y if keepdims else _dropped(y, axis)


def _dropped(y: Any, axis: list[int]) -> Any:
    sizes = y._value.shape
    gone = {k % len(sizes) for k in axis}
    return shape.reshape.apply(y, shape=tuple(n for k, n in enumerate(sizes) if k not in gone))


def _spectral_norm(x: Any, axis: list[int], keepdims: bool) -> Any:
    ndim = x._value.ndim
    inner = [k % ndim for k in axis]
    outer = [k for k in range(ndim) if k not in inner]
    moved = shape.transpose.apply(x, axes=tuple(k - ndim for k in outer + inner))
    values = decompose.singular_values.apply(moved)
    y = reduce_ops.max.apply(values, axis=(-1,), keepdims=False)
    if not keepdims:
        return y
    sizes = tuple(1 if k in inner else x._value.shape[k] for k in range(ndim))
    return shape.reshape.apply(y, shape=sizes)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple:
    """The tensor divided by its norm, and the norm, whose axes are kept."""
    x = convert.to_tensor(tensor)
    size = norm(x, ord, axis, keepdims=True)
    if size._value.dtype != x._value.dtype:
        size = shape.cast.apply(size, dtype=x._value.dtype)
    return x / size, size


# --- diagonals ------------------------------------------------------------------------------------------
_ALIGNMENTS = {
    "RIGHT_LEFT": (True, False),
    "LEFT_RIGHT": (False, True),
    "LEFT_LEFT": (False, False),
    "RIGHT_RIGHT": (True, True),
}


def _band(k: Any, rows: int, columns: int, align: str) -> diagonal_ops.Band:
    if align not in _ALIGNMENTS:
        raise ValueError(f"`align` must be one of {list(_ALIGNMENTS)}. Received: {align}")
    low, high = _ends(k)
    return (low, high, rows, columns, *_ALIGNMENTS[align])


def _ends(k: Any) -> tuple[int, int]:
    ends = np.asarray(convert.to_tensor(k)._value).ravel().tolist()
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
    low, high = _ends(k)
    wanted = 2 if low < high else 1
    if d._value.ndim < wanted:
        raise errors.invalid(
            f"diagonal must be at least {wanted}-dim, received shape: {list(d._value.shape)} "
            "[Op:MatrixDiagV3] name: diag"
        )
    rows, columns = _diag_sizes(d._value.shape[-1], low, high, num_rows, num_cols)
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


def _filled(y: Any, inside: Any, padding: Any) -> Any:
    value = np.asarray(convert.to_tensor(padding)._value).astype(y._value.dtype)
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
        raise errors.invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range: expected shape "
            f"{list(expected)}, got {list(d._value.shape)} [Op:MatrixSetDiagV3] name: set_diag"
        )
    inside = diagonal_ops.in_band(rows, columns, *_ends(k))
    return select.apply(tensor(inside), diagonal_ops.put_band.apply(d, band=band), x)


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """A tensor of twice the axes with the given one on its diagonal, and zeros elsewhere."""
    d = convert.to_tensor(diagonal)
    sizes = d._value.shape
    if not sizes:
        raise errors.invalid("Input must be at least rank 1, got 0 [Op:Diag] name: ")
    flat = shape.reshape.apply(d, shape=(d._value.size,))
    return shape.reshape.apply(diag(flat), shape=sizes + sizes)


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """The diagonal of a tensor whose second half of axes equals the first."""
    x = convert.to_tensor(input)
    sizes = x._value.shape
    half = len(sizes) // 2
    if not sizes or len(sizes) % 2 or sizes[:half] != sizes[half:]:
        raise errors.invalid(
            f"The rank of the tensor should be even and positive, and its halves equal: got shape "
            f"{list(sizes)} [Op:DiagPart] name: "
        )
    n = _product(sizes[:half])
    square = shape.reshape.apply(x, shape=(n, n))
    return shape.reshape.apply(diag_part(square), shape=sizes[:half])


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Zeros outside the band of num_lower diagonals below the main one and num_upper above it;
    a negative number keeps all."""
    x = convert.to_tensor(input)
    op = diagonal_ops.band_part
    if x._value.ndim < 2:
        raise errors.invalid(
            f"input must be at least 2-dim, received shape: {list(x._value.shape)} "
            f"[Op:{op.label}] name: "
        )
    limits = []
    for side, given, size in zip(
        ("lower", "upper"), (num_lower, num_upper), x._value.shape[-2:], strict=True
    ):
        count = int(convert.to_tensor(given)._value)
        if count > size:
            raise errors.invalid(
                f"num_{side} must be negative or less or equal to number of "
                f"{'rows' if side == 'lower' else 'columns'} ({size}) got: {count} "
                f"[Op:{op.label}] name: "
            )
        limits.append(count)
    return op.apply(x, lower=limits[0], upper=limits[1])


def trace(x: Any, name: str | None = None) -> Any:
    """The sum of the main diagonal."""
    d = diag_part(x)
    return reduce_ops.sum.apply(d, axis=(-1,), keepdims=False)


# --- inverses and solutions -------------------------------------------------------------------------------
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse, or that of the adjoint."""
    x = _matrix(decompose.inv, input, square=True)
    return decompose.inv.apply(_turn(x, adjoint, adjoint))


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The pseudo-inverse; singular values below rcond times the greatest count as 0."""
    x = _matrix(decompose.pinv, a)
    if rcond is None:
        limits = np.finfo(x._value.real.dtype)
        rcond = 10.0 * max(x._value.shape[-2:]) * float(limits.eps)
    else:
        rcond = np.asarray(convert.to_tensor(rcond)._value)
    return decompose.pinv.apply(x, rcond=rcond)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """x in matrix @ x = rhs.

    >>> import gradtape as tf
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]])
    <tf.Tensor: shape=(2, 1), dtype=float32, numpy=
    array([[1. ],
           [0.5]], dtype=float32)>
    """
    op = decompose.solve
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
    return op.apply(_turn(a, adjoint, adjoint), b)


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
    op = decompose.triangular_solve
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
    return op.apply(_turn(a, adjoint, adjoint), b, lower=bool(lower) != bool(adjoint))


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
    op = decompose.least_squares
    a, b = _checked(op, matrix, rhs)
    _look_at(op, a, square=False)
    _look_at(op, b, square=False)
    if a._value.shape[:-1] != b._value.shape[:-1]:
        raise errors.invalid(
            f"Input matrix and rhs are incompatible: {list(a._value.shape)} and "
            f"{list(b._value.shape)} [Op:MatrixSolveLs] name: "
        )
    if not fast:
        return op.apply(a, b)
    rows, columns = a._value.shape[-2:]
    turned = _turn(a, True, True)
    small = min(rows, columns)
    gram = linear.matmul.apply(turned, a) if rows >= columns else linear.matmul.apply(a, turned)
    strength = float(convert.to_tensor(l2_regularizer)._value)
    if strength:
        gram = gram + tensor(strength * np.eye(small, dtype=a._value.dtype))
    factor = decompose.cholesky.apply(gram)
    if rows >= columns:
        return cholesky_solve(factor, linear.matmul.apply(turned, b))
    return linear.matmul.apply(turned, cholesky_solve(factor, b))


def cholesky(input: Any, name: str | None = None) -> Any:
    """The lower triangular factor L of a positive definite matrix L @ L^H; nan if it has none."""
    return decompose.cholesky.apply(_matrix(decompose.cholesky, input, square=True))


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """x in a @ x = rhs from the Cholesky factor of a."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


# --- determinants ------------------------------------------------------------------------------------------
class LogMatrixDeterminant(NamedTuple):
    """The sign of a determinant and the logarithm of its size."""

    sign: Any
    log_abs_determinant: Any


def det(input: Any, name: str | None = None) -> Any:
    """The determinant."""
    return decompose.det.apply(_matrix(decompose.det, input, square=True))


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The sign of the determinant and the logarithm of its absolute value."""
    x = _matrix(decompose.slogdet, input, square=True)
    return LogMatrixDeterminant(*decompose.slogdet.apply(x))


def logdet(matrix: Any, name: str | None = None) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    factor = cholesky(matrix)
    d = diagonal_ops.take_band.apply(factor, band=diagonal_ops.main(factor._value.shape[-1]))
    if d._value.dtype.kind == "c":
        d = complex_ops.real.apply(d)
    return 2.0 * reduce_ops.sum.apply(elementwise.log.apply(d), axis=(-1,), keepdims=False)


# --- decompositions ----------------------------------------------------------------------------------------
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
    return Qr(*decompose.qr.apply(x, full=bool(full_matrices)))


def lu(input: Any, output_idx_type: Any = None, name: str | None = None) -> Lu:
    """Lower (with ones on its diagonal) times upper triangle = the rows of input in the order p."""
    x = _matrix(decompose.lu, input, square=True)
    wide = output_idx_type is not None and dtypes.as_dtype(output_idx_type).name == "int64"
    return Lu(*decompose.lu.apply(x, dtype=np.dtype(np.int64 if wide else np.int32)))


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """(s, u, v) with input = u @ diag(s) @ v^H and s from the greatest down, or s alone.

    >>> import gradtape as tf
    >>> tf.linalg.svd([[3.0, 0.0], [0.0, -2.0]], compute_uv=False)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([3., 2.], dtype=float32)>
    """
    x = _matrix(decompose.svd, tensor)
    if not compute_uv:
        return decompose.singular_values.apply(x)
    return decompose.svd.apply(x, full=bool(full_matrices))


def eigh(tensor: Any, name: str | None = None) -> tuple:
    """The eigenvalues, from the least up, and the eigenvectors (columns) of a self-adjoint matrix,
    of which only the lower triangle is read."""
    return decompose.eigh.apply(_matrix(decompose.eigh, tensor, square=True))


def eigvalsh(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a self-adjoint matrix, of which only the lower triangle is read."""
    return decompose.eigvalsh.apply(_matrix(decompose.eigvalsh, tensor, square=True))


def eig(tensor: Any, name: str | None = None) -> tuple:
    """The eigenvalues and eigenvectors (columns) of a matrix; always complex."""
    return decompose.eig.apply(_matrix(decompose.eig, tensor, square=True))


def eigvals(tensor: Any, name: str | None = None) -> Any:
    """The eigenvalues of a matrix; always complex."""
    return decompose.eigvals.apply(_matrix(decompose.eigvals, tensor, square=True))


# --- functions of a matrix ------------------------------------------------------------------------------------
def expm(input: Any, name: str | None = None) -> Any:
    """The exponential of a matrix."""
    return decompose.expm.apply(_matrix(decompose.expm, input, square=True))


def sqrtm(input: Any, name: str | None = None) -> Any:
    """A matrix whose square is the input."""
    return decompose.sqrtm.apply(_matrix(decompose.sqrtm, input, square=True))


def logm(input: Any, name: str | None = None) -> Any:
    """The principal logarithm of a complex matrix."""
    return decompose.logm.apply(_matrix(decompose.logm, input, square=True))


def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Any:
    """How many singular values lie above the tolerance."""
    x = _matrix(decompose.svd, a)
    s = decompose.singular_values.forward(x._value)
    if tol is None:
        greatest = np.max(s, axis=-1, keepdims=True, initial=0)
        tol = np.finfo(s.dtype).eps * max(x._value.shape[-2:]) * greatest
    else:
        tol = np.asarray(convert.to_tensor(tol)._value)[..., None]
    return tensor(np.sum(s > tol, axis=-1, dtype=np.int32)[()])
