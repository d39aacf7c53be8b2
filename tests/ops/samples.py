"""Operands for every declared op, drawn from what its declaration says about them."""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from typing import Any

import numpy as np

import gradtape.ops
from gradtape.core.op import Op, registry

for _module in pkgutil.iter_modules(gradtape.ops.__path__):
    importlib.import_module(f"gradtape.ops.{_module.name}")

OPS = dict(registry)
ONE = [((2, 3),), ((),), ((0, 3),)]
TWO = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((), ())]


def drawer(seed: str) -> Any:
    """A function that draws arrays of a shape in (low, high), the same for the same name."""
    random = np.random.RandomState(zlib.crc32(seed.encode()))

    def draw(*shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
        return random.uniform(low, high, shape)

    return draw


def samples(op: Op) -> list[tuple[list[Any], dict[str, Any]]]:
    """Pairs of operands (float64 where they are floating) and parameters."""
    draw = drawer(op.name)
    if op.push != "diagonal" or callable(op.sample):
        return [(list(operands), dict(params)) for operands, params in op.sample(draw)]
    intervals = op.sample or (-2.0, 2.0)
    if not isinstance(intervals[0], tuple):
        intervals = (intervals,) * len(op.rules)
    shapes = ONE if len(op.rules) == 1 else TWO
    made: list = []
    for several in shapes:
        pairs = zip(several, intervals, strict=True)
        operands = [_kind(op, draw(*shape, low=low, high=high)) for shape, (low, high) in pairs]
        made.append((operands, {}))
    return made


def _kind(op: Op, values: Any) -> Any:
    if "f" in op.takes:
        return values[()]
    return np.asarray(values > 0 if op.takes == "b" else np.round(values * 4)).astype(
        bool if op.takes == "b" else np.int32
    )[()]


CASES = [(name, k) for name, op in OPS.items() if op.sample or op.push == "diagonal"
         for k in range(len(samples(op)))]  # fmt: skip


def is_float(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


def as_kind(values: list, dtype: Any) -> list:
    """Floating operands in another precision; complex ones keep being complex."""
    return [
        np.asarray(v).astype(np.result_type(dtype, np.complex64) if v.dtype.kind == "c" else dtype)[
            ()
        ]
        if is_float(v)
        else v
        for v in map(np.asarray, values)
    ]
