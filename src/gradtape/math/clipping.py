"""Clipping: of values to an interval, of a tensor or a list of them to a norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import allow
from ..framework.indexed_slices import IndexedSlices
from ..ops.compare import greater
from ..ops.index import select
from ..ops.shape import cast
from .elementwise import add, add_n, divide, maximum, minimum, multiply, sqrt, subtract, truediv
from .reductions import reduce_sum


def _values(t: Any) -> Any:
    return convert.to_tensor(t.values if isinstance(t, IndexedSlices) else t)


def _like(t: Any, values: Any) -> Any:
    """The clipped values, as slices if slices were given."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """t with everything below the least value raised to it, above the greatest lowered to it.

    On the bounds themselves the gradient still flows to t.

    >>> import gradtape as tf
    >>> tf.clip_by_value([-1.0, 0.5, 2.0], 0.0, 1.0)
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([0. , 0.5, 1. ], dtype=float32)>
    """
    values = _values(t)
    shape = values._value.shape
    lowered = minimum(values, clip_value_max)
    _same_shape(shape, lowered)
    clipped = maximum(lowered, clip_value_min)
    _same_shape(shape, clipped)
    return _like(t, clipped)


def _same_shape(shape: tuple[int, ...], result: Any) -> None:
    if result._value.shape != shape:
        raise ValueError(
            f"Shapes {shape} and {result._value.shape} are incompatible: the bounds of "
            "clip_by_value must broadcast to the shape of `t`."
        )


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t scaled down so that its Euclidean norm over the axes, or over all, is at most `clip_norm`.

    >>> import gradtape as tf
    >>> tf.clip_by_norm([3.0, 4.0], 1.0)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.6, 0.8], dtype=float32)>
    """
    values = _values(t)
    squares = reduce_sum(multiply(values, values), axes, keepdims=True)
    number = squares._value.dtype.type
    some = greater.apply(squares, tensor(number(0)))
    # The root of 1 where the norm is 0: there the derivative of the root is infinite.
    ones = tensor(np.ones(squares._value.shape, squares._value.dtype)[()])
    safe = select.apply(some, squares, ones)
    norm = select.apply(some, sqrt(safe), squares)
    limit = limit_of(clip_norm, values._value.dtype)
    return _like(t, divide(multiply(values, limit), maximum(norm, limit)))


def limit_of(clip_norm: Any, dtype: np.dtype) -> Any:
    """The greatest norm as a number of the dtype, not below 0."""
    number = clip_norm.__class__ in (int, float)
    limit = convert.to_tensor(clip_norm, dtype if number else None)
    if limit._value.dtype.kind in "bO":
        raise convert.cannot(0, limit._value.dtype)
    limit = maximum(limit, tensor(limit._value.dtype.type(0)))
    return limit if limit._value.dtype == dtype else cast.apply(limit, dtype=dtype)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """The Euclidean norm of all numbers of a list of tensors (None among them is left out)."""
    values = [_values(t) for t in _sequence(t_list) if t is not None]
    if not values:
        return tensor(np.float32(0))
    for v in values:
        allow(v, "L2Loss", "float16 bfloat16 float32 float64")
    totals = [reduce_sum(multiply(v, v)) for v in values]
    return sqrt(add_n(totals))


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list, Any]:
    """The tensors of a list scaled down together so that their global norm is at most `clip_norm`,
    and the norm they had; if that is not finite, all become nan.

    >>> import gradtape as tf
    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant(4.0)], 1.0)
    >>> [t.numpy().tolist() for t in clipped], norm.numpy().tolist()
    ([[0.6000000238418579], 0.800000011920929], 5.0)
    """
    parts = _sequence(t_list)
    if isinstance(use_norm, (int, float)):
        # As in TensorFlow, which asks for its dtype.
        raise AttributeError("`use_norm` must be a tensor; tf.constant makes one of a number")
    norm = global_norm(parts) if use_norm is None else convert.to_tensor(use_norm)
    limit = convert.to_tensor(clip_norm, hint=norm._value.dtype)
    if norm._value.dtype.kind in "bO":
        raise convert.cannot(1.0, norm._value.dtype)
    one = tensor(norm._value.dtype.type(1))
    scale = multiply(limit, minimum(divide(one, norm), truediv(one, limit)))
    # Finite minus itself is 0, anything else nan.
    scale = add(scale, subtract(norm, norm))
    clipped = [None if t is None else _like(t, _scaled(_values(t), scale)) for t in parts]
    return clipped, norm if use_norm is None else use_norm


def _scaled(values: Any, scale: Any) -> Any:
    if values._value.dtype != scale._value.dtype:
        scale = cast.apply(scale, dtype=values._value.dtype)
    return multiply(values, scale)


def _sequence(t_list: Any) -> list:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)
