"""The part of `tf.nn` whose windows pick one number: max_pool_with_argmax, dilation and erosion.

What is picked is found first, by its place; taking it is an op that any derivative passes.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, errors
from ..arrays.reshaping import reverse
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import truth
from ..framework.shapes import TensorShape
from ..ops import elementwise, index, shape
from ..ops import pool as pool_ops
from ..ops.kernels.windows import Geometry, padded
from .windows import geometry_of, lengths, numbers


class MaxPoolWithArgmax(NamedTuple):
    """The greatest number of each window, and its place."""

    output: Any
    argmax: Any


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """The greatest number of each window and where it is: (y * width + x) * channels + c.

    >>> import gradtape as tf
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.reshape(tf.nn.max_pool_with_argmax(image, 2, 2, "VALID").argmax, [-1])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([ 5,  7, 13, 15])>
    """
    label = "MaxPoolWithArgmax"
    _only_nhwc(data_format)
    for name_, given in (("ksize", ksize), ("strides", strides)):
        lengths(tuple(given) if isinstance(given, TensorShape) else given, 2, name_)
    if not isinstance(padding, (str, bytes)):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    in_batch = truth(include_batch_in_index, "include_batch_in_index")
    x = convert.to_tensor(input)
    if x._value.dtype.kind not in pool_ops.max_pool.takes:
        raise convert.wrong_dtype(pool_ops.max_pool, x._value.dtype)
    if x._value.ndim != 4:
        raise errors.invalid(
            f"tensor_in must be 4-dimensional, got {list(x._value.shape)} [Op:{label}] name: "
        )
    size = numbers(ksize, 2, "ksize", False, label)
    steps = numbers(strides, 2, "strides", False, label)
    geometry = geometry_of(label, x._value.shape[1:-1], size, steps, (1, 1), padding, False)
    cell = convert.computed(lambda x: _greatest(x, geometry, None), x._value)
    places = convert.computed(partial(_places, x._value.shape, geometry), cell)
    y = _taken(x, places)
    kind, each = dtypes.as_dtype(output_dtype).as_numpy_dtype, np.iinfo(np.int64).max
    if not in_batch:
        each = max(int(np.prod(x._value.shape[1:])), 1)
    return MaxPoolWithArgmax(
        y, tensor(convert.computed(lambda places: (places % each).astype(kind), places))
    )


def _only_nhwc(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(
            "`data_format` values other  than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )


def _greatest(a: Any, geometry: Geometry, filter: Any) -> Any:
    """For each window the number of its first cell that holds the greatest number.

    Without a filter nan in the first cell stays, as in TensorFlow, and with one it never counts.
    """
    counts = geometry.counts(a.shape[1:-1])
    outer = (a.shape[0], *counts, a.shape[-1])
    full = padded(a, geometry.pads)
    inside = padded(np.ones((1, *a.shape[1:-1], 1), bool), geometry.pads)
    best, chosen = np.zeros(outer, a.dtype), np.full(outer, -1)
    for k, cell in enumerate(geometry.cells(counts)):
        key = (slice(None), *cell)
        value = full[key] if filter is None else full[key] + filter.reshape(-1, a.shape[-1])[k]
        none = chosen < 0 if filter is None else (chosen < 0) & ~np.isnan(value)
        wins = inside[key] & (none | (value > best))
        best, chosen = np.where(wins, value, best), np.where(wins, k, chosen)
    return chosen


def _places(sizes: tuple[int, ...], geometry: Geometry, cell: Any) -> Any:
    """The flat place in the input of a cell of each window."""
    height, width, channels = sizes[1:]
    across, (sy, sx) = geometry.size[1], geometry.strides
    (dy, dx), ((top, _), (left, _)) = geometry.dilations, geometry.pads
    n, rows, columns, c = np.indices(cell.shape, sparse=True)
    y = rows * sy + cell // across * dy - top
    x = columns * sx + cell % across * dx - left
    return ((n * height + y) * width + x) * channels + c


def _taken(x: Any, places: Any) -> Any:
    flat = shape.reshape.apply(x, shape=(x._value.size,))
    return index.take.apply(flat, tensor(places), axis=0)


def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Any:
    """The greatest of input + filter in each window, for each channel by itself.

    Differs from TensorFlow: the second derivative, which is 0, is there.
    """
    _only_nhwc(data_format)
    return _dilated(input, filters, strides, padding, dilations)


def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Any:
    """The least of value - filter in each window, for each channel by itself.

    Differs from TensorFlow: the second derivative, which is 0, is there.
    """
    _only_nhwc(data_format)
    x = elementwise.neg.apply(convert.to_tensor(value))
    y = _dilated(x, reverse(filters, [0, 1]), strides, padding, dilations)
    return elementwise.neg.apply(y)


def _dilated(input: Any, filters: Any, strides: Any, padding: str, dilations: Any) -> Any:
    label = "Dilation2D"
    for name, given in (("strides", strides), ("rates", dilations)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(
                f"Expected list for '{name}' argument to 'dilation2d' Op, not {given}."
            )  # fmt: skip
        if len(given) != 4:
            raise errors.invalid(
                f"{name} must have 4 entries, [1, rows, columns, 1], got {list(given)} "
                f"[Op:{label}] name: "
            )
    x, f = convert.pair(elementwise.add, input, filters)
    if x._value.dtype.kind not in pool_ops.max_pool.takes:
        raise convert.wrong_dtype(pool_ops.max_pool, x._value.dtype)
    if x._value.ndim != 4 or f._value.ndim != 3:
        raise errors.invalid(
            "input must be 4-dimensional and filter 3-dimensional, got "
            f"{list(x._value.shape)} and {list(f._value.shape)} [Op:{label}] name: "
        )
    if x._value.shape[-1] != f._value.shape[-1]:
        raise errors.invalid(
            "input and filter must have the same depth: "
            f"{x._value.shape[-1]} vs {f._value.shape[-1]} [Op:{label}] name: "
        )
    steps = numbers(strides, 2, "strides", False, label)
    gaps = numbers(dilations, 2, "rates", False, label)
    size = f._value.shape[:2]
    geometry = geometry_of(label, x._value.shape[1:-1], size, steps, gaps, padding, False)
    # A window of nothing but nan picks its first cell, rather than TensorFlow's least number.
    cell = convert.computed(
        lambda x, f: np.maximum(_greatest(x, geometry, f), 0), x._value, f._value
    )
    channel = np.arange(x._value.shape[-1])
    return elementwise.add.apply(
        _taken(x, convert.computed(partial(_places, x._value.shape, geometry), cell)),
        _taken(f, convert.computed(lambda cell: cell * len(channel) + channel, cell)),
    )
