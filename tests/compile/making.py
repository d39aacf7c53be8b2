"""Programs made by hand, as short as they can be written."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.program import Equation, Program, Var


class Making:
    """`p = Making(); x = p.input(2, 3); y = p(relu, x); p.give(y)`."""

    def __init__(self) -> None:
        self.program = Program()

    def input(self, *shape: int, dtype: str = "f4") -> Var:
        made = self.program.new(shape, np.dtype(dtype))
        self.program.inputs += (made,)
        return made

    def variable(self, variable: Any) -> Var:
        made = self.program.like(variable._value)
        self.program.variables += ((variable, made),)
        return made

    def constant(self, value: Any, dtype: str = "f4") -> Var:
        return self.program.constant(np.asarray(value, dtype)[()])

    def __call__(self, op: Any, *inputs: Var, **params: Any) -> Any:
        """An equation, with the results that the op's own rule says."""
        told = op.infer(*[(v.shape, v.dtype) for v in inputs], **params)
        pairs = told if isinstance(told, list) else [told]
        outputs = tuple(self.program.new(*pair) for pair in pairs)
        self.program.equations.append(Equation(op, inputs, params, outputs))
        return outputs if isinstance(told, list) else outputs[0]

    def do(self, operation: Any, *inputs: Var, **params: Any) -> None:
        """An equation without results: a guard, a check, an effect."""
        self.program.equations.append(Equation(operation, inputs, params, ()))

    def update(self, variable: Any, value: Var) -> None:
        self.program.updates += ((variable, value),)

    def give(self, *values: Var) -> Program:
        self.program.outputs = values
        return self.program
