"""Connectionist temporal classification: how likely the frames of a sequence spell its labels.

A spelling visits blank, label, blank, label, …, blank in order; a label may stand for many frames
and a blank may be left out between two different labels. The sums over all spellings run over the
frames once forward and once backward, for the whole batch, in logarithms (Graves et al., 2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.op import Op
from .declare import op
from .elementwise import FLOATING
from .infer import same
from .reasons import Missing
from .softmax import log_softmax

# What TensorFlow's dense loss takes for the logarithm of 0 at the two ends of a spelling: labels
# that need more frames than there are cost about 707, not infinity.
FLOOR = -706.8936


class _Course(NamedTuple):
    """All that the loss, its derivative and the derivative of that are made of."""

    logs: Any  # (frames, batch, classes): log_softmax
    one_hot: Any  # (batch, states, classes): the class of each state
    chance: Any  # (frames, batch, states): of being in the state, given the labels
    shares: Any  # by which each frame's states come from those of the frame before
    back: Any  # the same backward
    loss: Any
    live: Any  # (frames, batch, 1): the frames that count


def _sum(parts: Any) -> tuple[Any, Any]:
    """The logarithm of a sum of exponentials over the first axis, and each one's share in it."""
    top = np.max(parts, axis=0)
    top = np.where(np.isfinite(top), top, parts.dtype.type(0))
    scaled = np.exp(parts - top)
    total = np.sum(scaled, axis=0)
    shares = scaled / np.where(total > 0, total, total.dtype.type(1))
    return top + np.log(total), shares


def _before(a: Any, skip: Any, fill: float) -> Any:
    """What comes into each state: from itself, the one before and, if it may, the one before."""
    parts = np.full((3, *a.shape), fill, a.dtype)
    parts[0] = a
    parts[1, :, 1:] = a[:, :-1]
    parts[2, :, 2:] = a[:, :-2]
    parts[2][~skip] = fill
    return parts


def _after(a: Any, skip: Any, fill: float) -> Any:
    """What goes out of each state, likewise."""
    parts = np.full((3, *a.shape), fill, a.dtype)
    parts[0] = a
    parts[1, :, :-1] = a[:, 1:]
    parts[2, :, :-2] = np.where(skip, a, a.dtype.type(fill))[:, 2:]
    return parts


def _course(a: Any, b: Any, c: Any, d: Any, blank: int, floor: float) -> _Course:
    frames, batch, classes = a.shape
    states = 2 * b.shape[1] + 1
    logs = log_softmax(a, axis=-1)
    spelt = np.full((batch, states), blank, np.int64)
    spelt[:, 1::2] = b
    one_hot = (spelt[..., None] == np.arange(classes)).astype(a.dtype)
    # A label that is no class gets the logarithm 0, as in TensorFlow.
    known = (spelt >= 0) & (spelt < classes)
    seen = np.take_along_axis(logs, np.where(known, spelt, 0)[None], axis=-1)
    seen = np.where(known, seen, a.dtype.type(0))
    skip = np.zeros((batch, states), bool)
    skip[:, 3::2] = b[:, 1:] != b[:, :-1]
    live = np.arange(frames)[:, None, None] < d[:, None]
    end = np.full((batch, states), floor, a.dtype)
    last = 2 * c[:, None]
    place = np.arange(states)
    end[(place == last) | (place == last - 1)] = 0
    ahead, shares = _forward(seen, skip, floor)
    behind, back = _backward(seen, skip, end, live)
    _, chance = _sum(np.moveaxis(ahead + behind, -1, 0)) if frames else (None, ahead[None])
    chance = np.moveaxis(chance, 0, -1) * live
    start = np.where(c == 0, 0.0, floor).astype(a.dtype)
    if frames:
        first, _ = _sum(np.moveaxis((behind[0] + seen[0])[:, :2], -1, 0))
        start = np.where(d > 0, first, start)
    return _Course(logs, one_hot, chance, shares, back, -start, live)


def _forward(seen: Any, skip: Any, floor: float) -> tuple[Any, Any]:
    out, shares = np.empty_like(seen), np.zeros((len(seen), 3, *skip.shape), seen.dtype)
    for t, now in enumerate(seen):
        if t:
            came, shares[t] = _sum(_before(out[t - 1], skip, -np.inf))
        else:
            parts = _before(np.full(skip.shape, floor, seen.dtype), skip, -np.inf)
            begin = np.full((1, *skip.shape), -np.inf, seen.dtype)
            begin[..., :2] = 0
            came, _ = _sum(np.concatenate([parts, begin]))
        out[t] = came + now
    return out, shares


def _backward(seen: Any, skip: Any, end: Any, live: Any) -> tuple[Any, Any]:
    out, shares = np.empty_like(seen), np.zeros((len(seen), 3, *skip.shape), seen.dtype)
    for t in range(len(seen) - 1, -1, -1):
        if t + 1 == len(seen):
            out[t] = end
            continue
        went, part = _sum(_after(out[t + 1] + seen[t + 1], skip, -np.inf))
        out[t] = np.where(live[t + 1], went, end)
        shares[t] = part * live[t + 1]
    return out, shares


def _ctc(a: Any, b: Any, c: Any, d: Any, blank: int, floor: float) -> Any:
    course = _course(a, b, c, d, blank, floor)
    expected = _by_class(course.chance, course.one_hot)
    # bfloat16 times a truth value would be float32.
    return course.loss, ((np.exp(course.logs) - expected) * course.live).astype(a.dtype, copy=False)


def _by_class(states: Any, one_hot: Any) -> Any:
    """Numbers of states added up to numbers of classes."""
    return np.matmul(states.transpose(1, 0, 2), one_hot).transpose(1, 0, 2)


def _ctc_bend(a: Any, b: Any, c: Any, d: Any, e: Any, blank: int, floor: float) -> Any:
    """The change of the derivative along `e`: what was summed up, differentiated step by step."""
    course = _course(a, b, c, d, blank, floor)
    p = np.exp(course.logs)
    mean = np.sum(p * e, axis=-1, keepdims=True)
    moved = np.matmul((e - mean).transpose(1, 0, 2), course.one_hot.transpose(0, 2, 1))
    moved = moved.transpose(1, 0, 2)
    skip = np.ones(moved.shape[1:], bool)  # the shares know which skips there are
    ahead, behind = np.array(moved), np.zeros_like(moved)
    for t in range(1, len(moved)):
        ahead[t] += np.sum(course.shares[t] * _before(ahead[t - 1], skip, 0.0), axis=0)
    for t in range(len(moved) - 2, -1, -1):
        parts = _after(behind[t + 1] + moved[t + 1], skip, 0.0)
        behind[t] = np.sum(course.back[t] * parts, axis=0)
    both = ahead + behind
    both = course.chance * (both - np.sum(course.chance * both, axis=-1, keepdims=True))
    bend = (p * (e - mean) - _by_class(both, course.one_hot)) * course.live
    return bend.astype(a.dtype, copy=False)


def _grad_of_ctc(g: Any, a: Any, b: Any, c: Any, d: Any, y: Any, blank: Any, floor: Any) -> Any:
    loss, more = g
    pulled = None if loss is None else np.expand_dims(loss, (0, -1)) * y[1]
    if more is not None:
        bent = ctc_bend(a, b, c, d, more, blank=blank, floor=floor)
        pulled = bent if pulled is None else pulled + bent
    return pulled, None, None, None


def _samples(d: Any, *more: Any) -> list:
    labels, lengths, frames = np.array([[1, 2], [2, 0]]), np.array([2, 1]), np.array([4, 3])
    return [
        ([d(4, 2, 3), labels, lengths, frames, *[d(*n) for n in more]], {"blank": 0, "floor": f})
        for f in (FLOOR, -np.inf)
    ]


# a: logits (frames, batch, classes), b: labels (batch, most), c: how many labels, d: how many
# frames of each. The second result is the derivative, which is at hand when the loss is computed.
ctc: Op = op(
    "ctc", _ctc, _grad_of_ctc,
    shape=lambda a, b, c, d, blank, floor: [(a[1],), a], label="CTCLoss", joint=True,
    takes=FLOATING, params=("blank", "floor"), sample=_samples,
)  # fmt: skip
ctc_bend: Op = op(
    "ctc_bend", _ctc_bend,
    (
        Missing("the third derivative of ctc_loss is not worked out"), None, None, None,
        lambda g, a, b, c, d, blank, floor: ctc_bend(a, b, c, d, g, blank=blank, floor=floor),
    ),
    shape=same, label="CTCLoss", kind="CTCLossGrad", takes=FLOATING,
    params=("blank", "floor"),
    sample=lambda d: [
        ([d(4, 2, 3), np.array([[1, 2], [2, 0]]), np.array([2, 1]), np.array([4, 3]), d(4, 2, 3)],
         {"blank": 0, "floor": FLOOR}),
    ],
)  # fmt: skip
