"""Transposes of convolutions by their own names, and dilation by way of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..arrays.space_depth import batch_to_space, space_to_batch
from ..core.apply import tensor
from ..framework import convert
from ..framework.arguments import integer, listed
from ..framework.arguments import numbers as whole_numbers
from ..ops import convolve, shape
from .convolutions import conv2d_transpose
from .windows import channels_first, geometry_of, numbers, to_first, to_last


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The cotangent of depthwise_conv2d's input, of the shape `input_sizes`."""
    _attributes(strides, padding, data_format, dilations, "input")
    f, g = convert.pair(convolve.conv, filter, out_backprop)
    first = channels_first(data_format, 2)
    sizes = whole_numbers(input_sizes, "DepthwiseConv2dNativeBackpropInput")
    inner, depth = (sizes[2:], sizes[1]) if first else (sizes[1:-1], sizes[-1])
    geometry = _geometry(inner, f._value.shape, strides, padding, dilations, first, "Input")
    rows, columns, _, each = f._value.shape
    grouped = shape.reshape.apply(f, shape=(rows, columns, 1, depth * each))
    back = convolve.conv_input.apply(
        to_last(g, first), grouped, geometry=geometry, shape=(*inner, depth)
    )
    return to_first(back, first)


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """The cotangent of depthwise_conv2d's filter, of the shape `filter_sizes`."""
    _attributes(strides, padding, data_format, dilations, "filter")
    x, g = convert.pair(convolve.conv, input, out_backprop)
    first = channels_first(data_format, 2)
    x, g = to_last(x, first), to_last(g, first)
    sizes = whole_numbers(filter_sizes, "DepthwiseConv2dNativeBackpropFilter")
    inner = x._value.shape[1:-1]
    geometry = _geometry(inner, sizes, strides, padding, dilations, first, "Filter")
    back = convolve.conv_filter.apply(x, g, geometry=geometry, depth=1)
    return shape.reshape.apply(back, shape=sizes)


def _attributes(strides: Any, padding: Any, data_format: Any, dilations: Any, of: str) -> None:
    """Look at what is no tensor, as TensorFlow does before it looks at the tensors."""
    function = f"depthwise_conv2d_native_backprop_{of}"
    if padding == "EXPLICIT":
        raise ValueError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` "
            "must be a list."
        )
    for step in listed(strides, "strides", function):
        integer(step, "strides")
    if not isinstance(padding, (str, bytes, list, tuple)):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    if not isinstance(data_format, (str, bytes, type(None))):
        raise TypeError(f"Expected string for argument 'data_format' not {data_format!r}.")
    for gap in listed(dilations, "dilations", function):
        integer(gap, "dilations")


def _geometry(
    inner: Any, sizes: Any, strides: Any, padding: Any, dilations: Any, first: bool, kind: str
) -> Any:
    label = f"DepthwiseConv2dNativeBackprop{kind}"
    if len(sizes) != 4 or len(inner) != 2:
        raise errors.invalid(
            f"{kind.lower()} sizes must have 4 entries, got {list(sizes)} [Op:{label}] name: "
        )
    steps = numbers(strides, 2, "strides", first, label)
    gaps = numbers(dilations, 2, "dilations", first, label)
    return geometry_of(label, tuple(inner), tuple(sizes[:2]), steps, gaps, padding, first)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Any:
    """The transpose of atrous_conv2d; filters are (height, width, results, channels)."""
    rate = integer(rate, "rate")
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The least padding with which blocks fill the input, and what to crop off afterwards."""
    label = "required_space_to_batch_paddings"
    sizes, block = _int32(input_shape, "input_shape"), _int32(block_shape, "block_shape")
    for given in (block, sizes):
        if given.ndim != 1 or given.shape != block.shape:
            raise ValueError(
                f"Shapes {given.shape} and {list(block.shape)} are incompatible: {label} takes a "
                "number for each axis"
            )
    base = np.zeros((len(block), 2), np.int32)
    if base_paddings is not None:
        base = _int32(base_paddings, "base_paddings")
        if base.shape != (len(block), 2):
            raise ValueError(f"Shapes {base.shape} and {(len(block), 2)} are incompatible")
    full = sizes + base[:, 0] + base[:, 1]
    more = (block - full % block) % block
    pads = np.stack([base[:, 0], base[:, 1] + more], axis=1)
    crops = np.stack([np.zeros_like(more), more], axis=1)
    return tensor(pads.astype(np.int32)), tensor(crops.astype(np.int32))


def _int32(value: Any, name: str) -> np.ndarray:
    """An argument as the int32 numbers that it must be made of."""
    return np.asarray(convert.to_tensor(value, np.dtype(np.int32))._value)


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Any = None,
    data_format: str | None = None,
) -> Any:
    """Apply op(x, num_spatial_dims, padding), whose windows have no gaps, with gaps."""
    x = convert.to_tensor(input)
    rate = _int32(dilation_rate, "dilation_rate")
    if rate.ndim != 1:
        raise ValueError(f"rate must be rank 1. Received: dilation_rate of shape {rate.shape}")
    if not len(rate) or rate.min() < 1:
        raise ValueError(f"dilation_rate must be positive. Received: dilation_rate={rate.tolist()}")
    first = data_format is not None and data_format.startswith("NC")
    axes = sorted(spatial_dims) if spatial_dims else [k + 1 + first for k in range(len(rate))]
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be 'SAME' or 'VALID'. Received: padding={padding}")
    if (rate == 1).all():
        return op(x, len(rate), padding)
    base = np.zeros((len(rate), 2), np.int32)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`.")
        size = np.array(whole_numbers(filter_shape, "with_space_to_batch"))[: len(rate)]
        extra = (size - 1) * rate
        base = np.stack([extra // 2, extra - extra // 2], axis=1)
    inner = [x._value.shape[k] for k in axes]
    pads, crops = required_space_to_batch_paddings(inner, rate.tolist(), base)
    last = axes[-1]
    blocks, some_pads, some_crops = (
        np.full(last, 1), np.zeros((last, 2), np.int64), np.zeros((last, 2), np.int64)
    )  # fmt: skip
    at = np.array(axes) - 1
    blocks[at], some_pads[at], some_crops[at] = rate, pads._value, crops._value
    result = op(space_to_batch(x, blocks, some_pads), len(rate), "VALID")
    return batch_to_space(result, blocks, some_crops)
