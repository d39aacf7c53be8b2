"""Makes TensorFlow's functions out of ops where the two take the same arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .convert import is_ragged, is_sparse
from .core.op import Op


def unary(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """`name(x, name=None)`."""

    def function(x: Any, name: str | None = None) -> Any:
        try:
            return op.apply(x)
        except ValueError:
            return _of_values(function, x)

    return _named(over_values(function) if name in _OVER_VALUES else function, name, doc)


# The functions that TensorFlow applies to the values of a sparse tensor, beside `abs` and `sign`.
_OVER_VALUES = (
    "negative", "asinh", "sin", "tan", "atan", "asin", "atanh", "square", "sqrt", "erf", "tanh",
    "bessel_i0e", "bessel_i1e",
)  # fmt: skip


def over_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one argument that is applied to the values of a sparse one."""

    @functools.wraps(function)
    def over(x: Any, name: str | None = None) -> Any:
        try:
            return function(x)
        except ValueError:
            if not hasattr(x, "dense_shape") or not hasattr(x, "with_values"):
                raise
        return x.with_values(function(x.values))

    return over


def binary(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """`name(x, y, name=None)`."""

    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return op.apply(x, y)

    return _named(function, name, doc)


# What TensorFlow applies to the values of a sparse tensor, too.
_SPARSE = ("bessel_i0e", "bessel_i1e", "erf", "negative", "sign", "sin", "sqrt", "square", "tanh")


def _of_values(function: Callable[..., Any], x: Any) -> Any:
    """What a function that has refused x gives of the values of a ragged or a sparse one."""
    if is_ragged(x):
        return x.with_flat_values(function(x.flat_values))
    if is_sparse(x) and function.__name__ in _SPARSE:
        return type(x)(x.indices, function(x.values), x.dense_shape)
    raise


def _named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
