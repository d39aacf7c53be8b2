"""A function under a tape: one op, with a backward program that keeps only what it needs.

The program and the sweep through it are recorded together, once, on cotangents that stand for any.
What comes before the sweep is the forward program; the sweep is the backward one, and what it uses
of the first is kept in between. Only a tape that is asked once takes this way: others may want the
derivative of the derivative, and see every op instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..autodiff.custom import Call
from ..autodiff.sweep import settled
from ..autodiff.tape import GradientTape
from ..core.apply import followers, several, tensor
from ..core.operand import Operand
from ..core.record import threads
from ..framework.indexed_slices import IndexedSlices
from ..ops.rows import Slices
from .backends.choice import ready
from .draws import Drawing, Kernels
from .play import interpret
from .program import Effect, Failed, Guard, Program
from .record import Recording
from .traced import Traced

TAPED = "tape"  # the mode of draws under a tape that is asked once


class _Twins(Kernels):
    """The streams of a program under a tape."""

    def __init__(self, program: Program) -> None:
        self._left = [stream for stream, _ in program.streams]

    def at(self, index: Any, pair: Any) -> Drawing:
        return self._left.pop(0).twin(TAPED)


@dataclass
class Derivative:
    """The two programs of a function, and what their values are."""

    forward: Program  # its results, then what the backward program needs
    backward: Program  # of that, and of the cotangents of floating results
    results: int
    leaves: list[int]  # the numbers of the tensors that may have a gradient
    variables: list[Any]
    likes: list[tuple[tuple[int, ...], np.dtype]]  # of the floating results
    answers: list[Any]  # for each source: None, a place, or two places and a shape
    _runners: tuple[Any, Any] | None = None

    @property
    def runners(self) -> tuple[Any, Any]:
        if self._runners is None:
            self._runners = ready(self.forward), ready(self.backward)
        return self._runners

    def call(self, leaves: list, done: dict[int, Any] | None) -> Any:
        """The results as tensors that the tape follows, or the guard that did not hold."""
        operands = [leaves[k] for k in self.leaves] + [v._read() for v in self.variables]
        found: Any = self.runners[0]([leaf._value for leaf in leaves], done)
        if found.__class__ is Failed:
            return found
        results, kept = found[: self.results], found[self.results :]
        where = [k for k, value in enumerate(results) if value.dtype.kind in "fcV"]
        floating = tuple([results[k] for k in where])
        made = [tensor(value) for value in results]
        call = Call("function", "PartitionedCall", lambda g: self.pull(kept, g))
        for k, t in zip(
            where, several(call, operands, {}, floating, followers(operands)), strict=True
        ):
            made[k] = t
        return made

    def pull(self, kept: list, g: list) -> list:
        """The cotangents of the sources from those of the floating results."""
        if any(part.__class__ is Operand for part in g):
            seeds = [
                tensor(np.zeros(*like)[()]) if part is None else settled(part)
                for part, like in zip(g, self.likes, strict=True)
            ]
            found = [Operand(t) for t in interpret(self.backward, [*map(tensor, kept), *seeds])]
        else:
            parts = [
                np.zeros(*like)[()] if part is None else part
                for part, like in zip(g, self.likes, strict=True)
            ]
            found = self.runners[1]([*kept, *parts])
        return [_answered(answer, found) for answer in self.answers]


def _answered(answer: Any, found: list) -> Any:
    if answer is None or answer.__class__ is int:
        return answer if answer is None else found[answer]
    values, indices, shape = answer
    indices = found[indices]
    return Slices(
        found[values], indices.tensor._value if indices.__class__ is Operand else indices, shape
    )


def derive(
    program: Program, leaves: list, wanted: tuple[int, ...] | None = None
) -> Derivative | None:
    """The derivative of a program, to all leaves or to those with the numbers that are wanted; None
    where it must be played op by op."""
    marked = any(v._mark is not None for v, _ in program.variables)
    if program.captures or marked or any(isinstance(e.op, Effect) for e in program.equations):
        return None
    recording = Recording(_Twins(program), None, may_create=False)
    with recording.running():
        inputs = [recording.trace(leaf._value) for leaf in leaves]
        tensors = [tensor(value) for value in inputs]
        tape = GradientTape()
        with tape:
            places = [
                k
                for k, t in enumerate(tensors)
                if t._value.dtype.kind in "fcV" and (wanted is None or k in wanted)
            ]
            tape.watch([tensors[k] for k in places])
            results = interpret(program, tensors)
        if results.__class__ is Failed:
            return None
        split = len(recording.program.equations)
        variables = [
            v for v, _ in program.variables if v.trainable and v._outside().dtype.kind in "fcV"
        ]
        floating = [t for t in results if t._value.dtype.kind in "fcV"]
        seeds = [recording.trace(np.ones(t._value.shape, t._value.dtype)[()]) for t in floating]
        sources = [tensors[k] for k in places] + variables
        grads = [None] * len(sources)
        if floating and sources:
            try:
                grads = tape.gradient(
                    floating, sources, output_gradients=[tensor(seed) for seed in seeds]
                )
            except LookupError:  # an op without a derivative, which nobody has asked for yet
                return None
        answers, flat = _flattened(grads)
        whole = recording.finish(inputs, [*results, *flat])
        likes = [(t._value.shape, t._value.dtype) for t in floating]
        return _split(whole, split, len(results), seeds, places, variables, likes, answers)


def _flattened(grads: list) -> tuple[list[Any], list[Any]]:
    """Where the parts of each gradient are in one list of tensors."""
    answers: list[Any] = []
    flat: list[Any] = []
    for grad in grads:
        if grad is None:
            answers.append(None)
        elif isinstance(grad, IndexedSlices):
            shape = tuple(np.asarray(grad.dense_shape._value).tolist())
            answers.append((len(flat), len(flat) + 1, shape))
            flat += [grad.values, grad.indices]
        else:
            answers.append(len(flat))
            flat.append(grad)
    return answers, flat


def _split(
    whole: Program, at: int, count: int, seeds: list[Traced], places: list[int],
    variables: list, likes: list, answers: list,
) -> Derivative | None:  # fmt: skip
    """The part before the sweep and the sweep."""
    first, second = whole.equations[:at], whole.equations[at:]
    if any(isinstance(e.op, (Guard, Effect)) for e in second):
        return None
    results, gradients = whole.outputs[:count], whole.outputs[count:]
    given = {seed.var for seed in seeds} | {v for e in second for v in e.outputs}
    wanted = dict.fromkeys([v for e in second for v in e.uses] + list(gradients))
    kept = tuple([v for v in wanted if v not in given and v not in whole.constants])
    if any(v.dtype is None for v in kept):
        return None
    forward = whole.with_equations(first, outputs=(*results, *kept))
    backward = Program(
        inputs=(*kept, *[seed.var for seed in seeds]), constants=dict(whole.constants),
        numbers=whole.numbers,
    ).with_equations(second, outputs=gradients)  # fmt: skip
    return Derivative(forward, backward, count, places, variables, likes, answers)


def may_call() -> bool:
    """Whether one tape is at work, which will be asked once."""
    (only, *others) = threads.active
    return not others and only.append is not None and not getattr(only, "persistent", True)
