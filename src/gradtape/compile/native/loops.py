"""Nests of loops as LLVM functions: explicit vectors along the last axis, sums in registers.

Axes that lie one behind the other in all operands are gone through as one. The last axis is done in
vectors of the machine's width, several at a time, and what is left of it in narrower ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import isqrt, prod
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from ..program import Var
from . import lanes
from .machine import host
from .nests import Loop, Nest, Step
from .sharing import Read, Region, Sharing, runs

INDEX = ir.IntType(64)
POINTER = ir.PointerType()
UNROLL = 4  # vectors at a time of short loops, so that sums do not wait for each other
SHORT, LONG = 16, 48  # additions' worth: loops of more have 2 vectors at a time, or 1
# Turns of a loop from which on a sum is made of the sums of stretches. One after the other, 31,020
# equal float32 numbers lose 2e-5 by rounding, and 1e-7 so.
MANY_TURNS = 256
# Rows from which on that holds for sums of columns, and the most columns: a stretch of theirs lies
# in memory, and is added to the others by a loop of its own.
MANY_ROWS, MOST_COLUMNS = 1024, 2048
# How sums begin, and how two of them become one.
NEUTRAL = {"reduce_sum": 0.0, "reduce_max": -np.inf, "reduce_min": np.inf, "reduce_prod": 1.0}
COMBINE = {
    "reduce_sum": lanes.UFUNCS["add"][0], "reduce_max": lanes.UFUNCS["maximum"][0],
    "reduce_min": lanes.UFUNCS["minimum"][0], "reduce_prod": lanes.UFUNCS["multiply"][0],
}  # fmt: skip


def neutral(op: str, dtype: np.dtype) -> Any:
    """What a sum of numbers of a dtype begins with."""
    value = NEUTRAL[op]
    if dtype.kind == "f" or np.isfinite(value):
        return value
    return np.iinfo(dtype).min if value < 0 else np.iinfo(dtype).max


def number(n: int) -> ir.Constant:
    return ir.Constant(INDEX, n)


def counted(b: ir.IRBuilder, count: int, step: int, body: Callable[[Any], None]) -> None:
    """`for i in range(0, count, step): body(i)`, written out where it is one turn."""
    if count <= step:
        body(number(0))
        return
    before = b.block
    head, after = b.append_basic_block("loop"), b.append_basic_block("after")
    b.branch(head)
    b.position_at_end(head)
    i = b.phi(INDEX)
    i.add_incoming(number(0), before)
    body(i)
    following = b.add(i, number(step), flags=("nuw", "nsw"))
    i.add_incoming(following, b.block)
    b.cbranch(b.icmp_unsigned("<", following, number(count)), head, after)
    b.position_at_end(after)


def ranged(b: ir.IRBuilder, start: Any, stop: Any, step: int, body: Callable[[Any], None]) -> None:
    """`for i in range(start, stop, step): body(i)` of bounds that only the call tells."""
    before = b.block
    head, after = b.append_basic_block("loop"), b.append_basic_block("after")
    b.cbranch(b.icmp_unsigned("<", start, stop), head, after)
    b.position_at_end(head)
    i = b.phi(INDEX)
    i.add_incoming(start, before)
    body(i)
    following = b.add(i, number(step), flags=("nuw", "nsw"))
    i.add_incoming(following, b.block)
    b.cbranch(b.icmp_unsigned("<", following, stop), head, after)
    b.position_at_end(after)


def roots_of(nest: Nest, stored: set[Var], scalars: dict[Var, Any]) -> list[Var]:
    """The values whose memory a nest needs, in the order of its function's arguments."""
    reads = [root for step in nest.steps for root, _, _ in step.reads]
    made = [step.result for step in nest.steps if step.result in stored]
    return [r for r in dict.fromkeys([*reads, *made])
            if r not in scalars and (r not in nest.home or r in stored)]  # fmt: skip


def starts_of(nest: Nest) -> dict[Var, int]:
    """Where a nest begins to read or write its roots. Pointers lead there, so that nests which work
    on different pieces of an array are alike."""
    found: dict[Var, int] = {}
    for step in nest.steps:
        places = [(root, offset) for root, _, offset in step.reads] + [(step.result, step.offset)]
        for root, offset in places:
            found[root] = min(found.get(root, offset), offset)
    return found


def likeness(nest: Nest, stored: set[Var], scalars: dict[Var, Any]) -> tuple:
    """What the code of a nest depends on: nests that are alike share one function."""
    numbers: dict[Var, int] = {}
    starts = starts_of(nest)

    def name(value: Var) -> Any:
        if value in scalars:
            number = scalars[value]
            return number.dtype.str, number.tobytes()
        return numbers.setdefault(value, len(numbers)), value.dtype.str, value in stored

    return nest.outer, tuple(
        (loop.space, tuple(
            (step.equation.op.name, repr(sorted(step.equation.params.items(), key=str)),
             tuple((name(root), along, at - starts[root]) for root, along, at in step.reads),
             name(step.result), step.reduced, step.kept, step.offset - starts[step.result],
             step.piece, step.picks)
            for step in loop.steps
        ))
        for loop in nest.loops
    )  # fmt: skip


class NestWriter:
    """Writes one nest into a module, as a function of the pointers to `roots`."""

    def __init__(
        self, module: ir.Module, name: str, nest: Nest, stored: set[Var], scalars: dict[Var, Any]
    ) -> None:
        self.nest, self.stored, self.scalars = nest, stored, scalars
        self.roots, self.starts = roots_of(nest, stored, scalars), starts_of(nest)
        kind = ir.FunctionType(ir.VoidType(), [*[POINTER] * len(self.roots), INDEX, INDEX])
        self.function = ir.Function(module, kind, name)
        self.function.linkage = "internal"
        self.function.attributes.add("noinline")
        *pointers, self.first, self.last = self.function.args
        for argument in pointers:
            argument.add_attribute("noalias")
        self.pointer = dict(zip(self.roots, pointers, strict=True))
        # Of long sums over outer axes: the pointer to the result, and how long a stretch is.
        self.outside: dict[Step, tuple[Any, Stretch]] = {}
        self.split = split(nest)
        self.sharing = sharing(nest, stored)
        self.entry = self.function.append_basic_block("entry")
        self.b = ir.IRBuilder(self.function.append_basic_block("begin"))
        self._write()
        self.b.ret_void()
        ir.IRBuilder(self.entry).branch(self.function.blocks[1])

    def room(self, kind: Any) -> Any:
        """Memory of the function's own, which LLVM keeps in registers."""
        builder = ir.IRBuilder(self.entry)
        return builder.alloca(kind)

    def loop(self, count: int, step: int, body: Callable[[Any], None]) -> None:
        counted(self.b, count, step, body)

    def _write(self) -> None:
        nest = self.nest
        for step in nest.steps:
            if step.reduced and not self._in_registers(step):
                self._begin(step)
        outer = nest.loops[0].space[: nest.outer]
        for step in nest.steps:
            if step.reduced and self._adds_up_outside(step):
                self._open_outside(step)
        self._outer(outer, [])
        for step in list(self.outside):
            self._end_outside(step)

    def _outer(self, sizes: tuple[int, ...], indices: list[Any]) -> None:
        depth = len(indices)
        if depth < len(sizes):
            body = lambda i: self._outer(sizes, [*indices, i])
            if not indices and self.split.how == "outer":
                ranged(self.b, self.first, self.last, 1, body)
                return
            ending = {
                s: length.turns for s, (_, length) in self.outside.items() if length.depth == depth
            }
            self.turns(sizes[depth], 1, body, ending, self._end_outside)
            return
        for loop in self.nest.loops:
            LoopWriter(self, loop, indices).write()

    def turns(
        self, count: int, block: int, body: Callable[[Any], None], ending: dict[Any, int],
        end: Callable[[Any], None],
    ) -> None:  # fmt: skip
        """Go through so many numbers of an axis by blocks, and end the stretches of these sums
        after so many turns."""
        if not ending:
            self.loop(count, block, body)
            return
        stretch = min(ending.values()) * block
        whole = count // stretch * stretch

        def go_through(start: Any) -> None:
            self.loop(stretch, block, lambda i: body(self.b.add(start, i, flags=("nuw", "nsw"))))
            for which in ending:
                end(which)

        self.loop(whole, stretch, go_through)
        if count > whole:
            rest = number(whole)
            self.loop(count - whole, block, lambda i: body(self.b.add(i, rest)))

    # --- sums over the outer axes -----------------------------------------------------------------
    def _adds_up_outside(self, step: Step) -> bool:
        """Is it a long sum over the first outer axes, of few numbers each time?"""
        turns = self._turns_outside(step)
        if step.piece or step.offset or not _loses_by_rounding(step):
            return False
        return prod(turns) >= MANY_TURNS and self._room_of(step) <= MOST_COLUMNS

    def _turns_outside(self, step: Step) -> list[int]:
        """The sizes of the first outer axes that a sum goes over, up to one that it keeps."""
        outer = range(self.nest.outer)
        return [step.space[k] for k in takewhile(lambda k: k in step.reduced, outer)]

    def _kept(self, step: Step) -> list[tuple[int, int]]:
        """Sizes and strides of what a sum keeps."""
        axes = [k for k in range(len(step.space)) if k not in step.reduced]
        return [(step.space[k], step.kept[k]) for k in axes]

    def _room_of(self, step: Step) -> int:
        return 1 + sum((size - 1) * stride for size, stride in self._kept(step))

    def _open_outside(self, step: Step) -> None:
        """Loops add to memory of our own for a stretch, which is then added to the result."""
        kind = lanes.in_memory(step.result.dtype)
        room = self.room(ir.ArrayType(kind, self._room_of(step)))
        room.type = POINTER  # to some of them, not to all
        length = stretch_of(self._turns_outside(step), 0)
        self.outside[step] = self.pointer[step.result], length
        self.pointer[step.result] = room
        nothing = ir.Constant(kind, None)
        self._each_kept(step, lambda at: self.b.store(nothing, self._at(step, room, at)))

    def _end_outside(self, step: Step) -> None:
        """Add a stretch to the result, and begin another one."""
        b, dtype = self.b, step.result.dtype
        (result, _), room = self.outside[step], self.pointer[step.result]
        kind = lanes.in_memory(dtype)

        def add(at: Any) -> None:
            places = [self._at(step, pointer, at) for pointer in (result, room)]
            old, new = (b.load(place, typ=kind, align=dtype.itemsize) for place in places)
            total = COMBINE[step.equation.op.name](b, dtype, old, new)
            b.store(total, places[0], align=dtype.itemsize)
            b.store(ir.Constant(kind, None), places[1])

        self._each_kept(step, add)

    def _at(self, step: Step, pointer: Any, at: Any) -> Any:
        return self.b.gep(pointer, [at], source_etype=lanes.in_memory(step.result.dtype))

    def _each_kept(self, step: Step, body: Callable[[Any], None]) -> None:
        self._along(self._kept(step), number(0), body)

    def _along(
        self, axes: list[tuple[int, int]], at: Any, body: Callable[[Any], None]
    ) -> None:  # fmt: skip
        """Go through all numbers of some sizes and strides, from a place on."""
        if not axes:
            body(at)
            return
        (size, stride), *inner = axes
        self.loop(
            size, 1, lambda i: self._along(inner, self.b.add(at, self._times(i, stride)), body)
        )

    def _in_registers(self, step: Step) -> bool:
        """Is the sum complete when the loops over its last axes are done?"""
        axes = range(self.nest.outer, len(step.space))
        return bool(step.reduced) and step.reduced == tuple(axes[len(axes) - len(step.reduced) :])

    def _begin(self, step: Step) -> None:
        """Fill what this call writes of the result with what a sum begins with."""
        (region,) = (r for r in self.sharing.regions if r.value is step.result)
        dtype = step.result.dtype
        start = lanes.constant(neutral(step.equation.op.name, dtype), dtype, 1)
        kind = lanes.in_memory(dtype)

        def fill(i: Any) -> None:
            place = self.b.gep(self.pointer[step.result], [i], source_etype=kind)
            self.b.store(start, place, align=dtype.itemsize)

        along = lambda axes, at: self._along(axes, at, fill)
        first, *inner = zip(region.sizes, region.strides, strict=True)
        if self.split.parts == 1:
            along([first, *inner], number(0))
            return
        low, high = self.shared_indices()
        width = prod(size for size, _ in inner)
        if runs(region) == ((), 0, first[0] * width) and first[1] == width:  # they are one run
            low, high = self._times(low, width), self._times(high, width)
            ranged(self.b, low, high, 1, fill)
            return
        ranged(self.b, low, high, 1, lambda i: along(inner, self._times(i, first[1])))

    def _times(self, i: Any, factor: int) -> Any:
        return i if factor == 1 else self.b.mul(i, number(factor))

    def shared_indices(self) -> tuple[Any, Any]:
        """The indices of the shared axis that are done in this call; the last part has what is
        left behind the last block."""
        block, size = self.split.block, self.sharing.edges[-1]
        low, high = self._times(self.first, block), self._times(self.last, block)
        if size > self.split.parts * block:
            last = self.b.icmp_unsigned("==", self.last, number(self.split.parts))
            high = self.b.select(last, number(size), high)
        return low, high

    def behind(self, body: Callable[[], None]) -> None:
        """What comes behind the last block is done by whoever does that one."""
        b = self.b
        inside, after = b.append_basic_block(), b.append_basic_block()
        b.cbranch(b.icmp_unsigned("==", self.last, number(self.split.parts)), inside, after)
        b.position_at_end(inside)
        body()
        b.branch(after)
        b.position_at_end(after)


class Split(NamedTuple):
    """How threads share a nest: by the first of the outer axes, the rows or columns of its only
    loop, or not at all; into how many parts; and how many numbers are in one of them."""

    how: str
    parts: int
    block: int = 1


def split(nest: Nest) -> Split:
    """What of a nest can be computed apart, so that no sum is shared."""
    gone = {k for step in nest.steps for k in step.reduced}
    if nest.outer:
        size = nest.loops[0].space[0]
        return Split("", 1) if 0 in gone else Split("outer", size)
    (loop,) = nest.loops
    groups, sizes = merged(loop, 0)
    if not groups:
        return Split("", 1)
    if groups[0][0] not in gone and len(groups) > 1:
        return Split("rows", sizes[0])
    block = unroll(loop) * lanes_of(loop)
    one = len(groups) == 1 and groups[0][0] not in gone
    two = len(groups) == 2 and groups[1][0] not in gone
    if (one or two) and sizes[-1] >= 2 * block:
        return Split("flat" if one else "columns", sizes[-1] // block, block)
    return Split("", 1)


def sharing(nest: Nest, stored: set[Var]) -> Sharing:
    """What the parts of a nest write, and what they read back."""
    cut = split(nest)
    if cut.parts == 1:
        shared: list[int] = []
    elif cut.how == "outer":
        shared = [0]
    else:  # the only loop's first axes, gone through as one, or its last
        groups, _ = merged(nest.loops[0], 0)
        shared = groups[-1 if cut.how in ("flat", "columns") else 0]
    size = prod(nest.loops[0].space[k] for k in shared)
    written = [(step, _stride(step.kept, shared)) for step in nest.steps if step.result in stored]
    regions = []
    for step, stride in written:
        axes = [k for k in range(len(step.space)) if k not in shared and k not in step.reduced]
        sizes = (size, *(step.space[k] for k in axes))
        strides = (stride, *(step.kept[k] for k in axes))
        regions.append(Region(step.result, sizes, strides, step.offset, step.piece))
    reads = [
        Read(root, _stride(strides, shared), offset)
        for loop in nest.loops
        for step in loop.steps
        for root, strides, offset in step.reads
        if root in nest.home and nest.home[root][0] is not loop
    ]
    edges: Sequence[int] = range(0, size + 1, cut.block)
    if size % cut.block:  # the last part has what is left, too
        edges = [*edges[:-1], size]
    return Sharing(edges, tuple(regions), tuple(reads))


def _stride(strides: tuple[int, ...], shared: list[int]) -> int:
    return strides[shared[-1]] if shared else 0


def unroll(loop: Loop) -> int:
    """How many vectors a turn of a loop takes."""
    weight = sum(step.weight for step in loop.steps)
    return UNROLL if weight <= SHORT else 2 if weight <= LONG else 1


def lanes_of(loop: Loop) -> int:
    """How many numbers of a loop's largest floats a vector holds."""
    values = [v for step in loop.steps for v in _values(step)]
    floats = [v.dtype.itemsize for v in values if v.dtype.kind == "f"]
    widest = max([v.dtype.itemsize for v in values], default=4)
    return host().vector_bytes // max(floats, default=widest)


def merged(loop: Loop, first: int) -> tuple[list[list[int]], list[int]]:
    """Groups of axes, from `first` on, that can be gone through as one, and their sizes."""
    space = loop.space
    accesses: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for step in loop.steps:
        accesses += [(strides, ()) for root, strides, _ in step.reads]
        accesses.append((step.kept, step.reduced))
    groups: list[list[int]] = []
    for k in range(first, len(space)):
        if groups:
            j = groups[-1][-1]
            if all(
                strides[j] == strides[k] * space[k] and ((j in gone) == (k in gone))
                for strides, gone in accesses
            ):
                groups[-1].append(k)
                continue
        groups.append([k])
    return groups, [prod(space[k] for k in group) for group in groups]


def _loses_by_rounding(step: Step) -> bool:
    return step.equation.op.name == "reduce_sum" and step.result.dtype.kind == "f"


class Stretch(NamedTuple):
    """So many turns of the loop at a depth, after which a sum begins anew."""

    depth: int
    turns: int


def stretch_of(turns: list[int], depth: int) -> Stretch:
    """About as many turns as there are stretches of nested loops, the first of them at a depth."""
    most, inner, last = isqrt(prod(turns)), 1, len(turns) - 1
    while last and inner * turns[last] < most:
        inner *= turns[last]
        last -= 1
    return Stretch(depth + last, max(most // inner, 1))


class LoopWriter:
    """Writes one loop of a nest, at given indices of the outer axes."""

    def __init__(self, writer: NestWriter, loop: Loop, outer: list[Any]) -> None:
        self.w, self.loop, self.outer = writer, loop, outer
        self.b = writer.b
        self.axes, self.sizes = merged(loop, len(outer))
        # Of sums, by the step's number: what a stretch adds up to so far, the stretches before it,
        # and how long it is. What columns add up to is in memory, as the stretches before it are.
        self.registers: dict[int, list[Any]] = {}
        self.stretches: dict[int, list[Any]] = {}
        self.columns: dict[int, Any] = {}
        self.lengths: dict[int, Stretch] = {}
        self.width, self.unroll = lanes_of(loop), unroll(loop)
        self.long = sum(step.weight for step in loop.steps) > LONG

    def write(self) -> None:
        for k, step in enumerate(self.loop.steps):
            if step.reduced and self._has_long_columns(step):
                self._open_columns(k)
        self._axis(0, [])
        for k in list(self.columns):
            self._end_columns(k)

    def _axis(self, depth: int, indices: list[Any]) -> None:
        steps = list(enumerate(self.loop.steps))
        beginning = [k for k, s in steps if s.reduced and self._starts(s) == depth]
        for k in beginning:
            self._open(k)
        if depth >= len(self.axes) - 1:
            self._last(indices)
        else:
            body = lambda i: self._axis(depth + 1, [*indices, i])
            if not depth and self.w.split.how == "rows":
                ranged(self.b, self.w.first, self.w.last, 1, body)
            else:
                self._turns(depth, self.sizes[depth], 1, body)
        for k in beginning:
            self._close(k, indices)

    def _starts(self, step: Step) -> int:
        """At which depth the axes begin that a sum goes over without a break, up to the last."""
        depth = len(self.axes)
        while depth and self.axes[depth - 1][0] in step.reduced:
            depth -= 1
        return depth

    # --- sums -------------------------------------------------------------------------------------
    def _lanes(self) -> list[int]:
        """Widths of vectors for the last axis: how many lanes the accumulators have."""
        size = self.sizes[-1] if self.sizes else 1
        width = self.width
        while width > max(size, 1):
            width //= 2
        return [width]

    def _open(self, k: int) -> None:
        step = self.loop.steps[k]
        if self._starts(step) == len(self.axes):
            return  # added to memory, number by number
        (width,) = self._lanes()
        kind = lanes.in_register(step.result.dtype, width)
        start = lanes.constant(
            neutral(step.equation.op.name, step.result.dtype), step.result.dtype, width
        )
        copies = self.unroll if self._unrolled(width) else 1
        self.registers[k] = self._rooms(kind, copies, start)
        first = self._starts(step)
        turns = [*self.sizes[first:-1], max(self.sizes[-1] // (copies * width), 1)]
        if _loses_by_rounding(step) and prod(turns) >= MANY_TURNS:
            self.stretches[k] = self._rooms(kind, copies, start)
            self.lengths[k] = stretch_of(turns, first)

    def _rooms(self, kind: Any, count: int, start: Any) -> list[Any]:
        rooms = [self.w.room(kind) for _ in range(count)]
        for room in rooms:
            self.b.store(start, room)
        return rooms

    def _end_stretch(self, k: int) -> None:
        """Add to the stretches before what this one adds up to, and begin another one."""
        if k in self.columns:
            self._end_columns(k)
            return
        for room, total in zip(self.registers[k], self.stretches[k], strict=True):
            values = [self.b.load(r, typ=r.allocated_type) for r in (total, room)]
            self.b.store(self._combine(self.loop.steps[k], *values), total)
            self.b.store(ir.Constant(room.allocated_type, None), room)

    def _has_long_columns(self, step: Step) -> bool:
        """Is it a sum of many rows, none of whose columns is long?"""
        rows = self.axes[:-1]
        if not rows or not all(group[0] in step.reduced for group in rows):
            return False
        few = self.axes[-1][0] not in step.reduced and self.sizes[-1] <= MOST_COLUMNS
        return few and _loses_by_rounding(step) and prod(self.sizes[:-1]) >= MANY_ROWS

    def _open_columns(self, k: int) -> None:
        kind = lanes.in_memory(self.loop.steps[k].result.dtype)
        self.columns[k] = self.w.room(ir.ArrayType(kind, self.sizes[-1]))
        self.columns[k].type = POINTER  # to some of them, not to all
        self.lengths[k] = stretch_of(self.sizes[:-1], 0)
        self._each_column(lambda i: self.b.store(ir.Constant(kind, None), self._column(k, i)))

    def _end_columns(self, k: int) -> None:
        step = self.loop.steps[k]
        dtype = step.result.dtype
        nothing = ir.Constant(lanes.in_memory(dtype), None)

        def add(i: Any) -> None:
            place = self._address(step.result, step.kept, 0, self._at_start(), i)
            one = self._column(k, i)
            total = self._combine(step, self._load(place, dtype, 1), self._load(one, dtype, 1))
            self._store(total, place, dtype)
            self.b.store(nothing, one)

        self._each_column(add)

    def _at_start(self) -> list[Any]:
        return [number(0)] * (len(self.axes) - 1)

    def _column(self, k: int, i: Any) -> Any:
        kind = lanes.in_memory(self.loop.steps[k].result.dtype)
        return self.b.gep(self.columns[k], [i], source_etype=kind)

    def _each_column(self, body: Callable[[Any], None]) -> None:
        """Of those that are added up in this call."""
        if self.w.split.how == "columns":
            ranged(self.b, *self.w.shared_indices(), 1, body)
        else:
            self.w.loop(self.sizes[-1], 1, body)

    def _unrolled(self, width: int) -> bool:
        return bool(self.sizes) and self.sizes[-1] >= self.unroll * width

    def _combine(self, step: Step, x: Any, y: Any) -> Any:
        return COMBINE[step.equation.op.name](self.b, step.result.dtype, x, y)

    def _close(self, k: int, indices: list[Any]) -> None:
        step = self.loop.steps[k]
        if k not in self.registers:
            return
        b = self.b
        if k in self.stretches:
            self._end_stretch(k)
        rooms = self.stretches.pop(k, self.registers[k])
        parts = [b.load(r, typ=r.allocated_type) for r in rooms]
        while len(parts) > 1:
            parts = [
                self._combine(step, x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)
            ]
        total, width = parts[0], lanes.width_of(parts[0])
        while width > 1:  # the upper half to the lower one
            width //= 2
            kind = ir.VectorType(ir.IntType(32), width)
            halves = [
                b.shuffle_vector(total, total, ir.Constant(kind, list(range(at, at + width))))
                for at in (0, width)
            ]
            total = self._combine(step, *halves)
        if isinstance(total.type, ir.VectorType):
            total = b.extract_element(total, ir.Constant(ir.IntType(32), 0))
        place = self._address(step.result, step.kept, 0, indices, number(0))
        if not self.w._in_registers(step):
            old = self._load(place, step.result.dtype, 1)
            total = self._combine(step, old, total)
        self._store(total, place, step.result.dtype)
        self.registers.pop(k)
        self.lengths.pop(k, None)

    # --- the last axis ----------------------------------------------------------------------------
    def _last(self, indices: list[Any]) -> None:
        size = self.sizes[-1] if self.sizes else 1
        (width,) = self._lanes()
        done = 0
        if self._unrolled(width):
            block = self.unroll * width
            count = size // block * block

            def body(i: Any) -> None:
                for copy in range(self.unroll):
                    at = self.b.add(i, number(copy * width), flags=("nuw", "nsw"))
                    self._body(indices, at, width, copy)

            if self.w.split.how in ("flat", "columns"):
                first, last = (self.b.mul(n, number(block)) for n in (self.w.first, self.w.last))
                ranged(self.b, first, last, block, body)
                if size > count:
                    self.w.behind(lambda: self._rest(indices, count, width))
                return
            self._turns(len(self.axes) - 1, count, block, body)
            done = count
        self._rest(indices, done, width)

    def _turns(self, depth: int, count: int, block: int, body: Callable[[Any], None]) -> None:
        """Go through so many numbers of an axis by blocks; in stretches, if sums have some here."""
        ending = {k: length.turns for k, length in self.lengths.items() if length.depth == depth}
        self.w.turns(count, block, body, ending, self._end_stretch)

    def _rest(self, indices: list[Any], done: int, width: int) -> None:
        """What is left of the last axis when `done` numbers of it are."""
        size = self.sizes[-1] if self.sizes else 1
        if size - done >= width:
            count = (size - done) // width * width
            start = done
            self.w.loop(
                count, width,
                lambda i: self._body(indices, self.b.add(i, number(start)), width, 0),
            )  # fmt: skip
            done += count
        if self.long and size - done > 1:  # one by one, for less code
            start = done
            at = lambda i: self._body(indices, self.b.add(i, number(start)), 1, 0)
            self.w.loop(size - done, 1, at)
            return
        while done < size:
            width //= 2
            if size - done >= width:
                self._body(indices, number(done), width, 0)
                done += width

    def _address(
        self, root: Var, strides: tuple[int, ...], offset: int, indices: list[Any], last: Any
    ) -> Any:
        b, kind = self.b, lanes.in_memory(root.dtype)
        place = self.w.pointer[root]
        total = number(offset - self.w.starts[root])
        pairs = [(i, strides[k]) for k, i in enumerate(self.outer)]
        pairs += [(i, strides[group[-1]]) for group, i in zip(self.axes, indices, strict=False)]
        if self.axes:
            pairs.append((last, strides[self.axes[-1][-1]]))
        for i, stride in pairs:
            if stride:
                part = i if stride == 1 else b.mul(i, number(stride))
                total = b.add(total, part)
        return b.gep(place, [total], source_etype=kind)

    def _load(self, place: Any, dtype: np.dtype, width: int) -> Any:
        b = self.b
        kind = lanes.in_memory(dtype)
        kind = kind if width == 1 else ir.VectorType(kind, width)
        value = b.load(place, typ=kind, align=dtype.itemsize)
        if dtype == lanes.BOOL:
            value = b.icmp_unsigned("!=", value, ir.Constant(kind, None))
        return value

    def _store(self, value: Any, place: Any, dtype: np.dtype, stride: int = 1) -> None:
        b, width, kind = self.b, lanes.width_of(value), lanes.in_memory(dtype)
        if dtype == lanes.BOOL:
            value = b.zext(value, kind if width == 1 else ir.VectorType(kind, width))
        if width == 1 or stride == 1:
            b.store(value, place, align=dtype.itemsize)
            return
        for lane in range(width):
            one = b.gep(place, [number(lane * stride)], source_etype=kind)
            part = b.extract_element(value, ir.Constant(ir.IntType(32), lane))
            b.store(part, one, align=dtype.itemsize)

    def _read(
        self, root: Var, strides: tuple[int, ...], offset: int, indices: list[Any], last: Any,
        width: int,
    ) -> Any:  # fmt: skip
        if root in self.w.scalars:
            return lanes.constant(self.w.scalars[root], root.dtype, width)
        stride = strides[self.axes[-1][-1]] if self.axes else 0
        dtype = root.dtype
        if stride == 1 or width == 1:
            return self._load(self._address(root, strides, offset, indices, last), dtype, width)
        b = self.b
        if not stride:
            place = self._address(root, strides, offset, indices, last)
            return lanes.spread(b, self._load(place, dtype, 1), width)
        gathered: Any = ir.Constant(lanes.in_register(dtype, width), ir.Undefined)
        place = self._address(root, strides, offset, indices, last)
        for lane in range(width):
            one = b.gep(place, [number(lane * stride)], source_etype=lanes.in_memory(dtype))
            gathered = b.insert_element(
                gathered, self._load(one, dtype, 1), ir.Constant(ir.IntType(32), lane)
            )
        return gathered

    def _value(
        self, read: tuple, found: dict[Var, Any], indices: list[Any], last: Any, width: int
    ) -> Any:
        root, strides, offset = read
        if root in found:
            return found[root]
        return self._read(root, strides, offset, indices, last, width)

    def _picked(
        self, step: Step, found: dict[Var, Any], indices: list[Any], last: Any, width: int
    ) -> Any:
        """Numbers of the row whose position another operand tells; one position for all lanes,
        or one for each of them."""
        b, ((table, strides, offset), (places, along, start)) = self.b, step.reads
        dtype, kind = table.dtype, lanes.in_memory(table.dtype)
        axis = self.axes[-1][-1] if self.axes else None
        shared = axis is None or not along[axis]
        base = self._address(table, strides, offset, indices, last)

        def row(k: Any) -> Any:
            whole = ir.IntType(64)
            wide = k if k.type == whole else b.zext(k, whole)  # it is in range, and so no sign
            return b.gep(base, [b.mul(wide, number(step.picks or 0))], source_etype=kind)

        if shared and (width == 1 or (axis is not None and strides[axis] == 1)):
            position = (
                self._value((places, along, start), found, indices, last, 1)
                if (places not in found or width == 1)
                else b.extract_element(found[places], ir.Constant(ir.IntType(32), 0))
            )
            return self._load(row(position), dtype, width)
        at = self._value((places, along, start), found, indices, last, width)
        if width == 1:
            return self._load(row(at), dtype, 1)
        gathered: Any = ir.Constant(lanes.in_register(dtype, width), ir.Undefined)
        step_size = strides[axis] if axis is not None else 0
        for lane in range(width):
            number_of = ir.Constant(ir.IntType(32), lane)
            place = b.gep(
                row(b.extract_element(at, number_of)), [number(lane * step_size)], source_etype=kind
            )
            gathered = b.insert_element(gathered, self._load(place, dtype, 1), number_of)
        return gathered

    def _body(self, indices: list[Any], last: Any, width: int, copy: int) -> None:
        """All steps for the numbers from index `last` on, as many as there are lanes."""
        found: dict[Var, Any] = {}
        for k, step in enumerate(self.loop.steps):
            if step.picks is not None:
                values = [self._picked(step, found, indices, last, width)]
            else:
                values = [self._value(read, found, indices, last, width) for read in step.reads]
            if step.reduced:
                self._add(k, step, values[0], indices, last, width, copy)
                continue
            emit = lanes.emitter(step.equation)
            assert emit is not None
            value = emit(self.b, step.equation, *values)
            if not step.piece:
                found[step.result] = value
            if step.result in self.w.stored:
                place = self._address(step.result, step.kept, step.offset, indices, last)
                stride = step.kept[self.axes[-1][-1]] if self.axes else 1
                self._store(value, place, step.result.dtype, stride)

    def _add(
        self, k: int, step: Step, value: Any, indices: list[Any], last: Any, width: int, copy: int
    ) -> None:
        b = self.b
        rooms = self.registers.get(k)
        if rooms is None:  # the last axis is kept: a row of sums in memory
            if k in self.columns:
                place = self._column(k, last)
            else:
                place = self._address(step.result, step.kept, 0, indices, last)
            old = self._load(place, step.result.dtype, width)
            self._store(self._combine(step, old, value), place, step.result.dtype)
            return
        room = rooms[copy]
        held = room.allocated_type
        lanes_held = held.count if isinstance(held, ir.VectorType) else 1
        old = b.load(room, typ=held)
        if lanes_held == width:
            b.store(self._combine(step, old, value), room)
            return
        # A narrower rest of the axis goes to the first lanes.
        if width == 1:
            first = ir.Constant(ir.IntType(32), 0)
            total = self._combine(step, b.extract_element(old, first), value)
            b.store(b.insert_element(old, total, first), room)
            return
        rest = lanes.constant(
            neutral(step.equation.op.name, step.result.dtype), step.result.dtype, width
        )
        mask = ir.Constant(
            ir.VectorType(ir.IntType(32), lanes_held),
            [k if k < width else width for k in range(lanes_held)],
        )
        widened = b.shuffle_vector(value, rest, mask)
        b.store(self._combine(step, old, widened), room)


def _values(step: Step) -> list[Var]:
    return [step.result, *[root for root, _, _ in step.reads]]
