"""Rows of a few numbers that meet many rows: with the row several times side by side, NumPy has
fewer and longer loops. 1,000 rows of 64 numbers and one in 9 us instead of 25."""

from __future__ import annotations

from math import prod
from typing import Any

from ..kernels import as_ufunc, is_row, tile
from ..program import Equation, Program, Var
from .fuse import fits
from .rewriting import Rewriter

# Numbers from which on it pays; how long a row is at most that needs it, and becomes.
_MANY, _SHORT, _LONG = 1 << 13, 512, 1 << 12


def lengthen(program: Program) -> Program:
    return _Lengthening(program).run()


class _Lengthening(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._tiles: dict[tuple[Var, int], Var] = {}

    def rewrite(self, equation: Equation) -> Any:
        shape = equation.outputs[0].shape if equation.outputs else ()
        if not shape or prod(shape) < _MANY or as_ufunc(equation) is None or fits(equation):
            return None
        rows = [v for v in equation.inputs if v.shape and v.shape != shape]
        if len(equation.inputs) != 2 or len(rows) != 1 or not is_row(rows[0], shape):
            return None
        width = prod(rows[0].shape)
        count = prod(shape) // width
        times = max(
            (k for k in range(1, min(_LONG // width, count // 4) + 1) if count % k == 0), default=1
        )
        if width > _SHORT or times == 1:
            return None
        wide = (count // times, times * width)
        words = [self._tile(v, times) if v is rows[0] else self.shaped(v, wide)
                 for v in equation.inputs]  # fmt: skip
        return self.shaped(self.emit(equation.op, *words), shape)

    def _tile(self, row: Var, times: int) -> Var:
        key = row, times
        if key not in self._tiles:
            self._tiles[key] = self.emit(tile, row, count=times)
        return self._tiles[key]
