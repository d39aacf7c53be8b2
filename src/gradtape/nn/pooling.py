"""The part of `tf.nn` that pools: the greatest or the mean number of each window."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import allow, defaulted
from ..ops import pool as pool_ops
from ..ops import reduce as reduce_ops
from ..ops import shape
from .windows import (
    channels_first,
    geometry_of,
    inner_axes,
    lengths,
    numbers,
    to_first,
    to_last,
)  # fmt: skip


def _is_of_depth(x: Any, ksize: Any, strides: Any) -> bool:
    """Whether windows lie along the channels and nowhere else, side by side: all that TensorFlow
    has of these."""
    lists = all(isinstance(one, (list, tuple)) and len(one) == 4 for one in (ksize, strides))
    if not lists or x._value.ndim != 4:
        return False
    *others, depth = ksize
    return (
        isinstance(depth, int)
        and depth > 1
        and list(ksize) == list(strides)
        and others == [1, 1, 1]
        and x._value.shape[-1] % depth == 0
    )


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
    if op is pool_ops.max_pool and n == 2 and padding.__class__ is str and padding == "EXPLICIT":
        raise ValueError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` "
            "must be a list."
        )
    for name, given in (("ksize", ksize), ("strides", strides)):
        lengths(given, n, name)
    first = channels_first(data_format, n)
    if n == 1 and not convert.to_tensor(input)._value.ndim:
        raise errors.invalid(
            f"Tried to expand dim index 1 for tensor with 0 dimensions: {op.label} of lines takes "
            "[batch, width, channels] [Op:ExpandDims]"
        )
    if not isinstance(padding, (str, bytes, list, tuple)):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    most, label = op is pool_ops.max_pool, op.label + "3D" * (n == 3)
    x = defaulted(input, np.float32) if most and n == 2 else convert.to_tensor(input)
    if x._value.dtype.kind not in op.takes:
        raise convert.wrong_dtype(op, x._value.dtype, label)
    if most and (n == 3 or x.dtype.name in ("uint32", "uint64")):
        whole = "int32 int64 uint8 int16 int8 uint16 float64" if n < 3 else ""
        allow(x, label, f"float16 bfloat16 float32 {whole}")
    if most and n == 2 and not first and _is_of_depth(x, ksize, strides):
        *outer, channels = x._value.shape
        parts = shape.reshape.apply(x, shape=(*outer, channels // ksize[-1], ksize[-1]))
        return reduce_ops.max.apply(parts, axis=(-1,), keepdims=False)
    size = numbers(ksize, n, "ksize", first, label)
    steps = numbers(strides, n, "strides", first, label)
    if x._value.ndim != n + 2:
        raise errors.invalid(
            f"tensor_in_shape must have {n} spatial dimensions: {list(x._value.shape)}; "
            f"its axes are [batch, *sizes, channels] [Op:{label}] name: "
        )
    x = to_last(x, first)
    inner = x._value.shape[1:-1]
    gaps = numbers(dilations, n, "dilations", first, label)
    if most and n == 1 and isinstance(padding, (list, tuple)):
        raise ValueError(f"`padding` of lines is 'SAME' or 'VALID'. Received: padding={padding}")
    if op is pool_ops.avg_pool and not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding!r}.")
    geometry = geometry_of(label, inner, size, steps, gaps, padding, first)
    if most and not isinstance(padding, (str, bytes)):
        for k, pair in zip(size, padding[2:] if first else padding[1:-1], strict=True):
            if max(pair) >= k:
                raise errors.at_run(
                    f"Top padding {max(pair)} needs to be smaller than the window size "
                    f"{k} [Op:{label}] name: "
                )
    more = {"inner": inner} if op is pool_ops.avg_pool else {}
    return to_first(op.apply(x, geometry=geometry, **more), first)


def _named(op: Op, name: str, n: int | None, layout: str | None, doc: str) -> Any:
    """A function of TensorFlow's for windows of n axes, or of as many as the input has."""

    def function(
        input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = layout,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        axes = inner_axes(input) if n is None else n
        return _pool(op, axes, input, ksize, strides, padding, data_format)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


max_pool = _named(
    pool_ops.max_pool, "max_pool", None, None,
    """The greatest number of each window; of equal ones the first gets the gradient.

    >>> import gradtape as tf
    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.reshape(tf.nn.max_pool(image, 2, 2, "VALID"), [-1])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([ 5.,  7., 13., 15.], dtype=float32)>
    """,
)  # fmt: skip
avg_pool = _named(
    pool_ops.avg_pool, "avg_pool", None, None, "The mean of each window; padding does not count."
)
_GREATEST, _MEAN = "The greatest number of each window of", "The mean of each window of"
max_pool1d = _named(pool_ops.max_pool, "max_pool1d", 1, "NWC", f"{_GREATEST} lines.")
max_pool2d = _named(pool_ops.max_pool, "max_pool2d", 2, "NHWC", f"{_GREATEST} images.")
max_pool3d = _named(pool_ops.max_pool, "max_pool3d", 3, "NDHWC", f"{_GREATEST} volumes.")
avg_pool1d = _named(pool_ops.avg_pool, "avg_pool1d", 1, "NWC", f"{_MEAN} lines.")
avg_pool2d = _named(pool_ops.avg_pool, "avg_pool2d", 2, "NHWC", f"{_MEAN} images.")
avg_pool3d = _named(pool_ops.avg_pool, "avg_pool3d", 3, "NDHWC", f"{_MEAN} volumes.")


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
