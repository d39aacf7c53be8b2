"""Random choices for a program under construction: values with known shape and dtype, and steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.tensorflow.fuzz.expressions import INTO, listed
from tests.tensorflow.fuzz.known import LEFT_OUT

FLOATS = ("float32", "float64")
HALVES = ("float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
WHOLE = ("int32", "int64")
SMALL = ("int8", "int16", "uint8", "uint16", "uint32", "uint64")

SHAPES = [(), (), (1,), (2,), (3,), (3,), (2, 3), (3, 2), (1, 3), (3, 1), (3, 3), (2, 2), (2, 1, 3)]
EMPTY = [(0,), (0, 3), (2, 0)]
KINKS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -0.5, 6.0]
WILD = [math.inf, -math.inf, math.nan, -0.0, 1e30, 1e-30]
LARGEST = 40
# What makes shapes out of values, or runs Python: its shape is unknown to whoever traces it.
EAGER = (
    "boolean_mask", "partition", "py_function", "numpy_function", "tf.unique", "sparse.", "ragged.",
    "tf.Variable(", "bincount", "stitch", "confusion", "dynamic_size", "reverse_sequence",
    "tf.where({0} > 0.0)", "tf.tuple", "math.segment_", "tf.repeat({0}, {times}",
)  # fmt: skip

Shape = tuple[int, ...]


class Unfit(Exception):
    """No value of the program so far suits the step; another step is tried."""


class Draw:
    """A program that grows, and the dice."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.inputs: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.known: dict[str, tuple[Shape, str]] = {}
        self.graph = False  # TensorFlow traces the steps, before values are known
        self.forward = False  # TensorFlow's forward mode, which has no tangent of Python code
        self.twice = False  # derivatives of derivatives, forward mode's too
        self.played = False  # the steps run again and again in one function
        self.copies = False  # the steps are given tensors, also for variables

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def one(self, choices: Sequence[Any] | str) -> Any:
        """One of the choices, or of the expressions of a text."""
        return self.rng.choice(listed(choices) if isinstance(choices, str) else choices)

    def shape(self, name: str) -> Shape:
        return self.known[name][0]

    def dtype(self, name: str) -> str:
        return self.known[name][1]

    # ------------------------------------------------------------------------------- values

    def value(
        self, dtypes: Sequence[str] = FLOATS, fits: Callable[[Shape], bool] = lambda s: True
    ) -> str:
        """A value so far, the younger the likelier."""
        found = [n for n, (shape, dtype) in self.known.items() if dtype in dtypes and fits(shape)]
        if not found:
            raise Unfit
        return found[-1 - min(int(self.rng.expovariate(0.3)), len(found) - 1)]

    def need(self, shape: Shape, dtype: str) -> str:
        """A value of this shape and dtype: mostly one that is there, else a new input."""
        found = [name for name, known in self.known.items() if known == (shape, dtype)]
        return self.one(found) if found and self.chance(0.7) else self.input(shape, dtype)

    def partner(self, a: str) -> str:
        """A value that broadcasts with `a`: sometimes `a` itself."""
        shape, dtype = self.known[a]
        return self.value((dtype,), lambda other: broadcast(shape, other) is not None)

    def input(self, shape: Shape | None = None, dtype: str = "float32") -> str:
        if shape is None:
            shape = self.one(EMPTY) if self.chance(0.04) else self.one(SHAPES)
        kind = "variable" if self.chance(0.5) else "constant"
        name = f"x{len(self.inputs)}"
        kinked, wild = self.chance(0.2), self.chance(0.02)
        numbers = [self.number(dtype, kinked, wild) for _ in range(math.prod(shape))]
        if not shape and dtype != "bool" and numbers == [0]:
            numbers = [abs(numbers[0])]  # TensorFlow may take a number -0.0 for a 0.0 that it knows
        given = {"name": name, "kind": kind, "dtype": dtype, "shape": list(shape)}
        self.inputs.append({**given, "values": numbers})
        self.known[name] = shape, dtype
        return name

    def number(self, dtype: str, kinked: bool, wild: bool = False) -> Any:
        if dtype in COMPLEX:
            return [self.number("float", kinked, wild), self.number("float", kinked)]
        if dtype == "bool":
            return self.chance(0.5)
        if dtype in WHOLE:
            return self.rng.randint(-3, 3)
        if wild and self.chance(0.3):
            return self.one(WILD if dtype not in HALVES else WILD[:4])
        if kinked and self.chance(0.6):
            return self.one(KINKS)
        return round(self.rng.uniform(-2.0, 2.0), 2)

    # -------------------------------------------------------------------------------- steps

    def step(
        self, op: str, of: Sequence[str], shape: Sequence[int], dtype: str, **params: Any
    ) -> str:
        """Append a step and give the name of its result."""
        if math.prod(shape) > LARGEST or (self.graph and any(word in op for word in EAGER)):
            raise Unfit
        if (self.forward and "py_function" in op) or (self.played and "tf.Variable(" in op):
            raise Unfit
        if self.twice and any(word in op for word in LEFT_OUT):
            raise Unfit
        name = f"v{len(self.steps)}"
        step: dict[str, Any] = {"to": name, "op": op, "of": list(of)}
        if params:
            step["with"] = params
        self.steps.append({**step, "shape": list(shape), "dtype": dtype})
        self.known[name] = tuple(shape), dtype
        return name

    def into(self, domain: str, a: str) -> str:
        """The value, brought into the domain of a function (seldom left outside)."""
        if domain == "any" or self.chance(0.04):
            return a
        return self.step(INTO[domain], [a], self.shape(a), self.dtype(a))

    def axis(self, rank: int) -> int:
        """An axis of something with axes."""
        if not rank:
            raise Unfit
        return self.rng.randrange(-rank, rank)


def broadcast(a: Shape, b: Shape) -> Shape | None:
    """The common shape, or None."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True))
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        return None
    return tuple(n if m == 1 else m for m, n in pairs)
