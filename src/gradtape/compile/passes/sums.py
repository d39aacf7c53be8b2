"""Sums as products of matrices: over rows or columns, BLAS adds up several times as fast as NumPy.

1,000 rows of 64 float32 in 3 us instead of 23, 50,176 of 16 in 0.11 ms instead of 1.07. And a sum
of a product of which one factor is the same along the axes is a product of its own. The numbers may
differ in their last bits.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import Any

import numpy as np

from ...ops import reduce
from ...ops.elementwise import mul, neg, square
from ...ops.linear import matmul, matmul_tn
from ..kernels import STRETCH, dot
from ..program import Equation, Program, Var
from .rewriting import Rewriter

# Numbers up to which the sum of all is taken with a constant of as many ones.
_MANY = 1 << 16


def multiply(program: Program) -> Program:
    return _Sums(program).run()


class _Sums(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.uses = Counter(v for e in program.equations for v in e.uses)
        self.uses.update(program.results)
        self._ones: dict[Any, Var] = {}

    def ones(self, size: tuple[int, ...], dtype: Any) -> Var:
        key = size, dtype
        if key not in self._ones:
            self._ones[key] = self.constant(np.ones(size, dtype))
        return self._ones[key]

    def rewrite(self, equation: Equation) -> Any:
        if equation.op is not reduce.sum or self.bits:
            return None
        (a,) = equation.inputs
        if a.dtype.char not in "fd" or not prod(a.shape) > 1:
            return None
        found = self._sum(a, equation)
        return None if found is None else self.shaped(found, equation.outputs[0].shape)

    def _sum(self, a: Var, equation: Equation) -> Var | None:
        ndim, axis = len(a.shape), equation.params.get("axis")
        axes = sorted(range(ndim) if axis is None else {k % ndim for k in axis})
        count = len(axes)
        first = axes == list(range(count))
        if not axes or not (first or axes == list(range(ndim - count, ndim))):
            return None
        source = self.source.get(a)
        if source is not None and self.uses[a] == 1:
            found = self._of_product(source, first, count, equation)
            if found is not None:
                return found
        if count == ndim:
            size = prod(a.shape)
            return self.emit(dot, a, self.ones(a.shape, a.dtype)) if size <= _MANY else None
        cut = count if first else ndim - count
        rows, columns = prod(a.shape[:cut]), prod(a.shape[cut:])
        matrix = self.shaped(a, (rows, columns))
        if first:
            return self.emit(matmul, self.ones((1, rows), a.dtype), matrix)
        if columns > STRETCH:  # NumPy adds up pairs, and loses less
            return None
        return self.emit(matmul, matrix, self.ones((columns, 1), a.dtype))

    def _of_product(
        self, source: Equation, first: bool, count: int, equation: Equation
    ) -> Var | None:
        """Of a product, a square, a negative: what has fewer numbers is multiplied last."""
        params = equation.params
        if source.op is neg:
            return self.emit(neg, self.emit(reduce.sum, source.inputs[0], **params))
        shape = source.outputs[0].shape
        if source.op is square and count == len(shape):
            return self.emit(dot, source.inputs[0], source.inputs[0])
        if source.op is not mul or any(v.dtype != equation.outputs[0].dtype for v in source.inputs):
            return None
        if count == len(shape) and all(v.shape == shape for v in source.inputs):
            return self.emit(dot, *source.inputs)
        for factor, other in (source.inputs, source.inputs[::-1]):
            if other.shape != shape:
                continue
            if not factor.shape:
                return self.emit(mul, factor, self.emit(reduce.sum, other, **params))
            if len(shape) != 2 or count != 1:
                continue
            rows, columns = shape
            if first and factor.shape == (rows, 1):
                return self.emit(matmul_tn, factor, other)
            if not first and factor.shape in ((columns,), (1, columns)):
                return self.emit(matmul, other, self.shaped(factor, (columns, 1)))
        return None
