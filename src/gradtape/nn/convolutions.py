"""The part of `tf.nn` that convolves lines, images and volumes, and the transposes of it.

Differs from TensorFlow: its CPU kernels lack gradients of dilated and of grouped convolutions and
take no channels-first data; here they have and do.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import errors
from ..core.op import Op
from ..framework import arguments, convert
from ..framework.arguments import allow, integer, matching
from ..ops import convolve, shape
from .windows import (
    channels_first,
    each_axis,
    geometry_of,
    lengths,
    numbers,
    rates,
    to_first,
    to_last,
)

_FLOATS = "float16 bfloat16 float32 float64"
_LABELS = {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}


def _ranks(label: str, n: int, x: Any, f: Any) -> None:
    axes = "[batch, *sizes, channels]", "[*sizes, channels in, channels out]"
    for name, t, wanted in zip(("input", "filter"), (x, f), axes, strict=True):
        if t._value.ndim != n + 2:
            raise errors.invalid(
                f"convolution {name} must be {n + 2}-dimensional: {list(t._value.shape)}; "
                f"its axes are {wanted} [Op:{label}] name: "
            )


def _operands(op: Op, n: int, input: Any, filters: Any) -> Any:
    if n == 1:
        # TensorFlow makes images of the lines first: each argument is converted by itself.
        input, filters = convert.to_tensor(input), convert.to_tensor(filters)
    return convert.pair(op, input, filters)


def _convolve(
    n: int, input: Any, filters: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Any:
    op, label, first = convolve.conv, _LABELS[n], channels_first(data_format, n)
    x, f = _operands(op, n, input, filters)
    outer = x._value.shape[: -n - 1]
    if len(outer) > 1 and f._value.ndim == n + 2:
        # More axes before the images are one batch.
        flat = shape.reshape.apply(x, shape=(prod(outer), *x._value.shape[-n - 1 :]))
        y = _convolve(n, flat, f, strides, padding, data_format, dilations)
        return shape.reshape.apply(y, shape=outer + y._value.shape[1:])
    _ranks(label, n, x, f)
    allow(x, label, _FLOATS if n == 3 else _FLOATS + " int32")
    if n == 3 and not f._value.size:
        raise errors.invalid(
            f"filter must not have zero elements, got shape {list(f._value.shape)} [Op:{label}]"
        )
    x = to_last(x, first)
    sizes, depth = x._value.shape, f._value.shape[-2]
    if not depth or not sizes[-1] or sizes[-1] % depth:
        raise errors.invalid(
            f"input depth must be evenly divisible by filter depth: {sizes[-1]} vs {depth}; "
            f"the filter {list(f._value.shape)} is [*sizes, channels in, channels out] "
            f"[Op:{label}] name: "
        )
    groups = sizes[-1] // depth
    if groups and f._value.shape[-1] % groups:
        raise errors.invalid(
            f"output depth must be evenly divisible by number of groups: {f._value.shape[-1]} vs "
            f"{groups}; the input has {sizes[-1]} channels, the filter {list(f._value.shape)} "
            f"([*sizes, channels in, channels out]) takes {depth} [Op:{label}] name: "
        )
    strides = numbers(strides, n, "strides", first, label)
    dilations = numbers(dilations, n, "dilations", first, label)
    geometry = geometry_of(
        label, sizes[1:-1], f._value.shape[:n], strides, dilations, padding, first
    )  # fmt: skip
    return to_first(op.apply(x, f, geometry=geometry), first)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Slide filters of shape (height, width, channels, results) over images.

    >>> import gradtape as tf
    >>> tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    return _convolve(2, input, filters, strides, padding, data_format, dilations)


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Slide filters of shape (width, channels, results) along lines; more outer axes are kept."""
    if isinstance(data_format, str):
        data_format = {"NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format)
    return _convolve(1, input, filters, stride, padding, data_format, dilations)


def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Slide filters of shape (depth, height, width, channels, results) over volumes."""
    strides = each_axis(strides, 3, "strides", "conv3d")
    dilations = each_axis(dilations, 3, "dilations", "conv3d", default=True)
    return _convolve(3, input, filters, strides, padding, data_format, dilations)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """conv1d, conv2d or conv3d, by the axes of the filters."""
    input, filters = convert.to_tensor(input), convert.to_tensor(filters)
    n = (filters._value.ndim or input._value.ndim) - 2
    if n not in _LABELS:
        raise ValueError(
            f"`filters` must have 3, 4 or 5 axes: 1, 2 or 3 inner ones. Received: {filters.shape}"
        )
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    _positive(dilations)
    _either(strides, dilations)
    return _convolve(n, input, filters, strides, padding, data_format, dilations)


def _either(strides: Any, dilations: Any) -> None:
    both = [
        given
        for given in (strides, dilations)
        if isinstance(given, (int, np.ndarray)) or convert.is_tensor_like(given) or _plain(given)
    ]
    if len(both) == 2 and all(np.any(np.asarray(given) > 1) for given in both):
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilations > 1`. Received: "
            f"strides={strides} and dilations={dilations}"
        )


def _plain(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and all(isinstance(k, (int, float)) for k in given)


def _positive(dilations: Any) -> None:
    given = np.asarray(getattr(dilations, "_value", dilations if _plain(dilations) else 1))
    if isinstance(dilations, (int, np.ndarray)):
        given = np.asarray(dilations)
    if given.dtype.kind in "biuf" and given.size and given.min() <= 0:
        raise ValueError(
            f"all values of `dilations` must be positive. Received: dilations={dilations}"
        )


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Any:
    """conv2d with the cells of the window `rate` apart."""
    x, f = convert.to_tensor(value), convert.to_tensor(filters)
    _four_axes("Conv2D", f)
    if x._value.ndim < 4:
        raise ValueError(f"`value` must have at least 4 axes, got shape {x.shape}.")
    depth = f._value.shape[2]
    if x._value.shape[-1] and (not depth or x._value.shape[-1] % depth):
        raise ValueError(
            "The number of input channels is not divisible by the corresponding number of output "
            f"filters: `value` has shape {x.shape} and `filters` {f.shape}."
        )
    if rate is None:
        raise TypeError("`rate` must be a whole number, got None.")
    _positive(rate)
    if convert.is_tensor_like(padding) or convert.is_sparse(padding):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    if not isinstance(padding, str) or padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be 'SAME' or 'VALID'. Received: padding={padding}")
    return _convolve(2, x, f, 1, padding, "NHWC", rate)


def _four_axes(label: str, *tensors: Any) -> None:
    for t in tensors:
        if t._value.ndim != 4:
            raise ValueError(f"{label} takes tensors of 4 axes here, got shape {t.shape}.")


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Slide a filter of its own over each channel: (height, width, channels, results of each)."""
    x, f = convert.to_tensor(input), convert.to_tensor(filter)
    if x._value.ndim < 3:
        raise ValueError(f"depthwise_conv2d takes an input of 4 axes, got shape {x.shape}.")
    if isinstance(strides, (list, tuple)):
        for step in strides:
            integer(step, "strides")
    x, f = convert.pair(convolve.conv, x, f)
    _ranks("DepthwiseConv2dNative", 2, x, f)
    allow(x, "DepthwiseConv2dNative", _FLOATS)
    rows, columns, depth, each = f._value.shape
    channels = x._value.shape[1 if channels_first(data_format, 2) else -1]
    if channels != depth:
        raise errors.invalid(
            f"input and filter must have the same depth: {channels} vs {depth} "
            "[Op:DepthwiseConv2dNative] name: "
        )
    strides = each_axis(strides, 2, "strides", "depthwise_conv2d_native")
    if convert.is_tensor_like(dilations) and dilations._value.dtype.kind == "O":
        raise TypeError(f"Expected int for argument 'dilations' not {dilations!r}.")
    dilations = rates(dilations, 2, "dilations")
    grouped = shape.reshape.apply(f, shape=(rows, columns, 1, depth * each))
    return _convolve(2, x, grouped, strides, padding, data_format, dilations)


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """depthwise_conv2d, then a conv2d with windows of one cell, which mixes the channels."""
    pointwise_filter = convert.to_tensor(pointwise_filter)
    _four_axes("SeparableConv2D", pointwise_filter)
    if pointwise_filter._value.shape[:2] != (1, 1):
        raise ValueError(
            "The pointwise filter mixes the channels of single cells: its first two axes must have "
            f"size 1, got shape {pointwise_filter.shape}."
        )
    dilations = rates(dilations, 2, "dilations")
    x = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return _convolve(2, x, pointwise_filter, 1, "VALID", data_format, None)


def _convolve_back(
    n: int,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
) -> Any:
    """The transpose of a convolution, which makes larger what that makes smaller."""
    for name, value in (("strides", strides), ("dilations", dilations)):
        lengths(1 if value is None else value, n, name)
    op, first = convolve.conv_input, channels_first(data_format, n)
    label = _LABELS[n] + "BackpropInput" + "V2" * (n == 3)
    if n == 1:
        x, f = _operands(op, n, input, filters)
    else:
        f, x = matching(label, [filters, input], beside=[output_shape])
    _ranks(label, n, x, f)
    allow(x, label, _FLOATS if n == 3 else _FLOATS + " int32")
    x = to_last(x, first)
    wanted = list(_sizes(output_shape, n, label))
    if len(wanted) != n + 2:
        raise errors.invalid(
            f"output_shape must have {n + 2} sizes, one for each axis of the result, got "
            f"{output_shape!r} [Op:{label}] name: "
        )
    if wanted[0] != x._value.shape[0]:
        raise errors.invalid(
            f"input and out_backprop must have the same batch size: output_shape says {wanted[0]}, "
            f"the input has {x._value.shape[0]} [Op:{label}] name: "
        )
    inner, depth = (wanted[2:], wanted[1]) if first else (wanted[1:-1], wanted[-1])
    if f._value.shape[-1] != x._value.shape[-1] or f._value.shape[-2] != depth:
        raise errors.invalid(
            f"the filters' last two axes are the channels of the result and of the input, "
            f"{depth} and {x._value.shape[-1]}; got {list(f._value.shape)} [Op:{label}] name: "
        )
    strides = numbers(strides, n, "strides", first, label)
    dilations = numbers(dilations, n, "dilations", first, label)
    geometry = geometry_of(
        label, tuple(inner), f._value.shape[:n], strides, dilations, padding, first
    )  # fmt: skip
    for k, (actual, computed) in enumerate(
        zip(x._value.shape[1:-1], geometry.counts(tuple(inner)), strict=True)
    ):
        if actual != computed:
            raise errors.invalid(
                f"Size of out_backprop doesn't match computed: actual = {actual}, computed = "
                f"{computed} spatial_dim: {k + 1} input: {inner[k]} filter: {f._value.shape[k]} "
                f"stride: {strides[k]}: choose another output_shape [Op:{label}] name: "
            )
    return to_first(op.apply(x, f, geometry=geometry, shape=(*inner, depth)), first)


def _sizes(output_shape: Any, n: int, label: str) -> tuple[int, ...]:
    if n == 1:
        # TensorFlow puts a 1 into it, for the height of an image.
        given = np.asarray(getattr(output_shape, "_value", output_shape if np.isscalar(output_shape)
                                   or isinstance(output_shape, np.ndarray) else 0))  # fmt: skip
        if given.dtype.kind in "bOSU":
            raise convert.cannot([1], given.dtype if given.dtype.kind == "b" else np.dtype(object))
        if isinstance(output_shape, (list, tuple)) and any(
            isinstance(k, (list, tuple)) for k in output_shape
        ):
            raise errors.invalid(
                f"output_shape must be a vector of whole numbers, got {output_shape!r} [Op:{label}]"
            )
    return arguments.numbers(output_shape, label, only=n == 2)


def _transpose_of(n: int, layout: str, axes: str) -> Any:
    """The transpose of a convolution of n axes, as TensorFlow's function."""

    def function(
        input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = "SAME",
        data_format: str = layout, dilations: Any = None, name: str | None = None,
    ) -> Any:  # fmt: skip
        given = input, filters, output_shape, strides, padding, data_format, dilations
        return _convolve_back(n, *given)

    function.__name__ = function.__qualname__ = f"conv{n}d_transpose"
    function.__doc__ = f"The transpose of conv{n}d; filters are ({axes}, results, channels)."
    return function


conv1d_transpose = _transpose_of(1, "NWC", "width")
conv2d_transpose = _transpose_of(2, "NHWC", "height, width")
conv3d_transpose = _transpose_of(3, "NDHWC", "depth, height, width")


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of conv1d, conv2d or conv3d, by the axes of the filters."""
    if not hasattr(output_shape, "__len__"):
        raise ValueError(
            "`output_shape` must be a tensor or sized collection. Received: "
            f"output_shape={output_shape}"
        )
    n = len(output_shape) - 2
    if n not in _LABELS:
        raise ValueError(
            f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape}"
        )
    return _convolve_back(
        n, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip
