"""Which equations of a program become native, and in which order: as few parts as possible.

Looks at memory belong to no part: whoever needs one finds its root. Everything else is native if
there are instructions for it, and otherwise a call of Python's between two parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from math import prod
from typing import Any

import numpy as np

from ...ops import index, pad, reduce, shape
from ..kernels import is_basic, looks
from ..program import Effect, Equation, Guard, Loop, Program, Store, Var
from . import lanes, singles
from .composites import picked
from .layout import Layout, looked_at, whole
from .nests import Grouping, Step, squeezed, step_of
from .unit import Native

REDUCTIONS = {reduce.sum, reduce.max, reduce.min}
JOINS = {shape.concat, shape.stack}
LOOKS = {shape.unstack, shape.reshape, shape.split, pad.reverse}  # beside those of NumPy's backend
LOOK = "only looks at memory"
# Of what is no op: why Python does it.
SORTS: dict[type, str] = {
    Guard: "Python reads the value", Effect: "a function of yours, or one that the world can see",
    Store: "gives a variable its value", Loop: "a loop with a program of its own",
}  # fmt: skip
_numbers = count(1)


def part(program: Program) -> Program:
    return _Parting(program).program


def obstacles(program: Program) -> list[tuple[Equation, str]]:
    """The equations of a program in parts that Python calls, each with the reason."""
    judge = _Judge(program)
    calls = [e for e in program.equations if not isinstance(e.op, Native)]
    return [(e, LOOK if judge.loose(e) else judge.obstacle(e)) for e in calls]


def is_look(equation: Equation) -> bool:
    """Whether its result lies in the memory of its operand."""
    if equation.op is index.getitem:
        return len(equation.inputs) == 1 and is_basic(equation.params["key"])
    return looks(equation) or equation.op in LOOKS


class _Judge:
    """Knows where values lie, and so for which equations there is native code."""

    def __init__(self, program: Program) -> None:
        self.source = {v: e for e in program.equations for v in e.outputs}
        self.layouts: dict[Var, Layout | None] = {}

    def loose(self, equation: Equation) -> bool:
        """Is it a look at memory that needs no code?"""
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

    def obstacle(self, equation: Equation) -> str:
        """Why there is no native code for an equation; nothing if there is."""
        op, values = equation.op, (*equation.inputs, *equation.outputs)
        for sort, reason in SORTS.items():
            if isinstance(op, sort):
                return reason
        for value in values:
            if value.dtype is None:
                return "a Python number among its values"
            if not lanes.known(value.dtype):
                return f"no native code for {value.dtype.name}"
            if not prod(value.shape):
                return "an array without elements"
        if any(v.__class__ is Var for v in equation.params.values()):
            return "a parameter that only the call tells"
        if lanes.emitter(equation) is not None or self.moves(equation):
            return ""
        if op in JOINS or op is picked:
            return ""
        if op in REDUCTIONS and equation.inputs[0].dtype.kind in "fiu":
            return ""
        layouts: Any = [self.layout(v) for v in equation.inputs]
        if op not in REDUCTIONS and singles.family(equation, layouts) is not None:
            return ""
        return f"no native code for {op.name} of {' and '.join(_kinds(equation))}"

    def moves(self, equation: Equation) -> bool:
        """Is it a look that has to copy?"""
        if equation.op is not shape.reshape:
            return False
        found = self.layout(equation.outputs[0])
        return found is not None and found.root is equation.outputs[0]


class _Parting(_Judge):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.program = program
        self.constants = program.constants
        self.needed = {*program.results}
        self.done: list[Equation] = []
        self.last: dict[Var, int] = {}  # the last stage that reads a root
        loose, others = list[Equation](), list[Equation]()
        for equation in program.equations:
            (loose if self.loose(equation) else others).append(equation)
        for stage, body in sorted(self._stages(others).items()):
            self.done += body if stage % 2 else [self._grouped(body, stage)]
        self._finish(loose)

    # --- parts ------------------------------------------------------------------------------------
    def _stages(self, equations: list[Equation]) -> dict[int, list[Equation]]:
        """Equations by the stage in which they are computed: the first in which all that they need
        is there. Stages with even numbers are native. What must stay in order, stays."""
        found: dict[int, list[Equation]] = {}
        made: dict[Var, int] = {}
        ordered = 0
        for equation in equations:
            roots = [self._root(v) for v in equation.uses]
            stage = max([made.get(r, 0) for r in roots], default=0)
            if equation.must_stay:
                stage = max(stage, ordered)
            stage += stage % 2 != bool(self.obstacle(equation))
            if equation.must_stay:
                ordered = stage
            found.setdefault(stage, []).append(equation)
            made.update(dict.fromkeys(equation.outputs, stage))
            for root in roots:
                self.last[root] = max(stage, self.last.get(root, 0))
        for value in self.needed:
            self.last[self._root(value)] = len(equations) + 1  # behind all stages
        return found

    def _grouped(self, body: list[Equation], stage: int) -> Any:
        grouping = Grouping()
        for equation in body:
            self._put(grouping, equation)
        own = {v for e in body for v in e.outputs}
        outputs = tuple(v for e in body for v in e.outputs if self.last.get(v, 0) > stage)
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
            if value in own or value in known or source is None or not self.loose(source):
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
        elif self.moves(equation):
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
        waiting: dict[Var, list[Equation]] = {}  # by what they look at
        for equation in kept:
            waiting.setdefault(equation.inputs[0], []).append(equation)
        made: list[Equation] = []

        def settle(values: Iterable[Var]) -> None:
            pending = [*values]
            for value in pending:  # which grows meanwhile
                for equation in waiting.pop(value, ()):
                    made.append(equation)
                    pending += equation.outputs

        settle(self.program.given)
        for equation in self.done:
            made.append(equation)
            settle(equation.outputs)
        self.program = self.program.with_equations(made)


def _kinds(equation: Equation) -> list[str]:
    """The dtypes of its operands, each once."""
    return [*dict.fromkeys(v.dtype.name for v in equation.inputs)] or ["nothing"]


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
