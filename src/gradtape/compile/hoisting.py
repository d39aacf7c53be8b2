"""What a loop along rows computes of the rows alone, for all of them at once before the loop.

A recurrent cell multiplies each step's input by a matrix: 200 small products, and 200 in the
derivative, which are one large product each.
"""

from __future__ import annotations

from typing import Any

from .. import arrays
from ..core.apply import tensor
from ..core.op import Op
from ..ops.linear import matmul, matmul_nt
from .passes import dead
from .play import Spot, apply_at
from .program import Equation, Program, Var


class Hoisting:
    """Splits a body; `rows` and `outside` are its inputs that are one of each row, and the same for
    all, with their tensors: of rows all stacked."""

    def __init__(self, program: Program, rows: dict[Var, Any], outside: dict[Var, Any]) -> None:
        self.program, self.rows, self.outside = program, rows, outside
        self.sources: dict[Var, Equation] = {}  # of values that depend on rows only
        self.stacks: dict[Var, Any] = {}
        self._find()

    def _find(self) -> None:
        """Products first, then what is computed of them element by element, and so on."""
        hoisted = set[Var]()
        for equation in self.program.equations:
            if not isinstance(equation.op, Op) or len(equation.outputs) != 1:
                continue
            if self._is_product(equation) or self._is_elementwise(equation):
                (result,) = equation.outputs
                self.sources[result] = equation
                if self._is_product(equation) or any(v in hoisted for v in equation.inputs):
                    hoisted.add(result)
        self.hoisted = hoisted

    def _alone(self, value: Var) -> bool:
        return value in self.rows or value in self.sources

    def _fixed(self, value: Var) -> bool:
        return value in self.outside or value in self.program.constants

    def _is_product(self, e: Equation) -> bool:
        if e.op not in (matmul, matmul_nt):
            return False
        a, b = e.inputs
        return self._alone(a) and self._fixed(b) and len(a.shape) == len(b.shape) == 2

    def _is_elementwise(self, e: Equation) -> bool:
        """Whether it means the same of rows that are stacked."""
        if not e.op.broadcasts or e.op in (matmul, matmul_nt) or e.params:
            return False
        ndim = len(e.outputs[0].shape)
        alone = [v for v in e.inputs if self._alone(v)]
        return (
            bool(alone)
            and all(len(v.shape) == ndim for v in alone)
            and all(v in alone or self._fixed(v) for v in e.inputs)
        )

    def run(self) -> tuple[Program, dict[Var, Any]]:
        """The rest of the body, and more values that it gets of the rows, with their stacks."""
        rest = [e for e in self.program.equations if not any(v in self.hoisted for v in e.outputs)]
        needed = dict.fromkeys([v for e in rest for v in e.uses] + [*self.program.outputs])
        more = {v: self._stack(v) for v in needed if v in self.hoisted}
        return dead.remove(self.program.with_equations(rest)), more

    def _stack(self, value: Var) -> Any:
        if value in self.rows:
            return self.rows[value]
        if value in self.stacks:
            return self.stacks[value]
        if value in self.outside:
            return self.outside[value]
        if value in self.program.constants:
            held = self.program.held.get(value)
            return tensor(self.program.constants[value]) if held is None else held
        equation = self.sources[value]
        operands = [self._stack(v) for v in equation.inputs]
        spot = Spot.of(equation)
        if equation.op in (matmul, matmul_nt):
            (count, columns), a = value.shape, operands[0]
            whole = len(a._value)
            flat = arrays.reshape(a, [whole * count, a._value.shape[-1]])
            product = apply_at(equation.op, [flat, operands[1]], {}, spot)
            result = arrays.reshape(product, [whole, count, columns])
        else:
            result = apply_at(equation.op, operands, {}, spot)
        self.stacks[value] = result
        return result
