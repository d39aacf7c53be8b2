"""Updates in place: large variables are written to, as the last thing that the program does, and
what is subtracted from one is subtracted in the product that gives it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from ...framework.variable import put_anew, put_into
from ...ops.elementwise import add, mul, sub
from ...ops.kernels.accumulate import add_product
from ...ops.kernels.product import ALONE
from ...ops.linear import matmul, matmul_nt, matmul_tn
from ..kernels import ufunc_of
from ..program import Equation, Program, Store, Var
from .constants import bytes_of

# Bytes from which it pays: it takes 3 us to find out that nobody else can see a variable's array.
LARGE = 1 << 16


def store(program: Program) -> Program:
    return _Storing(program).program


def store_rows(program: Program) -> Program:
    """Only of variables of which some rows change; a backend writes the others itself."""
    return _Storing(program, rows_only=True).program


class _Storing:
    def __init__(self, program: Program, rows_only: bool = False) -> None:
        self.rows_only = rows_only
        self.source = {v: e for e in program.equations for v in e.outputs}
        self.uses = Counter(v for e in program.equations for v in e.uses)
        self.uses.update(program.results)
        self.constants = program.constants
        begin = {id(variable): value for variable, value in program.variables}
        kept, gone, stores = [], set[Equation](), []
        for variable, value in program.updates:
            old, source = begin.get(id(variable)), self.source.get(value)
            found = None
            changes = source is not None and source.inputs[:1] == (old,)
            if changes and bytes_of(value) >= LARGE and self.uses[value] == 1:
                found = self._stored(variable, source)
            if found is None:
                kept.append((variable, value))
            else:
                made, needless = found
                stores.append(made)
                gone.update(needless)
        equations = [e for e in program.equations if e not in gone] + stores
        self.program = program.with_equations(equations, updates=tuple(kept))

    def _stored(self, variable: Any, source: Any) -> tuple[Equation, list[Equation]] | None:
        """What writes into a variable in place of an equation, and the equations that go."""
        old, *rest = source.inputs
        if source.op in (add, sub) and self.rows_only:
            return None
        if source.op in (add, sub):
            (delta,) = rest
            if delta.shape != old.shape or delta is old or old.dtype.char not in "fd":
                return None
            found = self._product(delta)
            if found is not None:
                factor, product = found
                sign = 1.0 if source.op is add else -1.0
                made = Store(
                    f"{source.op.name}_{product.op.name}",
                    partial(_add_product, _TURNS[product.op], sign * factor), variable,
                )  # fmt: skip
                gone = [source, product, *[e for e in [self.source[delta]] if e is not product]]
                return Equation(made, product.inputs, {}, (), source.place), gone
            made = Store(source.op.name, partial(_combined, ufunc_of(source.op)), variable)
            return Equation(made, (delta,), {}, (), source.place), [source]
        put = getattr(source.op, "forward", None)
        if isinstance(put, partial) and put.func is put_anew and old not in rest:
            made = Store("scatter", partial(put_into, *put.args), variable)
            return Equation(made, tuple(rest), {}, (), source.place), [source]
        return None

    def _product(self, delta: Var) -> tuple[float, Equation] | None:
        """A product of two large matrices, and a factor of it, that nobody else needs."""
        factor, source = 1.0, self.source.get(delta)
        if source is None or self.uses[delta] != 1:
            return None
        if source.op is mul:
            for number, other in (source.inputs, source.inputs[::-1]):
                if number in self.constants and not number.shape and self.uses[other] == 1:
                    factor, source = float(self.constants[number]), self.source.get(other)
                    break
        if source is None or source.op not in _TURNS:
            return None
        a, b = source.inputs
        large = np.prod(source.outputs[0].shape) * a.shape[-1] > 4 * ALONE
        return (factor, source) if large and len(a.shape) == len(b.shape) == 2 else None


_TURNS = {matmul: (False, False), matmul_nt: (False, True), matmul_tn: (True, False)}


def _combined(ufunc: Any, old: Any, out: Any, delta: Any) -> Any:
    return ufunc(old, delta, out=out)


def _add_product(turns: tuple[bool, bool], factor: float, old: Any, out: Any, *pair: Any) -> Any:
    a, b = (x.T if turn else x for x, turn in zip(pair, turns, strict=True))
    if out is None:
        out = np.array(old, order="C")
    elif out is not old:
        np.copyto(out, old)
    add_product(out, a, b, factor)
    return out
