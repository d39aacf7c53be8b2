"""Softmaxes of a step, along which axis each was taken, and along which its classes lie.

TensorFlow takes a softmax along the last axis only, and turns the tensor around for any other; a
user may write one out as e^z over its sum. Both are one thing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ...traits import Family
from ..trace import Event, Value

FAR = 24  # ops that are gone through to find the labels


class Softmax(NamedTuple):
    """One softmax: the op that computes it, what came in, what came out."""

    event: Event
    given: Value
    made: Value
    axis: int  # from 0 on

    @property
    def size(self) -> int:
        """How many numbers share one sum."""
        return self.made.shape[self.axis]


def softmaxes(makers: Iterable[Event]) -> Iterator[Softmax]:
    """The softmaxes among these ops, as they are called or as they are written out."""
    for event in makers:
        if event.is_a(Family.SOFTMAXES) and event.outputs[0].shape:
            yield _called(event)
        elif event.kind == "RealDiv":
            found = _written(event)
            if found is not None:
                yield found


def axis(event: Event) -> int:
    """The axis of an op that is a softmax; the last one for others."""
    return _called(event).axis if event.is_a(Family.SOFTMAXES) and event.outputs[0].shape else -1


def _called(event: Event) -> Softmax:
    given, made = event.inputs[0], event.outputs[0]
    rank = len(made.shape)
    own = event.attrs.get("axis", -1)
    number = own % rank if isinstance(own, int) else rank - 1
    before, later = given.maker, made.users
    if before is not None and before.kind == "Transpose" and before.place == event.place:
        turned = before.attrs.get("axes")
        back = [e for e in later if e.kind == "Transpose" and e.place == event.place]
        if turned is not None and len(turned) == rank and back:
            return Softmax(event, before.inputs[0], back[0].outputs[0], int(turned[-1]) % rank)
    return Softmax(event, given, made, number)


def _written(event: Event) -> Softmax | None:
    """e / sum(e) with e = exp(z)."""
    above, below = event.inputs
    total, power = below.maker, above.maker
    if total is None or total.kind != "Sum" or power is None or power.kind != "Exp":
        return None
    if total.inputs[0] is not above or event.outputs[0].shape != above.shape:
        return None
    full = (1,) * (len(above.shape) - len(below.shape)) + below.shape
    axes = [k for k, (a, b) in enumerate(zip(above.shape, full, strict=True)) if a != b]
    return Softmax(event, power.inputs[0], event.outputs[0], axes[0]) if len(axes) == 1 else None


def classes(found: Softmax) -> tuple[int, Event] | None:
    """The axis along which the labels choose one of what a softmax gave, and where they do."""
    queue, seen = [found.made], {found.made}
    while queue and len(seen) < FAR:
        value = queue.pop()
        for event in value.users:
            own = _chosen(event, value)
            if own is not None:
                return own, event
            result = event.outputs[0] if event.outputs else None
            if result is None or not _is_in_place(event) or result.shape != value.shape:
                continue
            if result not in seen:
                seen.add(result)
                queue.append(result)
    return None


def _is_in_place(event: Event) -> bool:
    """Does it compute with each number where it is?"""
    return event.is_a(Family.ELEMENTWISE) and not event.is_a(Family.COMPARES | Family.ROUNDS)


def _chosen(event: Event, value: Value) -> int | None:
    rank = len(value.shape)
    if event.kind == "GatherV2" and event.inputs[0] is value:
        batch = event.attrs.get("batch_dims", event.attrs.get("batch", 0))
        return batch if isinstance(batch, int) and 0 < batch < rank else None
    if not _is_in_place(event) or len(event.inputs) != 2:
        return None
    labels = next((v for v in event.inputs if v is not value), None)
    if labels is None or labels.shape != value.shape or labels.array is None:
        return None
    array = np.asarray(labels.array)
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        return None
    hot = [k for k in range(rank) if (array.sum(k) == 1).all() and array.shape[k] > 1]
    return hot[0] if len(hot) == 1 else None
