"""The part of `tf.nn` that measures how far predictions are from labels."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import errors
from ..core.apply import tensor
from ..core.op import Op
from ..framework import convert
from ..framework.tensor import absolute
from ..math.reductions import reduce_sum
from ..ops import elementwise, neural, shape
from ..ops import softmax as softmax_ops
from ..ops.index import select


def floating(op: Op, *tensors: Any) -> Op:
    for x in tensors:
        if x._value.dtype.kind not in op.takes:
            raise convert.wrong_dtype(op, x._value.dtype)
    return op


def in_range(axis: int, ndim: int) -> None:
    if not -ndim <= axis < ndim:
        raise errors.at_run(
            f"`dim` must be in the range [{-ndim}, {ndim}) where {ndim} is the number of "
            f"dimensions in the input. Received: dim={axis}"
        )


def axis_number(axis: Any) -> int:
    """An `axis` that TensorFlow compares with others before it is used."""
    texts = convert.is_tensor_like(axis) and axis._value.dtype.kind == "O"
    if isinstance(axis, (str, bytes)) or texts:
        raise TypeError(f"`axis` must be a whole number, got {axis!r}.")
    if isinstance(axis, (list, tuple)):
        raise TypeError(f"`axis` must be a single whole number, got {axis!r}.")
    if not hasattr(axis, "__int__") and not hasattr(axis, "_value"):
        raise TypeError(f"`axis` must be a whole number, got {axis!r}.")
    if np.ndim(getattr(axis, "_value", axis)) and not isinstance(axis, (list, tuple)):
        raise ValueError(f"`axis` must be a single whole number, got {axis!r}.")
    return int(axis)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Any:
    """-sum(labels * log_softmax(logits)) along an axis; gradients flow to the labels too.

    The gradient by the logits, softmax - labels, is that of labels that sum to 1, as in TensorFlow.
    """
    logits, labels = convert.to_tensor(logits), convert.to_tensor(labels)
    op = floating(softmax_ops.cross_entropy, logits)
    x, narrow = precise(logits)
    for argument, part in (("logits", x), ("labels", labels)):
        if not part._value.shape:
            raise errors.invalid(
                f"softmax_cross_entropy_with_logits: {argument} must have an axis of classes, "
                f"but has shape []; tf.reshape({argument}, [1]) has one [Op:{op.label}] name: "
            )
    y = labels
    if y._value.dtype != x._value.dtype:
        y = shape.cast.apply(y, dtype=x._value.dtype)
    try:
        full = np.broadcast_shapes(x._value.shape, y._value.shape)
    except ValueError:
        raise errors.invalid(
            f"logits and labels must be broadcastable: logits_size={list(x._value.shape)} "
            f"labels_size={list(y._value.shape)} [Op:{op.label}] name: "
        ) from None
    if isinstance(axis, (list, tuple)) and not axis:
        raise errors.invalid("`axis` must be a single whole number, got [] [Op:Range]")
    if axis is not None and not hasattr(axis, "__int__"):
        convert.to_tensor(axis)
    axis = -1 if axis is None else axis_number(axis)
    in_range(axis, len(full))
    x, y = (_last(part, axis) for part in (x, y))
    if x._value.ndim != y._value.ndim:
        return _by_rows(op, x, y, narrow)
    x, y = (stretched(part, _moved_shape(full, axis)) for part in (x, y))
    loss = op.apply(y, x)[0]
    return loss if narrow is None else shape.cast.apply(loss, dtype=narrow)


def _moved_shape(full: tuple[int, ...], axis: int) -> tuple[int, ...]:
    axis %= len(full)
    return (*full[:axis], *full[axis + 1 :], full[axis])


def _by_rows(op: Op, x: Any, y: Any, narrow: Any) -> Any:
    """As TensorFlow where the ranks differ: rows against rows, in the shape of the logits."""
    outer = x._value.shape[:-1]
    x, y = (
        shape.reshape.apply(part, shape=(prod(part._value.shape[:-1]), part._value.shape[-1]))
        for part in (x, y)
    )
    full = np.broadcast_shapes(x._value.shape, y._value.shape)
    if full[0] != prod(outer):
        raise errors.invalid(
            f"{full[0]} rows of labels for logits of shape {[*outer, full[1]]} [Op:{op.label}]"
        )
    loss = shape.reshape.apply(op.apply(stretched(y, full), stretched(x, full))[0], shape=outer)
    return loss if narrow is None else shape.cast.apply(loss, dtype=narrow)


def precise(x: Any) -> tuple[Any, Any]:
    """Numbers of two bytes as float32, and the dtype to go back to."""
    dtype = x._value.dtype
    if dtype.itemsize != 2:
        return x, None
    return shape.cast.apply(x, dtype=np.dtype(np.float32)), dtype


def stretched(x: Any, full: tuple[int, ...]) -> Any:
    return x if x._value.shape == full else shape.broadcast_to.apply(x, shape=full)


def _last(x: Any, axis: int) -> Any:
    """The axis moved to the end."""
    ndim = x._value.ndim
    axis %= ndim
    if axis == ndim - 1:
        return x
    order = [k for k in range(ndim) if k != axis] + [axis]
    return shape.transpose.apply(x, axes=tuple(k - ndim for k in order))


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """-log_softmax(logits) at the position that each label names.

    >>> import gradtape as tf
    >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[200.0, 0.0]])
    <tf.Tensor: shape=(1,), dtype=float32, numpy=array([200.], dtype=float32)>
    """
    y, x = convert.to_tensor(labels), convert.to_tensor(logits)
    op = softmax_ops.sparse_cross_entropy
    label_shape, logit_shape = y._value.shape, x._value.shape
    if label_shape != logit_shape[:-1] or not logit_shape:
        raise _labels_that_do_not_fit(y, x)
    if y._value.dtype.name not in ("int32", "int64"):
        raise errors.wrong_dtype(
            f"Value for attr 'Tlabels' of {convert.c_name(y._value.dtype)} is not in the list of "
            "allowed values: int32, int64; labels are positions: cast them, for example "
            f"tf.cast(labels, tf.int32) [Op:{op.label}] name: "
        )
    x, narrow = precise(_checked_logits(op, x))
    loss = op.apply(x, y)[0]
    return loss if narrow is None else shape.cast.apply(loss, dtype=narrow)


def _checked_logits(op: Op, x: Any) -> Any:
    floating(op, x)
    return x


def _labels_that_do_not_fit(labels: Any, logits: Any) -> ValueError:
    if not logits._value.ndim:
        return ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if labels._value.ndim != logits._value.ndim - 1:
        return ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape="
            f"{labels.shape} of rank {labels._value.ndim} and logits.shape={logits.shape} of rank "
            f"{logits._value.ndim}"
        )
    return ValueError(
        "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
        f"labels.shape={labels.shape} and logits.shape={logits.shape}"
    )


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """-labels * log(sigmoid(x)) - (1 - labels) * log(1 - sigmoid(x)), without overflow."""
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits"
            f"Received: labels={labels} and logits={logits}"
        )
    x, y = convert.to_tensor(logits), convert.to_tensor(labels)
    _same_shape("logits", x, "labels", y)
    return neural.sigmoid_cross_entropy.apply(y, x)


def _same_shape(name: str, x: Any, other: str, y: Any) -> None:
    if x._value.shape != y._value.shape:
        raise ValueError(
            f"`{name}` and `{other}` must have the same shape, received ({x.shape} vs {y.shape})."
        )


def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Any:
    """sigmoid_cross_entropy_with_logits with the labels' part weighted by pos_weight."""
    x, y = convert.to_tensor(logits), convert.to_tensor(labels)
    _same_shape("logits", x, "labels", y)
    weight = 1 + (pos_weight - 1) * y
    # softplus(-x), but, as in TensorFlow, with the derivative 0 of its parts at 0.
    small = elementwise.exp.apply(elementwise.neg.apply(absolute(x)))
    steps = elementwise.log1p.apply(small) + neural.relu.apply(elementwise.neg.apply(x))
    return (1 - y) * x + weight * steps


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Any:
    """exp(log_input) - log_input * targets, plus Stirling's approximation of log(targets!)."""
    x, y = convert.to_tensor(log_input), convert.to_tensor(targets)
    _same_shape("log_input", x, "targets", y)
    loss = elementwise.exp.apply(x) - x * y
    if compute_full_loss:
        log = elementwise.log.apply
        stirling = y * log(y) - y + 0.5 * log(2 * np.pi * y)
        small = tensor(convert.computed(lambda y: (y >= 0) & (y <= 1), y._value))
        loss = loss + select.apply(small, tensor(y._value.dtype.type(0)), stirling)
    return loss


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of the squares."""
    t = convert.to_tensor(t)
    return floating(neural.l2_loss, t).apply(t)


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """The (weighted) losses added up, over the size of the batch."""
    losses = convert.to_tensor(per_example_loss)
    if not losses._value.ndim:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={losses._value} with rank 0"
        )
    dtype = losses._value.dtype
    if sample_weight is not None:
        weights = convert.to_tensor(sample_weight)
        losses = _weighted(losses, weights)
    if global_batch_size is None:
        size = losses._value.shape[0]
    else:
        given = convert.to_tensor(global_batch_size)._value
        if given.ndim:
            raise ValueError(f"global_batch_size must be scalar. Received: {global_batch_size}")
        if given.dtype.kind not in "iu":
            raise TypeError(
                'global_batch_size must be an integer..  Expected "x" to be integer type.  Found: '
                f"tensor of dtype {convert.to_tensor(given).dtype!r}"
            )
        size = int(given)
        if size < 0:
            raise errors.at_run(f"global_batch_size must be non-negative: {size}")
    total = reduce_sum(losses)
    return total / tensor(dtype.type(size)) if size else total


def _weighted(losses: Any, weights: Any) -> Any:
    # In float32 whatever the losses are, as in TensorFlow.
    own, single = losses._value.dtype, np.dtype(np.float32)
    losses, weights = (
        part if part._value.dtype == single else shape.cast.apply(part, dtype=single)
        for part in (losses, weights)
    )
    missing = losses._value.ndim - weights._value.ndim
    if weights._value.ndim and missing > 0:
        weights = shape.reshape.apply(weights, shape=weights._value.shape + (1,) * missing)
    product = losses * weights
    return product if own == single else shape.cast.apply(product, dtype=own)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of the regularisation losses; there is one replica to divide it by."""
    total = reduce_sum(convert.to_tensor(regularization_loss))
    if total._value.dtype.kind not in "iu":
        return total
    # As a division of whole numbers by the number of replicas.
    wide = total._value.dtype.itemsize > 2
    return shape.cast.apply(total, dtype=np.dtype(np.float64 if wide else np.float32))
