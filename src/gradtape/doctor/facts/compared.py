"""Losses that the user wrote out: what the last activation gave, beside the numbers it is held to.

A distance by hand, `tf.reduce_mean((y - p) ** 2)`, has a head as one of Keras's losses has, and the
same rules judge it. Everything is read off the recorded ops of one step.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import numpy as np

from ...traits import Family
from ..trace import Event, Trace, Value
from ..trace.training import Head, Part, Training, by_hand, numbers
from . import softmaxes
from .faults import descendants
from .graph import Values

if TYPE_CHECKING:
    from .case import Question

# What a mean goes through on its way to the loss: weights of terms, other terms, a root.
TERMS = (
    Family.SUMS | Family.ADDS | Family.MULTIPLIES | Family.DIVIDES | Family.ROOTS | Family.RESHAPES
)
FEW = 4  # numbers that are no set of labels
LONG = 12  # ops from a distance to the loss


def trainings(question: Question) -> list[Training]:
    """The distances of a step that the user wrote out, each as a loss of a training."""
    return question.once(trainings, lambda: _found(question))


def _found(question: Question) -> list[Training]:
    heard = {h.place for t in question.trace.trainings for h in t.heads if h.loss}
    own: Values | None = None
    found = []
    for event in question.makers:
        if (event.kind != "Sub" and event.kind != "SquaredDifference") or event.place in heard:
            continue
        known = _distance(event, question)
        if known is None:
            continue
        if own is None:
            own = descendants([v for v in question.trace.values if v.variable is not None])
        head = _head(event, *known, own)
        if head is not None:
            found.append(Training("loop", event.place, heads=[head]))
    return found


def _head(event: Event, loss: str, factors: list[Value], own: Values) -> Head | None:
    """The two sides of a difference, if one is data and the other ends in an activation."""
    sides = [v for v in event.inputs if v in own]
    data = [v for v in event.inputs if v not in own]
    if len(sides) != 1 or len(data) != 1:
        return None
    labels, output = np.asarray(data[0].array), sides[0]
    squash = squashed(output)
    if squash is None or data[0].array is None or labels.size < FEW or output.array is None:
        return None
    counted = _counted(labels, [np.asarray(f.array) for f in factors if f not in own])
    if counted is None:
        return None
    labels = counted
    return Head(
        loss, False, [part(squash)], output.shape, event.place, numbers(labels),
        numbers(np.asarray(output.array)), labels.shape, event.place,
    )  # fmt: skip


def _counted(labels: np.ndarray, factors: list[np.ndarray]) -> np.ndarray | None:
    """The labels without those that a mask takes out of the loss, in the same shape; None where
    that cannot be said."""
    for mask in factors:
        if mask.size < 2 or np.all(mask):
            continue
        rank = labels.ndim - mask.ndim
        fits = rank >= 0 and labels.shape[: mask.ndim] == mask.shape
        mask = mask.reshape(mask.shape + (1,) * rank) if fits else mask
        if np.broadcast_shapes(mask.shape, labels.shape) != labels.shape or not np.any(mask):
            return None
        kept = np.broadcast_to(mask != 0, labels.shape)
        labels = np.where(kept, labels, labels[kept][0])
    return labels


def masked(head: Head, trace: Trace) -> bool:
    """Is what a loss gave for each example multiplied by a mask?"""
    events = [e for e in trace.events if e.place == head.place and e.way == "op"]
    later = [e for event in events for o in event.outputs for e in o.users]
    return any(
        e.kind == "Mul" and e.place != head.place and np.size(v.array) > 1 and not np.all(v.array)
        for e in later for v in e.inputs if v.maker not in events and v.array is not None
    )  # fmt: skip


def squashed(value: Value) -> Event | None:
    """The activation that gave a value, which may have another shape since."""
    maker = value.maker
    while maker is not None and maker.is_a(Family.RESHAPES) and maker.inputs:
        maker = maker.inputs[0].maker
    return maker if maker is not None and maker.way == "op" and maker.traits.function else None


def part(squash: Event) -> Part:
    """An activation as a part of a model: that of a layer, or a function that was called."""
    activation, shape = squash.traits.function, squash.outputs[0].shape
    layer = squash.layer
    if layer is None or layer.made is None:
        return by_hand(squash.place, activation, softmaxes.axis(squash), shape, shape)
    node = layer.made.node
    kind = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "?"
    return Part(kind, layer.name, activation, {}, layer.made, shape)


def _distance(event: Event, question: Question) -> tuple[str, list[Value]] | None:
    """Is a difference squared or made positive, and summed up to the target? With what it is
    multiplied by on the way."""
    factors: list[Value] = []
    loss = "mean_squared_error" if event.kind == "SquaredDifference" else None
    value, summed = event.outputs[0], False
    for _ in range(LONG):
        if value in question.targets:
            return (loss, factors) if summed and loss is not None else None
        users = [e for e in value.users if e in question.passed]
        if len(users) != 1:
            return None
        (later,) = users
        if loss is None:
            loss = _bent(later, value)
            if loss is None and not later.is_a(Family.RESHAPES):
                return None
        elif not later.is_a(TERMS) and later.kind != "Neg":
            return None
        elif later.kind == "Mul":
            factors += [v for v in later.inputs if v is not value]
        summed = summed or later.is_a(Family.SUMS)
        value = later.outputs[0]
    return None


def _bent(event: Event, value: Value) -> str | None:
    if event.kind == "Mul" and all(v is value for v in event.inputs):
        return "mean_squared_error"
    if event.kind == "Pow" and np.size(event.inputs[1].array) == 1:
        even = float(np.asarray(event.inputs[1].array).ravel()[0]) % 2 == 0
        return "mean_squared_error" if even and event.inputs[0] is value else None
    if event.kind == "Square":
        return "mean_squared_error"
    return "mean_absolute_error" if event.kind == "Abs" else None
