"""What passes that replace equations have in common: a walk from the first equation to the last."""

from __future__ import annotations

from typing import Any

from ...ops.shape import reshape
from ..program import Equation, Guard, Program, Var


class Rewriter:
    """Copies a program equation by equation; a pass says in `rewrite` what to put in place of one.

    Values that were replaced are known by their old name in everything that comes after.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.constants = dict(program.constants)
        self.equations: list[Equation] = []
        self.source: dict[Var, Equation] = {}  # which equation of the new ones sets a value
        self.instead: dict[Var, Var] = {}
        self.place: Any = None
        self.exact = exact(program)  # values of which every bit counts
        self.bits = False  # whether the equation that is rewritten gives one

    def rewrite(self, equation: Equation) -> Any:
        """Values to take for the results, or None to keep the equation."""
        raise NotImplementedError

    def run(self) -> Program:
        for old in self.program.equations:
            self.place = old.place
            self.take(self._renamed(old))
        return self.program.with_equations(
            self.equations,
            constants=self.constants,
            outputs=tuple(map(self.result, self.program.outputs)),
            updates=tuple((variable, self.result(v)) for variable, v in self.program.updates),
        )

    def result(self, value: Var) -> Var:
        """What the program gives in place of a result of the old one."""
        return self.now(value)

    def now(self, value: Var) -> Var:
        return self.instead.get(value, value)

    def _renamed(self, equation: Equation) -> Equation:
        instead = self.instead
        if not instead or not any(v in instead for v in equation.uses):
            return equation
        params = {
            name: self.now(value) if value.__class__ is Var else value
            for name, value in equation.params.items()
        }
        inputs = tuple(map(self.now, equation.inputs))
        return Equation(
            equation.op, inputs, params, equation.outputs, equation.place, equation.memory
        )

    def take(self, equation: Equation) -> tuple[Var, ...]:
        """Put an equation to the new ones, or what the pass has in its place; its results."""
        before = self.bits
        if self.exact and any(v in self.exact for v in equation.outputs):
            self.bits = True  # of everything that is emitted in its place, too
        found = self.rewrite(equation)
        self.bits = before
        if found is None:
            self.equations.append(equation)
            for value in equation.outputs:
                self.source[value] = equation
            return equation.outputs
        values = found if isinstance(found, tuple) else (found,)
        for old, new in zip(equation.outputs, values, strict=True):
            if old is not new:
                self.instead[old] = new
        return values

    def emit(self, op: Any, *inputs: Var, **params: Any) -> Any:
        """A further equation, which is rewritten as well; its result or results."""
        told = op.infer(*[(v.shape, v.dtype) for v in inputs], **params)
        pairs = told if isinstance(told, list) else [told]
        outputs = tuple([self.program.new(*pair) for pair in pairs])
        values = self.take(Equation(op, inputs, params, outputs, self.place))
        return values if isinstance(told, list) else values[0]

    def shaped(self, value: Var, wanted: tuple[int, ...]) -> Var:
        """The same numbers in another shape."""
        source = self.source.get(value)
        if source is not None and source.op is reshape:
            value = source.inputs[0]
        return value if value.shape == wanted else self.emit(reshape, value, shape=wanted)

    def constant(self, array: Any) -> Var:
        made = self.program.like(array)
        self.constants[made] = array
        return made


def exact(program: Program) -> set[Var]:
    """What leads to guards that compare all numbers, bit by bit, with those of the recording."""
    needed = set[Var]()
    for equation in reversed(program.equations):
        compares = isinstance(equation.op, Guard) and equation.op.name == "numbers"
        if compares or any(v in needed for v in equation.outputs):
            needed.update(equation.uses)
    return needed
