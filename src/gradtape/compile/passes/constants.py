"""Constants: what depends on nothing is computed now."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.apply import QUIET, restore, silence
from ...core.op import Op
from ...ops import shape
from ..program import Equation, Program, Var
from .rewriting import Rewriter

# Bytes up to which results are kept, whatever they were made of; larger ones only if they are no
# larger than that.
_SMALL = 1 << 18


def fold(program: Program) -> Program:
    """All but broadcasts: a number seen from many places stays one, as algebra takes it."""
    return _Folding(program, but=(shape.broadcast_to,)).run()


def fold_all(program: Program) -> Program:
    return _Folding(program).run()


class _Folding(Rewriter):
    def __init__(self, program: Program, but: tuple[Op, ...] = ()) -> None:
        super().__init__(program)
        self.but = but

    def rewrite(self, equation: Equation) -> Any:
        if not isinstance(equation.op, Op) or equation.op in self.but:
            return None
        constants = self.constants
        if not equation.outputs or any(v not in constants for v in equation.uses):
            return None
        before = sum(constants[v].nbytes for v in equation.inputs)
        after = sum(bytes_of(v) for v in equation.outputs)
        if after > max(_SMALL, before):
            return None
        found = computed(equation, constants)
        return None if found is None else tuple(map(self.constant, found))


def computed(equation: Equation, constants: dict[Var, Any]) -> tuple | None:
    """The results of an equation of constants; None if it raises, which is left for later."""
    params = {
        k: constants[v] if v.__class__ is Var else v for k, v in equation.params.items()
    }  # fmt: skip
    token = silence[QUIET]
    try:
        y = equation.op.forward(*[constants[v] for v in equation.inputs], **params)
    except Exception:
        return None
    finally:
        restore(token)
    results = y if y.__class__ is tuple else (y,)
    if equation.op is shape.broadcast_to:
        results = (np.array(results[0]),)
    return tuple([r if r.ndim or r.dtype.kind == "O" else r[()] for r in results])


def bytes_of(value: Var) -> int:
    size = value.dtype.itemsize if value.dtype is not None else 0
    for n in value.shape or ():
        size *= n
    return size
