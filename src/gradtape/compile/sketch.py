"""Shapes without numbers: what a function would give for tensors of which some sizes are open.

Within a sketch every op tells its results' shapes by its own rule, and computes nothing. An open
size has a stand-in, a number that no real size has, so that functions that calculate with sizes go
on; what they make of it is open, too. This is how Keras asks for the shape of a layer's result.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import nest
from ..core import apply as engine
from ..core.apply import tensor
from ..core.record import threads
from ..framework.shapes import TensorShape
from ..framework.tensor import Tensor
from .draws import Kernels, Place
from .record import Recording
from .traced import Traced

# Primes: strides and products leave other numbers of their size. Constants are made as large as a
# batch at times, which few divide: a smaller one.
OPEN, BATCH = 2_000_003, 30_011
LARGE = 30_000  # what is larger was made of them, unless somebody has a size like that


class Blank:
    """An array without numbers."""

    __slots__ = ("dtype", "shape")
    flags = np.empty(0).flags
    strides = None

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape, self.dtype = shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: prod(self.shape) * self.dtype.itemsize)

    def __len__(self) -> int:
        return self.shape[0]


class Sketch(Recording):
    """A block in which ops only tell shapes."""

    sketches = True

    def __init__(self) -> None:
        super().__init__(Kernels(), None, may_create=True)
        self._real: set[int] = set()  # sizes that are large and known

    def placeholder(self, shape: Any, dtype: np.dtype) -> Any:
        """A tensor of a shape, None where a size is open."""
        if shape is None:
            raise ValueError("a placeholder needs a rank: give a shape, None for open sizes")
        self._real.update(n for n in shape if n is not None and n >= LARGE)
        sizes = [n if n is not None else OPEN if k else BATCH for k, n in enumerate(shape)]
        return self.blank(tuple(sizes), dtype)

    def blank(self, shape: tuple[int, ...], dtype: np.dtype) -> Any:
        return tensor(Traced(Blank(shape, dtype), self, self.program.new(shape, dtype)))

    def known(self, shape: tuple[int, ...]) -> TensorShape:
        """A shape as users see it."""
        return TensorShape([None if n >= LARGE and n not in self._real else n for n in shape])

    # --- what a recording does --------------------------------------------------------------------
    def apply(self, op: Any, operands: Any, params: dict[str, Any]) -> Any:
        """The results of an op, of which only shape and dtype are told."""
        values = [a._value for a in operands]
        try:
            told = op.infer(*[(v.shape, v.dtype) for v in values], **params)
        except ValueError as error:
            told = self._as_unknown(op, values, params)
            if told is None:
                raise engine.complain(op, error, values, params) from None
        if told is None:
            raise NotImplementedError(f"the shapes of the results of {op.label} are not known")
        pairs = told if isinstance(told, list) else [told]
        made = [
            self.blank(tuple([OPEN if n is None else n for n in shape]), np.dtype(dtype))
            for shape, dtype in pairs
        ]
        return tuple(made) if isinstance(told, list) else made[0]

    def _as_unknown(self, op: Any, values: list, params: dict[str, Any]) -> Any:
        """What comes out if open sizes are what the others need; None if nothing fits."""
        shapes = [tuple(self.known(v.shape).as_list()) for v in values]
        if not any(None in shape for shape in shapes):
            return None
        try:
            return op.infer(*[(s, v.dtype) for s, v in zip(shapes, values, strict=True)], **params)
        except Exception:
            return None

    def value_of(self, variable: Any) -> Any:
        entry = self._written.get(variable._id) or self._variables.get(variable._id)
        if entry is None:
            array = variable._outside()
            self._real.update(n for n in array.shape if n >= LARGE)
            blank = Blank(array.shape, array.dtype)
            entry = variable, Traced(blank, self, self.program.new(array.shape, array.dtype))
            self._variables[variable._id] = entry
        return entry[1]

    def guard(self, how: str, value: Any) -> None:
        if how != "shape":
            raise TypeError(
                "Using a symbolic `tf.Tensor` as a Python value is not allowed: it stands for any "
                f"numbers of the shape {self.known(value.shape)}. Use tf.cond, tf.where or "
                "tf.while_loop."
            )

    def either(self, first: Any, second: Any) -> Any:
        """What stands for the results of both branches: a size in which they differ is open."""
        nest.assert_same_structure(first, second)
        return nest.map_structure(self._either, first, second)

    def _either(self, first: Any, second: Any) -> Any:
        if not isinstance(first, Tensor) or not isinstance(second, Tensor):
            return first
        one, other = first._value, second._value
        if one.dtype != other.dtype or one.ndim != other.ndim:
            raise TypeError(
                "true_fn and false_fn must give tensors of the same dtypes and ranks, but gave "
                f"{first!r} and {second!r}."
            )
        if one.shape == other.shape:
            return first
        sizes = zip(one.shape, other.shape, strict=True)
        return self.blank(tuple(n if n == m else OPEN for n, m in sizes), one.dtype)

    def numbers(self, name: str, function: Any, *values: Any) -> Any:
        """Places to draw from are the only ones, and nothing is drawn here: all are 0."""
        return [self.number(0, self.program.new(None, None)) for _ in range(2)]

    def check(self, function: Any, *values: Any) -> None:
        """There is nothing to look at."""

    def effect(
        self, name: str, function: Any, values: Any, arrays: bool, looks: bool = True,
        like: Any = None,
    ) -> Any:  # fmt: skip
        if arrays:
            raise NotImplementedError(f"what {name} gives is not known before it is called")
        return ()

    def place(self, function: Any, *values: Any) -> Place:
        """Nothing is drawn: any place will do."""
        return Place(0, 0)

    def compute(self, name: str, function: Any, *values: Any) -> Any:
        """Functions on arrays that are no ops change numbers, not the shape of the first."""
        first = values[0]
        return self.blank(first.shape, first.dtype)._value


def current() -> Sketch:
    """The sketch that is being made."""
    if not isinstance(threads.recording, Sketch):
        raise RuntimeError(
            "tf.placeholder() is not compatible with eager execution: write a function of tensors."
        )
    return threads.recording
