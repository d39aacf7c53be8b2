"""Common subexpressions: what is computed twice is computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..program import Effect, Equation, Guard, Program, Var
from .rewriting import Rewriter

# Bytes up to which constants are compared by their numbers; larger ones by identity.
_SMALL = 1 << 12


def share(program: Program) -> Program:
    return _Sharing(program).run()


class _Sharing(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.known: dict[Any, tuple[Var, ...]] = {}
        for value, array in program.constants.items():
            first = self.known.setdefault(_key_of(array), (value,))[0]
            if first is not value:
                self.instead[value] = first
        # A value that appears among the results under two names may be one.

    def rewrite(self, equation: Equation) -> Any:
        if isinstance(equation.op, (Effect, Guard)):
            return None
        params = tuple([(k, frozen(v)) for k, v in equation.params.items()])
        key = equation.op, equation.inputs, params
        known = self.known.setdefault(key, equation.outputs)
        return None if known is equation.outputs else known


def _key_of(array: Any) -> Any:
    if array.nbytes > _SMALL or array.dtype.kind == "O":
        return id(array)
    return array.dtype, array.shape, np.asarray(array).tobytes()


def frozen(value: Any) -> Any:
    """Something equal for equal values that can be looked up; identity if there is none better."""
    kind = value.__class__
    if kind is tuple or kind is list:
        return kind, tuple(map(frozen, value))
    if kind is slice:
        return kind, value.start, value.stop, value.step
    if kind is float:
        return kind, value.hex()  # 0.0 is not -0.0, nan is nan
    if kind is Var:
        return value
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return kind, value
