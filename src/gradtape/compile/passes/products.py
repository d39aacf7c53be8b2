"""Many small products as one large one.

Parts of one array that are all multiplied by the same matrix are multiplied together; and a sum of
products `Σ aᵀ b`, as a recurrent cell's weights get it, is one product of all rows of a and of b.
A matrix whose columns many products need as rows is copied. The numbers may differ in their last
bits.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...ops.elementwise import add
from ...ops.linear import matmul, matmul_nt, matmul_tn
from ...ops.shape import concat, reshape, unstack
from ..kernels import turned_copy
from ..program import Equation, Program, Var
from .rewriting import Rewriter

# How many it takes.
_SEVERAL = 3
# Rows of one product up to which it gains by company.
_FEW = 256


def join(program: Program) -> Program:
    return _Joining(program).run()


def join_as_they_lie(program: Program) -> Program:
    """Without copies of turned matrices, for a backend whose products do not mind."""
    return _Joining(program, turns=False).run()


class _Joining(Rewriter):
    def __init__(self, program: Program, turns: bool = True) -> None:
        super().__init__(program)
        self.turns = turns
        self.sources = {v: e for e in program.equations for v in e.outputs}
        self.uses = Counter(v for e in program.equations for v in e.uses)
        self.uses.update(program.results)
        self.parts = {
            v: (e, k)
            for e in program.equations
            if e.op is unstack and _is_first(e)
            for k, v in enumerate(e.outputs)
        }
        self.together = Counter(
            key for e in program.equations if (key := self._whole(e)) is not None
        )
        self.turned = Counter(
            e.inputs[1] for e in program.equations if self._is_narrow(e) and e.op is matmul_nt
        )
        self.made: dict[Any, tuple[Var, ...]] = {}
        self.inner = set[Var]()  # sums that are only part of a larger one
        self.orders: dict[frozenset[Var], list[Var]] = {}
        for equation in program.equations:
            if equation.op is add:
                self.inner.update(v for v in equation.inputs if self._is_inner(v))
        self.sums = {
            e.outputs[0]: found
            for e in program.equations
            if e.op is add and e.outputs[0] not in self.inner
            if (found := self._terms(e))
        }
        for pairs in self.sums.values():
            self._order(pairs)

    def rewrite(self, equation: Equation) -> Any:
        if self.bits:
            return None
        key = self._whole(equation)
        if key is not None and self.together[key] >= _SEVERAL:
            return self._part(key, equation)
        if equation.op is add and equation.outputs[0] in self.sums:
            return self._sum(equation)
        if self.turns and equation.op is matmul_nt and self._is_narrow(equation):
            return self._by_copy(equation)
        return None

    # --- a few rows times a matrix that is turned -------------------------------------------------
    def _is_narrow(self, e: Equation) -> bool:
        if e.op is not matmul_nt or len(e.inputs[1].shape) != 2:
            return False
        return len(e.inputs[0].shape) == 2 and e.inputs[0].shape[0] <= 64

    def _by_copy(self, equation: Equation) -> Var | None:
        """Of a turned matrix that is needed again and again, a copy: 32 x 256 times 256 x 64 takes
        9 us instead of 18."""
        a, b = equation.inputs
        if self.turned[b] < _SEVERAL:
            return None
        if b not in self.made:
            self.made[b] = (self.emit(turned_copy, b),)
        return self.emit(matmul, a, self.made[b][0])

    # --- parts times one matrix -------------------------------------------------------------------
    def _whole(self, e: Equation) -> Any:
        """What an equation has in common with those that it can be computed with."""
        if e.op not in (matmul, matmul_nt) or e.inputs[0] not in self.parts:
            return None
        a, b = e.inputs
        if len(a.shape) != 2 or len(b.shape) != 2 or b in self.parts:
            return None
        # Only what is there before the first of them is used.
        if b in self.sources or a.dtype.char not in "fd" or a.shape[0] > _FEW:
            return None
        return e.op, self.parts[a][0], b

    def _part(self, key: Any, equation: Equation) -> Var:
        op, parting, b = key
        if key not in self.made:
            (whole,) = parting.inputs
            whole = self.now(whole)
            count, rows, columns = whole.shape
            product = self.emit(op, self.shaped(whole, (count * rows, columns)), self.now(b))
            product = self.shaped(product, (count, rows, product.shape[-1]))
            self.made[key] = self.emit(unstack, product, axis=-3)
        return self.made[key][self.parts[equation.inputs[0]][1]]

    # --- sums of products -------------------------------------------------------------------------
    def _is_inner(self, value: Var) -> bool:
        source = self.sources.get(value)
        return source is not None and source.op is add and self.uses[value] == 1

    def _terms(self, root: Equation) -> list[tuple[Var, Var]] | None:
        """The factors of all terms of a sum, if it is a sum of products."""
        pairs: list[tuple[Var, Var]] = []
        kinds = set()
        todo = [*root.inputs]
        while todo:
            value = todo.pop()
            source = self.sources.get(value)
            if source is None or self.uses[value] != 1:
                return None
            if value in self.inner:
                todo += source.inputs
                continue
            if source.op is reshape:
                (inside,) = source.inputs
                source = self.sources.get(inside)
                if source is None or self.uses[inside] != 1:
                    return None
            if source.op not in (matmul, matmul_tn):
                return None
            a, b = source.inputs
            if len(a.shape) != 2 or len(b.shape) != 2:
                return None
            if a.dtype.char not in "fd" or b.shape[0] > _FEW:
                return None
            # Of rows of ones only: other rows would have to be laid side by side.
            if source.op is matmul and not self._is_ones(a):
                return None
            kinds.add((source.op, a.shape, b.shape))
            pairs.append((a, b))
        return pairs if len(kinds) == 1 and len(pairs) >= _SEVERAL else None

    def _is_ones(self, value: Var) -> bool:
        array = self.program.constants.get(value)
        return array is not None and len(array) == 1 and bool((array == 1).all())

    def _order(self, pairs: list[tuple[Var, Var]]) -> None:
        """Let terms come in the order in which the parts of a whole lie, if one of the factors is
        one, so that the whole is the matrix of all."""
        key = frozenset(b for _, b in pairs)
        if len(key) == len(pairs) and all(a in self.parts for a, _ in pairs):
            whole = {id(self.parts[a][0]) for a, _ in pairs}
            if len(whole) == 1:
                self.orders[key] = [b for a, b in sorted(pairs, key=lambda p: self.parts[p[0]][1])]

    def _sum(self, equation: Equation) -> Var:
        pairs = self.sums[equation.outputs[0]]
        order = self.orders.get(frozenset(b for _, b in pairs))
        if order is not None:
            place = {b: k for k, b in enumerate(order)}
            pairs = sorted(pairs, key=lambda pair: place[pair[1]])
        a, _ = pairs[0]
        right = self._rows([b for _, b in pairs])
        if a.shape[0] == 1 and self._is_ones(a):
            left = self.constant(np.ones((1, right.shape[0]), a.dtype))
            found = self.emit(matmul, left, right)
        else:
            found = self.emit(matmul_tn, self._rows([a for a, _ in pairs]), right)
        return self.shaped(found, equation.outputs[0].shape)

    def _rows(self, values: list[Var]) -> Var:
        """All rows of some matrices as one."""
        if all(v in self.parts for v in values):
            parting, _ = self.parts[values[0]]
            if tuple(values) == parting.outputs:
                whole = self.now(parting.inputs[0])
                return self.shaped(whole, (whole.shape[0] * whole.shape[1], whole.shape[2]))
        key = tuple(values)
        if key not in self.made:
            self.made[key] = (self.emit(concat, *map(self.now, values), axis=-2),)
        return self.made[key][0]


def _is_first(e: Equation) -> bool:
    """Whether it takes matrices apart that lie one behind the other."""
    return len(e.inputs[0].shape) == 3 and e.params["axis"] in (0, -3)
