"""How long items of native code take: by a count of what they do, or by a clock."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from ..backends.numpy import line_of
from . import singles
from .nests import Nest, Single

OURS = "gradtape"  # the place of what no line of the user's asks for


def work(item: Nest | Single) -> float:
    """About how many nanoseconds an item takes on one core."""
    if isinstance(item, Nest):
        numbers = [prod(step.space) * step.weight for step in item.steps]
        return sum(numbers) / 8
    return singles.of(item).work(item)


def shares(items: list[Nest | Single], threads: Iterable[int], cycles: Any) -> dict[str, float]:
    """What share each of the user's lines has in the time of items, of which each is done by so
    many threads and took so many cycles on one; equations share those of an item by weight."""
    spent = [float(n) for n in cycles]
    if not sum(spent):  # nothing was played: NumPy took over
        spent = [1.0 + work(item) for item in items]
    found: dict[str, float] = {}
    for item, time, count in zip(items, spent, threads, strict=True):
        weights = _weights(item)
        each = time / count / sum(weights.values())
        for where, weight in weights.items():
            found[where] = found.get(where, 0.0) + each * weight
    total = sum(found.values())
    return {where: time / total for where, time in found.items()}


def _weights(item: Nest | Single) -> dict[str, float]:
    if isinstance(item, Single):
        return {line_of(item.equation) or OURS: 1.0}
    found: dict[str, float] = {}
    for step in item.steps:
        where = line_of(step.equation) or OURS
        found[where] = found.get(where, 0.0) + step.weight * prod(step.space)
    return found
