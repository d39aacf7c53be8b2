"""Products of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import arrays, errors, linalg
from .. import math as tf_math
from ..linalg.products import tensordot as tf_tensordot
from .elementwise import conj
from .shaping import broadcast_arrays, moveaxis, ravel
from .types import as_tensor, chosen, pair, promoted

__all__ = [
    "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "polyval", "tensordot", "trace",
    "vdot",
]  # fmt: skip


def dot(a: Any, b: Any) -> Any:
    """The product over the last axis of a and the last but one (or the only one) of b.

    >>> import gradtape as tf
    >>> tf.experimental.numpy.dot([1, 2], [3.0, 4.0])
    <tf.Tensor: shape=(), dtype=float64, numpy=11.0>
    """
    a, b = pair(a, b)
    if not a._value.ndim or not b._value.ndim:
        return a * b
    return tf_tensordot(a, b, [[-1], [-1 if b._value.ndim == 1 else -2]])


def inner(a: Any, b: Any) -> Any:
    """The product over the last axes of both."""
    a, b = pair(a, b)
    return a * b if not a._value.ndim or not b._value.ndim else tf_tensordot(a, b, [[-1], [-1]])


def vdot(a: Any, b: Any) -> Any:
    """The product over all numbers in a row, those of a conjugated."""
    a, b = (ravel(x) for x in promoted(a, b))
    return dot(conj(a) if a.dtype.is_complex else a, b)


def outer(a: Any, b: Any) -> Any:
    """All products of a number of a and one of b: a row for each of a."""
    a, b = pair(a, b)
    return arrays.reshape(a, [-1, 1]) * arrays.reshape(b, [-1])


def matmul(x1: Any, x2: Any) -> Any:
    """The product of matrices, of stacks of them, or with vectors."""
    a, b = pair(x1, x2)
    try:
        if b._value.ndim == 1:
            return tf_tensordot(a, b, 1)
        if a._value.ndim == 1:
            return tf_tensordot(a, b, [[0], [-2]])
        return linalg.matmul(a, b)
    except (errors.InvalidArgumentError, ValueError) as error:
        raise ValueError(str(error)) from None


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The product over so many axes, the last of a and the first of b, or over those named."""
    a, b = pair(a, b)
    return tf_tensordot(a, b, axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """The sum of products that Einstein's notation says, in the dtype that holds all operands."""
    casting, optimize = kwargs.get("casting", "safe"), kwargs.get("optimize", False)
    if casting not in ("safe", "no"):
        raise ValueError(f"casting is 'safe' or 'no', got casting={casting!r}")
    if optimize not in (False, True, "greedy", "optimal"):
        raise ValueError(f"optimize is True, 'greedy' or 'optimal', got optimize={optimize!r}")
    parts = promoted(*operands) if casting == "safe" else [as_tensor(x) for x in operands]
    return linalg.einsum(
        subscripts, *parts, optimize=optimize if optimize == "optimal" else "greedy"
    )


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product of vectors of 2 or 3 numbers, which lie along an axis."""
    a, b = pair(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if isinstance(axisc, (list, tuple, str)):
        raise TypeError(f"axisc must be a whole number, got {axisc!r}.")
    a, b = moveaxis(a, (axisa,), (-1,)), moveaxis(b, (axisb,), (-1,))
    flat = a.shape[-1] == 2 and b.shape[-1] == 2
    c = linalg.cross(*broadcast_arrays(_in_space(a), _in_space(b)))
    return c[..., 2] if flat else moveaxis(c, (-1,), (axisc,))


def _in_space(x: Any) -> Any:
    """Vectors of 2 numbers have a third, 0."""
    if x.shape[-1] != 2:
        return x
    return arrays.pad(x, [[0, 0]] * (x._value.ndim - 1) + [[0, 1]])


def kron(a: Any, b: Any) -> Any:
    """Every number of a times the whole of b, in the places of a."""
    a, b = promoted(a, b)
    shapes = [x._value.shape for x in (a, b)]
    count = max(map(len, shapes))
    first, second = ((1,) * (count - len(own)) + own for own in shapes)
    spread_a = [n for size in first for n in (size, 1)]
    spread_b = [n for size in second for n in (1, size)]
    product = arrays.reshape(a, spread_a) * arrays.reshape(b, spread_b)
    return arrays.reshape(product, np.multiply(first, second).astype(np.int32))


def polyval(p: Any, x: Any) -> Any:
    """The polynomial with the coefficients p, that of the highest power first."""
    p, x = pair(p, x)
    coefficients = arrays.unstack(p if p._value.ndim else arrays.reshape(p, [1]))
    y = tf_math.polyval(coefficients, x)
    return arrays.broadcast_to(y, x._value.shape) if len(coefficients) == 1 else y


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum along a diagonal of two axes."""
    from .indexing import diagonal
    from .reductions import sum

    wanted = chosen(dtype)
    a = as_tensor(a, wanted)
    last = a._value.ndim
    if offset == 0 and axis1 in (-2, last - 2) and axis2 in (-1, last - 1):
        return linalg.trace(a)
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype)
