"""Programs: what a function computed when it was recorded, as a flat list of equations.

A program computes on arrays: it has neither tensors nor tapes. Its variables (`Var`, not to be
mistaken for `tf.Variable`) are set once. What it does to the world stands at its end: `updates` of
variables and `advances` of random streams, or in equations whose operation is an `Effect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from ..core.op import Op


class Var:
    """A value of a program; one without a dtype is a Python number."""

    __slots__ = ("dtype", "number", "shape")
    shape: Any  # a tuple, but None of a Python number
    dtype: Any

    def __init__(self, number: int, shape: tuple[int, ...] | None, dtype: np.dtype | None) -> None:
        self.number, self.shape, self.dtype = number, shape, dtype

    def __repr__(self) -> str:
        return f"v{self.number}"

    @property
    def kind(self) -> str:
        """Its type as the program's text has it: `f4[2,3]`."""
        if self.dtype is None:
            return "number"
        return f"{self.dtype.str[1:]}{list(self.shape or ())}".replace(" ", "")


@dataclass(eq=False, frozen=True)
class Python:
    """A pure function on the values of a program, which is no op of the registry."""

    name: str
    forward: Callable[..., Any]


@dataclass(eq=False, frozen=True)
class Check(Python):
    """A function whose only outcome is an exception."""


@dataclass(eq=False, frozen=True)
class Assign(Python):
    """A variable gets a value, and is read: to a backend, the value itself."""

    variable: Any = None


@dataclass(eq=False, frozen=True)
class Effect(Python):
    """A function that the world can see: it is called once for every call of the program, in
    order, and after all guards that were met before it. It gives a sequence of results. `looks`:
    perhaps at variables."""

    looks: bool = True


@dataclass(eq=False, frozen=True)
class Loop(Python):
    """A loop with programs of its own, in `state`; it gives a sequence of results."""

    state: Any = None


@dataclass(eq=False, frozen=True)
class Store(Python):
    """What writes into a variable: `forward(old, out, *values)` fills `out`, which may be `old`, or
    a new array if it is None. Nothing follows it that could raise, and nothing but its kind."""

    variable: Any = None


@dataclass(eq=False, frozen=True)
class Guard(Python):
    """What Python read of a value: the program holds as long as `forward(value)` is `outcome`."""

    outcome: Any = None


@dataclass(eq=False, frozen=True)
class Failed:
    """What a program gives in place of results when a guard did not hold."""

    index: int  # in the order of the program's guards
    read: Any  # in place of the outcome
    done: dict[int, Any] = field(default_factory=dict)  # what effects gave that came before it


class Buffer:
    """Memory that a program keeps from call to call."""

    __slots__ = ("number", "size")

    def __init__(self, number: int, size: int) -> None:
        self.number, self.size = number, size  # in bytes

    def __repr__(self) -> str:
        return f"b{self.number}"


class Piece:
    """The part of another value's memory that holds a value: it is joined with others there."""

    __slots__ = ("axis", "start", "stop", "whole")

    def __init__(self, whole: Var, axis: int, start: int, stop: int) -> None:
        self.whole, self.axis, self.start, self.stop = whole, axis, start, stop

    def __repr__(self) -> str:
        return f"{self.whole}[{self.start}:{self.stop}]"

    def of(self, array: Any) -> Any:
        key = (slice(None),) * (array.ndim + self.axis) + (slice(self.start, self.stop),)
        return array[key]


VIEW = "view"  # the memory of a result that only looks at its operand's

Operation = Op | Python
Place = tuple[Any, int]  # code and offset, as in the records of a tape


@dataclass(eq=False, slots=True)
class Equation:
    """`outputs = op(*inputs, **params)`; a parameter may be a `Var`, too.

    Where the passes have decided it, `memory` is a buffer to write to, a piece of one, or VIEW if
    the results are looks at the operand's memory; otherwise results are new arrays.
    """

    op: Any
    inputs: tuple[Var, ...]
    params: dict[str, Any]
    outputs: tuple[Var, ...]
    place: Place | None = None
    memory: Any = None

    @property
    def uses(self) -> Iterator[Var]:
        """All values that it needs."""
        yield from self.inputs
        for value in self.params.values():
            if value.__class__ is Var:
                yield value

    @property
    def must_stay(self) -> bool:
        """Whether it matters though nobody uses its results."""
        return isinstance(self.op, (Check, Effect, Guard, Store))

    def __str__(self) -> str:
        words = [*map(repr, self.inputs)]
        words += [f"{name}={_short(value)}" for name, value in self.params.items()]
        call = f"{self.op.name}({', '.join(words)})"
        if isinstance(self.op, Guard):
            return f"guard {call} is {_short(self.op.outcome)}"
        if not self.outputs:
            return call
        where = "" if self.memory is None else f" @{self.memory}"
        return f"{', '.join(f'{v}:{v.kind}' for v in self.outputs)} = {call}{where}"


@dataclass(eq=False)
class Program:
    """Equations in an order in which they can be computed, and what they start from."""

    inputs: tuple[Var, ...] = ()  # the tensors among the arguments
    variables: tuple[tuple[Any, Var], ...] = ()  # their values at the beginning
    streams: tuple[tuple[Any, Var], ...] = ()  # random streams: their counters at the beginning
    captures: tuple[tuple[Any, Var], ...] = ()  # tensors of the recording around this one
    constants: dict[Var, Any] = field(default_factory=dict)
    held: dict[Var, Any] = field(default_factory=dict)  # the tensors that were these constants
    custom: bool = False  # whether it has gradients of the user's, which equations do not tell
    equations: list[Equation] = field(default_factory=list)
    updates: tuple[tuple[Any, Var], ...] = ()  # variables and their values at the end
    advances: tuple[tuple[Any, int], ...] = ()  # streams and how many blocks were drawn
    outputs: tuple[Var, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    numbers: Iterator[int] = field(default_factory=count)

    def new(self, shape: tuple[int, ...] | None, dtype: np.dtype | None) -> Var:
        """A value that no equation has set yet."""
        return Var(next(self.numbers), shape, dtype)

    def like(self, array: Any) -> Var:
        return self.new(array.shape, array.dtype)

    def constant(self, array: Any) -> Var:
        made = self.like(array)
        self.constants[made] = array
        return made

    @property
    def given(self) -> Iterator[Var]:
        """What is there before the first equation."""
        yield from self.inputs
        for pairs in (self.variables, self.streams, self.captures):
            yield from (value for _, value in pairs)
        yield from self.constants

    @property
    def results(self) -> Iterator[Var]:
        """What must be there after the last."""
        yield from self.outputs
        yield from (value for _, value in self.updates)

    @property
    def guards(self) -> list[Equation]:
        return [e for e in self.equations if isinstance(e.op, Guard)]

    def with_equations(self, equations: Iterable[Equation], **changes: Any) -> Program:
        """The same program with other equations; constants that nobody uses are gone."""
        made = replace(self, equations=list(equations), **changes)
        used = {v for e in made.equations for v in e.uses} | {*made.results}
        made.constants = {v: a for v, a in made.constants.items() if v in used}
        return made

    def __str__(self) -> str:
        lines = [f"input {v}:{v.kind}" for v in self.inputs]
        lines += [f"variable {v}:{v.kind} = {variable.name}" for variable, v in self.variables]
        lines += [f"stream {v}" for _, v in self.streams]
        lines += [f"captured {v}:{v.kind}" for _, v in self.captures]
        lines += [f"constant {v}:{v.kind} = {_short(a)}" for v, a in self.constants.items()]
        lines += map(str, self.equations)
        lines += [f"update {variable.name} = {v}" for variable, v in self.updates]
        lines += [f"advance by {blocks}" for _, blocks in self.advances]
        lines.append(f"return {', '.join(map(repr, self.outputs))}".rstrip())
        return "\n".join(lines)


def _short(value: Any) -> str:
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size < 9 else f"array{list(value.shape)}"
        return str(value)
    text = repr(value) if not isinstance(value, np.generic) else str(value)
    return text if len(text) < 60 else f"{text[:57]}…"


class Malformed(AssertionError):
    """A program that cannot be computed: the fault of whoever made it."""


def verify(program: Program) -> Program:
    """Check that values are set once, before they are used, and have the shapes that ops give."""
    known = set[Var]()
    for value in program.given:
        _set(value, known)
    for array in program.constants.items():
        _fits(*array)
    for equation in program.equations:
        for value in equation.uses:
            if value not in known:
                raise Malformed(f"{value} is used before it is set: {equation}")
        for value in equation.outputs:
            _set(value, known)
        if isinstance(equation.op, Op) and all(v.dtype is not None for v in equation.inputs):
            _infers(equation)
    for value in program.results:
        if value not in known:
            raise Malformed(f"{value} is a result, and never set")
    return program


def _set(value: Var, known: set[Var]) -> None:
    if value in known:
        raise Malformed(f"{value} is set twice")
    known.add(value)


def _fits(value: Var, array: Any) -> None:
    if (value.shape, value.dtype) != (array.shape, array.dtype):
        raise Malformed(f"{value}:{value.kind} holds an array of {array.dtype}{array.shape}")


def _infers(equation: Equation) -> None:
    """Compare the results with what the op's own rule says of them, as far as it knows."""
    told = equation.op.infer(*[(v.shape, v.dtype) for v in equation.inputs], **equation.params)
    if told is None:
        return
    pairs = told if isinstance(told, list) else [told]
    for value, (shape, dtype) in zip(equation.outputs, pairs, strict=True):
        same = len(shape) == len(value.shape or ()) and all(
            n is None or n == m for n, m in zip(shape, value.shape or (), strict=True)
        )
        if not same or value.dtype != dtype:
            raise Malformed(f"{equation} should give {dtype}{shape}")
