"""Products of matrices, and of batches of them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from llvmlite import ir

from ...ops import linear
from ..program import Equation, Var
from . import lanes, products
from .crew import wanted
from .layout import Layout
from .loops import INDEX, POINTER, counted, number, ranged
from .nests import SCRATCH, Single
from .sharing import Sharing, by_rows

# Whether the operands are given with rows for columns.
PRODUCTS = {
    linear.matmul: (False, False), linear.matmul_nt: (False, True), linear.matmul_tn: (True, False),
}  # fmt: skip
BYTES = np.dtype(np.uint8)


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    if equation.op not in PRODUCTS or equation.outputs[0].dtype.char not in "fd":
        return False
    return all(v.dtype == equation.outputs[0].dtype for v in equation.inputs) and all(
        len(layout.shape) >= 2 for layout in layouts
    )


def likeness(item: Single) -> tuple[tuple, list[Var]]:
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
    size = -(-products.scratch(product) // 64) * 64
    room = [Var(SCRATCH, (wanted(), size), BYTES)] if size else []  # for each thread one
    return (product, batch, steps, (a.offset, b.offset)), [a.root, b.root, value, *room]


def sharing(item: Single) -> Sharing:
    """Matrices of a batch, or rows of one."""
    return by_rows(item.equation.outputs[0])


def work(item: Single) -> float:
    (value,), (a, _) = item.equation.outputs, item.reads
    depth = prod(a.shape[-2:]) // value.shape[-2]
    return 2.0 * prod(value.shape) * depth / 80


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    (product, batch, steps, offsets), _ = likeness(item)
    kernel = _kernel(module, product)
    size = products.scratch(product)
    pointers = [POINTER] * (4 if size else 3)
    kind = ir.FunctionType(ir.VoidType(), [*pointers, INDEX, INDEX])
    function = ir.Function(module, kind, name)
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


def _kernel(module: ir.Module, product: products.Product) -> ir.Function:
    """The code of a product: one copy in a module, however often it is called."""
    name = f"product {product}"
    found = module.globals.get(name)
    if found is None:
        # Passes would take as long for it as for all else, and make it no faster.
        made = products.emit(getattr(module, "plain", module), name, product)
        made.attributes.add("noinline")
        found = made
        if made.module is not module:
            found = ir.Function(module, made.function_type, name)
    return found


def _strides(x: Layout, turn: bool) -> tuple[int, int]:
    """Of the rows and the columns, as the product sees them."""
    row, column = x.strides[-2:]
    return (column, row) if turn else (row, column)


def _batch(x: Layout, batch: tuple[int, ...]) -> list[int]:
    """The strides along the axes before the last two, of a product of this batch."""
    sizes, strides = x.shape[:-2], x.strides[:-2]
    own = [0 if size == 1 else stride for size, stride in zip(sizes, strides, strict=True)]
    return [0] * (len(batch) - len(own)) + own
