"""`tf.math`: functions of numbers, element by element, and reductions over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, dtypes, errors
from .core.apply import tensor
from .naming import binary, unary
from .ops import compare, elementwise
from .ops import complex as complex_ops
from .ops import reduce as reduce_ops
from .tensor import absolute, divide

# --- arithmetic -----------------------------------------------------------------------------------
multiply = binary(elementwise.mul, "multiply", "x * y, element by element.")
subtract = binary(elementwise.sub, "subtract", "x - y, element by element.")
exp = unary(elementwise.exp, "exp", "e to the power of x.")
log = unary(elementwise.log, "log", "The natural logarithm; its slope at 0 is infinite.")
square = unary(elementwise.square, "square", "x * x.")
tanh = unary(elementwise.tanh, "tanh", "The hyperbolic tangent.")


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """x + y, element by element; y takes the dtype of x."""
    return elementwise.add.apply(convert.to_tensor(x), y)


# --- reductions -----------------------------------------------------------------------------------
def axes_of(x: Any, axis: Any) -> tuple[int, ...] | None:
    """An `axis` argument (None, a number, a list or a tensor of them), counted from the end."""
    if axis is None:
        return None
    ndim = x._value.ndim
    wanted = convert.to_tensor(axis)._value
    found = []
    for k in np.asarray(wanted).ravel().tolist():
        if not -ndim <= k < ndim:
            raise errors.invalid(
                f"Invalid reduction dimension ({k} for input with {ndim} dimension(s)): "
                f"axis must be in [-{ndim}, {ndim}) [Op:Sum]"
            )
        found.append(k - ndim if k >= 0 else k)
    return tuple(found)


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The sum over the axes, or over all.

    >>> import gradtape as tf
    >>> tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>
    """
    x = convert.to_tensor(input_tensor)
    return reduce_ops.sum.apply(x, axis=axes_of(x, axis), keepdims=bool(keepdims))
