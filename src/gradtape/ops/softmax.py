"""Softmax, its logarithm, and the cross entropies of it. `axis` is counted from the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from .declare import op
from .elementwise import FLOATING, in_float32
from .infer import alike, same
from .kernels.parallel import MANY, in_rows
from .reduce import sum_of


def _shifted(a: Any, axis: int) -> Any:
    """Less its maximum, so that no exponential overflows; a new array."""
    return a - np.maximum.reduce(a, axis=axis, keepdims=True, initial=-np.inf)


# --- softmax --------------------------------------------------------------------------------------
@in_float32
def _softmax(a: Any, axis: int) -> Any:
    if axis == -1 and a.size >= MANY and a.flags.c_contiguous and a.dtype.char in "fd":
        return in_rows(_softmax_of_rows, a)  # 8 x 4 x 64 x 64: 0.18 ms instead of 0.41
    y = _shifted(a, axis)
    np.exp(y, out=y)
    y /= np.add.reduce(y, axis=axis, keepdims=True)
    return y


def _softmax_of_rows(a: Any, out: Any) -> None:
    # The position of the greatest is found in half the time of the greatest.
    greatest = a[np.arange(len(a)), a.argmax(axis=-1)]
    np.subtract(a, greatest[:, None], out)
    np.exp(out, out)
    out /= sum_of(out, (-1,), keepdims=True)


def _grad_of_rows(g: Any, y: Any, out: Any = None) -> Any:
    # Of 8 x 4 x 64 x 64 numbers 30 us instead of 90 for the sum, and no array for its terms.
    h = np.subtract(g, np.einsum("...i,...i->...", g, y)[..., None], out)
    return np.multiply(h, y, h)


def _grad_of_softmax(g: Any, y: Any, axis: int) -> Any:
    if g.__class__ is y.__class__ is np.ndarray and axis == -1 and g.dtype.char in "fd":
        if g.size >= MANY and g.shape == y.shape and g.flags.c_contiguous and y.flags.c_contiguous:
            return in_rows(_grad_of_rows, g, y)
        return _grad_of_rows(g, y)
    return (g - np.sum(g * y, axis=(axis,), keepdims=True)) * y


softmax = op(
    "softmax", _softmax, _grad_of_softmax,
    shape=same, label="Softmax", params=("axis",), takes=FLOATING, batches=True,
    sample=lambda d: [([d(2, 3)], {"axis": -1}), ([d(2, 3, 2)], {"axis": -2})],
)  # fmt: skip


@in_float32
def _log_softmax(a: Any, axis: int) -> Any:
    y = _shifted(a, axis)
    y -= np.log(np.add.reduce(np.exp(y), axis=axis, keepdims=True))
    return y


log_softmax = op(
    "log_softmax", _log_softmax,
    lambda g, y, axis: g - np.exp(y) * np.sum(g, axis=(axis,), keepdims=True),
    shape=same, label="LogSoftmax", params=("axis",), takes=FLOATING, batches=True,
    sample=lambda d: [([d(2, 3)], {"axis": -1}), ([d(2, 3, 2)], {"axis": -2})],
)  # fmt: skip


# --- cross entropies ------------------------------------------------------------------------------
# Both have two results: the loss of each row, and its derivative by the logits, which is at hand
# when the loss is computed, so that pulling back is one product. The second derivative
# is softmax's.
def _parts(a: Any) -> tuple[Any, Any, Any]:
    """Shifted logits, their exponentials and the sums of these."""
    z = _shifted(a, -1)
    e = np.exp(z)
    return z, e, np.add.reduce(e, axis=-1, keepdims=True)


def _pull_logits(g: Any, logits: Any, derivative: Any) -> Any:
    loss, more = g
    pulled = None if loss is None else np.expand_dims(loss, -1) * derivative
    if more is None:
        return pulled
    bent = _grad_of_softmax(more, softmax(logits, axis=-1), -1)
    return bent if pulled is None else pulled + bent


def _cross_entropy(a: Any, b: Any) -> Any:
    z, e, total = _parts(b)
    loss = np.add.reduce(a * (np.log(total) - z), axis=-1)
    e /= total
    e -= a
    return loss, e


def _grads_of_cross_entropy(g: Any, b: Any, y: Any) -> Any:
    logits = _pull_logits(g, b, y[1])
    if g[0] is None:
        return np.zeros_like(b), logits
    return np.expand_dims(g[0], -1) * -log_softmax(b, axis=-1), logits


# a: labels, b: logits, of one shape. As in TensorFlow the derivative by the logits, softmax -
# labels, is that of labels that sum to 1.
cross_entropy = op(
    "cross_entropy", _cross_entropy, _grads_of_cross_entropy,
    shape=lambda a, b: [alike(a, b)[:-1], alike(a, b)], dtype=1,
    label="SoftmaxCrossEntropyWithLogits", joint=True,
    takes=FLOATING,
    # Whole labels, as the derivative by the labels leaves out that of the second result.
    sample=lambda d: [([np.array([[0, 1, 0], [1, 0, 0]], np.int8), d(2, 3)], {})],
)  # fmt: skip


def _sparse_cross_entropy(a: Any, b: Any) -> Any:
    classes = a.shape[-1]
    flat = b.reshape(-1)
    if flat.size and not (np.minimum.reduce(flat) >= 0 and np.maximum.reduce(flat) < classes):
        from ..errors import invalid

        wrong = flat[(flat < 0) | (flat >= classes)][0]
        raise invalid(
            f"Received a label value of {wrong} which is outside the valid range of [0, {classes})."
            f"  Label values: {' '.join(map(str, flat.tolist()))} "
            "[Op:SparseSoftmaxCrossEntropyWithLogits] name: "
        )
    z, e, total = _parts(a)
    e /= total
    if z.flags.c_contiguous:  # one number for each place is quicker than two: 14 us instead of 16
        places: Any = np.arange(0, z.size, classes) + flat
        own, slopes = z.reshape(-1), e.reshape(-1)
    else:
        places = np.arange(flat.size), flat
        own, slopes = z.reshape(flat.size, classes), e.reshape(flat.size, classes)
    loss = np.log(total.reshape(-1)) - own[places]
    slopes[places] -= 1
    return loss.reshape(b.shape), e


# a: logits, b: labels, which are positions.
sparse_cross_entropy = op(
    "sparse_cross_entropy", _sparse_cross_entropy,
    lambda g, a, y: (_pull_logits(g, a, y[1]), None),
    shape=lambda a, b: [alike(b, a[:-1]), a], label="SparseSoftmaxCrossEntropyWithLogits",
    joint=True, takes=FLOATING,
    sample=lambda d: [
        ([d(2, 3), np.array([2, 0])], {}),
        ([d(2, 2, 3), np.array([[0, 1], [1, 2]])], {}),
    ],
)  # fmt: skip
