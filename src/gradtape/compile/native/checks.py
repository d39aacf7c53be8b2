"""Checks: of whole numbers that must be below a size, and of others that must be finite."""

from __future__ import annotations

from math import prod

from llvmlite import ir

from ..program import Equation, Var
from . import lanes
from .composites import Finite, InRange
from .layout import Layout
from .loops import INDEX, POINTER, number
from .nests import Single
from .sharing import NOTHING, Sharing


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    if not isinstance(equation.op, (Finite, InRange)):
        return False
    (layout,) = layouts
    if isinstance(equation.op, Finite):
        return layout.contiguous and layout.root.dtype.char in "fd"
    kind = layout.root.dtype.kind
    room = 1 << (8 * layout.root.dtype.itemsize - (kind == "i"))
    return layout.contiguous and kind in "iu" and equation.op.size < room


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (layout,) = item.reads
    size = getattr(item.equation.op, "size", "finite")
    told = "in range", size, layout.root.dtype.str, layout.shape, layout.offset
    return told, [layout.root]


def sharing(item: Single) -> Sharing:
    return NOTHING


def work(item: Single) -> float:
    return 0.0


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    """A function that says whether all numbers are in range: as unsigned ones, below the size; or
    0 if they are multiplied by it."""
    (layout,) = item.reads
    dtype = layout.root.dtype
    function = ir.Function(module, ir.FunctionType(ir.IntType(1), [POINTER]), name)
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
    if isinstance(item.equation.op, Finite):
        zero = ir.Constant(kind, 0.0)
        fine = b.fcmp_ordered("==", b.fmul(value, zero), zero)
    else:
        fine = b.icmp_unsigned("<", value, ir.Constant(kind, item.equation.op.size))
    still = b.and_(sound, fine)
    following = b.add(i, number(1))
    i.add_incoming(following, loop)
    sound.add_incoming(still, loop)
    b.cbranch(b.icmp_unsigned("<", following, number(prod(layout.shape))), loop, after)
    b.position_at_end(after)
    b.ret(still)
    return function
