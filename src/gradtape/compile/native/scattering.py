"""Rows added up in a table that is zero elsewhere: the way back of a lookup.

Threads share the rows of the table. Each looks at all places and takes those that are its own, in
order, so the sums are the same whoever computes them.
"""

from __future__ import annotations

from math import prod

from llvmlite import ir

from ...ops.rows import add_rows
from ..program import Equation, Var
from . import lanes
from .emitting import I64, POINTER, Emitter, Value, pieces
from .layout import Layout
from .machine import host
from .nests import Single


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    if equation.op is not add_rows or equation.outputs[0].dtype.char not in "fd":
        return False
    rows, places = layouts
    if rows.root.dtype != equation.outputs[0].dtype or places.root.dtype.kind not in "iu":
        return False
    return places.contiguous and len(places.shape) == 1


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (value,), (rows, places) = item.equation.outputs, item.reads
    told = (
        "add rows", value.shape, value.dtype.str, rows.shape, rows.strides, rows.offset,
        places.root.dtype.str, places.offset,
    )  # fmt: skip
    return told, [rows.root, places.root, value]


def parts(item: Single) -> int:
    return item.equation.outputs[0].shape[0]


def work(item: Single) -> float:
    return (prod(item.equation.outputs[0].shape) + 2.0 * prod(item.reads[0].shape)) / 8


def write(module: ir.Module, name: str, item: Single) -> ir.Function:
    (value,), (given, where) = item.equation.outputs, item.reads
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [*[POINTER] * 3, I64, I64]), name)
    function.linkage = "internal"
    function.attributes.add("noinline")
    for argument in function.args[:3]:
        argument.add_attribute("noalias")
    rows, places, out, first, last = function.args
    b = ir.IRBuilder(function.append_basic_block())
    e = Emitter(b, value.dtype.str[1:], host().lanes(value.dtype.itemsize))
    width = prod(value.shape[1:])
    with e.each(e.mul(first, width), e.mul(last, width)) as i:
        e.store(e.constant(0.0, 1), e.at(out, i))  # which LLVM makes a call of memset
    kind = lanes.in_memory(where.root.dtype)
    places = b.gep(places, [I64(where.offset)], source_etype=kind)
    with e.each(0, where.shape[0]) as i:
        place: Value = b.load(b.gep(places, [_value(i)], source_etype=kind), typ=kind)
        if kind.width < 64:
            extend = b.sext if where.root.dtype.kind == "i" else b.zext
            place = extend(place, I64)
        own = b.icmp_unsigned("<", b.sub(place, first), b.sub(last, first))
        with b.if_then(own):
            source = e.at(rows, e.add(e.mul(i, given.strides[0]), given.offset))
            target = e.at(out, e.mul(place, width))
            if given.contiguous:
                _add(e, source, target, width)
            else:
                _add_apart(e, source, target, given.shape[1:], given.strides[1:])
    b.ret_void()
    return function


def _value(i: Value) -> Value:
    return I64(i) if isinstance(i, int) else i


def _add(e: Emitter, source: Value, target: Value, width: int) -> None:
    whole = width - width % e.lanes

    def one(at: Value, size: int) -> None:
        place = e.at(target, at)
        e.store(e.b.fadd(e.load(place, size), e.load(e.at(source, at), size)), place)

    if whole:
        with e.each(0, whole, e.lanes) as at:
            one(at, e.lanes)
    for first, size in pieces(width - whole):
        one(whole + first, size)


def _add_apart(
    e: Emitter, source: Value, target: Value, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    """Of rows whose numbers do not lie side by side."""
    if not sizes:
        e.store(e.b.fadd(e.load(target), e.load(source)), target)
        return
    with e.each(0, sizes[0]) as i:
        here = e.at(source, e.mul(i, strides[0])), e.at(target, e.mul(i, prod(sizes[1:])))
        _add_apart(e, *here, sizes[1:], strides[1:])
