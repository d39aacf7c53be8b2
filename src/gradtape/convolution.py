"""The part of `tf.nn` that slides windows over images, lines and volumes: convolution, pooling.

Differs from TensorFlow: its CPU kernels lack gradients of dilated and of grouped convolutions and
take no channels-first data; here they have and do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import convert, errors
from .core.op import Op
from .ops import convolve, shape
from .ops import pool as pool_ops
from .ops.windows import Geometry, pads_for

_LABELS = {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


# --- arguments ------------------------------------------------------------------------------------------
def _channels_first(data_format: Any, n: int) -> bool:
    if data_format is None or data_format == _FORMATS[n][0]:
        return False
    if data_format == _FORMATS[n][1]:
        return True
    raise ValueError(
        f"`data_format` must be {_FORMATS[n][0]!r} or {_FORMATS[n][1]!r}. "
        f"Received: data_format={data_format}"
    )


def _to_last(x: Any, first: bool) -> Any:
    if not first:
        return x
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(-ndim, *range(2 - ndim, 0), 1 - ndim))


def _to_first(x: Any, first: bool) -> Any:
    if not first:
        return x
    ndim = x._value.ndim
    return shape.transpose.apply(x, axes=(-ndim, -1, *range(1 - ndim, -1)))


def _numbers(value: Any, n: int, name: str, first: bool, label: str) -> tuple[int, ...]:
    """Strides, dilations or sizes of the n inner axes from one number, n of them or n + 2."""
    if value is None:
        return (1,) * n
    if convert.is_tensor_like(value):
        value = np.asarray(convert.to_tensor(value)._value).tolist()
    given = [int(k) for k in value] if isinstance(value, (Sequence, np.ndarray)) else [int(value)]
    if len(given) == 1:
        found = tuple(given * n)
    elif len(given) == n:
        found = tuple(given)
    elif len(given) == n + 2:
        outer = (given[0], given[1 if first else -1])
        if outer != (1, 1):
            raise errors.UnimplementedError(
                None, None,
                f"Current implementation does not yet support {name} in the batch and depth "
                f"dimensions: {given} [Op:{label}] name: ",
            )  # fmt: skip
        found = tuple(given[2:] if first else given[1:-1])
    else:
        raise ValueError(
            f"`{name}` should be of length 1, {n} or {n + 2}. "
            f"Received: {name}={value} of length {len(given)}"
        )
    if min(found) <= 0:
        raise errors.invalid(
            f"{name} of the inner axes should be larger than 0, got {found} [Op:{label}] name: "
        )
    return found


def _geometry(
    label: str,
    inner: tuple[int, ...],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: Any,
    first: bool,
) -> Geometry:
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise errors.invalid(
                f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
                f'"SAME", "VALID", "EXPLICIT" [Op:{label}]'
            )
        pads = pads_for(padding, inner, size, strides, dilations)
    else:
        pads = _explicit(padding, len(size), first)
    geometry = Geometry(size, strides, dilations, pads)
    for n, k, s, d, count in zip(
        inner, size, strides, dilations, geometry.counts(inner), strict=True
    ):
        if count < 0 or (count == 0 and n + 1 < (k - 1) * d + 1):
            raise errors.invalid(
                f"Computed output size would be negative: {count} [input_size: {n}, "
                f"effective_filter_size: {(k - 1) * d + 1}, stride: {s}] [Op:{label}] name: "
            )
    return geometry


def _explicit(padding: Any, n: int, first: bool) -> tuple[tuple[int, int], ...]:
    pairs = tuple((int(low), int(high)) for low, high in padding)
    if len(pairs) != n + 2:
        raise ValueError(
            f"Nontrivial explicit padding has a pair for each axis of the input, {n + 2} in all. "
            f"Received: padding={padding}"
        )
    outer = (pairs[0], pairs[1 if first else -1])
    if outer != ((0, 0), (0, 0)):
        raise ValueError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported. "
            f"Received: padding={padding}"
        )
    return pairs[2:] if first else pairs[1:-1]


def _ranks(label: str, n: int, x: Any, f: Any) -> None:
    for name, t in (("input", x), ("filter", f)):
        if t._value.ndim != n + 2:
            raise errors.invalid(
                f"convolution {name} must be {n + 2}-dimensional: {list(t._value.shape)} "
                f"[Op:{label}] name: "
            )


# --- convolution ----------------------------------------------------------------------------------------
def _convolve(
    n: int, input: Any, filters: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Any:
    op, label, first = convolve.conv, _LABELS[n], _channels_first(data_format, n)
    x, f = convert.pair(op, input, filters)
    _ranks(label, n, x, f)
    if x._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, x._value.dtype)
    x = _to_last(x, first)
    sizes, depth = x._value.shape, f._value.shape[-2]
    if not depth or sizes[-1] % depth:
        raise errors.invalid(
            f"input depth must be evenly divisible by filter depth: {sizes[-1]} vs {depth} "
            f"[Op:{label}] name: "
        )
    groups = sizes[-1] // depth
    if groups and f._value.shape[-1] % groups:
        raise errors.invalid(
            f"output depth must be evenly divisible by number of groups: {f._value.shape[-1]} vs "
            f"{groups} [Op:{label}] name: "
        )
    strides = _numbers(strides, n, "strides", first, label)
    dilations = _numbers(dilations, n, "dilations", first, label)
    geometry = _geometry(
        label, sizes[1:-1], f._value.shape[:n], strides, dilations, padding, first
    )  # fmt: skip
    return _to_first(op.apply(x, f, geometry=geometry), first)


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
    """Slide filters of shape (width, channels, results) along lines; more axes in front are kept."""
    if data_format == "NHWC" or data_format == "NCHW":
        data_format = {"NHWC": "NWC", "NCHW": "NCW"}[data_format]
    x = convert.to_tensor(input)
    outer = x._value.shape[:-2]
    if len(outer) > 1:
        flat = shape.reshape.apply(x, shape=(int(np.prod(outer)), *x._value.shape[-2:]))
        y = _convolve(1, flat, filters, stride, padding, data_format, dilations)
        return shape.reshape.apply(y, shape=outer + y._value.shape[1:])
    return _convolve(1, x, filters, stride, padding, data_format, dilations)


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
    filters = convert.to_tensor(filters)
    n = filters._value.ndim - 2
    if n not in _FORMATS:
        raise ValueError(
            f"`filters` must have 3, 4 or 5 axes: 1, 2 or 3 inner ones. Received: {filters.shape}"
        )
    return _convolve(n, input, filters, strides, padding, data_format, dilations)


def atrous_conv2d(
    value: Any, filters: Any, rate: int, padding: Any, name: str | None = None
) -> Any:
    """conv2d with the cells of the window `rate` apart."""
    return _convolve(2, value, filters, 1, padding, "NHWC", rate)


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
    x, f = convert.pair(convolve.conv, input, filter)
    _ranks("DepthwiseConv2dNative", 2, x, f)
    rows, columns, depth, each = f._value.shape
    channels = x._value.shape[1 if _channels_first(data_format, 2) else -1]
    if channels != depth:
        raise errors.invalid(
            f"input and filter must have the same depth: {channels} vs {depth} "
            "[Op:DepthwiseConv2dNative] name: "
        )
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
    op, label, first = convolve.conv_input, _LABELS[n] + "BackpropInput", False
    first = _channels_first(data_format, n)
    x, f = convert.pair(op, input, filters)
    _ranks(label, n, x, f)
    x = _to_last(x, first)
    wanted = np.asarray(convert.to_tensor(output_shape)._value).tolist()
    inner, depth = (wanted[2:], wanted[1]) if first else (wanted[1:-1], wanted[-1])
    if f._value.shape[-1] != x._value.shape[-1] or f._value.shape[-2] != depth:
        raise errors.invalid(
            f"the filters' last two axes are the channels of the result and of the input, "
            f"{depth} and {x._value.shape[-1]}; got {list(f._value.shape)} [Op:{label}] name: "
        )
    strides = _numbers(strides, n, "strides", first, label)
    dilations = _numbers(dilations, n, "dilations", first, label)
    geometry = _geometry(
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
    return _to_first(op.apply(x, f, geometry=geometry, shape=(*inner, depth)), first)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of conv2d; filters are (height, width, results, channels)."""
    return _convolve_back(
        2, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of conv1d; filters are (width, results, channels)."""
    return _convolve_back(
        1, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """The transpose of conv3d; filters are (depth, height, width, results, channels)."""
    return _convolve_back(
        3, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


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
    filters = convert.to_tensor(filters)
    return _convolve_back(
        filters._value.ndim - 2, input, filters, output_shape, strides, padding, data_format, dilations
    )  # fmt: skip


# --- pooling --------------------------------------------------------------------------------------------
def _pool(
    op: Op,
    n: int,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any = None,
) -> Any:
    first = _channels_first(data_format, n)
    x = convert.to_tensor(input)
    if x._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, x._value.dtype)
    if x._value.ndim != n + 2:
        raise errors.invalid(
            f"tensor_in_shape must have {n} spatial dimensions: {list(x._value.shape)} "
            f"[Op:{op.label}] name: "
        )
    x = _to_last(x, first)
    inner = x._value.shape[1:-1]
    size = _numbers(ksize, n, "ksize", first, op.label)
    steps = _numbers(strides, n, "strides", first, op.label)
    gaps = _numbers(dilations, n, "dilations", first, op.label)
    if op is pool_ops.avg_pool and not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding}.")
    geometry = _geometry(op.label, inner, size, steps, gaps, padding, first)
    more = {"inner": inner} if op is pool_ops.avg_pool else {}
    return _to_first(op.apply(x, geometry=geometry, **more), first)


def _inner_axes(input: Any) -> int:
    n = convert.to_tensor(input)._value.ndim - 2
    if n not in _FORMATS:
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape.rank={n + 2}"
        )
    return n


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The greatest number of each window; of equal ones the first gets the gradient.

    >>> import gradtape as tf
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.reshape(tf.nn.max_pool(image, 2, 2, "VALID"), [-1])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([ 5.,  7., 13., 15.], dtype=float32)>
    """
    n = _inner_axes(input)
    return _pool(pool_ops.max_pool, n, input, ksize, strides, padding, data_format)


def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Any:
    """The greatest number of each window of lines."""
    return _pool(pool_ops.max_pool, 1, input, ksize, strides, padding, data_format)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """The greatest number of each window of images."""
    return _pool(pool_ops.max_pool, 2, input, ksize, strides, padding, data_format)


def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The greatest number of each window of volumes."""
    return _pool(pool_ops.max_pool, 3, input, ksize, strides, padding, data_format)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """The mean of each window; padding does not count."""
    n = _inner_axes(input)
    return _pool(pool_ops.avg_pool, n, input, ksize, strides, padding, data_format)


def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NWC",
    name: str | None = None,
) -> Any:
    """The mean of each window of lines."""
    return _pool(pool_ops.avg_pool, 1, input, ksize, strides, padding, data_format)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """The mean of each window of images."""
    return _pool(pool_ops.avg_pool, 2, input, ksize, strides, padding, data_format)


def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Any:
    """The mean of each window of volumes."""
    return _pool(pool_ops.avg_pool, 3, input, ksize, strides, padding, data_format)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """max_pool or avg_pool ("MAX" or "AVG"), by default with strides of 1."""
    kinds = {"MAX": pool_ops.max_pool, "AVG": pool_ops.avg_pool}
    if pooling_type not in kinds:
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: {pooling_type}")
    n = _inner_axes(input)
    op = kinds[pooling_type]
    return _pool(op, n, input, window_shape, strides, padding, data_format, dilations)
