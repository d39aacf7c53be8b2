"""The part of `tf.linalg` that multiplies and turns matrices."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..framework import convert
from ..framework.arguments import attribute_dtype, truth
from ..ops import complex as complex_ops
from ..ops import linear, shape


def _swap(x: Any) -> Any:
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(*range(-ndim, -2), -1, -2))


def turn(x: Any, transpose: Any, conjugate: Any) -> Any:
    """The operand of a product as its flags say."""
    if x._value.ndim < 2 or not (transpose or conjugate):
        return x
    if conjugate and x._value.dtype.kind == "c":
        x = complex_ops.conj.apply(x)
    return _swap(x)


# --- products -------------------------------------------------------------------------------------
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
    if not convert.is_tensor_like(a):
        a = convert.to_tensor(a)
    if not (a_is_sparse is b_is_sparse is grad_a is grad_b is False):
        for name, given in (("a_is_sparse", a_is_sparse), ("b_is_sparse", b_is_sparse)):
            truth(given or False, name)
        truth(grad_a, "grad_a")
        truth(grad_b, "grad_b")
    if output_type is not None:
        if isinstance(output_type, np.ndarray) and output_type.ndim:
            raise ValueError(f"`output_type` must be a dtype, got {output_type!r}.")
        output_type = attribute_dtype(output_type, "Tout", "BatchMatMulV3")
        a, b = _widened(a, output_type), _widened(b, output_type)
    if not convert.is_tensor_like(a):
        a = convert.to_tensor(a)  # whatever b is
    flags = transpose_a, transpose_b, adjoint_a, adjoint_b
    if any(given is not False for given in flags):
        transpose_a = _flag(transpose_a, "transpose_a")
        transpose_b = _flag(transpose_b, "transpose_b")
        for letter, one, other in (("a", transpose_a, adjoint_a), ("b", transpose_b, adjoint_b)):
            if one and other:
                raise ValueError(
                    f"Only one of `transpose_{letter}` and `adjoint_{letter}` can be True. "
                    f"Received `transpose_{letter}`={one}, `adjoint_{letter}`={other}."
                )
        a, b = _pair(a, b)
        if a._value.ndim > 1 and b._value.ndim > 1:
            # Turned within the product, where it costs nothing and is not recorded.
            if transpose_b and not (transpose_a or adjoint_a):
                return linear.matmul_nt.apply(a, b)
            if transpose_a and not (transpose_b or adjoint_b):
                return linear.matmul_tn.apply(a, b)
        a, b = turn(a, transpose_a, adjoint_a), turn(b, transpose_b, adjoint_b)
    try:
        return linear.matmul.apply(a, b)
    except errors.of_dtypes():
        if len({convert.to_tensor(x).dtype for x in (a, b)}) == 1:
            raise
        return linear.matmul.apply(*_pair(a, b))


def _pair(a: Any, b: Any) -> Any:
    """Matrices of one dtype; bfloat16 and float32 are multiplied as float32."""
    try:
        return convert.pair(linear.matmul, a, b)
    except errors.of_dtypes():
        pair = [convert.to_tensor(x) for x in (a, b)]
        kinds = {x.dtype.name for x in pair}
        if kinds != {"bfloat16", "float32"} or {x._value.ndim for x in pair} != {2}:
            raise
        return [shape.cast.apply(x, dtype=np.dtype(np.float32)) for x in pair]


def _flag(value: Any, name: str) -> bool:
    if value is True or value is False:
        return value
    # TensorFlow's Python looks at arrays before its op does, and finds no truth in them.
    several = not isinstance(value, list) and np.ndim(getattr(value, "_value", value)) > 0
    return truth(bool(value) if several else value, name)


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
    b = convert.to_tensor(b)
    column = shape.reshape.apply(b, shape=(*b._value.shape, 1))
    y = matmul(a, column, transpose_a, False, adjoint_a, False, a_is_sparse, b_is_sparse)
    return shape.reshape.apply(y, shape=y._value.shape[:-1])


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Sum the products over the given axes of both: the last n of a and the first n of b for a
    number n, or a list for each.

    >>> import gradtape as tf
    >>> tf.tensordot([1.0, 2.0], [3.0, 4.0], 1)
    <tf.Tensor: shape=(), dtype=float32, numpy=11.0>
    """
    a, b = convert.to_tensor(a), convert.to_tensor(b)
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
    gathers = not isinstance(axes, (int, np.integer, list, tuple))
    if gathers:
        axes = np.asarray(convert.to_tensor(axes, np.dtype(np.int32))._value)
        if axes.ndim != 2:
            raise errors.invalid(
                f"`axes` must be a number, or a tensor with a row of axes for `a` and one for `b`, "
                f"got shape {list(axes.shape)} [Op:ListDiff]"
            )
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
        if axes > b_rank:
            raise IndexError(f"`axes` is {axes}, but `b` has {b_rank} axes only.")
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
    for name, rank, given in (("a", a_rank, first), ("b", b_rank, second)):
        if any(not isinstance(k, (int, np.integer)) for k in given):
            raise TypeError(f"`axes` of `{name}` must be whole numbers, got {given}.")
        if len(set(given)) < len(given):
            raise ValueError(f"`axes` of `{name}` must be different ones, got {given}.")
        if any(not -rank <= k < rank for k in given):
            said = f"`axes` {given} of `{name}`: it has {rank} axes."
            raise errors.invalid(f"{said} [Op:GatherV2]") if gathers else IndexError(said)
    return [k % a_rank for k in first], [k % b_rank for k in second]


def _as_matrix(x: Any, rows: list[int], columns: list[int]) -> Any:
    """Move these axes to the front, those behind them, and make each group one axis."""
    order, sizes = [*rows, *columns], x._value.shape
    if order != list(range(len(sizes))):
        x = shape.transpose.apply(x, axes=tuple(k - len(sizes) for k in order))
    flat = (prod(sizes[k] for k in rows), prod(sizes[k] for k in columns))
    return x if x._value.shape == flat else shape.reshape.apply(x, shape=flat)


def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The vector product of vectors of three numbers, along the last axis."""
    a, b = convert.pair(linear.cross, a, b)
    if a._value.dtype.kind not in linear.cross.takes:
        raise convert.wrong_dtype(linear.cross, a._value.dtype)
    sizes = (a._value.shape, b._value.shape)
    if sizes[0] != sizes[1]:
        raise errors.invalid(
            f"cross takes tensors of one shape, got {list(sizes[0])} and {list(sizes[1])} "
            "[Op:Cross] name: "
        )
    if not sizes[0]:
        raise errors.invalid("inputs must be at least rank 1, got [] [Op:Cross] name: ")
    if sizes[0][-1:] != (3,):
        raise errors.FailedPreconditionError(
            None, None,
            f"Cross-products are only defined for 3-element vectors, got {list(sizes[0])} "
            "[Op:Cross] name: ",
        )  # fmt: skip
    return linear.cross.apply(a, b)


# --- turning --------------------------------------------------------------------------------------
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The last two axes exchanged."""
    a = convert.to_tensor(a)
    if a._value.ndim < 2:
        raise ValueError(
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = "
            f"{a._value} with shape: {a.shape}"
        )
    return turn(a, True, conjugate)


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """The last two axes exchanged, and complex numbers conjugated."""
    return matrix_transpose(matrix, conjugate=True)
