"""Loops that stay loops: `tf.while_loop`, `tf.scan` and their kind as one equation of a program.

The body is recorded once, as a program of its own: of what the loop carries on, of one row of each
sequence that it goes along, and of what it finds outside. Where a body does not allow it (it looks
at numbers, assigns, prints, draws, or changes shapes), the loop is recorded step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import arrays, nest
from ..autodiff.custom import Call
from ..core.apply import followers, several, tensor
from ..core.operand import Operand
from ..core.record import threads
from ..framework import convert
from .backends.choice import ready
from .calls import Derivative, derive
from .draws import Kernels
from .play import interpret
from .program import Effect, Guard, Loop, Program
from .record import Recording, without
from .traced import Traced, untraced


class Unfit(Exception):
    """A body that cannot be a program of its own."""


# --- bodies ---------------------------------------------------------------------------------------
@dataclass(eq=False)
class Body:
    """A function of a loop as a program; `outside` are the tensors that it found there, which are
    its last inputs."""

    program: Program
    outside: list[Any]
    _runner: Any = None
    _derivative: Derivative | None = None

    def __call__(self, values: list) -> list:
        if self._runner is None:
            self._runner = ready(self.program)
        found: Any = self._runner(values)
        return found

    def derivative(self, values: list) -> Derivative:
        """The programs forward and backward; the values are an example of its inputs."""
        if self._derivative is None:
            self._derivative = derive(self.program, [tensor(untraced(v)) for v in values])
            if self._derivative is None:
                raise Unfit
        return self._derivative


def record_body(function: Callable[..., list], examples: list) -> Body:
    """Record a function of flat tensors that gives a flat list of them."""
    recording = Recording(Kernels(), None, may_create=False)
    with recording.running():
        inputs = [recording.trace(untraced(value)) for value in examples]
        program = recording.finish(inputs, function(*[tensor(value) for value in inputs]))
    if (
        program.streams or program.updates or program.custom
        or any(isinstance(e.op, (Guard, Effect)) for e in program.equations)
    ):  # fmt: skip
        raise Unfit
    outside = [t for t, _ in program.captures] + [v._read() for v, _ in program.variables]
    more = [var for _, var in (*program.captures, *program.variables)]
    program.inputs, program.captures, program.variables = (*program.inputs, *more), (), ()
    return Body(program, outside)


# --- loops ----------------------------------------------------------------------------------------
@dataclass(eq=False)
class State:
    """A loop: `carried, rows = body(carried, a row of each sequence)`, as long as `cond(carried)`
    holds, or for all rows in an order. It gives what was carried at the end, and all rows stacked.

    Its operands are what is carried, the sequences, and what body and condition find outside.
    """

    body: Body
    cond: Body | None
    carried: int
    sequences: int = 0
    order: range | None = None
    limit: int | None = None
    keeps: bool = False  # whether a last result holds what the derivative needs

    def parts(self, operands: Any) -> tuple[list, list, list, list]:
        operands, n = list(operands), self.carried
        first = n + self.sequences
        last = first + len(self.body.outside)
        return operands[:n], operands[n:first], operands[first:last], operands[last:]

    def steps(self, carried: list, for_cond: list, cond: Any) -> Iterator[int]:
        """The numbers of the rows, or of the steps as long as a condition holds."""
        if self.cond is None:
            yield from self.order or ()
            return
        k = 0
        while (self.limit is None or k < self.limit) and cond([*carried, *for_cond])[0]:
            yield k
            k += 1

    def run(self, *values: Any) -> tuple:
        """On arrays."""
        carried, sequences, outside, for_cond = self.parts(values)
        n, kept = self.carried, []
        rows: list[list] = []
        for k in self.steps(carried, for_cond, self.cond):
            given = [*carried, *[s[k] for s in sequences], *outside]
            if self.keeps:
                derivative = self.body.derivative(given)
                both: Any = derivative.runners[0](given)
                found = both[: derivative.results]
                kept.append((k, both[derivative.results :]))
            else:
                found = self.body(given)
            carried[:] = found[:n]
            rows.append(found[n:])
        results = [*carried, *[np.stack(column) for column in zip(*self.sorted(rows), strict=True)]]
        return (*results, _boxed(kept)) if self.keeps else tuple(results)

    def sorted(self, rows: list) -> list:
        """By their numbers."""
        return rows[::-1] if self.order is not None and self.order.step < 0 else rows


def _boxed(value: Any) -> Any:
    """Any object, as an array that programs hand on."""
    box = np.empty((), object)
    box[()] = value
    return box


@dataclass(eq=False)
class Back:
    """A loop backward: from the cotangents of its floating results to those of its operands."""

    loop: State
    floating: list[bool]  # results
    likes: dict[int, tuple]  # operands that have a cotangent: shape and dtype

    def run(self, box: Any, *cotangents: Any) -> tuple:
        loop, n = self.loop, self.loop.carried
        left = iter(cotangents)
        g = [next(left) if floats else None for floats in self.floating]
        carried, stacked = g[:n], g[n:]
        found: dict[int, Any] = {}
        first = min(loop.order or (0,))  # the number of the first row that was stacked
        for k, kept in reversed(box.item()):
            derivative: Any = loop.body._derivative
            rows = [None if s is None else s[k - first] for s in stacked]
            given = [
                h for h, floats in zip([*carried, *rows], self.floating, strict=True) if floats
            ]
            carried = [None] * n
            for place, h in zip(derivative.leaves, derivative.pull(kept, given), strict=True):
                h = h.dense() if hasattr(h, "dense") else h
                if place < n:
                    carried[place] = np.zeros(*self.likes[place])[()] if h is None else h
                elif h is not None and place < n + loop.sequences:
                    whole = found.setdefault(place, np.zeros(*self.likes[place]))
                    whole[k] = h
                elif h is not None:
                    found[place] = found[place] + h if place in found else h
        found.update(enumerate(carried))
        return tuple(
            [found[k] if found.get(k) is not None else np.zeros(*like)[()]
             for k, like in self.likes.items()]
        )  # fmt: skip


# --- playing --------------------------------------------------------------------------------------
def play(loop: State, operands: list) -> list:
    """On tensors: an equation of a recording, or step by step where tapes look on."""
    recording = threads.recording
    if recording is not None and any(type(t._value) is Traced for t in operands):
        mark = without(recording, followers(operands))
        if mark is None or (len(mark.recorders) == 1 and mark.appends):
            return _say(loop, operands, mark)
    elif not threads.active or followers(operands) is None:
        found = loop.run(*[t._value for t in operands])
        return list(map(tensor, found))
    return _step_by_step(loop, operands)


def _say(loop: State, operands: list, mark: Any) -> list:
    """As an equation; if a tape follows, with a derivative that is another one."""
    recording = threads.recording
    loop = replace(loop, keeps=mark is not None)
    values = loop.run(*[untraced(t._value) for t in operands])
    made = recording.say(Loop("while_loop", loop.run, loop), operands, {}, values)
    if mark is None:
        return list(map(tensor, made))
    recording.program.custom = True  # of a derivative that is one equation there is no other
    *results, box = made
    floating = [r.dtype.kind in "fcV" for r in results]
    of_body = len(operands) - (0 if loop.cond is None else len(loop.cond.outside))
    sources = [k for k, t in enumerate(operands[:of_body]) if t._value.dtype.kind in "fcV"]
    likes = {k: (operands[k]._value.shape, operands[k]._value.dtype) for k in sources}
    parts = [r for r, floats in zip(results, floating, strict=True) if floats]

    def pull(g: list) -> list:
        cotangents = [
            tensor(np.zeros(r.shape, r.dtype)[()]) if h is None else h.tensor
            for h, r in zip(g, parts, strict=True)
        ]
        back = Back(loop, floating, likes)
        found = back.run(*[untraced(t._value) for t in (tensor(box), *cotangents)])
        equation = Loop("while_loop_back", back.run)
        said = threads.recording.say(equation, (tensor(box), *cotangents), {}, found)
        return [Operand(tensor(value)) for value in said]

    followed = iter(
        several(
            Call("while_loop", "While", pull),
            [operands[k] for k in sources],
            {},
            tuple(parts),
            mark,
        )
    )
    return [
        next(followed) if floats else tensor(r) for r, floats in zip(results, floating, strict=True)
    ]


def _step_by_step(loop: State, operands: list) -> list:
    """Every step through the program of the body: whoever follows sees its ops."""
    carried, sequences, outside, for_cond = loop.parts(operands)
    rows: list[list] = []

    def holds(values: list) -> Any:  # in a recording, a guard
        return interpret(loop.cond.program, values) if loop.cond is not None else None

    for k in loop.steps(carried, for_cond, holds):
        given = [*carried, *[s[k] for s in sequences], *outside]
        found = interpret(loop.body.program, given)
        carried[:] = found[: loop.carried]
        rows.append(found[loop.carried :])
    stacks = [arrays.stack(list(column)) for column in zip(*loop.sorted(rows), strict=True)]
    return [*carried, *stacks]


# --- what users write -----------------------------------------------------------------------------
def while_loop(cond: Any, body: Any, loop_vars: Any, limit: int | None) -> Any:
    """`tf.while_loop` as one equation; None if it cannot be."""
    leaves = _tensors(loop_vars)
    if leaves is None:
        return None

    def flat_cond(*flat: Any) -> list:
        holds = convert.to_tensor(cond(*nest.pack_sequence_as(loop_vars, flat)))
        if holds._value.shape != ():
            raise Unfit
        return [holds]

    def flat_body(*flat: Any) -> list:
        return _same_kind(body(*nest.pack_sequence_as(loop_vars, flat)), loop_vars, leaves)

    examples = [t._value for t in leaves]
    found = _tried(flat_cond, flat_body, leaves, [], examples, None, limit)
    return None if found is None else nest.pack_sequence_as(loop_vars, found)


def scan(function: Any, state: Any, elems: list, order: range, like: Any, rows: bool) -> Any:
    """`state = function(state, row)` along rows, as one equation: the last state and, if wanted,
    all of them stacked; None if it cannot be. `like` has the structure of a row."""
    leaves = _tensors(state)
    if leaves is None:
        return None

    def flat_body(*flat: Any) -> list:
        row = nest.pack_sequence_as(like, flat[len(leaves) :])
        result = function(nest.pack_sequence_as(state, flat[: len(leaves)]), row)
        new = _same_kind(result, state, leaves)
        return [*new, *new] if rows else new

    first = [untraced(t._value)[order[0]] for t in elems]
    examples = [*[t._value for t in leaves], *first]
    found = _tried(None, flat_body, leaves, elems, examples, order, None)
    if found is None:
        return None
    last, stacked = found[: len(leaves)], found[len(leaves) :]
    return nest.pack_sequence_as(state, last), stacked


def map_rows(function: Any, elems: list, order: range) -> Any:
    """`function` of the rows, flat tensors in and out, stacked, as one equation or None."""
    examples = [untraced(t._value)[order[0]] for t in elems]
    return _tried(None, function, [], elems, examples, order, None)


def _tried(
    cond: Any, body: Any, carried: list, elems: list, examples: list, order: Any, limit: Any
) -> list | None:
    try:
        of_cond = None if cond is None else record_body(cond, examples[: len(carried)])
        of_body = record_body(body, examples)
        loop = State(of_body, of_cond, len(carried), len(elems), order, limit)
        operands = [*carried, *elems, *of_body.outside, *(of_cond.outside if of_cond else ())]
        return play(loop, operands)
    except Exception:  # a body that fails is met again, step by step, with the user's own error
        return None


def _tensors(structure: Any) -> list | None:
    leaves = nest.flatten(structure)
    if any(convert.is_ragged(leaf) or convert.is_sparse(leaf) for leaf in leaves):
        return None
    try:
        return [convert.to_tensor(leaf) for leaf in leaves]
    except (TypeError, ValueError):
        return None


def _same_kind(result: Any, like: Any, leaves: list) -> list:
    """The leaves of what a step gives, which must be what it was given."""
    if isinstance(like, (list, tuple)) and isinstance(result, (list, tuple)):
        result, like = list(result), list(like)
    nest.assert_same_structure(like, result)
    found = [convert.to_tensor(leaf) for leaf in nest.flatten(result)]
    for new, old in zip(found, leaves, strict=True):
        if (new._value.shape, new._value.dtype) != (old._value.shape, old._value.dtype):
            raise Unfit
    return found
