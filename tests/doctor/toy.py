"""A framework with three ops, which the doctor has never heard of: for `test_toy_engine.py`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

listeners: list[Any] = []  # objects with `op` and `query`


class Number:
    """An array, and how its derivative passes to what it was computed from."""

    def __init__(self, array: Any, parents: tuple[Number, ...] = (), pull: Any = None) -> None:
        self.array = np.asarray(array, np.float32)
        self.parents, self.pull = parents, pull


def _apply(kind: str, forward: Callable[..., Any], pull: Any, *operands: Number) -> Number:
    result = Number(forward(*[x.array for x in operands]), operands, pull)
    for listener in listeners:
        listener.op(kind, forward, pull, operands, result, sys._getframe(2))
    return result


def mul(a: Number, b: Number) -> Number:
    return _apply("Mul", np.multiply, lambda g, a, b, y: [g * b, g * a], a, b)


def log(a: Number) -> Number:
    return _apply("Log", np.log, lambda g, a, y: [g / a], a)


def floor(a: Number) -> Number:
    return _apply("Floor", np.floor, None, a)


def gradient(target: Number, source: Number) -> np.ndarray | None:
    """d target / d source."""
    cotangents = {target: np.ones_like(target.array)}
    queue = [target]
    while queue:
        value = queue.pop(0)
        if value.pull is None:
            continue
        arrays = [p.array for p in value.parents]
        for parent, part in zip(
            value.parents, value.pull(cotangents[value], *arrays, value.array), strict=True
        ):
            cotangents[parent] = cotangents.get(parent, 0.0) + part
            queue.append(parent)
    result = cotangents.get(source)
    frame: FrameType = sys._getframe(1)
    for listener in listeners:
        listener.query(target, source, result, frame)
    return result
