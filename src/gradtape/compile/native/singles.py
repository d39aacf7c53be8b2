"""Equations that are no loop: products of matrices, and checks of positions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops import linear
from ..program import Equation, Var
from . import lanes, products
from .composites import InRange
from .crew import wanted
from .layout import Layout
from .loops import INDEX, POINTER, counted, number, ranged
from .nests import Single

# Whether the operands are given with rows for columns.
PRODUCTS = {
    linear.matmul: (False, False), linear.matmul_nt: (False, True), linear.matmul_tn: (True, False),
}  # fmt: skip
BYTES = np.dtype(np.uint8)
SCRATCH = -1  # the number of values that are room for a product's own use


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    """Whether there is code for it."""
    if isinstance(equation.op, InRange):
        (layout,) = layouts
        kind = layout.root.dtype.kind
        room = 1 << (8 * layout.root.dtype.itemsize - (kind == "i"))
        return layout.contiguous and kind in "iu" and equation.op.size < room
    if equation.op not in PRODUCTS or equation.outputs[0].dtype.char not in "fd":
        return False
    return all(v.dtype == equation.outputs[0].dtype for v in equation.inputs) and all(
        len(layout.shape) >= 2 for layout in layouts
    )


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    """What the code of an equation depends on, and the values whose pointers it is given."""
    if isinstance(item.equation.op, InRange):
        (layout,) = item.reads
        size = item.equation.op.size
        told = "in range", size, layout.root.dtype.str, layout.shape, layout.offset
        return told, [layout.root]
    equation, (a, b) = item.equation, item.reads
    (value,) = equation.outputs
    turn_a, turn_b = PRODUCTS[equation.op]
    m, n = value.shape[-2:]
    k = a.shape[-2] if turn_a else a.shape[-1]
    product = products.Product(
        m, n, k, value.dtype.str[1:], _strides(a, turn_a), _strides(b, turn_b), (n, 1)
    )
    batch = value.shape[:-2]
    steps = tuple(tuple(_batch(x, batch)) for x in (a, b))
    size = products.scratch(product)
    size = -(-size // 64) * 64
    room = [Var(SCRATCH, (wanted(), size), BYTES)] if size else []  # for each thread one
    return (product, batch, steps, (a.offset, b.offset)), [a.root, b.root, value, *room]


def share(item: Single) -> int:
    """Into how many parts threads can share it: matrices of a batch, or rows of one."""
    if not item.equation.outputs:
        return 1
    shape = item.equation.outputs[0].shape
    return shape[0]


class Singles:
    """Writes single equations into a module; products that are alike share their kernel."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.kernels: dict[products.Product, ir.Function] = {}

    def write(self, name: str, item: Single) -> ir.Function:
        """The function, which is to be given the pointers that `likeness` tells."""
        if isinstance(item.equation.op, InRange):
            return self._check(name, item)
        (product, batch, steps, offsets), _ = likeness(item)
        return self._called(name, product, batch, steps, offsets)

    def _called(
        self, name: str, product: products.Product, batch: tuple[int, ...], steps: tuple,
        offsets: tuple[int, int],
    ) -> ir.Function:  # fmt: skip
        """A function that calls the kernel for all matrices of a batch."""
        if product not in self.kernels:
            kernel = products.emit(self.module, f"product_{len(self.kernels)}", product)
            kernel.linkage = "internal"
            kernel.attributes.add("noinline")  # one copy, however often it is called
            self.kernels[product] = kernel
        kernel, size = self.kernels[product], products.scratch(product)
        pointers = [POINTER] * (4 if size else 3)
        kind = ir.FunctionType(ir.VoidType(), [*pointers, INDEX, INDEX])
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        b = ir.IRBuilder(function.append_basic_block())
        element = lanes.TYPES[product.dtype]
        none = ir.Constant(POINTER, None)
        scratch = function.args[3] if size else none
        *_, first, last = function.args
        area = product.m * product.n
        out = [area * prod(batch[k + 1 :]) for k in range(len(batch))]

        def turn(indices: list[Any]) -> None:
            if len(indices) < len(batch):
                counted(b, batch[len(indices)], 1, lambda i: turn([*indices, i]))
                return
            places = []
            for pointer, start, strides in zip(
                function.args[:3], (*offsets, 0), (*steps, out), strict=True
            ):
                total: Any = number(start)
                for i, stride in zip(indices, strides, strict=True):
                    if stride:
                        total = b.add(total, b.mul(i, number(stride)))
                places.append(b.gep(pointer, [total], source_etype=element))
            rows = (number(0), number(product.m)) if batch else (first, last)
            b.call(kernel, [*places, *rows, scratch, none])

        if batch:
            ranged(b, first, last, 1, lambda i: turn([i]))
        else:
            turn([])
        b.ret_void()
        return function

    # --- checks -----------------------------------------------------------------------------------
    def _check(self, name: str, item: Single) -> ir.Function:
        """A function that says whether all numbers are in range: as unsigned ones, below the size."""
        (layout,) = item.reads
        dtype = layout.root.dtype
        function = ir.Function(self.module, ir.FunctionType(ir.IntType(1), [POINTER]), name)
        function.linkage = "internal"
        before = function.append_basic_block()
        loop, after = function.append_basic_block(), function.append_basic_block()
        b = ir.IRBuilder(before)
        b.branch(loop)
        b.position_at_end(loop)
        kind = lanes.in_memory(dtype)
        i, sound = b.phi(INDEX), b.phi(ir.IntType(1))
        i.add_incoming(number(0), before)
        sound.add_incoming(ir.Constant(ir.IntType(1), 1), before)
        place = b.gep(function.args[0], [b.add(i, number(layout.offset))], source_etype=kind)
        value = b.load(place, typ=kind, align=dtype.itemsize)
        size = ir.Constant(kind, item.equation.op.size)
        still = b.and_(sound, b.icmp_unsigned("<", value, size))
        following = b.add(i, number(1))
        i.add_incoming(following, loop)
        sound.add_incoming(still, loop)
        b.cbranch(b.icmp_unsigned("<", following, number(prod(layout.shape))), loop, after)
        b.position_at_end(after)
        b.ret(still)
        return function


def _strides(x: Layout, turn: bool) -> tuple[int, int]:
    """Of the rows and the columns, as the product sees them."""
    row, column = x.strides[-2:]
    return (column, row) if turn else (row, column)


def _batch(x: Layout, batch: tuple[int, ...]) -> list[int]:
    """The strides along the axes before the last two, of a product of this batch."""
    sizes, strides = x.shape[:-2], x.strides[:-2]
    own = [0 if size == 1 else stride for size, stride in zip(sizes, strides, strict=True)]
    return [0] * (len(batch) - len(own)) + own
