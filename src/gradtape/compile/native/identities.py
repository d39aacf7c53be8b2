"""Products with an identity, which `tape.jacobian` begins with: the other operand, copied.

A product makes NaN of what is not finite in a whole row or column (0 times infinity), so the copy
is one only of finite numbers; of others Python computes the product. -0.0 becomes 0.0 as in a sum.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops import shape
from ..kernels import Kernel
from ..passes.rewriting import Rewriter
from ..program import Equation, Program, Var
from .emitting import POINTER, Emitter, Index, Value
from .layout import Layout
from .machine import host
from .matrices import PRODUCTS
from .nests import Single
from .sharing import Sharing, alone

FLOATS = "fd"
OPS = {op.name: op for op in PRODUCTS}


def _product(a: Any, by: str, eye: Any, first: bool, shape: tuple[int, ...]) -> Any:
    return OPS[by].forward(*((eye, a) if first else (a, eye)))


# The product of a matrix and an identity: `first` if that is on the left.
with_identity = Kernel(
    "with_identity", _product, lambda a, by, eye, first, shape: (shape, a[1])
)  # fmt: skip


# --- the pass -------------------------------------------------------------------------------------
def drop(program: Program) -> Program:
    return _Dropping(program).run()


class _Dropping(Rewriter):
    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.given = {*program.given}

    def rewrite(self, equation: Equation) -> Any:
        if equation.op not in PRODUCTS or self.bits:
            return None
        (value,) = equation.outputs
        if value.dtype.char not in FLOATS or any(v.dtype != value.dtype for v in equation.inputs):
            return None
        for eye, other in (equation.inputs, equation.inputs[::-1]):
            first = eye is equation.inputs[0]
            found = self._identity(eye, first and not PRODUCTS[equation.op][0])
            if found is None or not self._is_given(other):
                continue
            apart = found.shape != eye.shape
            wanted = (*found.shape[:-1], value.shape[-1]) if apart else value.shape
            name = equation.op.name
            y = self.emit(with_identity, other, by=name, eye=found, first=first, shape=wanted)
            return self.shaped(y, value.shape)
        return None

    def _identity(self, value: Var, on_left: bool) -> Any:
        """The constant, if it is an identity or many of them; on the left they may be one below
        the other, as the rows of one matrix."""
        array = self.constants.get(value)
        if array is None or len(array.shape) < 2 or not array.size:
            return None
        columns = array.shape[-1]
        if array.ndim == 2 and on_left and len(array) > columns and not len(array) % columns:
            array = array.reshape(-1, columns, columns)
        if array.shape[-2] != columns:
            return None
        ones = np.diagonal(array, axis1=-2, axis2=-1)
        found = (ones == 1).all() and np.count_nonzero(array) == ones.size
        return array if found else None

    def _is_given(self, value: Var) -> bool:
        """Whether its memory is there before the program begins: threads compute together what
        comes after the checks, so these are not to wait for anything."""
        while value not in self.given:
            source = self.source.get(value)
            if source is None or source.op not in (shape.transpose, shape.reshape):
                return False
            (value,) = source.inputs
        return value not in self.constants


# --- the code -------------------------------------------------------------------------------------
def fits(equation: Equation, layouts: list[Layout]) -> bool:
    return equation.op is with_identity


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (value,), (layout,) = item.equation.outputs, item.reads
    told = "with identity", value.shape, value.dtype.str, _strides(item), layout.offset
    return told, [layout.root, value]


def sharing(item: Single) -> Sharing:
    return alone(item.equation.outputs[0])


def work(item: Single) -> float:
    return 0.0


def _strides(item: Single) -> tuple[int, ...]:
    """Of the operand, along the axes of the result."""
    (value,), (layout,) = item.equation.outputs, item.reads
    params = item.equation.params
    sizes, strides = layout.shape, layout.strides
    if PRODUCTS[OPS[params["by"]]][params["first"]]:
        sizes = (*sizes[:-2], sizes[-1], sizes[-2])
        strides = (*strides[:-2], strides[-1], strides[-2])
    return Layout(layout.root, sizes, strides).broadcast(value.shape)


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    """A function that copies, and says whether all numbers are finite."""
    (value,), (layout,) = item.equation.outputs, item.reads
    function = ir.Function(module, ir.FunctionType(ir.IntType(1), [POINTER] * 2), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    for argument in function.args:
        argument.add_attribute("noalias")
    source, target = function.args
    e = Emitter(
        ir.IRBuilder(function.append_basic_block()), value.dtype.str[1:],
        host().lanes(value.dtype.itemsize),
    )  # fmt: skip
    copy = _Copy(e, value.shape, _strides(item))
    copy.write(e.at(source, layout.offset), target, 0)
    e.b.ret(copy.is_finite())
    return function


class _Copy:
    """Copies matrices, by vectors where rows or columns lie side by side."""

    def __init__(self, e: Emitter, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self.e, self.shape, self.strides = e, shape, strides
        self.lanes = e.lanes if self._by_vectors() else 1
        self.sum = e.memory(self.lanes)  # of all numbers times 0, which is 0 if they are finite
        e.store(e.constant(0.0, self.lanes), self.sum)

    def _by_vectors(self) -> bool:
        rows, columns = self.shape[-2:]
        down, along = self.strides[-2:]
        if along == 1:
            return columns >= self.e.lanes
        return down == 1 and min(rows, columns) >= self.e.lanes

    def is_finite(self) -> Value:
        e = self.e
        total = e.load(self.sum)
        for lane in range(1, self.lanes):
            total = e.b.fadd(total, e.load(e.at(self.sum, lane)))
        return e.b.fcmp_ordered("==", total, e.constant(0.0, 1))

    def write(self, source: Value, target: Value, axis: int) -> None:
        e = self.e
        if axis == len(self.shape) - 2:
            self._matrix(source, target)
            return
        size = prod(self.shape[axis + 1 :])
        with e.each(0, self.shape[axis]) as i:
            there, here = e.mul(i, self.strides[axis]), e.mul(i, size)
            self.write(e.at(source, there), e.at(target, here), axis + 1)

    def _matrix(self, source: Value, target: Value) -> None:
        rows, columns = self.shape[-2:]
        turned = self.lanes > 1 and self.strides[-1] != 1
        for i in self._starts(rows, self.lanes if turned else 1):
            for j in self._starts(columns, self.lanes):
                if turned:
                    self._turned(source, target, i, j)
                else:
                    self._one(source, target, i, j)

    def _starts(self, size: int, step: int) -> Any:
        """Where vectors begin, in a loop; the last of them may hold numbers once more."""
        whole = size - size % step
        with self.e.each(0, whole, step) as i:
            yield i
        if whole < size:
            yield size - step

    def _place(self, i: Index, j: Index) -> tuple[Index, Index]:
        e, (down, along) = self.e, self.strides[-2:]
        return e.add(e.mul(i, down), e.mul(j, along)), e.add(e.mul(i, self.shape[-1]), j)

    def _one(self, source: Value, target: Value, i: Index, j: Index) -> None:
        e = self.e
        there, here = self._place(i, j)
        e.store(self._seen(e.load(e.at(source, there), self.lanes)), e.at(target, here))

    def _turned(self, source: Value, target: Value, i: Index, j: Index) -> None:
        """A square of as many rows as lanes: exchanged by halves, quarters, …"""
        e, n = self.e, self.lanes
        lines = []
        for k in range(n):
            there, _ = self._place(i, e.add(j, k))
            lines.append(self._seen(e.load(e.at(source, there), n)))
        step = 1
        while step < n:
            for k in range(n):
                if not k & step:
                    x, y = lines[k], lines[k + step]
                    low = [lane if not lane & step else n + lane - step for lane in range(n)]
                    high = [lane + step if not lane & step else n + lane for lane in range(n)]
                    lines[k], lines[k + step] = e.shuffle(x, y, low), e.shuffle(x, y, high)
            step *= 2
        for k, line in enumerate(lines):
            _, here = self._place(e.add(i, k), j)
            e.store(line, e.at(target, here))

    def _seen(self, x: Value) -> Value:
        """Numbers as a sum with 0 has them, after a look whether they are finite."""
        e = self.e
        zero = e.constant(0.0, self.lanes)
        e.store(e.b.fadd(e.load(self.sum, self.lanes), e.b.fmul(x, zero)), self.sum)
        return e.b.fadd(x, zero)
