"""Which equations of a program become native, and in which order: as few parts as possible.

Looks at memory belong to no part: whoever needs one finds its root. Everything else is native if
there are instructions for it, and otherwise a call of Python's between two parts.
"""

from __future__ import annotations

from itertools import count
from math import prod
from typing import Any

import numpy as np

from ...ops import index, pad, reduce, shape
from ..kernels import is_basic, looks
from ..program import Equation, Program, Var
from . import lanes, singles
from .composites import picked
from .identities import with_identity
from .layout import Layout, looked_at, whole
from .nests import Grouping, Step, squeezed, step_of
from .unit import Native

REDUCTIONS = {reduce.sum, reduce.max, reduce.min}
JOINS = {shape.concat, shape.stack}
LOOKS = {shape.unstack, shape.reshape, shape.split, pad.reverse}  # beside those of NumPy's backend
_numbers = count(1)


def part(program: Program) -> Program:
    return _Parting(program).program


def is_look(equation: Equation) -> bool:
    """Whether its result lies in the memory of its operand."""
    if equation.op is index.getitem:
        return len(equation.inputs) == 1 and is_basic(equation.params["key"])
    return looks(equation) or equation.op in LOOKS


class _Parting:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants = program.constants
        self.source = {v: e for e in program.equations for v in e.outputs}
        self.layouts: dict[Var, Layout | None] = {}
        self.needed = {*program.results}
        self.done: list[Equation] = []
        left = [e for e in program.equations if not self._loose(e)]
        loose = [e for e in program.equations if self._loose(e)]
        self.ready = {*program.given}
        while left:
            native, left = self._take(left, True)
            if native:
                self.done.append(native)
            hosts, left = self._take(left, False)
            self.done += hosts
        self._finish(loose)

    # --- looks ------------------------------------------------------------------------------------
    def _loose(self, equation: Equation) -> bool:
        if not is_look(equation) or len(equation.inputs) != 1:
            return False
        found = self.layout(equation.outputs[0])
        known = lanes.known(equation.inputs[0].dtype)
        return known and found is not None and found.root is not equation.outputs[0]

    def layout(self, value: Var) -> Layout | None:
        """Where a value lies: in its own memory, or in that of another one."""
        if value not in self.layouts:
            source = self.source.get(value)
            found: Layout | None = None if value.shape is None else whole(value)
            if source is not None and is_look(source) and len(source.inputs) == 1:
                before = self.layout(source.inputs[0])
                several = None if before is None else looked_at(source, before)
                if several is not None:
                    found = several[source.outputs.index(value)]
            self.layouts[value] = found
        return self.layouts[value]

    def _root(self, value: Var) -> Var:
        found = self.layout(value) if value.shape is not None else None
        return value if found is None else found.root

    # --- parts ------------------------------------------------------------------------------------
    def _native(self, equation: Equation) -> bool:
        """Whether there is native code for it."""
        if not all(lanes.known(v.dtype) for v in (*equation.inputs, *equation.outputs)):
            return False
        if any(not prod(v.shape) for v in (*equation.inputs, *equation.outputs)):
            return False
        if any(v.__class__ is Var for v in equation.params.values()):
            return False
        if lanes.emitter(equation) is not None or self._moves(equation):
            return True
        if equation.op in JOINS or equation.op is picked:
            return True
        if equation.op in REDUCTIONS:
            return equation.inputs[0].dtype.kind in "fiu"
        layouts: Any = [self.layout(v) for v in equation.inputs]
        return singles.family(equation, layouts) is not None

    def _moves(self, equation: Equation) -> bool:
        """Is it a look that has to copy?"""
        if equation.op is not shape.reshape:
            return False
        found = self.layout(equation.outputs[0])
        return found is not None and found.root is equation.outputs[0]

    def _take(self, left: list[Equation], native: bool) -> tuple[Any, list[Equation]]:
        """All equations that can be computed now, of one sort; and the others. What must stay in
        order, stays."""
        taken, others = [], []
        late: set[Var] = set()
        stopped = False
        for equation in left:
            roots = [self._root(v) for v in equation.uses]
            ordered = equation.must_stay
            if (
                self._native(equation) == native and not (ordered and stopped)
                and not any(r in late for r in roots)
            ):  # fmt: skip
                taken.append(equation)
            else:
                others.append(equation)
                late.update(equation.outputs)
                stopped = stopped or ordered
        if not native:
            return taken, others
        return (self._grouped(taken, others) if taken else None), others

    def _grouped(self, body: list[Equation], others: list[Equation]) -> Any:
        own = {v for e in body for v in e.outputs}
        early = lambda e: e.op is with_identity and self._root(e.inputs[0]) not in own
        grouping = Grouping()
        # They may refuse, so threads share only what comes after them; their memory is taken first.
        for equation in sorted(body, key=early, reverse=True):
            self._put(grouping, equation)
        wanted = {self._root(v) for e in others for v in e.uses}
        wanted |= {self._root(v) for v in self.needed}
        outputs = tuple(v for e in body for v in e.outputs if v in wanted)
        reads = [self._root(v) for e in body for v in e.inputs]
        given = [v for v in dict.fromkeys(reads) if v not in own]
        constants = {v: self.constants[v] for v in given if v in self.constants}
        inputs = tuple(v for v in given if v not in constants)
        native = Native(
            f"native_{next(_numbers)}", grouping.items, self._with_looks(body, own), inputs,
            outputs, constants,
        )  # fmt: skip
        return Equation(native, inputs, {}, outputs)

    def _with_looks(self, body: list[Equation], own: set[Var]) -> list[Equation]:
        """The equations with the looks between them, to be computed one by one."""
        made: list[Equation] = []
        known: set[Var] = set()

        def need(value: Var) -> None:
            source = self.source.get(value)
            if value in own or value in known or source is None or not self._loose(source):
                return
            need(source.inputs[0])
            made.append(source)
            known.update(source.outputs)

        for equation in body:
            for value in equation.inputs:
                need(value)
            made.append(equation)
        return made

    def _put(self, grouping: Grouping, equation: Equation) -> None:
        layouts: Any = [self.layout(v) for v in equation.inputs]
        if not equation.outputs:
            grouping.single(equation, layouts)
            return
        (value,) = equation.outputs
        if equation.op in JOINS:
            self._join(grouping, equation, layouts)
        elif equation.op is picked:
            table, places = layouts
            grouping.step(_picking(equation, table, places))
        elif equation.op in REDUCTIONS:
            axis = equation.params.get("axis")
            rank = len(equation.inputs[0].shape)
            axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
            reduced = [k % rank for k in axes] if rank else []
            step = step_of(equation, layouts[0].shape, layouts, reduced)
            if not step.reduced:  # over axes of size 1
                step.equation = _copying(equation)
            grouping.step(step)
        elif self._moves(equation):
            (source,) = layouts
            grouping.step(step_of(_copying(equation), source.shape, layouts))
        elif lanes.emitter(equation) is not None:
            shape = np.broadcast_shapes(value.shape, *[x.shape for x in layouts])
            grouping.step(step_of(equation, shape, layouts))
        else:
            grouping.single(equation, layouts)

    def _join(self, grouping: Grouping, equation: Equation, layouts: list[Layout]) -> None:
        """A step for each operand, which writes its piece of the result."""
        (value,) = equation.outputs
        axis = equation.params["axis"] % len(value.shape)
        strides = whole(value).strides
        start = 0
        for k, layout in enumerate(layouts):
            stacked = equation.op is shape.stack
            copy = Equation(shape.identity, (equation.inputs[k],), {}, (value,), equation.place)
            step = step_of(copy, layout.shape, [layout])
            own = (*strides[:axis], *strides[axis + 1 :]) if stacked else strides
            _, axes = squeezed(layout.shape)
            step.kept = tuple(own[k] for k in axes)
            step.offset, step.piece = start * strides[axis], True
            grouping.step(step)
            start += 1 if stacked else layout.shape[axis]

    # --- the rest ---------------------------------------------------------------------------------
    def _finish(self, loose: list[Equation]) -> None:
        """Put the looks that Python needs where their roots are known."""
        wanted = {v for e in self.done for v in e.uses} | self.needed
        kept: list[Equation] = []
        for equation in reversed(loose):
            if any(v in wanted for v in equation.outputs):
                kept.append(equation)
                wanted.update(equation.inputs)
        kept.reverse()
        known = {*self.program.given}
        made: list[Equation] = []

        def settle() -> None:
            nonlocal kept
            waiting = []
            for equation in kept:
                if all(v in known for v in equation.uses):
                    made.append(equation)
                    known.update(equation.outputs)
                else:
                    waiting.append(equation)
            kept = waiting

        settle()
        for equation in self.done:
            made.append(equation)
            known.update(equation.outputs)
            settle()
        self.program = self.program.with_equations(made)


def _picking(equation: Equation, table: Layout, places: Layout) -> Step:
    """A step over the places and what is behind the first axis of the table."""
    (value,) = equation.outputs
    behind = len(table.shape) - 1
    along = Layout(
        table.root, value.shape, (0,) * len(places.shape) + table.strides[1:], table.offset
    )
    where = Layout(
        places.root, (*places.shape, *(1,) * behind), (*places.strides, *(0,) * behind),
        places.offset,
    )  # fmt: skip
    step = step_of(
        Equation(shape.identity, equation.inputs[:1], {}, (value,), equation.place), value.shape,
        [along, where],
    )  # fmt: skip
    step.picks = table.strides[0]
    return step


def _copying(equation: Equation) -> Equation:
    return Equation(shape.identity, equation.inputs, {}, equation.outputs, equation.place)
