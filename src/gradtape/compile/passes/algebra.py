"""Algebra: equations that come down to less, by rules for single ops.

Most rules keep every bit. Those that do not are sound in the way that a compiler's must be: -0.0
may stay where 0.0 would come of adding 0, constant factors are multiplied with each other first,
a sum of n equal numbers is n times the number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import frexp, isfinite, prod
from typing import Any

import numpy as np

from ...ops import reduce, shape
from ...ops.elementwise import add, div, mul, neg, sub
from ...ops.linear import matmul, matmul_nt, matmul_tn
from ...ops.shape import broadcast_to, reshape, transpose
from ..kernels import ufunc_of
from ..program import Equation, Program, Var
from .rewriting import Rewriter

Rule = Callable[["_Algebra", Equation], Any]
_RULES: dict[Any, list[tuple[Rule, bool]]] = {}


def simplify(program: Program) -> Program:
    return _Algebra(program).run()


def _of(*ops: Any, exact: bool = True) -> Callable[[Rule], Rule]:
    """Declare a rule for ops; `exact` if it keeps every bit."""

    def declare(rule: Rule) -> Rule:
        for op in ops:
            _RULES.setdefault(op, []).append((rule, exact))
        return rule

    return declare


class _Algebra(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        for value, array in program.constants.items():
            if (single := _uniform(array)) is not None:
                self.instead[value] = self.spread(self.constant(single), value.shape)
            elif _equal_rows(array):
                self.instead[value] = self.spread(self.constant(array[:1]), value.shape)

    def rewrite(self, equation: Equation) -> Any:
        rules = _RULES.get(equation.op)
        if rules is not None:
            for rule, exact in rules:
                if self.bits and not exact:
                    continue
                if (found := rule(self, equation)) is not None:
                    return found
        if ufunc_of(equation.op) is not None and equation.outputs[0].shape:
            return _less_broadcast(self, equation)
        return None

    def result(self, value: Var) -> Var:
        """What is given away is given as it was, not as a number seen from many places."""
        return value if value in self.program.constants else self.now(value)

    # --- the words of the rules -------------------------------------------------------------------
    def made_by(self, value: Var, *ops: Any) -> Equation | None:
        """The equation that set a value, if it is of these ops."""
        source = self.source.get(value)
        return source if source is not None and source.op in ops else None

    def number(self, value: Var) -> Any:
        """The number that a value is everywhere, if it is constant: NumPy's scalar."""
        if (source := self.made_by(value, broadcast_to)) is not None:
            value = source.inputs[0]
        array = self.constants.get(value)
        return array if array is not None and not value.shape and array.dtype.kind in "fi" else None

    def spread(self, value: Var, wanted: tuple[int, ...]) -> Var:
        return value if value.shape == wanted else self.emit(broadcast_to, value, shape=wanted)

    def times(self, factor: Any, value: Var) -> Var:
        return self.emit(mul, self.constant(factor), value)


def _uniform(array: Any) -> Any:
    """The number of which an array consists, if it is one and the array is not small."""
    if array.size < 2 or array.dtype.kind not in "fi" or array.dtype.itemsize < 4:
        return None
    first = array[(0,) * array.ndim]
    if first != array[(-1,) * array.ndim] or first != first:
        return None
    if not (array == first).all() or (first == 0 and np.signbit(array).any() != np.signbit(first)):
        return None
    return first if first or not np.signbit(first) else None


def _equal_rows(array: Any) -> bool:
    return array.ndim == 2 and len(array) > 8 and bool((array == array[:1]).all())


# --- numbers --------------------------------------------------------------------------------------
@_of(mul)
def _times_one(p: _Algebra, e: Equation) -> Var | None:
    for factor, other in (e.inputs, e.inputs[::-1]):
        number = p.number(factor)
        if number is not None and number == 1 and other.dtype == e.outputs[0].dtype:
            return p.spread(other, e.outputs[0].shape)
    return None


@_of(mul, exact=False)
def _times_times(p: _Algebra, e: Equation) -> Var | None:
    """c (d x) = (c d) x, and c (-x) = (-c) x."""
    for factor, other in (e.inputs, e.inputs[::-1]):
        number = p.number(factor)
        if number is None or number.dtype.kind != "f" or other.dtype != factor.dtype:
            continue
        if (inner := p.made_by(other, neg)) is not None:
            return p.spread(p.times(-number, inner.inputs[0]), e.outputs[0].shape)
        if (inner := p.made_by(other, mul)) is not None:
            for second, x in (inner.inputs, inner.inputs[::-1]):
                again = p.number(second)
                if again is None or x.dtype != factor.dtype:
                    continue
                both = _product(number, again)
                if both is not None:
                    return p.spread(p.times(both, x), e.outputs[0].shape)
    return None


def _product(a: Any, b: Any) -> Any:
    """The product of two constants, if nothing is lost that a third factor would bring back."""
    exact = float(a) * float(b)
    tiny, huge = float(np.finfo(a.dtype).tiny), float(np.finfo(a.dtype).max)
    if not isfinite(exact) or not tiny * 16 < abs(exact) < huge / 16:
        return None
    return a.dtype.type(exact)


@_of(add, exact=False)
def _plus_zero(p: _Algebra, e: Equation) -> Var | None:
    for term, other in (e.inputs, e.inputs[::-1]):
        if (number := p.number(term)) is not None and number == 0:
            return p.spread(other, e.outputs[0].shape)
    return None


@_of(sub)
def _minus_zero(p: _Algebra, e: Equation) -> Var | None:
    a, b = e.inputs
    if (number := p.number(b)) is not None and number == 0:
        return p.spread(a, e.outputs[0].shape)
    return None


@_of(add)
def _plus_negative(p: _Algebra, e: Equation) -> Var | None:
    for one, other in (e.inputs, e.inputs[::-1]):
        if (source := p.made_by(one, neg)) is not None:
            return p.emit(sub, other, source.inputs[0])
    return None


@_of(sub)
def _minus_negative(p: _Algebra, e: Equation) -> Var | None:
    a, b = e.inputs
    if (source := p.made_by(b, neg)) is not None:
        return p.emit(add, a, source.inputs[0])
    return None


@_of(neg)
def _negative(p: _Algebra, e: Equation) -> Var | None:
    (a,) = e.inputs
    source = p.made_by(a, neg, mul)
    if source is None or a.dtype is None or a.dtype.kind != "f":
        return None
    if source.op is neg:
        return source.inputs[0]
    for factor, other in (source.inputs, source.inputs[::-1]):
        if (number := p.number(factor)) is not None and other.dtype == a.dtype:
            return p.spread(p.times(-number, other), a.shape)
    return None


@_of(div)
def _by_a_constant(p: _Algebra, e: Equation) -> Var | None:
    """Of powers of two, whose reciprocals are exact: a product takes a third of the time."""
    a, b = e.inputs
    number = p.number(b)
    if number is None or number.dtype.kind != "f" or a.dtype != b.dtype:
        return None
    if number == 1:
        return p.spread(a, e.outputs[0].shape)
    if isfinite(number) and abs(frexp(number)[0]) == 0.5 and abs(frexp(number)[1]) < 100:
        return p.spread(p.times(number.dtype.type(1) / number, a), e.outputs[0].shape)
    return None


# --- broadcasting ---------------------------------------------------------------------------------
def _less_broadcast(p: _Algebra, e: Equation) -> Var | None:
    """What is broadcast to meet another operand meets it as it is, and what is nothing but
    broadcast is computed before."""
    bare, found = [], False
    for value in e.inputs:
        source = p.made_by(value, broadcast_to)
        found = found or source is not None
        bare.append(value if source is None else source.inputs[0])
    if not found:
        return None
    wanted = e.outputs[0].shape
    return p.spread(p.emit(e.op, *bare), wanted)


@_of(broadcast_to)
def _broadcast_again(p: _Algebra, e: Equation) -> Var | None:
    (a,) = e.inputs
    if a.shape == e.outputs[0].shape:
        return a
    if (source := p.made_by(a, broadcast_to)) is not None:
        return p.emit(broadcast_to, source.inputs[0], shape=e.params["shape"])
    return None


@_of(reduce.sum, exact=False)
def _sum_of_equals(p: _Algebra, e: Equation) -> Var | None:
    (a,), wanted = e.inputs, e.outputs[0].shape
    source = p.made_by(a, broadcast_to)
    if source is None or a.dtype is None or a.dtype.char not in "fd":
        return None
    (small,) = source.inputs
    dead = _axes(e, a)
    full = (1,) * (len(a.shape) - len(small.shape)) + small.shape
    if any(full[k] != 1 for k in dead):
        return None
    count = prod(a.shape[k] for k in dead)
    kept = tuple(n for k, n in enumerate(full) if k not in dead)
    if e.params.get("keepdims"):
        kept = full
    if small.shape:
        small = p.shaped(small, kept)
    return p.spread(p.times(a.dtype.type(count), small), wanted)


@_of(reduce.sum, reduce.max, reduce.min)
def _of_single(p: _Algebra, e: Equation) -> Var | None:
    (a,) = e.inputs
    if a.dtype is not None and prod(a.shape[k] for k in _axes(e, a)) == 1:
        return p.shaped(a, e.outputs[0].shape)
    return None


def _axes(e: Equation, a: Var) -> set[int]:
    """The axes that a reduction takes away, counted from the front."""
    ndim, axis = len(a.shape), e.params.get("axis")
    return set(range(ndim)) if axis is None else {k % ndim for k in axis}


# --- shapes ---------------------------------------------------------------------------------------
@_of(reshape)
def _reshape_again(p: _Algebra, e: Equation) -> Var | None:
    (a,), wanted = e.inputs, e.outputs[0].shape
    if a.shape == wanted:
        return a
    if e.params["shape"] != wanted:
        return p.emit(reshape, a, shape=wanted)
    source = p.made_by(a, reshape, broadcast_to)
    if source is None:
        return None
    (b,) = source.inputs
    if source.op is reshape:
        return p.shaped(b, wanted)
    if not b.shape:
        return p.spread(b, wanted)
    return None


@_of(transpose)
def _transpose_again(p: _Algebra, e: Equation) -> Var | None:
    (a,) = e.inputs
    ndim, size = len(a.shape), a.shape
    axes = tuple(k % ndim for k in e.params["axes"])
    if len(axes) != ndim:
        return None
    if axes == tuple(range(ndim)):
        return a
    if (source := p.made_by(a, transpose)) is not None and len(source.params["axes"]) == ndim:
        inner = [k % ndim for k in source.params["axes"]]
        return p.emit(transpose, source.inputs[0], axes=tuple(inner[k] for k in axes))
    if [k for k in axes if size[k] != 1] == [k for k in range(ndim) if size[k] != 1]:
        return p.shaped(a, e.outputs[0].shape)  # only axes of size 1 move
    return None


@_of(shape.cast)
def _same_dtype(p: _Algebra, e: Equation) -> Var | None:
    return e.inputs[0] if e.inputs[0].dtype == e.outputs[0].dtype else None


@_of(shape.concat)
def _of_one(p: _Algebra, e: Equation) -> Var | None:
    return e.inputs[0] if len(e.inputs) == 1 else None


# --- products of matrices -------------------------------------------------------------------------
_FLAGS = {matmul: (False, False), matmul_nt: (False, True), matmul_tn: (True, False)}
_BY_FLAGS = {flags: op for op, flags in _FLAGS.items()}


@_of(matmul, matmul_nt, matmul_tn)
def _of_transposed(p: _Algebra, e: Equation) -> Var | None:
    """A transpose of the last two axes becomes the flag of the product."""
    flags = _FLAGS[e.op]
    for k, value in enumerate(e.inputs):
        source = p.made_by(value, transpose)
        if source is None or not _turns(source):
            continue
        turned = (not flags[0], flags[1]) if k == 0 else (flags[0], not flags[1])
        if turned in _BY_FLAGS:
            inputs = [source.inputs[0] if j == k else v for j, v in enumerate(e.inputs)]
            return p.emit(_BY_FLAGS[turned], *inputs)
    return None


def _turns(e: Equation) -> bool:
    ndim = len(e.inputs[0].shape)
    axes = [k % ndim for k in e.params["axes"]] if ndim else []
    return ndim > 1 and axes == [*range(ndim - 2), ndim - 1, ndim - 2]


@_of(matmul, matmul_nt)
def _rows_of_a_stack(p: _Algebra, e: Equation) -> Var | None:
    """A stack times one matrix is one product of all of its rows."""
    a, b = e.inputs
    left, right = a.shape, b.shape
    if len(left) < 3 or len(right) != 2 or not prod(left):
        return None
    rows = p.shaped(a, (prod(left[:-1]), left[-1]))
    return p.shaped(p.emit(e.op, rows, b), e.outputs[0].shape)


@_of(matmul, matmul_tn, exact=False)
def _columns_of_a_stack(p: _Algebra, e: Equation) -> Var | None:
    """A matrix times each of a stack of columns is one product of all of these as rows."""
    a, b = e.inputs
    left, right = a.shape, b.shape
    if len(left) != 2 or len(right) < 3 or right[-1] != 1 or not prod(right):
        return None
    rows = p.shaped(b, (prod(right[:-2]), right[-2]))
    other = matmul_nt if e.op is matmul else matmul
    return p.shaped(p.emit(other, rows, a), e.outputs[0].shape)


@_of(matmul, matmul_nt, matmul_tn, exact=False)
def _outer(p: _Algebra, e: Equation) -> Var | None:
    """The product of a column and a row is that of all their numbers."""
    a, b = e.inputs
    left, right = a.shape, b.shape
    if len(left) != 2 or len(right) != 2 or a.dtype is None or a.dtype.kind not in "fi":
        return None
    if left[0 if e.op is matmul_tn else 1] != 1:
        return None
    column = p.shaped(a, (prod(left), 1))
    row = p.shaped(b, (1, prod(right)))
    return p.emit(mul, column, row)


@_of(matmul, matmul_nt, exact=False)
def _of_equal_rows(p: _Algebra, e: Equation) -> Var | None:
    a, b = e.inputs
    source = p.made_by(a, broadcast_to)
    if source is None or len(a.shape) != 2 or len(b.shape) != 2:
        return None
    (row,) = source.inputs
    if row.shape[-1:] != a.shape[-1:] or prod(row.shape[:-1]) != 1:
        return None
    product = p.emit(e.op, p.shaped(row, (1, a.shape[-1])), b)
    return p.spread(product, e.outputs[0].shape)
