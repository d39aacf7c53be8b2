"""Loops that stay loops: `tf.while_loop`, `tf.scan` and their kind as one equation of a program.

The body is recorded once (`bodies`), as a program of its own: of what the loop carries on, of one
row of each sequence that it goes along, and of what it finds outside. Where a body does not allow
it (it looks at numbers, assigns, prints, draws, or changes shapes), the loop is recorded step by
step. Where the number of steps is known, what does not depend on the step before is computed for
all of them at once (`hoisting`).
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
from ..ops.rows import Slices
from .bodies import Body, BodyDerivative, Sum, Unfit, record_body
from .hoisting import Hoisting
from .play import interpret
from .program import Loop
from .record import without
from .traced import Traced, untraced


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
    # The inputs of the body with a derivative; then a last result holds what that needs.
    wanted: tuple[int, ...] | None = None

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
        if self.cond is None:
            return self._run(values, None)
        with self.cond.entered() as holds:
            return self._run(values, lambda operands: holds(*operands))

    def _run(self, values: tuple, holds: Any) -> tuple:
        carried, sequences, outside, for_cond = self.parts(values)
        n, kept, rows = self.carried, list[tuple[int, list]](), list[list]()
        body, count = self.body.entered, None
        if self.wanted is not None:
            first = self.order[0] if self.order else 0
            example = [*carried, *[s[first] for s in sequences], *outside]
            derivative = self.body.derivative(example, self.wanted)
            body, count = derivative.forward, derivative.results
        with body() as play:
            for k in self.steps(carried, for_cond, holds):
                results = play(*carried, *[s[k] for s in sequences], *outside)
                carried[:] = results[:n]
                rows.append(results[n:count])
                if count is not None:
                    kept.append((k, results[count:]))
        stacks = [np.stack(column) for column in zip(*self.sorted(rows), strict=True)]
        box = () if self.wanted is None else (_boxed(kept),)
        return (*carried, *stacks, *box)

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
    """A loop backward: from the cotangents of its results to those of its operands."""

    loop: State
    derivative: BodyDerivative
    arrives: list[bool | None]  # for each result whether it has a cotangent, None if it is discrete
    likes: dict[int, tuple]  # operands that get one: shape and dtype

    def run(self, box: Any, *cotangents: Any) -> tuple:
        loop, n = self.loop, self.loop.carried
        last = n + loop.sequences
        left, likes = iter(cotangents), iter(self.derivative.likes)
        # Of each floating result: what arrives, the rows of that, and zeros of the kind.
        floating = [
            (k, next(left) if arrives else None, np.zeros(*next(likes))[()])
            for k, arrives in enumerate(self.arrives)
            if arrives is not None
        ]
        carried = {k: g for k, g, _ in floating if k < n}
        first = min(loop.order or (0,))  # the number of the first row that was stacked
        totals: dict[int, Any] = {}
        answers = self.derivative.answers
        collected = {i: list[Any]() for _, a in answers if isinstance(a, Sum) for i in a.parts}
        with self.derivative.backward() as pull:
            for k, kept in reversed(box.item()):
                seeds = []
                for number, g, zeros in floating:
                    if number < n:
                        g = carried[number]
                    elif g is not None:
                        g = g[k - first]
                    seeds.append(zeros if g is None else g)
                pulled = pull(*kept, *seeds)
                carried = dict.fromkeys(carried)
                for place, answer in answers:
                    if answer.__class__ is int:
                        h = pulled[answer]
                        if place < n:
                            carried[place] = h
                        elif place < last:
                            if place not in totals:
                                totals[place] = np.zeros(*self.likes[place])
                            totals[place][k] = h
                        else:
                            totals[place] = totals[place] + h if place in totals else h
                    elif answer.__class__ is tuple:
                        values, indices, shape = answer
                        h = Slices(pulled[values], pulled[indices], shape).dense()
                        totals[place] = totals[place] + h if place in totals else h
                for i, rows in collected.items():
                    rows.append(pulled[i])
        for place, answer in answers:
            if isinstance(answer, Sum) and collected[answer.parts[0]]:
                totals[place] = answer.total(collected)
        totals.update(carried)
        return tuple(
            [totals[k] if totals.get(k) is not None else np.zeros(*like)[()]
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
        return list(map(tensor, loop.run(*[t._value for t in operands])))
    return _step_by_step(loop, operands)


def _say(loop: State, operands: list, mark: Any) -> list:
    """As an equation; if a tape follows, with a derivative that is another one."""
    recording = threads.recording
    sources = []
    if mark is not None:
        of_body = len(operands) - (0 if loop.cond is None else len(loop.cond.outside))
        sources = [
            k
            for k, t in enumerate(operands[:of_body])
            if t._value.dtype.kind in "fcV" and without(recording, followers([t])) is not None
        ]
    wanted = tuple(sorted(loop.body.depending({*sources}, loop.carried)))
    loop = replace(loop, wanted=wanted if sources else None)
    values = loop.run(*[untraced(t._value) for t in operands])
    made = recording.say(Loop("while_loop", loop.run, loop), operands, {}, values)
    if not sources:
        return list(map(tensor, made))
    recording.program.custom = True  # of a derivative that is one equation there is no other
    *results, box = made
    floating = [r.dtype.kind in "fcV" for r in results]
    likes = {k: (operands[k]._value.shape, operands[k]._value.dtype) for k in sources}
    first = loop.order[0] if loop.order else 0
    carried, sequences, outside, _ = loop.parts([untraced(t._value) for t in operands])
    example = [*carried, *[s[first] for s in sequences], *outside]
    derivative = loop.body.derivative(example, wanted)

    def pull(g: list) -> list:
        left = iter(g)
        arriving = [next(left) if floats else None for floats in floating]
        arrives = [
            h is not None if floats else None for h, floats in zip(arriving, floating, strict=True)
        ]
        cotangents = [h.tensor for h in arriving if h is not None]
        back = Back(loop, derivative, arrives, likes)
        operands_back = tensor(box), *cotangents
        values = back.run(*[untraced(t._value) for t in operands_back])
        equation = Loop("while_loop_back", back.run)
        said = threads.recording.say(equation, operands_back, {}, values)
        return [Operand(tensor(value)) for value in said]

    followed = iter(
        several(
            Call("while_loop", "While", pull),
            [operands[k] for k in sources],
            {},
            tuple([r for r, floats in zip(results, floating, strict=True) if floats]),
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
        return truth(cond(*nest.pack_sequence_as(loop_vars, flat)))

    def flat_body(*flat: Any) -> list:
        return _same_kind(body(*nest.pack_sequence_as(loop_vars, flat)), loop_vars, leaves)

    def tried() -> list:
        examples = [t._value for t in leaves]
        of_cond, of_body = record_body(flat_cond, examples), record_body(flat_body, examples)
        if of_cond.reads or of_body.reads:
            raise Unfit
        loop = State(of_body.body, of_cond.body, len(leaves), limit=limit)
        return play(loop, [*leaves, *of_body.body.outside, *of_cond.body.outside])

    ends = or_none(tried)
    return None if ends is None else nest.pack_sequence_as(loop_vars, ends)


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

    results = or_none(lambda: _along(flat_body, leaves, elems, order))
    if results is None:
        return None
    last, stacked = results[: len(leaves)], results[len(leaves) :]
    return nest.pack_sequence_as(state, last), stacked


def map_rows(function: Any, elems: list, order: range) -> Any:
    """`function` of the rows, flat tensors in and out, stacked, as one equation or None."""
    return or_none(lambda: _along(function, [], elems, order))


def or_none(tried: Callable[[], Any]) -> Any:
    try:
        return tried()
    except Exception:  # a body that fails is met again, step by step, with the user's own error
        return None


def _along(function: Any, carried: list, elems: list, order: range) -> list:
    first = [untraced(t._value)[order[0]] for t in elems]
    of_body = record_body(function, [*[t._value for t in carried], *first])
    if of_body.reads:
        raise Unfit
    return play_counted(of_body.body, carried, elems, order)


def play_counted(body: Body, carried: list, elems: list, order: range) -> list:
    """Play a loop along rows, of which what does not depend on what is carried is computed
    before."""
    program, n, last = body.program, len(carried), len(carried) + len(elems)
    rows = dict(zip(program.inputs[n:last], elems, strict=True))
    outside = dict(zip(program.inputs[last:], body.outside, strict=True))
    hoisting = Hoisting(program, rows, outside)
    if hoisting.hoisted:
        program, more = hoisting.run()
        rows |= more
        used = {v for e in program.equations for v in e.uses} | {*program.outputs}
        rows = {v: t for v, t in rows.items() if v in used}
        outside = {v: t for v, t in outside.items() if v in used}
        program.inputs = (*program.inputs[:n], *rows, *outside)
        body = Body(program, [*outside.values()])
    loop = State(body, None, n, len(rows), order)
    return play(loop, [*carried, *rows.values(), *outside.values()])


# --- what bodies and conditions give --------------------------------------------------------------
def truth(holds: Any) -> list:
    holds = convert.to_tensor(holds)
    if holds._value.shape != ():
        raise Unfit
    return [holds]


def _tensors(structure: Any) -> list | None:
    leaves = nest.flatten(structure)
    if any(convert.is_ragged(leaf) or convert.is_sparse(leaf) for leaf in leaves):
        return None
    try:
        return [convert.to_tensor(leaf) for leaf in leaves]
    except (TypeError, ValueError):
        return None


def alike(result: Any, like: Any) -> Any:
    """What a step gives, which must have the structure of what it was given."""
    if isinstance(like, (list, tuple)) and isinstance(result, (list, tuple)):
        result, like = list(result), list(like)
    nest.assert_same_structure(like, result)
    return result


def _same_kind(result: Any, like: Any, leaves: list) -> list:
    """The leaves of what a step gives, which must be what it was given."""
    new = [convert.to_tensor(leaf) for leaf in nest.flatten(alike(result, like))]
    check_kind(new, leaves)
    return new


def check_kind(new: list, old: list) -> None:
    for a, b in zip(new, old, strict=True):
        if (a._value.shape, a._value.dtype) != (b._value.shape, b._value.dtype):
            raise Unfit
