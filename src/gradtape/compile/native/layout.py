"""Where numbers lie: a stretch of memory, and how far apart the elements of a value are in it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...ops import index, shape
from ..program import Equation, Var


@dataclass(frozen=True)
class Layout:
    """The elements of `root`'s memory that a value has; strides and offset count elements."""

    root: Var
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def contiguous(self) -> bool:
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Its strides along the axes of a larger shape."""
        missing = len(shape) - len(self.shape)
        own = [
            0 if n == 1 and m != 1 else stride
            for n, m, stride in zip(self.shape, shape[missing:], self.strides, strict=True)
        ]
        return (0,) * missing + tuple(own)


def rows(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array whose rows lie one behind the other."""
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))


def whole(value: Var) -> Layout:
    return Layout(value, value.shape, rows(value.shape))


_MIDDLE = np.zeros(1, np.int8)


def looked_at(equation: Equation, layout: Layout) -> list[Layout] | None:
    """The layouts of what an equation gives that only looks at its operand; None where numbers
    would have to be moved. NumPy does the work, on an array of one byte that says it is larger."""
    a = np.lib.stride_tricks.as_strided(_MIDDLE, layout.shape, layout.strides)
    params: dict[str, Any] = equation.params
    if equation.op is shape.reshape:
        try:
            found: Any = a.view()
            found.shape = equation.outputs[0].shape  # which never copies
        except AttributeError:
            return None
    elif equation.op is index.getitem:
        key = params["key"] if isinstance(params["key"], tuple) else (params["key"],)
        # Behind an ellipsis also a single number is a look, and not a copy.
        found = a[key if Ellipsis in key else (*key, ...)]
    elif equation.op is shape.unstack:
        turned = np.moveaxis(a, params["axis"], 0)
        found = tuple([turned[k, ...] for k in range(len(turned))])
    else:
        found = equation.op.forward(a, **params)
    found = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(y, np.ndarray) for y in found):
        return None
    start = _address(a)
    return [
        Layout(layout.root, y.shape, y.strides, layout.offset + _address(y) - start) for y in found
    ]


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]
