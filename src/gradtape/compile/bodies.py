"""The bodies of loops, recorded once, each as a program of its own.

A `TensorArray` that a body reads at the loop's counter becomes a sequence that the loop goes along,
and one that it writes there becomes rows that the loop gives. So Keras's recurrent layers, which
keep their steps in such arrays, are loops of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import arrays
from ..arrays.tensor_array import TensorArray
from ..core.apply import tensor
from ..core.record import threads
from ..ops.linear import matmul_tn
from ..ops.reduce import sum as reduce_sum
from .backends.choice import entered, ready
from .calls import Derivative, derive
from .draws import Kernels
from .program import Effect, Equation, Guard, Program, Var
from .record import Recording
from .traced import Traced, untraced


class Unfit(Exception):
    """A body that cannot be a program of its own."""


class Scattered(Exception):
    """An array that a body reads at the loop's counter has its elements one by one."""

    def __init__(self, array: TensorArray) -> None:
        self.array = array


@dataclass(eq=False)
class Body:
    """A function of a loop as a program; `outside` are the tensors that it found there, which are
    its last inputs."""

    program: Program
    outside: list[Any]
    _runner: Any = None
    _derivatives: dict[tuple[int, ...], BodyDerivative] = field(default_factory=dict)

    def entered(self) -> AbstractContextManager[Callable[..., list]]:
        """The function that plays the body, for one run of the loop."""
        if self._runner is None:
            self._runner = ready(self.program)
        return entered(self._runner)

    def derivative(self, values: list, wanted: tuple[int, ...]) -> BodyDerivative:
        """The programs forward and backward, to these inputs; the values are an example of all."""
        if wanted not in self._derivatives:
            examples = [tensor(untraced(v)) for v in values]
            derivative = derive(self.program, examples, wanted)
            if derivative is None:
                raise Unfit
            outside = len(values) - len(self.outside)
            self._derivatives[wanted] = BodyDerivative(derivative, outside)
        return self._derivatives[wanted]

    def depending(self, places: set[int], carried: int) -> set[int]:
        """Inputs, and those that are carried and come to depend on them."""
        inputs, places = self.program.inputs, set(places)
        while True:
            after = {inputs[k] for k in places}
            for equation in self.program.equations:
                if any(v in after for v in equation.uses):
                    after.update(equation.outputs)
            more = {
                k
                for k in range(carried)
                if self.program.outputs[k] in after and inputs[k].dtype.kind in "fcV"
            } - places
            if not more:
                return places
            places |= more


# --- TensorArrays ---------------------------------------------------------------------------------
class _BodyRecording(Recording):
    """The recording of a body: elements of arrays that it reads at places which it computes are
    inputs of its program."""

    def __init__(self) -> None:
        super().__init__(Kernels(), None, may_create=False)
        self.reads: dict[tuple[int, Var], tuple[TensorArray, Traced]] = {}

    def effect(self, name: str, function: Callable[..., Any], *_: Any, **__: Any) -> Any:
        """It is left to the loop's steps: performed here, it would happen once more."""
        self._say(Effect(name, function), (), {}, ())  # seen also if the user handles exceptions
        raise Unfit

    def row(self, array: TensorArray, index: Any) -> Any:
        place = getattr(index, "_value", None)
        if type(place) is not Traced or place.recording is not self:
            return None
        if isinstance(array, Written):
            raise Unfit
        if array._whole is None:
            raise Scattered(array)
        key = id(array), place.var
        if key not in self.reads:
            rows = untraced(array._whole._value)
            if not 0 <= int(place.array) < len(rows):
                raise Unfit
            self.reads[key] = array, self.trace(rows[int(place.array)])
        return tensor(self.reads[key][1])


class Written(TensorArray):
    """An array that a loop carries, in its body: what is written is a result of the body."""

    def __init__(self, array: TensorArray) -> None:
        self.__dict__.update(vars(array))
        self._before = array
        self.written: list[tuple[Any, Any]] = []  # indices and values

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        self.written.append((index, self._fitting(value)))
        return self

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        raise Unfit

    @property
    def _items(self) -> Any:
        raise Unfit

    @_items.setter
    def _items(self, items: Any) -> None:
        raise Unfit

    @property
    def place(self) -> Any:
        """Where it is written, a number or a recorded value; None if it is not."""
        if len(self.written) > 1 or self._dynamic_size:
            raise Unfit
        if not self.written:
            return None
        index = self.written[0][0]
        value = getattr(index, "_value", index)
        return value if type(value) is Traced else int(value)

    @property
    def value(self) -> Any:
        """What is written in one turn."""
        return self.written[0][1]

    def filled(self, where: slice, rows: Any) -> TensorArray:
        """The array behind the loop that has written these elements."""
        old = self._before
        if (where.start, where.stop) != (0, old._count):
            whole = old.stack()
            parts = [whole[: where.start], rows, whole[where.stop :]]
            rows = arrays.concat(parts, 0)
        return self._after(_whole=rows, _recording=threads.recording)

    def ended(self, value: Any) -> TensorArray:
        """The array behind the loop that has written this value to one place, turn by turn."""
        items = [*self._before._items]
        items[self.place] = value
        return self._after(_list=items, _whole=None)

    def _after(self, **fields: Any) -> TensorArray:
        array = copy(self._before)
        array.__dict__.update(fields, _element_shape=self._element_shape, _cleared=set())
        return array


# --- recording ------------------------------------------------------------------------------------
@dataclass(eq=False)
class Recorded:
    """A body just recorded; it begins with what is carried and the rows that are read."""

    body: Body
    reads: list[tuple[TensorArray, Var]]  # of arrays at places


def record_body(function: Callable[..., list], examples: list) -> Recorded:
    """Record a function of flat tensors that gives a flat list of them."""
    recording = _BodyRecording()
    with recording.running():
        inputs = [recording.trace(untraced(value)) for value in examples]
        outputs = function(*[tensor(value) for value in inputs])
        rows = [row for _, row in recording.reads.values()]
        program = recording.finish([*inputs, *rows], outputs)
    if (
        program.streams or program.updates or program.custom
        or any(isinstance(e.op, (Guard, Effect)) for e in program.equations)
    ):  # fmt: skip
        raise Unfit
    outside = [t for t, _ in program.captures] + [v._read() for v, _ in program.variables]
    more = [var for _, var in (*program.captures, *program.variables)]
    program.inputs, program.captures, program.variables = (*program.inputs, *more), (), ()
    reads = [(array, at) for (_, at), (array, _) in recording.reads.items()]
    return Recorded(Body(program, outside), reads)


# --- derivatives ----------------------------------------------------------------------------------
@dataclass(eq=False)
class Sum:
    """A cotangent that is summed over all steps, as one product or sum of all their rows: where to
    find its factors among what the body backward gives."""

    parts: tuple[int, ...]

    def total(self, rows: dict[int, list]) -> Any:
        """From what each of the steps gave."""
        parts = [np.concatenate(rows[k]) for k in self.parts]
        if len(parts) == 1:
            return reduce_sum.forward(*parts, axis=(0,))
        return matmul_tn.forward(*parts)


class BodyDerivative:
    """A body forward, which gives what is needed later after its results, and backward.

    Weights get a sum over all steps, of products `aᵀ b` or of rows: the body backward gives a and b
    instead, and all steps are multiplied at once.
    """

    def __init__(self, derivative: Derivative, outside: int) -> None:
        self.results = derivative.results
        self.likes = derivative.likes  # of the floating results
        program = derivative.backward
        sources = {v: e for e in program.equations for v in e.outputs}
        outputs: dict[Var, int] = {}

        def number(value: Var) -> int:
            return outputs.setdefault(value, len(outputs))

        self.answers: list[tuple[int, Any]] = []  # inputs of the body, and what they get
        for place, answer in zip(derivative.leaves, derivative.answers, strict=True):
            if answer is None:
                continue
            if answer.__class__ is not int:
                values, indices, shape = answer
                where = number(program.outputs[values]), number(program.outputs[indices])
                self.answers.append((place, (*where, shape)))
                continue
            value = program.outputs[answer]
            factors = _factors(sources.get(value)) if place >= outside else None
            self.answers.append(
                (place, number(value) if factors is None else Sum(tuple(map(number, factors))))
            )
        self._forward = ready(derivative.forward)
        self._backward = ready(program.with_equations(program.equations, outputs=tuple(outputs)))

    def forward(self) -> AbstractContextManager[Callable[..., list]]:
        return entered(self._forward)

    def backward(self) -> AbstractContextManager[Callable[..., list]]:
        return entered(self._backward)


def _factors(source: Equation | None) -> tuple[Var, ...] | None:
    """What a product `aᵀ b` of matrices or a sum of rows is computed from."""
    if source is None:
        return None
    flat = all(len(v.shape) == 2 for v in source.inputs)
    if source.op is matmul_tn and flat:
        return source.inputs
    if source.op is reduce_sum and flat and source.params == {"axis": (0,)}:
        return source.inputs
    return None
