"""Rows that are added up in a table of zeros, the way back of a lookup; and rows that are put into
a table that is there.

Threads share the rows of the table. Each looks at all places and takes those that are its own, in
order, so the sums are the same whoever computes them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from llvmlite import ir

from ...ops.rows import add_rows
from ..kernels import Kernel
from ..program import Equation, Var
from . import lanes
from .emitting import I64, POINTER, Emitter, Value, pieces
from .layout import Layout
from .machine import host
from .nests import Single
from .sharing import Sharing, by_rows

FLOATS = "fd"


def _unknown(*operands: Any, function: str | None) -> Any:
    raise NotImplementedError("whoever has the table calls the code")


# The rows are put into the memory of the result: by a function of NumPy's of those that are there
# and the new ones, or in their place.
put_rows = Kernel("put_rows", _unknown, _unknown)


def fits(equation: Equation, layouts: list[Layout]) -> bool:
    if equation.op not in (add_rows, put_rows) or equation.outputs[0].dtype.char not in FLOATS:
        return False
    rows, places = layouts
    if rows.root.dtype != equation.outputs[0].dtype or places.root.dtype.kind not in "iu":
        return False
    return places.contiguous and len(places.shape) == 1


def likeness(item: Single) -> tuple[tuple, list[Var]]:
    (value,), (rows, places) = item.equation.outputs, item.reads
    told = (
        item.equation.op.name, item.equation.params.get("function"), value.shape, value.dtype.str,
        rows.shape, rows.strides, rows.offset, places.root.dtype.str, places.offset,
    )  # fmt: skip
    return told, [rows.root, places.root, value]


def sharing(item: Single) -> Sharing:
    return by_rows(item.equation.outputs[0], updates=item.equation.op is put_rows)


def work(item: Single) -> float:
    zeros = prod(item.equation.outputs[0].shape) if item.equation.op is add_rows else 0
    return zeros / 8 + 0.2 * prod(item.reads[0].shape)


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
    combine = _combining(e, item)
    if item.equation.op is add_rows:
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
                _put(e, combine, source, target, width)
            else:
                _put_apart(e, combine, source, target, given.shape[1:], given.strides[1:])
    b.ret_void()
    return function


Combine = Callable[[Value, int, Value], None]  # puts a vector of some lanes to a place


def _combining(e: Emitter, item: Single) -> Combine:
    name = item.equation.params.get("function", "add")
    dtype = item.equation.outputs[0].dtype

    def combine(new: Value, size: int, place: Value) -> None:
        if name is not None:
            emit, _ = lanes.UFUNCS[name]
            new = emit(e.b, dtype, e.load(place, size), new)
        e.store(new, place)

    return combine


def _value(i: Value) -> Value:
    return I64(i) if isinstance(i, int) else i


def _put(e: Emitter, combine: Combine, source: Value, target: Value, width: int) -> None:
    whole = width - width % e.lanes

    def one(at: Value, size: int) -> None:
        combine(e.load(e.at(source, at), size), size, e.at(target, at))

    if whole:
        with e.each(0, whole, e.lanes) as at:
            one(at, e.lanes)
    for first, size in pieces(width - whole):
        one(whole + first, size)


def _put_apart(
    e: Emitter, combine: Combine, source: Value, target: Value, sizes: tuple[int, ...],
    strides: tuple[int, ...],
) -> None:  # fmt: skip
    """Of rows whose numbers do not lie side by side."""
    if not sizes:
        combine(e.load(source), 1, target)
        return
    with e.each(0, sizes[0]) as i:
        here = e.at(source, e.mul(i, strides[0])), e.at(target, e.mul(i, prod(sizes[1:])))
        _put_apart(e, combine, *here, sizes[1:], strides[1:])
