"""The part of `tf.nn` that pools: the greatest or the mean number of each window."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import convert, errors
from .arguments import allow, defaulted
from .core.op import Op
from .ops import pool as pool_ops
from .sliding import (
    channels_first,
    geometry_of,
    inner_axes,
    lengths,
    numbers,
    to_first,
    to_last,
)  # fmt: skip


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
    first = channels_first(data_format, n)
    for name, given in (("ksize", ksize), ("strides", strides)):
        lengths(given, n, name)
    if not isinstance(padding, (str, bytes, list, tuple)):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    most = op is pool_ops.max_pool
    x = defaulted(input, np.float32) if most and n == 2 else convert.to_tensor(input)
    if x._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, x._value.dtype)
    if most and (n == 3 or x.dtype.name in ("uint32", "uint64")):
        whole = "int32 int64 uint8 int16 int8 uint16 float64" if n < 3 else ""
        allow(x, op.label, f"float16 bfloat16 float32 {whole}")
    size = numbers(ksize, n, "ksize", first, op.label)
    steps = numbers(strides, n, "strides", first, op.label)
    if x._value.ndim != n + 2:
        raise errors.invalid(
            f"tensor_in_shape must have {n} spatial dimensions: {list(x._value.shape)}; "
            f"its axes are [batch, *sizes, channels] [Op:{op.label}] name: "
        )
    x = to_last(x, first)
    inner = x._value.shape[1:-1]
    gaps = numbers(dilations, n, "dilations", first, op.label)
    if most and n == 1 and isinstance(padding, (list, tuple)):
        raise ValueError(f"`padding` of lines is 'SAME' or 'VALID'. Received: padding={padding}")
    if op is pool_ops.avg_pool and not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    geometry = geometry_of(op.label, inner, size, steps, gaps, padding, first)
    more = {"inner": inner} if op is pool_ops.avg_pool else {}
    return to_first(op.apply(x, geometry=geometry, **more), first)


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
    n = inner_axes(input)
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
    n = inner_axes(input)
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
    if not isinstance(pooling_type, str) or pooling_type not in kinds:
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: {pooling_type}")
    n = inner_axes(input)
    op = kinds[pooling_type]
    window_shape = _positive(window_shape, n, "window_shape", required=True)
    strides = _positive(strides, n, "strides")
    dilations = _positive(dilations, n, "dilations")
    both = [given for given in (strides, dilations) if given is not None]
    if len(both) == 2 and all(np.any(np.asarray(given) > 1) for given in both):
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilations > 1`. Received: "
            f"strides={strides} and dilations={dilations}"
        )
    if strides is not None and np.any(np.asarray(strides) > np.asarray(window_shape)):
        raise ValueError(
            "`strides` > `window_shape` not supported. Received: "
            f"strides={strides} and window_shape={window_shape}"
        )
    x = convert.to_tensor(input)  # in its own dtype, where max_pool2d alone has a default
    return _pool(op, n, x, window_shape, strides, padding, data_format, dilations)


def _positive(value: Any, n: int, name: str, required: bool = False) -> Any:
    """A list of n positive numbers, which TensorFlow's Python looks through before its ops do."""
    if value is None and not required:
        return None
    if not hasattr(value, "__len__") or (convert.is_tensor_like(value) and not value.shape):
        raise TypeError(f"`{name}` must be a list of {n} whole numbers, got {value!r}.")
    if isinstance(value, str) or len(value) != n:
        raise ValueError(f"`len({name})` should be {n}. Received: {name}={value}")
    found = np.asarray(convert.to_tensor(value)._value)
    if found.dtype.kind == "O" or (name != "window_shape" and found.size and found.min() <= 0):
        raise ValueError(f"all values of `{name}` must be positive. Received: {name}={value}")
    return value
