"""`tf.nn`: activations, normalisation, dropout; losses and sliding windows have their modules."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.arguments import allow, integer, listed, matching, number, real
from ..math.elementwise import squared_difference  # fmt: skip
from ..math.reductions import axes_of, reduce_sum
from ..ops import elementwise, neural, shape
from ..ops import reduce as reduce_ops
from ..ops import softmax as softmax_ops
from .experimental import dropped
from .losses import (
    axis_number,
    floating,
    in_range,
    precise,
    stretched,
)  # fmt: skip


# --- activations ----------------------------------------------------------------------------------
def _activation(op: Op, name: str, doc: str) -> Callable[..., Any]:
    """`name(features, name=None)`."""

    def function(features: Any, name: str | None = None) -> Any:
        return op.apply(features)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


relu = _activation(
    neural.relu, "relu",
    """max(x, 0), with derivative 0 at 0.

    >>> import gradtape as tf
    >>> tf.nn.relu([-1.0, 2.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0., 2.], dtype=float32)>
    """,
)  # fmt: skip
relu6 = _activation(neural.relu6, "relu6", "min(max(x, 0), 6), with derivative 0 at both ends.")
elu = _activation(neural.elu, "elu", "x above 0 and exp(x) - 1 below.")
selu = _activation(neural.selu, "selu", "elu with scales that keep mean 0 and variance 1.")


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """x above 0 and alpha * x below; whole numbers become float32."""
    x = convert.to_tensor(features)
    if x._value.dtype.kind in "iu":
        x = shape.cast.apply(x, dtype=np.dtype(np.float32))
    if alpha is None:
        alpha = 0.2
    if not isinstance(alpha, numbers.Real):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    # A float32 whatever the dtype of x, as TensorFlow's attribute.
    return floating(neural.leaky_relu, x).apply(x, alpha=float(np.float32(alpha)))


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x times the part of a normal distribution that lies below it, or tanh's approximation."""
    x = convert.to_tensor(features)
    if x._value.dtype.kind not in neural.FLOATING:
        raise ValueError(
            f"`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype!r}"
        )
    return (neural.gelu_tanh if approximate else neural.gelu).apply(x)


def silu(features: Any, beta: Any = 1.0) -> Any:
    """x * sigmoid(beta * x)."""
    x = convert.to_tensor(features)
    if isinstance(beta, (int, float)) and beta == 1:
        return neural.silu.apply(x)
    beta = convert.to_tensor(beta)
    if beta._value.dtype != x._value.dtype:
        beta = shape.cast.apply(beta, dtype=x._value.dtype)
    return neural.swish.apply(x, beta)


swish = silu


def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """relu(x) and relu(-x) joined along the axis."""
    x, axis = convert.to_tensor(features), number(axis, "ConcatV2")
    ndim = x._value.ndim
    if not -ndim <= axis < ndim:
        raise errors.invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{-ndim}, {ndim}), but got "
            f"{axis} [Op:ConcatV2] name: "
        )
    parts = [neural.relu.apply(part) for part in (x, elementwise.neg.apply(x))]
    return shape.concat.apply(*parts, axis=axis - ndim if axis >= 0 else axis)


def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, by default the last.

    >>> import gradtape as tf
    >>> tf.nn.softmax([1.0, 1.0])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([0.5, 0.5], dtype=float32)>
    """
    return _along(softmax_ops.softmax, logits, axis)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """x - log(sum(exp(x))) along an axis, by default the last."""
    return _along(softmax_ops.log_softmax, logits, axis)


def _along(op: Op, logits: Any, axis: Any) -> Any:
    x = convert.to_tensor(logits)
    ndim = x._value.ndim
    if convert.is_tensor_like(axis) and axis._value.size == 1 and axis._value.dtype.kind in "iuf":
        axis = axis._value.reshape(())[()]  # TensorFlow only compares it with the last axis
    axis = -1 if axis is None else axis_number(axis)
    if not ndim:
        raise errors.invalid(f"logits must have >= 1 dimension, got [] [Op:{op.label}] name: ")
    in_range(axis, ndim)
    return floating(op, x).apply(x, axis=axis - ndim if axis >= 0 else axis)


# --- normalisation --------------------------------------------------------------------------------
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple:
    """The mean and the variance along the axes."""
    x = convert.to_tensor(x)
    _no_array(axes, keepdims)
    y, narrow = precise(x) if x._value.dtype == np.float16 else (x, None)
    axis = axes_of(y._value.ndim, axes, "Mean")
    mean = reduce_ops.mean.apply(y, axis=axis, keepdims=True)
    # As TensorFlow: nothing flows to the mean through the variance, where it would add up to 0.
    squares = squared_difference(y, shape.stop_gradient.apply(mean))
    variance = reduce_ops.mean.apply(squares, axis=axis, keepdims=True)
    if not keepdims:
        kept = _without_axes(mean._value.shape, axis)
        mean, variance = (shape.reshape.apply(part, shape=kept) for part in (mean, variance))
    if narrow is None:
        return mean, variance
    return shape.cast.apply(mean, dtype=narrow), shape.cast.apply(variance, dtype=narrow)


def _without_axes(sizes: tuple[int, ...], axes: tuple[int, ...] | None) -> tuple[int, ...]:
    """The sizes after axes of size 1 are squeezed away; of no axes TensorFlow squeezes all."""
    if not axes:
        return () if axes is None else tuple(n for n in sizes if n != 1)
    gone = {k % len(sizes) for k in axes}
    return tuple(n for k, n in enumerate(sizes) if k not in gone)


def _no_array(axes: Any, keepdims: Any) -> None:
    # TensorFlow squeezes the axes away, for which it takes a list.
    if isinstance(axes, np.ndarray) and axes.ndim and axes.size and not keepdims:
        listed(axes, "axis", "squeeze")


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple:
    """The mean and the variance along the axes, of numbers that count by their weights."""
    x, weights = convert.to_tensor(x), convert.to_tensor(frequency_weights)
    _no_array(axes, keepdims)
    x, narrow = precise(x) if x._value.dtype == np.float16 else (x, None)
    if weights._value.dtype != x._value.dtype:
        weights = shape.cast.apply(weights, dtype=x._value.dtype)
    try:
        full = np.broadcast_shapes(x._value.shape, weights._value.shape)
    except ValueError:
        raise errors.invalid(
            f"Incompatible shapes: {list(x._value.shape)} vs. {list(weights._value.shape)}: the "
            "weights must go with x [Op:BroadcastTo]"
        ) from None
    total = reduce_sum(stretched(weights, full), axes, True)
    ratio = elementwise.divide_no_nan.apply
    mean = ratio(reduce_sum(weights * x, axes, True), total)
    squares = elementwise.squared_difference.apply(x, mean)
    variance = ratio(reduce_sum(weights * squares, axes, True), total)
    return tuple(_settled(part, axes, keepdims, narrow) for part in (mean, variance))


def _settled(part: Any, axes: Any, keepdims: bool, narrow: Any) -> Any:
    if not keepdims:
        sizes = part._value.shape
        kept = _without_axes(sizes, axes_of(len(sizes), axes))
        part = shape.reshape.apply(part, shape=kept)
    return part if narrow is None else shape.cast.apply(part, dtype=narrow)


def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple:
    """How many numbers there are along the axes, their sum, the sum of their squares, the shift."""
    x = convert.to_tensor(x)
    if x._value.dtype.kind in "bO":
        raise TypeError(f"cannot count in {x.dtype.name}: cast x first.")
    if not isinstance(axes, (list, tuple)):
        raise TypeError(f"`axes` must be a list of whole numbers, got {axes!r}.")
    sizes = x._value.shape
    axis = axes_of(len(sizes), axes)
    count = 1
    for k in range(-len(sizes), 0) if axis is None else axis:
        count *= sizes[k]
    shift = None if shift is None else convert.to_tensor(shift)
    moved = x if shift is None else x - shift
    squares = elementwise.square.apply(moved)
    sums = [reduce_ops.sum.apply(m, axis=axis, keepdims=bool(keepdims)) for m in (moved, squares)]
    return tensor(x._value.dtype.type(count)), *sums, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple:
    """The mean and the variance from sufficient statistics."""
    ratio = elementwise.reciprocal.apply(convert.to_tensor(counts))
    moved = elementwise.mul.apply(mean_ss, ratio)
    mean = moved if shift is None else moved + shift
    return mean, elementwise.mul.apply(variance_ss, ratio) - elementwise.square.apply(moved)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Any:
    """scale * (x - mean) / sqrt(variance + variance_epsilon) + offset."""
    x = convert.to_tensor(x)
    # Beside a tensor, a number or an array takes its dtype.
    plain = isinstance(variance, (np.ndarray, np.generic)) and convert.is_tensor_like(
        variance_epsilon
    )
    if not plain and not isinstance(variance, (int, float)):
        variance = convert.to_tensor(variance)
    inverse = elementwise.rsqrt.apply(variance + variance_epsilon)
    if scale is not None:
        inverse = elementwise.mul.apply(inverse, scale)
    moved = elementwise.mul.apply(mean, inverse)
    rest = elementwise.neg.apply(moved) if offset is None else offset - moved
    dtype = x._value.dtype
    if inverse._value.dtype != dtype:
        inverse, rest = (shape.cast.apply(part, dtype=dtype) for part in (inverse, rest))
    return x * inverse + rest


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """Add a vector along the axis of the channels: the last, or the second for "NC..."."""
    layout = "N...C" if data_format is None else data_format
    if not isinstance(layout, str):
        raise ValueError(f"`data_format` must be a word such as `N...C`, got {data_format!r}.")
    first = layout.startswith("NC")
    if not first and not (layout.startswith("N") and layout.endswith("C")):
        raise ValueError(
            "`data_format` must be of the form `N...C` or `NC...`. "
            f"Received: data_format={data_format}"
        )
    x, b = matching("BiasAdd", [value, bias])
    if x._value.dtype.kind in "bO":
        raise convert.wrong_dtype(elementwise.sub, x._value.dtype)
    sizes, given = x._value.shape, b._value.shape
    if len(sizes) < 2:
        raise errors.invalid(f"Input tensor must be at least 2D: {list(sizes)} [Op:BiasAdd] name: ")
    if len(given) != 1:
        raise errors.invalid(f"Biases must be 1D: {list(given)} [Op:BiasAdd] name: ")
    if given[0] != sizes[1 if first else -1]:
        raise errors.invalid(
            f"Must provide as many biases as the {'channel' if first else 'last'} dimension of the "
            f"input tensor: {list(given)} vs. {list(sizes)} [Op:BiasAdd] name: "
        )
    if first:
        b = shape.reshape.apply(b, shape=(given[0],) + (1,) * (len(sizes) - 2))
    return neural.bias_add.apply(x, b)


def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Any:
    """batch_normalization with the offset `beta` and, if wanted, the scale `gamma`."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon)


def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Any:
    """x / (bias + alpha * s)^beta with s the sum of squares of the channels within the radius."""
    from ..ops.diagonal import in_band
    from ..ops.linear import matmul

    (x,) = matching("LRN", [input], default=("float32", "bfloat16", "float16"))
    depth_radius = 5 if depth_radius is None else integer(depth_radius, "depth_radius")
    given = (("bias", bias, 1.0), ("alpha", alpha, 1.0), ("beta", beta, 0.5))
    bias, alpha, beta = (real(value, word, default) for word, value, default in given)
    if depth_radius < 0:
        raise errors.at_run(f"depth_radius = {depth_radius} must not be negative [Op:LRN] name: ")
    allow(x, "LRN", "float16 bfloat16 float32")
    if x._value.ndim != 4:
        raise errors.invalid(f"in must be 4-dimensional, got {x.shape} [Op:LRN] name: ")
    channels = x._value.shape[-1]
    near = in_band(channels, channels, -depth_radius, depth_radius).astype(x._value.dtype)
    sums = matmul.apply(elementwise.square.apply(x), tensor(near))
    return x * elementwise.power.apply(bias + alpha * sums, -float(beta))


lrn = local_response_normalization


# --- dropout --------------------------------------------------------------------------------------
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Set a part of the elements to 0, at random, and scale up the others by 1 / (1 - rate)."""
    from .. import random

    def sample(shape: Any, dtype: Any) -> Any:
        return random.uniform(shape, seed=seed, dtype=dtype)

    # Where nothing is dropped a number is drawn all the same: the next random op draws what it
    # would have drawn.
    return dropped(x, rate, sample, noise_shape, lambda: random.uniform([], seed=seed))
